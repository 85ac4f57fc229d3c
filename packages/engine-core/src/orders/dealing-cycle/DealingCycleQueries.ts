/** Queries of dealing cycles: the list, and one in detail, also with what-if figures. */
import { Effect, Schema } from "effect"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Counterfactual from "../../instruments/policy/Counterfactual.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Read from "../../reads/Read.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { subscriptions } from "../subscription/Subscription.ts"
import { CycleId, type DealingCycle, dealingCycles, DealingCycleMachine } from "./DealingCycle.ts"
import * as DealingCycleDetail from "./DealingCycleDetail.ts"
import { idsOf, isNone, none, ordersIn } from "./DealingCycleOrders.ts"
import { ordersNaming } from "./CycleOrderLookups.ts"
import * as DealingCycleView from "./DealingCycleView.ts"
import { settlementNow, swungBy, whatIf } from "./WhatIfLookups.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all",
  app: "all",
  investor: "own"
} as const satisfies Read.Audience

/** Returns the holder whose orders alone the caller sees; null: the caller sees all. */
const holderOf = (asking: Pick<Read.ReadContext, "caller" | "sight">): string | null =>
  asking.sight === "own" ? asking.caller.holderId : null

export const list = Read.list({
  name: "dealing-cycles.list",
  doc: "Lists dealing cycles; an investor sees those it has an order in, and of the orders its own.",
  route: "GET /v1/dealing-cycles",
  audience,
  pinned: true,
  collection: dealingCycles,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(DealingCycleMachine.schema)),
    instrumentId: Schema.optionalKey(InstrumentId)
  }),
  item: DealingCycleView.DealingCycleView,
  direction: "asc",
  order: "by id",
  changes: false,
  where: ({ state, instrumentId }) => ({
    ...(state === undefined ? {} : { state }),
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] })
  }),
  scope: Sight.scopeElsewhere,
  narrow: Effect.fn("dealing-cycles.list.narrow")(function* (_, asking) {
    const holderId = holderOf(asking)
    if (holderId === null) return {}
    const records = yield* Records
    const query = { pin: asking.pin, where: { holderId: [holderId] } }
    const bought = yield* records.countBy(subscriptions, "cycleId", query)
    const sold = yield* records.countBy(redemptions, "cycleId", query)
    return { cycleId: [...new Set([...bought.keys(), ...sold.keys()])].toSorted() }
  }),
  view: (records, asking) => viewsOf(records, { pin: asking.pin, holderId: holderOf(asking) })
})

export const get = Read.one({
  name: "dealing-cycles.get",
  doc: "A dealing cycle with its legs and the basis of its figures; with a price or a policy version, what it would come to under those. An investor sees its own orders' alone.",
  route: "GET /v1/dealing-cycles/{cycleId}",
  audience,
  pinned: true,
  params: Schema.Struct({
    cycleId: CycleId,
    ...Counterfactual.fields
  }),
  value: DealingCycleDetail.DealingCycleDetail,
  refuses: ["not-found", "permission-denied"],
  run: Effect.fn("dealing-cycles.get")(function* ({ cycleId, ...supposition }, asking) {
    const holderId = holderOf(asking)
    const { pin } = asking
    const isAsked = Counterfactual.isAsked(supposition)
    if (isAsked && asking.sight === "own") {
      return yield* Effect.fail(
        refused("permission-denied", {
          detail: "What a cycle would come to rests on the orders of all holders."
        })
      )
    }
    const records = yield* Records
    const cycle = yield* records.get(dealingCycles, cycleId, pin)
    const named = (yield* ordersNaming([cycle], { pin, holderId })).get(cycleId) ?? none
    const orders = ordersIn(cycle, named)
    // A caller limited to its own orders, and without a holder, has none.
    if (asking.sight === "own" && (holderId === null || isNone(orders))) {
      return yield* Effect.fail(
        refused("not-found", { detail: `There is no such ${dealingCycles.name}.` })
      )
    }
    const view =
      holderId === null
        ? DealingCycleView.of(cycle, idsOf(orders))
        : DealingCycleView.ofHolder(cycle, named)
    const sources = { view, orders, offset: pin.offset }
    const supposed = isAsked ? yield* whatIf(cycle, orders, { supposition, pin }) : null
    if (supposed !== null) return DealingCycleDetail.ifDealt(cycle, sources, supposed)
    const settlement = holderId === null ? yield* settlementNow(cycle, orders, pin) : null
    if (settlement !== null) return DealingCycleDetail.settling(cycle, sources, settlement)
    const swinging = holderId === null ? yield* swungBy(cycle, pin) : null
    return DealingCycleDetail.of(cycle, { ...sources, swinging })
  })
})

/** Pin of the read, and the holder whose orders alone the caller sees; null: the caller sees all. */
interface Scope {
  readonly pin: Pin.ResolvedPin
  readonly holderId: string | null
}

/**
 * Makes the views of a page of cycles. A settled cycle lists its orders. The orders of the others, and
 * all orders of a caller limited to its own, are loaded for the whole page at once.
 */
const viewsOf = Effect.fnUntraced(function* (
  cycles: ReadonlyArray<Stored<DealingCycle>>,
  scope: Scope
) {
  const cyclesToLoad =
    scope.holderId === null ? cycles.filter(({ endedAs }) => endedAs !== "settled") : cycles
  const named = yield* ordersNaming(cyclesToLoad, scope)
  return yield* Effect.forEach(cycles, (cycle) =>
    Effect.gen(function* () {
      const found = named.get(cycle.cycleId)
      if (found === undefined) return DealingCycleView.of(cycle)
      if (scope.holderId !== null) return DealingCycleView.ofHolder(cycle, found)
      const orders = ordersIn(cycle, found)
      const view = DealingCycleView.of(cycle, idsOf(orders))
      const settlement = yield* settlementNow(cycle, orders, scope.pin)
      return settlement === null ? view : DealingCycleView.settling(view, settlement)
    })
  )
})

export const queries = [list, get] as const
