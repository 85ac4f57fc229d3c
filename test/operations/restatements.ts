/** Restatements as they are read, and scenes that deal the same orders and months at any point. */
import { type Caller, Queries, Records } from "@bursar/engine-core"
import { Decimal, type Instant } from "@bursar/engine-core/kernel"
import { Effect, Option, Stream } from "effect"
import { assetKeyOf } from "#core/instruments/register/Holding.ts"
import { supplies } from "#core/instruments/register/Supply.ts"
import { swungOf } from "#core/orders/dealing-cycle/DealingCycleRules.ts"
import { dealingDays } from "#core/orders/dealing-cycle/DealingDay.ts"
import type { Redemption } from "#core/orders/redemption/Redemption.ts"
import { figuresAt } from "#core/orders/redemption/RedemptionPricing.ts"
import type { Subscription } from "#core/orders/subscription/Subscription.ts"
import { dealingOf } from "#core/orders/subscription/SubscriptionPricing.ts"
import { byAmount } from "#core/orders/subscription/SubscriptionRules.ts"
import type {
  RestatedRow,
  RestatedTotal,
  RestatementHeader
} from "#core/reconciliation/restatement/Restatement.ts"
import * as RestatementQueries from "#core/reconciliation/restatement/RestatementQueries.ts"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

/** The report of a correction, with all its rows. */
export const report = (
  id: string,
  options: { readonly caller?: Caller.Caller; readonly asOf?: Instant.Instant } = {}
) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const answer = yield* queries.streamed(RestatementQueries.get, {
      caller: options.caller ?? Calls.person("ada", "auditor"),
      params: { externalStatementId: id as never },
      point: options.asOf === undefined ? {} : { asOf: options.asOf }
    })
    const rows = yield* Stream.runCollect(answer.rows ?? Stream.die("a report has rows"))
    const totals = yield* answer.totals ?? Effect.die("a report has totals")
    return { now: answer.now, header: answer.record, rows: [...rows], totals }
  })
export interface Report {
  readonly header: RestatementHeader
  readonly rows: ReadonlyArray<RestatedRow>
  readonly totals: ReadonlyArray<RestatedTotal>
}

const plain = Decimal.formatPlain

/** A row as text: what it is about, and the figure as it was and should have been. */
export const textOf = ({ field, id, owed, resourceKind, should, unit, was }: RestatedRow) =>
  `${resourceKind} ${id} ${field}: ${plain(was)} -> ${plain(should)}, owed ${plain(owed)} ${unit}`

export interface Ordered {
  readonly id: string
  readonly kind: "subscription" | "redemption"
  readonly by: "amount" | "units"
  readonly size: string
}

const cutOff = Cycles.friday

/** Price of the orders of the cut-off by a point, as the engine's record of the day swings it. */
const dayPrice = (
  stage: Fund.Parties,
  point: string,
  swing: Parameters<typeof swungOf>[0]["swing"]
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const [day] = yield* records.list(dealingDays, { limit: 10 })
    const key = assetKeyOf({ registrar: stage.registrar.party, instrumentId: "fund-a" as never })
    const outstanding = Option.match(yield* records.find(supplies, key), {
      onNone: () => Decimal.zero,
      onSome: ({ units }) => units
    })
    if (day === undefined) throw new Error("nothing was ordered")
    const price = Decimal.of(point)
    return swungOf({ price, ordered: day.record.ordered, outstanding, swing }) ?? price
  })

export interface Terms {
  readonly fees: { readonly subscription: number; readonly redemption: number }
  readonly swing: { readonly threshold: number; readonly up: number; readonly down: number } | null
  readonly residual: "refund" | "fund"
  readonly unitDecimals: number
  readonly valuation?: "par" | "accumulating"
  readonly parValue?: number
}

