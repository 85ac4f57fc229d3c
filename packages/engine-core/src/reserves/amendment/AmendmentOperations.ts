/** Writes of amendments: propose other terms to the issuer, and take the proposal back. */
import { Effect, Option, Schema } from "effect"
import * as ProposalSteps from "../../agreements/ProposalSteps.ts"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { refused } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import * as Templates from "../../templates/Reserve.ts"
import { create, exercise } from "../../templates/Template.ts"
import type { Figure } from "../../writes/Figures.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { directionIn, sentence } from "../../writes/Summary.ts"
import * as TermChange from "../../writes/TermChange.ts"
import * as CoverRules from "../reserve/CoverRules.ts"
import { toLedger } from "../reserve/LedgerTerms.ts"
import { ReserveId, reserves, ReserveMachine } from "../reserve/Reserve.ts"
import * as ReserveLookups from "../reserve/ReserveLookups.ts"
import { TermsBody } from "../reserve/TermsBody.ts"
import * as TermsRules from "../reserve/TermsRules.ts"
import { type Amendment, AmendmentId, amendments, AmendmentMachine } from "./Amendment.ts"
import * as Gates from "./AmendmentGates.ts"
import { inForceAt } from "./AmendmentSteps.ts"
import * as AmendmentView from "./AmendmentView.ts"

const Proposal = Schema.Struct({
  reserveId: ReserveId,
  /** Id of the amendment; the engine makes one when the caller names none. */
  amendmentId: Field.optional(AmendmentId),
  /** All terms that are to be in force, not the changes alone. */
  terms: TermsBody
})
type Proposal = typeof Proposal.Type

const idOf = ({ amendmentId }: Pick<Proposal, "amendmentId">): AmendmentId =>
  RecordId.made(amendmentId, "an amendment")

const hrefOf = ({
  reserveId,
  amendmentId
}: {
  readonly reserveId: string
  readonly amendmentId: string
}): string => `/v1/reserves/${reserveId}/amendments/${amendmentId}`

/** Loads the reserve and the changes that the terms make, with the conditions of both. */
const proposing = Effect.fnUntraced(function* (input: Proposal, { now }: OperationAct) {
  const records = yield* Records
  const { amendmentId, reserveId, terms } = input
  if (amendmentId !== null && Option.isSome(yield* records.find(amendments, amendmentId))) {
    return yield* Effect.fail(
      refused("already-exists", { detail: "An amendment of this id exists." })
    )
  }
  const reserve = yield* records.get(reserves, reserveId)
  const [proposed] = yield* records.list(amendments, {
    where: { reserveId: [reserveId], state: ["proposed"] },
    limit: 1
  })
  const change = TermsRules.shownChangesOf({ from: inForceAt(reserve, now).terms, to: terms })
  const rows = Gates.against({ reserve, proposed: proposed?.record ?? null, terms, change, now })
  return { reserve, change, rows }
})

/** Figures of the cover that approvers read: under the terms in force, and under those proposed. */
const coverFiguresOf = (
  name: "Before" | "After",
  books: CoverRules.ReserveBooks
): Readonly<Record<string, Figure>> => ({
  [`ratio${name}`]: CoverRules.coverOf(books).ratio ?? "none",
  [`cover${name}`]: CoverRules.coverOf(books).state,
  [`mintable${name}`]: CoverRules.mintableOf(books)
})

