/**
 * Pricing of orders: points published and corrected, and the units and cash of an order at a price.
 */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import * as B from "../books.ts"
import { atoms, type Atoms, plain, whole, written } from "./figures.ts"
import type { Contract } from "./ledger-observer.ts"
import { baseOf, isRebasing, metricOf, nextIndex, shownOf, valuedAt } from "./rebasing.ts"
import { type Fund, note, type Order, type Town } from "./town.ts"
import { moves } from "./paying.ts"
import * as Wallets from "./wallets.ts"

/** The last point before an order's claim, as the oracle has it on the ledger. */
const historicPointOf = (town: Town, { fund }: Order, claim: Contract) => {
  const points = [...town.observer.all("OraclePoint").values()].filter(
    (one) =>
      Wallets.member(one, "instrumentId") === fund.instrumentId &&
      Wallets.member(one, "metric") === metricOf(fund) &&
      valuedAt(one) < claim.effectiveAt
  )
  return points.reduce<Contract | undefined>(
    (last, one) => (last === undefined || valuedAt(one) >= valuedAt(last) ? one : last),
    undefined
  )
}

/** The point that prices an order, as the oracle has it on the ledger. */
const pointOf = (town: Town, order: Order, claim: Contract) => {
  const { cutOffAt, fund } = order
  if (fund.pricing === "historic") return historicPointOf(town, order, claim)
  if (cutOffAt === null) return undefined
  for (const one of town.observer.all("OraclePoint").values()) {
    if (Wallets.member(one, "instrumentId") !== fund.instrumentId) continue
    if (Wallets.member(one, "metric") !== metricOf(fund)) continue
    if (Instant.of(Wallets.member(one, "valuationTime")) === cutOffAt) return one
  }
  return undefined
}

/** A ten-thousandth, in atoms. */
const tenThousandth: Atoms = whole / 10_000n

/** A price by chance. */
const anyPrice = (town: Town): Atoms => BigInt(9_000 + town.die.roll(2_000)) * tenThousandth

const day = 86_400_000

/**
 * Price of an accumulating fund that distributes: after each record date it goes ex,
 * and later it rises; now and then it does as it likes.
 */
const priceGoingEx = (
  town: Town,
  { recordDay }: { readonly recordDay: number },
  at: Instant.Instant
): Atoms => {
  const { die } = town
  if (die.once(12)) return anyPrice(town)
  const date = new Date(Number(at / 1_000_000n))
  const isAfter = date.getUTCDate() > recordDay
  const record = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - (isAfter ? 0 : 1), recordDay)
  const days = Math.floor((date.getTime() - record) / day)
  return BigInt(10_000 + Math.max(0, days - 12) * 40 + die.roll(81) - 40) * tenThousandth
}

/** Worth of a unit of a fund at an instant; of a rebasing one the index. */
export const priceOf = (town: Town, fund: Fund, at: Instant.Instant): Atoms => {
  const { distribution, valuation } = fund
  if (valuation === "par") return whole
  if (isRebasing(fund)) return nextIndex(town, fund)
  return distribution === null ? anyPrice(town) : priceGoingEx(town, distribution, at)
}

/** The oracle publishes what a day's orders deal at; their cut-off has come, or it waits. */
const publishes = Effect.fnUntraced(function* (town: Town, order: Order) {
  const { cutOffAt, fund } = order
  const now = yield* Instant.now
  // An oracle knows its own publications, before the engine reads them.
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
      metric: metricOf(fund),
      value: Decimal.of(written(price)),
      valuationTime: Instant.fromNanos(cutOffAt),
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )
  if (done) town.published.add(day)
})

/** Whether the ledger shows every index that was signed; the oracle knows its own before. */
const knowsIndices = (town: Town): boolean => {
  let shown = 0
  for (const one of town.observer.every("OraclePoint").values()) {
    if (Wallets.member(one, "metric") === "index") shown += 1
  }
  return shown >= town.indices
}

/** The oracle of a rebasing fund publishes an index of now; seldom of a day long past. */
export const indexes = Effect.fnUntraced(function* (town: Town) {
  const { die } = town
  const fund = town.funds.find(isRebasing)
  if (fund === undefined) return
  const now = yield* Instant.now
  const ago = die.once(6) ? BigInt(die.roll(30 * 24)) * 3_600_000_000_000n : 0n
  yield* statesIndex(town, fund, now - ago)
})

