/**
 * Steps that record the business dates whose statements a run found overdue; each record announces
 * its date once.
 */
import { Effect } from "effect"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import * as PolicyTerms from "../../instruments/policy/PolicyTerms.ts"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as DueRules from "../../statements/external-source/DueRules.ts"
import {
  idOf,
  type OverdueStatement,
  overdueStatements
} from "../../statements/external-source/OverdueStatement.ts"
import { overdueOf, statementOverdue } from "../checks/StatementChecks.ts"
import type { ComparedRun } from "./CompareSteps.ts"
import * as Rules from "./RunRules.ts"

/**
 * Opens a record for each overdue date that has none, for the instruments whose statements the run
 * found overdue. Must run inside `transact`.
 */
export const noteOverdue = Effect.fnUntraced(function* (
  {
    compared,
    runId
  }: { readonly runId: string; readonly compared: Pick<ComparedRun, "at" | "covered"> },
  act: Act
) {
  const records = yield* Records
  const { at, covered } = compared
  const owing = covered.flatMap(({ instrument, outcomes }) =>
    outcomes.some(
      ({ check, differences }) => check === statementOverdue.name && differences.length > 0
    )
      ? [instrument.instrumentId]
      : []
  )
  if (owing.length === 0) return
  for (const instrument of yield* records.many(instruments, owing, at.pin)) {
    const { instrumentId, manifest } = instrument
    const terms = Rules.termsOf(statementOverdue.name, manifest ?? PolicyTerms.defaults)
    const owed = yield* overdueOf(instrument, at, { ...terms, now: at.pin.judgedAt })
    const dates = owed.flatMap(({ source, overdue }) =>
      overdue.map(
        (businessDate): OverdueStatement => ({
          externalSourceId: source.externalSourceId,
          kind: source.kind,
          instrumentId,
          businessDate,
          dueBy: DueRules.dueAt(source, businessDate),
          runId
        })
      )
    )
    const noted = yield* records.many(overdueStatements, dates.map(idOf))
    const before = new Set(noted.map(idOf))
    yield* Effect.forEach(
      dates.filter((date) => !before.has(idOf(date))),
      (date) => Effect.orDie(records.open(overdueStatements, date, act)),
      { discard: true }
    )
  }
})