const propose = Operation.defineOnLedger("amendment.propose", {
  doc: "Asks the issuer for other terms of a reserve: what only tightens is in force once it accepts, what loosens waits.",
  summary: ({ reserveId }, { figures, resource }) =>
    sentence`Asks the issuer for other terms of reserve ${reserveId} by amendment ${resource.id}: ${directionIn(figures)}.`,
  changes: Effect.fnUntraced(function* ({ reserveId, terms: to }, { now }) {
    const records = yield* Records
    const reserve = Option.getOrNull(yield* records.find(reserves, reserveId))
    if (reserve === null) return []
    return TermsRules.shownChangesOf({ from: inForceAt(reserve, now).terms, to })
  }),
  route: "POST /v1/reserves/{reserveId}/amendments",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "amendment",
    id: (input) => idOf(input),
    href: (input) => hrefOf({ ...input, amendmentId: idOf(input) }),
    concerns: Concerns.ofRecord(reserves, ({ reserveId }) => reserveId)
  },
  input: Proposal,
  complete: (input, makeId) =>
    input.amendmentId === null
      ? { ...input, amendmentId: Schema.decodeSync(AmendmentId)(makeId()) }
      : input,
  lasts: Lasting.whileIn(amendments, (input) => [idOf(input)], [
    "proposed",
    "accepted",
    "effective"
  ]),
  result: AmendmentView.AmendmentView,
  refuses: ["already-exists", "not-found", "rule-refused"],
  gates: (input, act) => Effect.map(proposing(input, act), ({ rows }) => rows),
  figures: Effect.fn("amendment.propose.figures")(function* (input, act) {
    const records = yield* Records
    const { sha256 } = yield* Crypto
    const { change, reserve } = yield* proposing(input, act)
    const instrument = yield* records.get(instruments, reserve.instrumentId)
    const policy = isRecorded(instrument) ? yield* inForce(instrument, act.now) : null
    const before = yield* ReserveLookups.booksOf(reserve, { at: act.now })
    const amended = { ...reserve, terms: input.terms, pending: null }
    const after = yield* ReserveLookups.booksOf(amended, { at: act.now })
    return {
      figures: {
        ...TermChange.figuresOf(change, sha256),
        ...coverFiguresOf("Before", before.books),
        ...coverFiguresOf("After", after.books)
      },
      tolerance: policy?.tolerances.figures ?? Decimal.zero
    }
  }),
  plan: Effect.fn("amendment.propose.plan")(function* (input, act) {
    const { reserve, rows } = yield* proposing(input, act)
    yield* Effect.fromResult(judge(rows))
    return {
      commands: [
        create(Templates.AmendmentProposal, {
          venue: act.venue,
          amendmentId: idOf(input),
          reserveId: reserve.reserveId,
          issuer: reserve.issuer,
          holder: reserve.holder,
          terms: toLedger(input.terms)
        })
      ],
      last: true
    }
  }),
  finish: (input) => shown(idOf(input))
})

const ById = Schema.Struct({ reserveId: ReserveId, amendmentId: AmendmentId })

/** Contract of an amendment that its issuer has not answered. */
const proposalOf = ({ proposalCid }: Amendment): string => {
  if (proposalCid === null) throw new Error("an amendment that is proposed has a contract")
  return proposalCid
}

const withdraw = Operation.defineOnLedger("amendment.withdraw", {
  doc: "Takes other terms of a reserve back, before they are in force.",
  summary: ({ amendmentId, reserveId }) =>
    sentence`Takes amendment ${amendmentId} of reserve ${reserveId} back.`,
  route: "POST /v1/reserves/{reserveId}/amendments/{amendmentId}:withdraw",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "amendment",
    id: ({ amendmentId }) => amendmentId,
    href: hrefOf,
    concerns: Concerns.ofRecord(amendments, ({ amendmentId }) => amendmentId)
  },
  input: ById,
  result: AmendmentView.AmendmentView,
  refuses: ["not-found", "state-conflict"],
  plan: Effect.fn("amendment.withdraw.plan")(function* ({ reserveId, amendmentId }) {
    const records = yield* Records
    const self = yield* records.get(amendments, amendmentId)
    if (self.reserveId !== reserveId) {
      return yield* Effect.fail(
        refused("not-found", { detail: `There is no such ${amendments.name}.` })
      )
    }
    yield* Effect.fromResult(Machine.admit(AmendmentMachine, self, "withdraw"))
    if (self.state === "proposed") {
      const command = exercise(Templates.AmendmentProposal, proposalOf(self), "Withdraw", {})
      return { commands: [command], last: true }
    }
    const { reserveCid, state } = yield* records.get(reserves, reserveId)
    if (reserveCid === null) {
      return yield* Effect.fail(
        refused("state-conflict", {
          check: ReserveMachine.name,
          detail: `The reserve is ${state}.`
        })
      )
    }
    const command = exercise(Templates.Reserve, reserveCid, "WithdrawPending", { amendmentId })
    return { commands: [command], last: true }
  }),
  finish: ({ amendmentId }) => shown(amendmentId)
})

const shown = (amendmentId: string) =>
  Effect.map(ProposalSteps.opened(amendments, amendmentId), AmendmentView.of)

export const operations = [propose, withdraw] as const
