/** Write that opens a dealing cycle for a cut-off, once. */
import { Effect, Option, Schema, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { InstrumentId, instruments } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { judge } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { PrimaryMarket } from "../../templates/Market.ts"
import { exercise } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import { operations } from "../../writes/OperationRecord.ts"
import * as ControlGates from "../ControlGates.ts"
import { controlsOf } from "../ControlLookups.ts"
import { latestMarket } from "../primary-market/PrimaryMarketLookups.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { lastPriceOf } from "../order/LastPriceLookups.ts"
import { openingOf } from "./OpeningRules.ts"
import { CycleId, dealtAt, dealingCycles } from "./DealingCycle.ts"
import * as Gates from "./DealingCycleGates.ts"
import { DealingCycleMachine } from "./DealingCycleMachine.ts"
import * as DealingCycleView from "./DealingCycleView.ts"
import { cycleSlots } from "./CycleSlot.ts"
import { isPayable } from "./DealingCycleRules.ts"
import { openCycleOf } from "./OpenCycleLookups.ts"
import { shown } from "./SettleOperations.ts"
import { inputsOf } from "./TransactionSize.ts"

const Body = Schema.Struct({
  /** Made by the engine when the caller names none. */
  cycleId: Field.optional(CycleId),
  instrumentId: InstrumentId,
  /** The next cut-off of the instrument when the caller names none. */
  cutOffAt: Field.optional(Instant.schema),
  /** When the cut-off's own orders run out, when the caller names no earlier time. */
  settleBy: Field.optional(Instant.schema)
})
type Body = typeof Body.Type

export const open = Operation.defineOnLedger("dealing-cycle.open", {
  doc: "Opens the dealing cycle of an instrument's cut-off: ledger-paid orders claimed until then join it.",
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
          remainders: yield* waitingFor(market, { ...input, ...opened })
        })
      ],
      last: true
    }
  }),
  finish: (input) => shown(idOf(input))
})

const idOf = ({ cycleId }: Pick<Body, "cycleId">): CycleId => {
  if (cycleId === null) throw new Error("a dealing cycle is opened under an id")
  return cycleId
}

const contractOf = (market: { readonly marketCid: string | null } | null): string => {
  if (market === null || market.marketCid === null) {
    throw new Error("an agreed market has a contract")
  }
  return market.marketCid
}

/**
 * The claims that earlier gates left over for this cut-off, as many as one ledger transaction can
 * settle: opening the cycle joins them to it. A claim too small to be paid at the last price is left out.
 */
const waitingFor = Effect.fnUntraced(function* (
  market: { readonly terms: { readonly oracle: Party.Party } } | null,
  of: { readonly instrumentId: InstrumentId; readonly cutOffAt: Instant.Instant }
) {
  const records = yield* Records
  const { inputsMax } = yield* Settings
  const lastPrice = yield* lastPriceOf(of, market?.terms.oracle ?? null)
  const found = yield* Stream.runCollect(
    records.stream(redemptions, { where: { waiting: [dealtAt(of)] } })
  )
  const payable = found
    .map(({ record }) => record)
    .filter((order) => lastPrice === null || isPayable(order, lastPrice))
  const room = payable.findIndex(
    (_, index) => inputsOf({ subscriptions: 0, redemptions: index + 1 }) > inputsMax
  )
  return payable
    .slice(0, room === -1 ? payable.length : room)
    .flatMap(({ claimCid }) => (claimCid === null ? [] : [claimCid]))
})

/** Look-ups and checks of opening: an existing cycle, which is no gate, then the checks. */
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
  const standing = { holds, instrument, market, inputsMax }
  return { opened, market, slot, rows: Gates.againstOpening(standing, rows) }
})

/** The reservation of a cut-off; an open cycle for it refuses another. */
const slotOf = Effect.fnUntraced(function* (
  of: Parameters<typeof dealtAt>[0],
  { operationId }: OperationAct
) {
  const records = yield* Records
  const slotId = dealtAt(of)
  const known = Option.getOrNull(yield* records.find(cycleSlots, slotId))
  const inTheWay =
    (yield* openCycleOf(of))?.cycleId ??
    (known === null || (yield* isFree(known, operationId)) ? null : known.cycleId)
  if (inTheWay !== null) {
    return yield* Effect.fail(
      refused("state-conflict", {
        check: DealingCycleMachine.name,
        detail: `The dealing cycle ${inTheWay} is open for this cut-off.`
      })
    )
  }
  return { slotId, known }
})

/**
 * Takes the cut-off for this cycle in the transaction that plans it: there is one open cycle of an
 * instrument and cut-off, even before the ledger has answered.
 */
const take = Effect.fnUntraced(function* (
  { slotId, known }: Effect.Success<ReturnType<typeof slotOf>>,
  cycleId: CycleId,
  act: OperationAct
) {
  const records = yield* Records
  const { operationId } = act
  if (known === null) {
    yield* records
      .open(cycleSlots, { slotId, cycleId, operationId }, act)
      .pipe(Effect.catchTag("Refused", (again) => Effect.die(new Error(again.slug))))
  } else {
    yield* records.record(cycleSlots, known, { on: "take", cycleId, operationId }, act)
  }
})

/** Whether what took the cut-off before is over: its cycle has ended, or its operation failed. */
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
