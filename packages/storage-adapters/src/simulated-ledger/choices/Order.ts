/**
 * Checks of all orders on the ledger: their signatories, and that a contract passed to an order
 * belongs to it.
 */
import { Decimal, type Party, Rational } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { demand, type Scope } from "../Entity.ts"
import { sameAsset } from "./Registry.ts"

interface Signed {
  readonly venue: Party.Party
  readonly holder: Party.Party
  readonly fund: Party.Party | null
  readonly mode: "wire" | "ledger"
}

/**
 * Signatories: the fund and the holder of an order paid on the ledger, the venue alone of one paid
 * by wire.
 */
export const bound = (self: Signed): ReadonlyArray<Party.Party> =>
  self.mode === "ledger" && self.fund !== null ? [self.venue, self.fund, self.holder] : [self.venue]

export const custodianOf = ({ custodian }: { readonly custodian: Party.Party | null }) =>
  custodian === null ? [] : [custodian]

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
  of: { readonly allocationCid: string | null; readonly intentCid: string | null }
) =>
  Result.gen(function* () {
    if (of.allocationCid !== null) yield* giveBack(scope, order, of.allocationCid)
    if (of.intentCid !== null) yield* takeBack(scope, order, of.intentCid)
    return {}
  })

interface Worth {
  readonly units: Decimal.Decimal
  readonly price: Decimal.Decimal
}

/** Value of units at a price, unrounded. */
export const worth = ({ units, price }: Worth): Rational.Rational =>
  Rational.multiply(Rational.of(units), Rational.of(price))

const most = Rational.of(Decimal.of(`1${"0".repeat(26)}`))

/** Checks whether the value, with fees added, stays within the range of decimals. */
export const isCountable = (of: Worth): boolean => Rational.atMost(worth(of), most)