/** The oracle of a rebasing fund publishes an index that is valued within the second before an instant. */
const statesIndex = Effect.fnUntraced(function* (town: Town, fund: Fund, before: bigint) {
  // No cut-off is at the same instant.
  const valuationTime = Instant.fromNanos(before - BigInt(1 + town.die.roll(999_000)) * 1_000n)
  const done = yield* Wallets.act(
    town,
    fund.oracle,
    "publishes an index",
    Templates.create(Templates.OraclePoint, {
      oracle: fund.oracle.party,
      venue: town.venue,
      fund: fund.fund.party,
      registrar: fund.registrar.party,
      attestors: [],
      instrumentId: fund.instrumentId,
      metric: "index",
      value: Decimal.of(written(nextIndex(town, fund))),
      valuationTime,
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )
  if (done) town.indices += 1
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
  const done = yield* Wallets.act(
    town,
    fund.oracle,
    "corrects",
    Templates.exercise(Templates.OraclePoint, point.cid, "Correct", {
      value: Decimal.of(written(isRebasing(fund) ? nextIndex(town, fund) : anyPrice(town))),
      valuationTime: Instant.of(Wallets.member(point, "valuationTime")),
      period: null,
      withholdingRate: null,
      statementRef: null
    })
  )
  if (done && isRebasing(fund)) town.indices += 1
})

/** An order priced, by the books' own arithmetic: shown units of a rebasing fund are worth 1 each. */
const comesTo = (
  order: Order,
  supply: { readonly published: Atoms; readonly free: Atoms | null }
): NonNullable<Order["priced"]> => {
  const { free, published } = supply
  if (!isRebasing(order.fund)) {
    const figures = dealtAt(order, published)
    return { ...figures, moved: figures.units, price: published }
  }
  const all = free === null ? null : allOf(order, { index: published, free })
  if (all !== null) return { ...all, price: published }
  const figures = dealtAt(order, whole)
  return { ...figures, moved: baseOf(figures.units, published), price: published }
}

/** Figures of an order for all free base units of a holder, or for what they are worth; null: it is for another number. */
const allOf = (
  { amount, fund, kind, ordered }: Order,
  { free, index }: { readonly free: Atoms; readonly index: Atoms }
) => {
  if (kind === "subscription") return null
  const units = shownOf(free, { ...fund, index })
  const cash = B.paid(units, whole, fund.fees[kind])
  const isAll = amount === null ? ordered === units : cash === amount
  return isAll ? { units, moved: free, cash, refund: 0n } : null
}

const dealtAt = (order: Order, price: Atoms) => {
  const { amount, fund, kind, ordered } = order
  const { atom, residual } = fund
  const feeRate = fund.fees[kind]
  const none = { refund: 0n }
  if (kind === "subscription") {
    const units = amount === null ? (ordered ?? 0n) : B.bought(amount, price, feeRate, atom)
    if (amount === null) return { ...none, units, cash: B.costs(units, price, feeRate) }
    const refund = residual === "refund" ? B.refunded(amount, price, feeRate, units) : 0n
    return { units, cash: amount, refund }
  }
  if (amount !== null) return { ...none, units: B.sold(amount, price, feeRate, atom), cash: amount }
  return { ...none, units: ordered ?? 0n, cash: B.paid(ordered ?? 0n, price, feeRate) }
}

export const prices = Effect.fnUntraced(function* (town: Town, order: Order, claim: Contract) {
  if (order.fund.pricing === "historic" && !knowsIndices(town)) return
  const point = pointOf(town, order, claim)
  if (point === undefined) {
    return yield* order.fund.pricing === "historic"
      ? statesIndex(town, order.fund, claim.effectiveAt)
      : publishes(town, order)
  }
  const text = Wallets.member(point, "value")
  const free = Wallets.member(claim, "freeUnits")
  const priced = comesTo(order, { published: atoms(text), free: free === "" ? null : atoms(free) })
  const comesToNone = priced.units === 0n || priced.moved === 0n || priced.cash === 0n
  if (comesToNone) return yield* moves(town, order, "withdraw")
  const { fund, kind } = order
  const price = Decimal.of(text)
  const units = Decimal.of(written(priced.moved))
  const pointCid = point.cid
  const done = yield* kind === "subscription"
    ? Wallets.act(
        town,
        fund.attestor,
        "attests",
        Templates.exercise(Templates.SubscriptionClaim, claim.cid, "Attest", {
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
        Templates.exercise(Templates.RedemptionClaim, claim.cid, "Price", {
          pointCid,
          price,
          units,
          proceeds: Decimal.of(plain(priced.cash, 2))
        })
      )
  if (!done) return
  order.priced = priced
  if (isRebasing(fund)) note(town, `${kind} of base units priced`)
  if (free !== "" && priced.moved === atoms(free)) note(town, "all base units priced")
})
