/**
 * Checks shared by all orders on the ledger: signatories, and that a contract passed for an order
 * is its own.
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

/** Paid on the ledger, the fund and the holder have signed; paid by wire, the venue alone. */
export const bound = (self: Signed): ReadonlyArray<Party.Party> =>
  self.mode === "ledger" && self.fund !== null ? [self.venue, self.fund, self.holder] : [self.venue]

export const custodianOf = ({ custodian }: { readonly custodian: Party.Party | null }) =>
  custodian === null ? [] : [custodian]

/** Expected allocation of an order's leg; a different one belongs to another order. */
export interface Order {
  /** The names an allocation or a request may call the order by. */
  readonly ids: ReadonlyArray<string | null>
  readonly venue: Party.Party
  readonly sender: Party.Party | null
  readonly receiver: Party.Party | null
  readonly asset: Templates.Asset | null
}

/** The allocation, if it is this leg's. */
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

/** The venue's request for the order's legs is done with. */
export const complete = (scope: Scope, order: Order, intentCid: string) =>
  Result.gen(function* () {
    yield* ownIntent(scope, order, intentCid)
    yield* scope.exercise(Templates.SettlementIntent, intentCid, "Complete", {})
  })

/** The allocation is undone, and its sender has what it allocated. */
export const giveBack = (scope: Scope, order: Order, allocationCid: string) =>
  Result.gen(function* () {
    yield* fitting(scope, order, allocationCid)
    return yield* scope.exercise(Templates.Allocation, allocationCid, "Allocation_Cancel", {})
  })

/** The venue's request for the order's legs is taken back. */
export const takeBack = (scope: Scope, order: Order, intentCid: string) =>
  Result.gen(function* () {
    yield* ownIntent(scope, order, intentCid)
    const withdraw = "AllocationRequest_Withdraw"
    yield* scope.exercise(Templates.SettlementIntent, intentCid, withdraw, {})
  })

/** The venue lets the cash of an order go back, and takes back its request for it. */
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

/** Whether what they are worth is a figure that fees can be added to and still be counted. */
export const isCountable = (of: Worth): boolean => Rational.atMost(worth(of), most)
