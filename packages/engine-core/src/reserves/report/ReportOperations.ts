/** Write of reserve reports: the ledger computes one, on demand or by schedule. */
import { Effect, Option, Schema } from "effect"
import * as ProposalSteps from "../../agreements/ProposalSteps.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import * as Templates from "../../templates/Reserve.ts"
import { exercise } from "../../templates/Template.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { sentence } from "../../writes/Summary.ts"
import * as CoverRules from "../reserve/CoverRules.ts"
import { ReserveId, reserves, ReserveMachine } from "../reserve/Reserve.ts"
import * as ReserveLookups from "../reserve/ReserveLookups.ts"
import { ReportId, reserveReports, triggerOf } from "./ReserveReport.ts"
import * as ReportView from "./ReportView.ts"

const Body = Schema.Struct({
  reserveId: ReserveId,
  /** Id of the report; the engine makes one when the caller names none. */
  reportId: Field.optional(ReportId)
})
type Body = typeof Body.Type

const idOf = ({ reportId }: Pick<Body, "reportId">): ReportId => RecordId.made(reportId, "a report")

/** Checks whether the reserve has the figures of the report still: no price, unit or supply moved them. */
const hasFigures = Effect.fnUntraced(function* (input: Body) {
  const records = yield* Records
  const now = yield* Instant.now
  const report = Option.getOrNull(yield* records.find(reserveReports, idOf(input)))
  const reserve = Option.getOrNull(yield* records.find(reserves, input.reserveId))
  if (report === null || reserve === null) return false
  const { books } = yield* ReserveLookups.booksOf(reserve, { at: now })
  const { counted, required, state } = CoverRules.coverOf(books)
  const assets = CoverRules.assetsOf(books)
  return (
    state === report.cover &&
    Decimal.equals(counted, report.counted) &&
    Decimal.equals(required, report.required) &&
    Decimal.equals(books.outstanding, report.outstanding) &&
    assets.length === report.assets.length &&
    assets.every(({ isFresh, price, units }, nth) => {
      const line = report.assets[nth]
      return (
        line !== undefined &&
        isFresh === line.fresh &&
        Decimal.equals(units, line.units) &&
        (price === null
          ? line.price === null
          : line.price !== null && Decimal.equals(price, line.price))
      )
    })
  )
})

/** Refuses an id that is taken, or that a caller gives as the schedule alone does. */
const demandId = Effect.fnUntraced(function* (input: Body, { role }: OperationAct) {
  const records = yield* Records
  const report = { ...input, reportId: idOf(input) }
  if (role !== null && triggerOf(report) === "schedule") {
    return yield* Effect.fail(
      refused("invalid-request", {
        errors: [
          {
            pointer: "/body/reportId",
            detail:
              "Ids that begin with the reserve's id and a tilde are those of scheduled reports."
          }
        ]
      })
    )
  }
  if (Option.isSome(yield* records.find(reserveReports, report.reportId))) {
    return yield* Effect.fail(refused("already-exists", { detail: "A report of this id exists." }))
  }
  return report.reportId
})

export const create = Operation.defineOnLedger("reserve-report.create", {
  doc: "Has the ledger compute the figures of a reserve, and keep them as a report.",
  summary: ({ reserveId }) => sentence`Has the ledger compute the figures of reserve ${reserveId}.`,
  route: "POST /v1/reserves/{reserveId}/reports",
  makers: ["operator", "risk"],
  approvers: 0,
  resource: {
    kind: "reserve",
    prefix: "report",
    id: ({ reserveId }) => reserveId,
    href: (input) => `/v1/reserves/${input.reserveId}/reports/${idOf(input)}`,
    concerns: Concerns.ofRecord(reserves, ({ reserveId }) => reserveId)
  },
  input: Body,
  complete: (input, makeId) =>
    input.reportId === null ? { ...input, reportId: Schema.decodeSync(ReportId)(makeId()) } : input,
  result: ReportView.ReserveReportView,
  // The id that a caller names is used once; without one the report is computed in the call.
  lasts: Effect.fnUntraced(function* (input, outcome) {
    const operation = yield* Lasting.operationOf(outcome)
    return operation?.given === undefined || (yield* hasFigures(input))
  }),
  refuses: ["invalid-request", "already-exists", "not-found", "state-conflict"],
  plan: Effect.fn("reserve-report.create.plan")(function* (input, act) {
    const records = yield* Records
    const reportId = yield* demandId(input, act)
    const reserve = yield* records.get(reserves, input.reserveId)
    if (reserve.reserveCid === null) {
      return yield* Effect.fail(
        refused("state-conflict", {
          check: ReserveMachine.name,
          detail: `The reserve is ${reserve.state}.`
        })
      )
    }
    const loaded = yield* ReserveLookups.booksOf(reserve, { at: act.now })
    const judging = yield* ReserveLookups.judgingOf(reserve, loaded)
    const argument = { reportId, ...judging }
    return {
      commands: [exercise(Templates.Reserve, reserve.reserveCid, "ComputeReport", argument)],
      last: true
    }
  }),
  finish: (input) => Effect.map(ProposalSteps.opened(reserveReports, idOf(input)), ReportView.of)
})

export const operations = [create] as const
