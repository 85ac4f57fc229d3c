/** Write that opens the dealing cycle of an instrument's cut-off. */
import { Effect, Option, Schema, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { InstrumentId, instruments } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { judge } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { PrimaryMarket } from "../../templates/Market.ts"
import { exercise } from "../../templates/Template.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { phrase, sentence } from "../../writes/Summary.ts"
import { operations } from "../../writes/OperationRecord.ts"
import * as ControlGates from "../order/ControlGates.ts"
import { controlsOf } from "../order/ControlLookups.ts"
import type { PrimaryMarket as PrimaryMarketRecord } from "../primary-market/PrimaryMarket.ts"
import { latestMarket } from "../primary-market/PrimaryMarketLookups.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { lastPriceOf } from "../order/LastPriceLookups.ts"
import { openingOf } from "./OpeningRules.ts"
import { CycleId, dealtAt, dealingCycles, DealingCycleMachine } from "./DealingCycle.ts"
import * as Gates from "./DealingCycleGates.ts"
import * as DealingCycleView from "./DealingCycleView.ts"
import { cycleSlots } from "./CycleSlot.ts"
import { isPayable } from "./DealingCycleRules.ts"
import { isOfMarket } from "./JoiningRules.ts"
import { openCycleOf } from "./OpenCycleLookups.ts"
import { viewOf } from "./CycleViewLookups.ts"
import { inputsOf } from "./TransactionSize.ts"

const Body = Schema.Struct({
  /** Id of the cycle; the engine makes one when the caller names none. */
  cycleId: Field.optional(CycleId),
  instrumentId: InstrumentId,
  /** Cut-off of the cycle; the next one of the instrument when the caller names none. */
  cutOffAt: Field.optional(Instant.schema),
  /** Time by which the cycle must settle; that of the orders of its cut-off when the caller names none. */
  settleBy: Field.optional(Instant.schema)
})
type Body = typeof Body.Type

export const open = Operation.defineOnLedger("dealing-cycle.open", {
  doc: "Opens the dealing cycle of an instrument's cut-off: ledger-paid orders claimed until then join it.",
  summary: ({ cutOffAt, instrumentId }, { resource }) =>
    sentence`Opens dealing cycle ${resource.id} of instrument ${instrumentId} for ${cutOffAt === null || cutOffAt === undefined ? "its next cut-off" : phrase`the cut-off at ${cutOffAt}`}.`,
  route: "POST /v1/dealing-cycles",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "dealing-cycle",
    id: (input) => idOf(input),
    href: (input) => `/v1/dealing-cycles/${idOf(input)}`,
    instrumentId: ({ instrumentId }) => instrumentId
  },
  input: Body,
  complete: (input, makeId) =>
    input.cycleId === null ? { ...input, cycleId: Schema.decodeSync(CycleId)(makeId()) } : input,
  lasts: Lasting.whileIn(dealingCycles, (input) => [idOf(input)], ["open"]),
  result: DealingCycleView.DealingCycleView,
  refuses: ["already-exists", "not-found", "state-conflict", "rule-refused"],
  gates: (input, act) => Effect.map(opening(input, act), ({ rows }) => rows),
  plan: Effect.fn("dealing-cycle.open.plan")(function* (input, act) {
    const { opened, market, slot, rows } = yield* opening(input, act)
    yield* Effect.fromResult(judge(rows))
    if (opened === null || slot === null) throw new Error("a cut-off out of reach is refused")
    const cycleId = idOf(input)
    yield* take(slot, cycleId, act)
    return {
      commands: [
        exercise(PrimaryMarket, contractOf(market), "OpenCycle", {
          cycleId,
          cutOffAt: opened.cutOffAt,
          settleBy: opened.settleBy,
          remainders: yield* remaindersFor(market, { ...input, ...opened })
        })
      ],
      last: true
    }
  }),
  finish: (input) => viewOf(idOf(input))
})

const idOf = ({ cycleId }: Pick<Body, "cycleId">): CycleId =>
  RecordId.made(cycleId, "a dealing cycle")

const contractOf = (market: { readonly marketCid: string | null } | null): string => {
  if (market === null || market.marketCid === null) {
    throw new Error("an agreed market has a contract")
  }
  return market.marketCid
}

/**
 * Loads the claim contracts of the market's remainders that wait for this cut-off, at most as many as one
 * ledger transaction settles: opening the cycle joins them to it. A remainder whose proceeds at the latest price
 * are zero is left out.
 */
