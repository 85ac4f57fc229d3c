/** Writes of a standing settlement: open, pause, resume and close. */
import { Effect, Option, Schema } from "effect"
import { holderParties, holders } from "../../holders/holder/Holder.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Duration from "../../kernel/Duration.ts"
import { judge } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { PrimaryMarket as PrimaryMarketTemplate } from "../../templates/Market.ts"
import { StandingSettlement as Template } from "../../templates/Standing.ts"
import { exercise } from "../../templates/Template.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { count, sentence } from "../../writes/Summary.ts"
import * as ControlGates from "../order/ControlGates.ts"
import { controlsOf } from "../order/ControlLookups.ts"
import { latestMarket } from "../primary-market/PrimaryMarketLookups.ts"
import * as Gates from "./StandingSettlementGates.ts"
import { StandingSettlementId, standingSettlements, decide } from "./StandingSettlement.ts"
import * as Queries from "./StandingSettlementQueries.ts"
import { concernsOf, contractOf, holderIdsOf, load, shown } from "./StandingSettlementSteps.ts"
import * as Amount from "../../kernel/Amount.ts"
import * as RecordId from "../../kernel/RecordId.ts"

/** Largest number of fundings; closing cancels a commitment for each in one transaction. */
const fundingMax = 200

const OpenInput = Schema.Struct({
  /** Id of the standing settlement; the engine makes one when the caller names none. */
  standingSettlementId: Field.optional(StandingSettlementId),
  instrumentId: InstrumentId,
  funding: Schema.Array(
    Schema.Struct({ party: Party.schema, asset: Field.asset, amount: Amount.funding })
  ).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(fundingMax),
    Schema.makeFilter((funding) =>
      new Set(funding.map(({ party, asset }) => `${party}/${asset.admin}/${asset.id}`)).size ===
      funding.length
        ? undefined
        : "each party funds each asset once"
    )
  ),
  deadline: Field.optional(Instant.schema)
})
type OpenInput = typeof OpenInput.Type

const idOf = ({ standingSettlementId }: Pick<OpenInput, "standingSettlementId">) =>
  RecordId.made(standingSettlementId, "a standing settlement")

const hrefOf = (id: string): string => `/v1/standing-settlements/${id}`

/** Duration of commitments where the caller sets no deadline. */
const committedFor = Duration.days(365)

const open = Operation.defineOnLedger("standing-settlement.open", {
  doc: "Opens a settlement that repeats: its parties commit their funding once, iterations draw on it.",
  summary: ({ funding, instrumentId }, { resource }) =>
    sentence`Opens standing settlement ${resource.id} of instrument ${instrumentId}, funded by ${count(funding.length, "commitment")}.`,
  route: "POST /v1/standing-settlements",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "standing-settlement",
    id: (input) => idOf(input),
    href: (input) => hrefOf(idOf(input)),
    instrumentId: ({ instrumentId }) => instrumentId,
    concerns: ({ funding }) =>
      Effect.map(holderIdsOf(funding.map(({ party }) => party)), (holderIds) => ({
        instrumentId: null,
        holderIds
      }))
  },
  input: OpenInput,
  complete: (input, makeId) =>
    input.standingSettlementId === null
      ? { ...input, standingSettlementId: Schema.decodeSync(StandingSettlementId)(makeId()) }
      : input,
  lasts: Lasting.whileIn(standingSettlements, (input) => [idOf(input)], [
    "proposed",
    "open",
    "paused"
  ]),
  result: Queries.StandingSettlementView,
  refuses: ["already-exists", "not-found", "rule-refused"],
  gates: (input, act) => Effect.map(opening(input, act), ({ rows }) => rows),
  plan: Effect.fn("standing-settlement.open.plan")(function* (input, act) {
    const { market, rows } = yield* opening(input, act)
    yield* Effect.fromResult(judge(rows))
    return { commands: [opened(input, market?.marketCid ?? null, act)], last: true }
  }),
  finish: (input) => shown(idOf(input))
})

/** Loads and checks the opening; refuses an id that exists before any gate. */
const opening = Effect.fnUntraced(function* (input: OpenInput, { now }: OperationAct) {
  const records = yield* Records
  const { deadline, funding, instrumentId, standingSettlementId: id } = input
  if (id !== null && Option.isSome(yield* records.find(standingSettlements, id))) {
    return yield* Effect.fail(
      refused("already-exists", { detail: "A standing settlement of this id exists." })
    )
  }
  const found = yield* records.get(instruments, instrumentId)
  const { holds } = yield* controlsOf({ instrumentId, holderIds: [] })
  const instrument = yield* Effect.fromResult(recorded(found, [ControlGates.held({ holds })]))
  const market = yield* latestMarket(instrumentId)
  const holdersNamed = yield* holdersOf(funding.map(({ party }) => party))
  const context = { holds, instrument, market, funding, deadline, holders: holdersNamed, now }
  return { market, rows: Gates.againstOpening(context) }
})