/** Deals orders of one holder by wire at a point, each priced by its attestor or oracle; their figures. */
export const deals = (orders: ReadonlyArray<Ordered>, point: string, terms: Terms) =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Cycles.opened(["h1"], { ...terms })
    const [holder] = holders
    if (holder === undefined) throw new Error("no holder")
    yield* Powers.mints(stage, holder, "1000000")
    for (const { by, id, kind, size } of orders) {
      const name = kind === "subscription" ? { subscriptionId: id } : { redemptionId: id }
      const order = { instrumentId: "fund-a", holderId: "h1", payment: "wire" }
      const body = { ...name, ...order, [by]: Number(size) }
      const { why } = yield* Calls.write(`${kind}.claim`, {}, body)
      if (why !== "") throw new Error(`${id} is refused: ${why}`)
    }
    yield* Cycles.at(cutOff)
    yield* Fund.publishes(stage, point, cutOff)
    const swing =
      terms.swing === null
        ? null
        : {
            threshold: Decimal.of(String(terms.swing.threshold)),
            up: Decimal.of(String(terms.swing.up)),
            down: Decimal.of(String(terms.swing.down))
          }
    const price = yield* dayPrice(stage, point, swing)
    for (const { id, kind } of orders) {
      if (kind === "subscription") {
        const self: Subscription = yield* Cycles.subscription(id)
        const units =
          self.amount === null ? self.units : byAmount(self.amount, dealingOf(self, price)).units
        yield* Cycles.attests(stage, { id, units: plain(units!), price: plain(price) })
      } else {
        const self: Redemption = yield* Cycles.redemption(id)
        const { proceeds, units } = figuresAt(self, price)
        const signed = { units: plain(units), proceeds: plain(proceeds), price: plain(price) }
        yield* Cycles.pays(stage, { id, ...signed })
      }
    }
    // The projection finds no figure that its own rules do not give.
    const breaches = yield* Fund.surprises
    if (breaches.length > 0) throw new Error(breaches.join())
    return stage
  })

/** Figures of dealt orders from the holder: what it pays or gives is below 0. */
export const figuresOf = (orders: ReadonlyArray<Ordered>) =>
  Effect.gen(function* () {
    const figures = new Map<string, Decimal.Decimal>()
    for (const { by, id, kind } of orders) {
      if (kind === "subscription") {
        const { cash, refund, units } = yield* Cycles.subscription(id)
        if (by === "amount") {
          figures.set(`${id} units`, units!).set(`${id} refund`, refund!)
        } else figures.set(`${id} cash`, Decimal.negate(cash.expected!))
      } else {
        const { proceeds, units } = yield* Cycles.redemption(id)
        if (by === "units") figures.set(`${id} proceeds`, proceeds!)
        else figures.set(`${id} units`, Decimal.negate(units!))
      }
    }
    return figures
  })

export interface Month {
  readonly payout: "units" | "cash"
  readonly units: ReadonlyArray<string>
  /** Price from which income is counted, dated 29 June. */
  readonly ex: string
  /** Price at the end of July. */
  readonly cum: string
}

/** Executes July of an accumulating fund; the figures of its lines, by holder. */
export const executes = ({ cum, ex, payout, units }: Month) =>
  Effect.gen(function* () {
    const ids = units.map((_, n) => `h${n + 1}`)
    const { stage, holders } = yield* Executions.founded(ids, {
      ...Executions.accumulating,
      distribution: { ...Executions.accumulating.distribution, payout }
    })
    const price = { metric: "price" } as const
    yield* Executions.publishes(stage, ex, "2026-06-29T11:00:00Z", price)
    for (const [n, holder] of holders.entries()) yield* Powers.mints(stage, holder, units[n]!)
    yield* Cycles.at("2026-07-31T12:00:00Z")
    yield* Executions.publishes(stage, cum, "2026-07-31T11:00:00Z", price)
    yield* Cycles.at("2026-08-01T00:02:00Z")
    const july = { instrumentId: "fund-a", month: "2026-07" }
    const { why } = yield* Calls.write("distribution.execute", {}, july)
    if (why !== "") throw new Error(why)
    const lines = yield* Executions.linesOf("fund-a.2026-07")
    return new Map(lines.map((line) => [line.holderId, line]))
  })
