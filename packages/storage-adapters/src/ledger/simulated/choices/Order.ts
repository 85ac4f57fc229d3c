/**
 * Checks of all orders on the ledger: their signatories, and that a contract passed to an order
 * belongs to it.
 */
import { Decimal, type Party, Rational } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { demand, type Scope } from "../Entity.ts"
import { sameAsset } from "./Registry.ts"

/** Guards of `fitting`. */
export const fittingGuards = [
  "the allocation is for another order",
  "the venue does not execute the allocation",
  "the allocation is another sender's",
  "the allocation goes to another receiver",
  "the allocation is of another asset"
] as const

interface OrderPayment {
  readonly mode: "wire" | "ledger"
  readonly fund: Party.Party | null
  readonly paymentAsset: Templates.Asset | null
}

/**
 * Signatories: the fund and the holder of an order paid on the ledger, the venue alone of one paid
 * by wire.
 */
export const bound = [
  "venue",
  {
    when: "the order is paid on the ledger",
    holds: (self: Pick<OrderPayment, "fund" | "mode">) =>
      self.mode === "ledger" && self.fund !== null,
    parties: ["fund", "holder"]
  }
] as const

/** Precondition of an order: whoever pays on the ledger is named, and what is paid. */
export const isPaidSomehow = [
  "an order paid on the ledger has a fund and an asset that pays",
  (self: OrderPayment) => self.mode === "wire" || (self.fund !== null && self.paymentAsset !== null)
] as const

/** Expected allocation of an order's leg; a different one belongs to another order. */
export interface Order {
  /** Ids by which an allocation or a request may name the order. */
  readonly ids: ReadonlyArray<string | null>
  readonly venue: Party.Party
  readonly sender: Party.Party | null
  readonly receiver: Party.Party | null
  readonly asset: Templates.Asset | null
}

/** Returns the allocation, if it is that of this leg. */
export const fitting = (scope: Scope, order: Order, allocationCid: string) =>
  Result.gen(function* () {
    const allocation = yield* scope.fetch(Templates.Allocation, allocationCid)
    yield* demand(
      [order.ids.includes(allocation.reference), "the allocation is for another order"],
      [allocation.executor === order.venue, "the venue does not execute the allocation"],
      [allocation.sender === order.sender, "the allocation is another sender's"],
      [allocation.receiver === order.receiver, "the allocation goes to another receiver"],
      [
        order.asset !== null && sameAsset(allocation.instrument, order.asset),
        "the allocation is of another asset"
      ]
    )
    return allocation
  })

const ownIntent = (scope: Scope, { ids }: Order, intentCid: string) =>
  Result.flatMap(scope.fetch(Templates.SettlementIntent, intentCid), ({ reference }) =>
    demand([ids.includes(reference.id), "the settlement is of another order"])
  )

/** Completes the venue's request for the order's legs. */
export const complete = (scope: Scope, order: Order, intentCid: string) =>
  Result.gen(function* () {
    yield* ownIntent(scope, order, intentCid)
    yield* scope.exercise(Templates.SettlementIntent, intentCid, "Complete", {})
  })

/** Cancels the allocation, which returns the holding to its sender. */
export const giveBack = (scope: Scope, order: Order, allocationCid: string) =>
  Result.gen(function* () {
    yield* fitting(scope, order, allocationCid)
    return yield* scope.exercise(Templates.Allocation, allocationCid, "Allocation_Cancel", {})
  })

/** Withdraws the venue's request for the order's legs. */
export const takeBack = (scope: Scope, order: Order, intentCid: string) =>
  Result.gen(function* () {
    yield* ownIntent(scope, order, intentCid)
    const withdraw = "AllocationRequest_Withdraw"
    yield* scope.exercise(Templates.SettlementIntent, intentCid, withdraw, {})
  })

/** Releases the cash of an order, and withdraws the venue's request for it. */
export const letGo = (
  scope: Scope,
  order: Order,
  {
    allocationCid,
    intentCid
  }: { readonly allocationCid: string | null; readonly intentCid: string | null }
) =>
  Result.gen(function* () {
    if (allocationCid !== null) yield* giveBack(scope, order, allocationCid)
    if (intentCid !== null) yield* takeBack(scope, order, intentCid)
    return {}
  })

interface Worth {
  readonly units: Decimal.Decimal
  readonly price: Decimal.Decimal
}

/** Value of units at a price, unrounded. */
export const worth = ({ units, price }: Worth): Rational.Rational =>
  Rational.multiply(Rational.of(units), Rational.of(price))

/** Price and units of a contract, and the places of shown units where its instrument rebases. */
export interface CountedUnits extends Worth {
  readonly shownDecimals?: number | null | undefined
}

/** Precondition of a contract that names the places of shown units. */
export const isShownPlaces = [
  "shown units have no more places than the ledger",
  ({ shownDecimals = null }: Pick<CountedUnits, "shownDecimals">) =>
    shownDecimals === null || shownDecimals <= Decimal.places
] as const

/** Units that holders are shown for base units at an index: half up at the places that are shown. */
const shown = ({ price, units }: Worth, places: number): Decimal.Decimal =>
  Rational.round(worth({ price, units }), { places, rounding: "half-up" })

/** Base units of units that are shown at an index: half up at ten places. */
const based = ({ price, units }: Worth): Decimal.Decimal =>
  Rational.round(Rational.divide(Rational.of(units), Rational.of(price)), {
    places: Decimal.places,
    rounding: "half-up"
  })

/**
 * Value of the units of an order, unrounded; of a rebasing instrument, whose price is the index, that of
 * the units shown, each of which is worth 1.
 */
export const worthOf = ({ price, shownDecimals = null, units }: CountedUnits): Rational.Rational =>
  shownDecimals === null
    ? worth({ price, units })
    : Rational.of(shown({ price, units }, shownDecimals))

/**
 * Checks that units are those ordered. Of a rebasing instrument, which orders in shown units, they are the
 * base units of these, or any that show them.
 */
export const areOrdered = (
  ordered: Decimal.Decimal | null,
  { price, shownDecimals = null, units }: CountedUnits
): boolean => {
  if (ordered === null) return true
  if (shownDecimals === null) return ordered === units
  return (
    units === based({ price, units: ordered }) || shown({ price, units }, shownDecimals) === ordered
  )
}

const most = Rational.of(Decimal.of(`1${"0".repeat(26)}`))

/** Checks whether the value, with fees added, stays within the range of decimals. */
export const isCountable = (figures: Worth): boolean => Rational.atMost(worth(figures), most)
