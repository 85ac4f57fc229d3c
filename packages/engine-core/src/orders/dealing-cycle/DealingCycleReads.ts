/** Reads of dealing cycles: all of them, or one with what it comes to. */
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
import { CycleId, type DealingCycle, dealingCycles } from "./DealingCycle.ts"
import { DealingCycleMachine } from "./DealingCycleMachine.ts"
import * as DealingCycleDetail from "./DealingCycleDetail.ts"
import { idsOf, isNone, none, ordersIn } from "./DealingCycleOrders.ts"
import { ordersNaming } from "./CycleOrderLookups.ts"
import * as DealingCycleView from "./DealingCycleView.ts"
import { comingOf, swungBy, whatIf } from "./WhatIfLookups.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all",
  app: "all",
  investor: "own"
} as const satisfies Read.Audience

/** The holder whose orders alone the caller sees; null: everybody's. */
const holderOf = ({ caller, sight }: Pick<Read.Asking, "caller" | "sight">): string | null =>
  sight === "own" ? caller.holderId : null

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
  narrow: Effect.fn("dealing-cycles.narrow")(function* (_, asking) {
    const holderId = holderOf(asking)
    if (holderId === null) return {}
    const records = yield* Records
    const query = { pin: asking.pin, where: { holderId: [holderId] } }
    const bought = yield* records.countBy(subscriptions, "cycleId", query)
    const sold = yield* records.countBy(redemptions, "cycleId", query)
    return { cycleId: [...new Set([...bought.keys(), ...sold.keys()])].toSorted() }
  }),
  view: (records, asking) => many(records, { pin: asking.pin, holderId: holderOf(asking) })
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
  run: Effect.fn("dealing-cycles.get")(function* ({ cycleId, ...asked }, asking) {
    const holderId = holderOf(asking)
    const { pin } = asking
    const isAsked = Counterfactual.isAsked(asked)
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
    // A sign-in that names no holder has no order anywhere.
    if (asking.sight === "own" && (holderId === null || isNone(orders))) {
      return yield* Effect.fail(
        refused("not-found", { detail: `There is no such ${dealingCycles.name}.` })
      )
    }
    const view =
      holderId === null
        ? DealingCycleView.of(cycle, idsOf(orders))
        : DealingCycleView.own(cycle, named)
    const behind = { view, orders, offset: pin.offset }
    const then = isAsked ? yield* whatIf(cycle, orders, { asked, pin }) : null
    if (then !== null) return DealingCycleDetail.ifDealt(cycle, behind, then)
    const coming = holderId === null ? yield* comingOf(cycle, orders, pin) : null
    if (coming !== null) return DealingCycleDetail.settling(cycle, behind, coming)
    const swinging = holderId === null ? yield* swungBy(cycle, pin) : null
    return DealingCycleDetail.of(cycle, { ...behind, swinging })
  })
})

/** At which point, and whose orders: everybody's where there is no holder. */
interface Seen {
  readonly pin: Pin.Resolved
  readonly holderId: string | null
}

/**
 * The cycles of a page. A settled one knows its orders; those of the others are looked up, in one go
 * for all, and so are those of a holder that sees nobody else's.
 */
const many = Effect.fnUntraced(function* (cycles: ReadonlyArray<Stored<DealingCycle>>, seen: Seen) {
  const asked =
    seen.holderId === null ? cycles.filter(({ endedAs }) => endedAs !== "settled") : cycles
  const named = yield* ordersNaming(asked, seen)
  return yield* Effect.forEach(cycles, (cycle) =>
    Effect.gen(function* () {
      const found = named.get(cycle.cycleId)
      if (found === undefined) return DealingCycleView.of(cycle)
      if (seen.holderId !== null) return DealingCycleView.own(cycle, found)
      const orders = ordersIn(cycle, found)
      const view = DealingCycleView.of(cycle, idsOf(orders))
      const coming = yield* comingOf(cycle, orders, seen.pin)
      return coming === null ? view : DealingCycleView.settling(view, coming)
    })
  )
})

export const reads = [list, get] as const
