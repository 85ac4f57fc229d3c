/** Writes of a reserve: propose, and close, which also takes a proposal back. */
import { Effect, Option, Schema, Struct } from "effect"
import * as ProposalSteps from "../../agreements/ProposalSteps.ts"
import { assetOf, InstrumentId } from "../../instruments/instrument/Instrument.ts"
import { currency } from "../../instruments/instrument/Manifest.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import { condition, judge } from "../../kernel/Gates.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { Reserve as ReserveTemplate, ReserveProposal } from "../../templates/Reserve.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, sentence } from "../../writes/Summary.ts"
import { microsOf, toLedger } from "./LedgerTerms.ts"
import { type Reserve, ReserveId, reserveIdMax, reserves, decideClose } from "./Reserve.ts"
import * as Gates from "./ReserveGates.ts"
import { isLeftEmpty } from "./ReserveEndLookups.ts"
import * as ProposalLookups from "./ReserveProposalLookups.ts"
import { loadedOf } from "./ReserveLookups.ts"
import * as ReserveView from "./ReserveView.ts"
import { longest, TermsBody } from "./TermsBody.ts"

const places = Integer.between({ minimum: 0, maximum: Decimal.places })
const priceBelow = Decimal.fromInteger(10_000_000_000n)

const initialSharePrice = Decimal.plainOf({
  expected: "a decimal above zero, of at most 10 digits before the point",
  is: (price) => Decimal.isPositive(price) && Decimal.lessThan(price, priceBelow),
  description:
    "A price of one unit, above 0, with at most 10 digits before the point and 10 after it."
})

const Body = Schema.Struct({
  reserveId: ReserveId.check(Schema.isMaxLength(reserveIdMax)),
  instrumentId: InstrumentId,
  /** Party that is to own every holding of the reserve. */
  holder: Party.schema,
  unit: currency,
  /** Places that units of a mint and payouts round to. */
  decimals: places,
  terms: TermsBody,
  initialSharePrice: Field.optional(initialSharePrice),
  /** Places that an accumulating share price rounds to. */
  priceDecimals: places.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(Decimal.places))),
  /** Wait after the acceptance before a loosening of the terms is in force. */
  loosenDelay: Duration.inMicros(longest).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(Duration.format(Duration.days(1))))
  )
}).annotate({
  identifier: "ReserveBody",
  description: "A reserve as the venue proposes it to its issuer and its holder."
})
type Body = typeof Body.Type

const hrefOf = (reserveId: string): string => `/v1/reserves/${reserveId}`

const propose = Operation.defineOnLedger("reserve.propose", {
  doc: "Proposes a backed instrument's reserve to its issuer and its holder.",
  summary: ({ instrumentId, reserveId }) =>
    sentence`Proposes reserve ${reserveId} for instrument ${instrumentId} to its issuer and its holder.`,
  route: "POST /v1/reserves",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "reserve",
    id: ({ reserveId }) => reserveId,
    href: ({ reserveId }) => hrefOf(reserveId),
    instrumentId: ({ instrumentId }) => instrumentId
  },
  input: Body,
  lasts: Lasting.whileIn(reserves, ({ reserveId }) => [reserveId], [
    "proposed",
    "active",
    "closing"
  ]),
  result: ReserveView.ReserveView,
  refuses: ["already-exists", "not-found", "rule-refused"],
  gates: (body, act) => Effect.map(proposing(body, act), ({ rows }) => rows),
  plan: Effect.fn("reserve.propose.plan")(function* (body, act) {
    const { instrument, rows } = yield* proposing(body, act)
    yield* Effect.fromResult(judge(rows))
    const proposal = create(ReserveProposal, {
      ...Struct.pick(body, [
        "reserveId",
        "holder",
        "unit",
        "decimals",
        "priceDecimals",
        "initialSharePrice"
      ]),
      venue: act.venue,
      instrument: assetOf(instrument),
      issuer: instrument.registrar,
      parValue: instrument.manifest?.valuation === "par" ? instrument.manifest.parValue : null,
      loosenDelay: microsOf(body.loosenDelay),
      terms: toLedger(body.terms),
      accepted: []
    })
    return { commands: [proposal], last: true }
  }),
  finish: ({ reserveId }, act) => shown(reserveId, act)
})

/** Loads and checks a proposal; refuses an id that exists before any gate. */
const proposing = Effect.fnUntraced(function* (body: Body, { venue }: OperationAct) {
  const records = yield* Records
  if (Option.isSome(yield* records.find(reserves, body.reserveId))) {
    return yield* Effect.fail(refused("already-exists", { detail: "A reserve of this id exists." }))
  }
  const loaded = yield* ProposalLookups.proposingOf(body.instrumentId)
  return {
    instrument: loaded.instrument,
    rows: Gates.againstProposal({ ...loaded, body, venue })
  }
})

/** View of a reserve after its operation. */
const shown = Effect.fnUntraced(function* (reserveId: string, { now }: OperationAct) {
  const record = yield* ProposalSteps.opened(reserves, reserveId)
  return ReserveView.of(record, yield* loadedOf(record, { at: now }), null)
})

const ById = Schema.Struct({ reserveId: ReserveId })
type ById = typeof ById.Type

const close = Operation.defineOnLedger("reserve.close", {
  doc: "Ends the mints of a reserve, and the reserve once nothing is outstanding; takes back one that is proposed.",
  summary: ({ reserveId }, { instrumentId }) =>
    sentence`Ends the mints of reserve ${reserveId}${concerning({ instrumentId })}, and the reserve once nothing is outstanding.`,
  route: "POST /v1/reserves/{reserveId}:close",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "reserve",
    id: ({ reserveId }) => reserveId,
    href: ({ reserveId }) => hrefOf(reserveId),
    concerns: Concerns.ofRecord(reserves, ({ reserveId }) => reserveId)
  },
  input: ById,
  result: ReserveView.ReserveView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  gates: (input, act) => Effect.map(closing(input, act), ({ rows }) => rows),
  plan: Effect.fn("reserve.close.plan")(function* (input, act) {
    const { self, isEmpty, rows } = yield* closing(input, act)
    yield* Effect.fromResult(judge(rows))
    return { commands: [closed(self, isEmpty)], last: true }
  }),
  finish: ({ reserveId }, act) => shown(reserveId, act)
})

/** Loads and checks a closing: a reserve that is closing ends once nothing of it is left. */
const closing = Effect.fnUntraced(function* ({ reserveId }: ById, { now }: OperationAct) {
  const records = yield* Records
  const self = yield* records.get(reserves, reserveId)
  yield* Effect.fromResult(decideClose(self))
  const isEmpty = self.state !== "proposed" && (yield* isLeftEmpty(self, now))
  const rows = self.state === "closing" ? [condition("reserve-empty", isEmpty)] : []
  return { self, isEmpty, rows }
})

const closed = (self: Reserve, empty: boolean) =>
  self.state === "proposed"
    ? exercise(ReserveProposal, self.proposalCid ?? missingContract(self), "Withdraw", {})
    : exercise(ReserveTemplate, self.reserveCid ?? missingContract(self), "Close", { empty })

const missingContract = ({ reserveId }: Reserve): never => {
  throw new Error(`${reserveId} has not ended and has no contract`)
}

export const operations = [propose, close] as const
