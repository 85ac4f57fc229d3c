/**
 * Pricing of orders: points published and corrected, and the units and cash of an order at a price.
 */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import * as B from "../books.ts"
import { parts, plain } from "./figures.ts"
import type { Fund, Order, Town } from "./town.ts"
import { moves } from "./paying.ts"
import * as Wallets from "./wallets.ts"

/** The point that prices an order, as the oracle has it on the ledger. */
const pointOf = (town: Town, order: Order) => {
  const { cutOffAt, fund } = order
  if (cutOffAt === null) return undefined
  for (const one of town.observer.all("OraclePoint").values()) {
    if (Wallets.member(one, "instrumentId") !== fund.instrumentId) continue
    if (Wallets.member(one, "metric") !== "price") continue
    if (Instant.of(Wallets.member(one, "valuationTime")) === cutOffAt) return one
  }
  return undefined
}

/** A price in ten-thousandths by chance. */
const anyPrice = (town: Town): bigint => BigInt(9_000 + town.die.roll(2_000))

const day = 86_400_000

/**
 * Price in ten-thousandths of an accumulating fund that distributes: after each record date it goes ex,
 * and later it rises; now and then it does as it likes.
 */
const priceGoingEx = (
  town: Town,
  { recordDay }: { readonly recordDay: number },
  at: Instant.Instant
): bigint => {
  const { die } = town
  if (die.once(12)) return anyPrice(town)
  const date = new Date(Number(at / 1_000_000n))
  const isAfter = date.getUTCDate() > recordDay
  const record = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - (isAfter ? 0 : 1), recordDay)
  const days = Math.floor((date.getTime() - record) / day)
  return BigInt(10_000 + Math.max(0, days - 12) * 40 + die.roll(81) - 40)
}

/** Worth of a unit of a fund at an instant, in ten-thousandths. */
export const priceOf = (
  town: Town,
  { distribution, valuation }: Fund,
  at: Instant.Instant
): bigint => {
  if (valuation === "par") return 10_000n
  return distribution === null ? anyPrice(town) : priceGoingEx(town, distribution, at)
}

/** The oracle publishes what a day's orders deal at; their cut-off has come, or it waits. */
const publishes = Effect.fnUntraced(function* (town: Town, order: Order) {
  const { cutOffAt, fund } = order
  const now = yield* Instant.now
  // An oracle knows what it has published, whoever sees it when.
  const day = `${fund.instrumentId} ${cutOffAt}`
  if (cutOffAt === null || cutOffAt > now || town.published.has(day)) return
  const price = priceOf(town, fund, Instant.fromNanos(cutOffAt))
  const done = yield* Wallets.act(
    town,
    fund.oracle,
    "publishes",
    Templates.create(Templates.OraclePoint, {
      oracle: fund.oracle.party,
      venue: town.venue,
      fund: fund.fund.party,
      registrar: fund.registrar.party,
      attestors: [fund.attestor.party],
      instrumentId: fund.instrumentId,
      metric: "price",
      value: Decimal.of(plain(price, 4)),
      valuationTime: Instant.fromNanos(cutOffAt),
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )
  if (done) town.published.add(day)
})

/** The oracle corrects a point of its own. */
export const corrects = Effect.fnUntraced(function* (town: Town) {
  const { die } = town
  const points = [...town.observer.all("OraclePoint").values()]
  const point = points[die.roll(Math.max(1, points.length))]
  const fund = town.funds.find(
    ({ instrumentId }) =>
      point !== undefined && Wallets.member(point, "instrumentId") === instrumentId
  )
  if (point === undefined || fund === undefined || fund.valuation === "par") return
  yield* Wallets.act(
    town,
    fund.oracle,
    "corrects",
    Templates.exercise(Templates.OraclePoint, point.cid, "Correct", {
      value: Decimal.of(plain(anyPrice(town), 4)),
      valuationTime: Instant.of(Wallets.member(point, "valuationTime")),
      period: null,
      withholdingRate: null,
      statementRef: null
    })
  )
})

/** Units, cash and refund of an order at a price, by the books' own arithmetic. */
const comesTo = (order: Order, price: bigint) => {
  const { amount, fund, kind, ordered } = order
  const { atom, residual } = fund
  const feeRate = fund.fees[kind]
  const none = { price, refund: 0n }
  if (kind === "subscription") {
    const units = amount === null ? (ordered ?? 0n) : B.bought(amount, price, feeRate, atom)
    if (amount === null) return { ...none, units, cash: B.costs(units, price, feeRate) }
    const refund = residual === "refund" ? B.refunded(amount, price, feeRate, units) : 0n
    return { price, units, cash: amount, refund }
  }
  if (amount !== null) return { ...none, units: B.sold(amount, price, feeRate, atom), cash: amount }
  return { ...none, units: ordered ?? 0n, cash: B.paid(ordered ?? 0n, price, feeRate) }
}

export const prices = Effect.fnUntraced(function* (town: Town, order: Order, claimCid: string) {
  const point = pointOf(town, order)
  if (point === undefined) return yield* publishes(town, order)
  const text = Wallets.member(point, "value")
  const priced = comesTo(order, parts(text, 10))
  if (priced.units === 0n || priced.cash === 0n) return yield* moves(town, order, "withdraw")
  const { fund, kind } = order
  const price = Decimal.of(text)
  const units = Decimal.of(plain(priced.units, 6))
  const pointCid = point.cid
  const done = yield* kind === "subscription"
    ? Wallets.act(
        town,
        fund.attestor,
        "attests",
        Templates.exercise(Templates.SubscriptionClaim, claimCid, "Attest", {
          attestor: fund.attestor.party,
          pointCid,
          price,
          units
        })
      )
    : Wallets.act(
        town,
        fund.oracle,
        "prices",
        Templates.exercise(Templates.RedemptionClaim, claimCid, "Price", {
          pointCid,
          price,
          units,
          proceeds: Decimal.of(plain(priced.cash, 2))
        })
      )
  if (done) order.priced = priced
})