const remaindersFor = Effect.fnUntraced(function* (
  market: PrimaryMarketRecord | null,
  cutOff: { readonly instrumentId: InstrumentId; readonly cutOffAt: Instant.Instant }
) {
  const records = yield* Records
  const { inputsMax } = yield* Settings
  const lastPrice = yield* lastPriceOf(cutOff, market?.terms.oracle ?? null, yield* Instant.now)
  const found = yield* Stream.runCollect(
    records.stream(redemptions, { where: { waiting: [dealtAt(cutOff)] } })
  )
  const payable = found
    .map(({ record }) => record)
    .filter((order) => market !== null && isOfMarket(market, order))
    .filter((order) => lastPrice === null || isPayable(order, lastPrice))
  const room = payable.findIndex(
    (_, index) => inputsOf({ subscriptions: 0, redemptions: index + 1 }) > inputsMax
  )
  return payable
    .slice(0, room === -1 ? payable.length : room)
    .flatMap(({ claimCid }) => (claimCid === null ? [] : [claimCid]))
})

/** Loads and checks the opening of a cycle; refuses an id that exists before any gate. */
const opening = Effect.fnUntraced(function* (input: Body, act: OperationAct) {
  const records = yield* Records
  const { cycleId, instrumentId } = input
  if (cycleId !== null && Option.isSome(yield* records.find(dealingCycles, cycleId))) {
    return yield* Effect.fail(
      refused("already-exists", { detail: "A dealing cycle of this id exists." })
    )
  }
  const found = yield* records.get(instruments, instrumentId)
  const { holds } = yield* controlsOf({ instrumentId, holderIds: [] })
  const instrument = yield* Effect.fromResult(recorded(found, [ControlGates.held({ holds })]))
  const { opened, rows } = openingOf({
    ...input,
    cutOff: instrument.manifest.cutOff,
    now: act.now
  })
  const slot =
    opened === null ? null : yield* slotOf({ instrumentId, cutOffAt: opened.cutOffAt }, act)
  const market = yield* latestMarket(instrumentId)
  const { inputsMax } = yield* Settings
  const context = { holds, instrument, market, inputsMax }
  return { opened, market, slot, rows: Gates.againstOpening(context, rows) }
})

/** Finds the lock of a cut-off; refuses if a cycle is open for it, or is being opened. */
const slotOf = Effect.fnUntraced(function* (
  cutOff: Parameters<typeof dealtAt>[0],
  { operationId }: OperationAct
) {
  const records = yield* Records
  const slotId = dealtAt(cutOff)
  const slot = Option.getOrNull(yield* records.find(cycleSlots, slotId))
  const openCycleId =
    (yield* openCycleOf(cutOff))?.cycleId ??
    (slot === null || (yield* isFree(slot, operationId)) ? null : slot.cycleId)
  if (openCycleId !== null) {
    return yield* Effect.fail(
      refused("state-conflict", {
        check: DealingCycleMachine.name,
        detail: `The dealing cycle ${openCycleId} is open for this cut-off.`
      })
    )
  }
  return { slotId, slot }
})

/**
 * Takes the lock of the cut-off in the transaction that plans the opening, so that an instrument and
 * cut-off have at most one open cycle even before the ledger has answered.
 */
const take = Effect.fnUntraced(function* (
  { slotId, slot }: Effect.Success<ReturnType<typeof slotOf>>,
  cycleId: CycleId,
  act: OperationAct
) {
  const records = yield* Records
  const { operationId } = act
  if (slot === null) {
    yield* records
      .open(cycleSlots, { slotId, cycleId, operationId }, act)
      .pipe(Effect.catchTag("Refused", (refusal) => Effect.die(new Error(refusal.slug))))
  } else {
    yield* records.append(cycleSlots, slot, { on: "take", cycleId, operationId }, act)
  }
})

/** Checks whether a taken lock is free again: its cycle has ended, or its operation failed. */
const isFree = Effect.fnUntraced(function* (
  slot: { readonly cycleId: string; readonly operationId: string },
  operationId: string
) {
  if (slot.operationId === operationId) return true
  const records = yield* Records
  const cycle = yield* records.find(dealingCycles, slot.cycleId)
  if (Option.isSome(cycle)) return cycle.value.state === "ended"
  const opening = yield* records.find(operations, slot.operationId)
  return Option.isNone(opening) || opening.value.state === "failed"
})