const opened = (input: OpenInput, marketCid: string | null, { now }: OperationAct) => {
  if (marketCid === null) throw new Error("an agreed market has a contract")
  return exercise(PrimaryMarketTemplate, marketCid, "OpenStanding", {
    standingSettlementId: idOf(input),
    funding: input.funding,
    deadline: input.deadline,
    expiresAt: input.deadline ?? Instant.add(now, committedFor)
  })
}

/** Finds the holders among these parties. */
const holdersOf = Effect.fnUntraced(function* (parties: ReadonlyArray<Party.Party>) {
  const records = yield* Records
  const found = yield* records.many(holderParties, parties)
  return yield* records.many(
    holders,
    found.map(({ holderId }) => holderId)
  )
})

const ById = Schema.Struct({ standingSettlementId: StandingSettlementId })
type ById = typeof ById.Type

const resource = {
  kind: "standing-settlement",
  id: ({ standingSettlementId }: ById) => standingSettlementId,
  href: ({ standingSettlementId }: ById) => hrefOf(standingSettlementId),
  concerns: ({ standingSettlementId }: ById) => concernsOf(standingSettlementId)
} as const

const pause = Operation.defineOnLedger("standing-settlement.pause", {
  doc: "Stops iterations of a standing settlement at once; commitments stay in place.",
  summary: (_, { resource }) =>
    sentence`Stops the iterations of standing settlement ${resource.id}.`,
  route: "POST /v1/standing-settlements/{standingSettlementId}:pause",
  makers: ["operator", "risk"],
  approvers: 0,
  resource,
  input: ById,
  lasts: Lasting.whileIn(standingSettlements, (input) => [input.standingSettlementId], ["paused"]),
  result: Queries.StandingSettlementView,
  refuses: ["not-found", "state-conflict"],
  plan: Effect.fn("standing-settlement.pause.plan")(function* ({ standingSettlementId }) {
    const self = yield* load(standingSettlementId)
    yield* Effect.fromResult(decide(self, "pause"))
    return { commands: [exercise(Template, contractOf(self), "Pause", {})], last: true }
  }),
  finish: ({ standingSettlementId }) => shown(standingSettlementId)
})

const resume = Operation.defineOnLedger("standing-settlement.resume", {
  doc: "Lets iterations of a paused standing settlement run again.",
  summary: (_, { resource }) =>
    sentence`Lets the iterations of standing settlement ${resource.id} run again.`,
  route: "POST /v1/standing-settlements/{standingSettlementId}:resume",
  makers: ["operator"],
  approvers: 1,
  resource,
  input: ById,
  lasts: Lasting.whileIn(standingSettlements, (input) => [input.standingSettlementId], ["open"]),
  result: Queries.StandingSettlementView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  gates: (input) => Effect.map(resuming(input), ({ rows }) => rows),
  plan: Effect.fn("standing-settlement.resume.plan")(function* (input) {
    const { self, rows } = yield* resuming(input)
    yield* Effect.fromResult(judge(rows))
    return { commands: [exercise(Template, contractOf(self), "Resume", {})], last: true }
  }),
  finish: ({ standingSettlementId }) => shown(standingSettlementId)
})

/** Loads and checks a resumption, which an open hold on the instrument stops. */
const resuming = Effect.fnUntraced(function* ({ standingSettlementId }: ById) {
  const self = yield* load(standingSettlementId)
  yield* Effect.fromResult(decide(self, "resume"))
  const controls = yield* controlsOf({ instrumentId: self.instrumentId, holderIds: [] })
  return { self, rows: [ControlGates.held(controls)] }
})

const close = Operation.defineOnLedger("standing-settlement.close", {
  doc: "Ends a standing settlement; commitments go back to their parties.",
  summary: (_, { resource }) =>
    sentence`Ends standing settlement ${resource.id}; its commitments go back.`,
  route: "POST /v1/standing-settlements/{standingSettlementId}:close",
  makers: ["operator"],
  approvers: 0,
  resource,
  input: ById,
  result: Queries.StandingSettlementView,
  refuses: ["not-found", "state-conflict"],
  plan: Effect.fn("standing-settlement.close.plan")(function* ({ standingSettlementId }) {
    const self = yield* load(standingSettlementId)
    yield* Effect.fromResult(decide(self, "close"))
    const commitments = self.committed.map(({ commitmentCid }) => commitmentCid)
    return {
      commands: [exercise(Template, contractOf(self), "Close", { commitments })],
      last: true
    }
  }),
  finish: ({ standingSettlementId }) => shown(standingSettlementId)
})

export const operations = [open, pause, resume, close] as const
