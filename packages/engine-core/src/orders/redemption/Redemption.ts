/** Record and collection of redemptions: orders that give units back for cash, from claim to settlement. */
import { Schema } from "effect"
import * as events from "../events.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Field from "../../templates/Field.ts"
import type { ControlEventType } from "../../vocabulary/EventType.ts"
import { unitsStand } from "../AllocationRules.ts"
import * as OpenOrder from "../OpenOrder.ts"
import { dealtAt } from "../dealing-cycle/DealingCycle.ts"
import * as Order from "../order/Order.ts"
import { Allocated } from "../order/OrderFacts.ts"
import { evolve, Fact, RedemptionMachine } from "./RedemptionMachine.ts"
import * as RedemptionOrder from "./RedemptionOrder.ts"

export const RedemptionId = RecordId.make("RedemptionId")
export type RedemptionId = typeof RedemptionId.Type

const { NullOr } = Schema

export const Redemption = Schema.Struct({
  redemptionId: RedemptionId,
  ...Order.parties,
  state: RedemptionMachine.schema,
  /** `amount` is paid exactly; `units` are the burned units, once it has settled. */
  ...Order.ordered,
  /** The cash that the holder is paid; null before pricing. */
  proceeds: NullOr(Decimal.schema),
  ...Order.dealing,
  ...Order.settling,
  burnRequestCid: NullOr(Field.contractId),
  fundedAt: NullOr(Instant.schema),
  burnedAt: NullOr(Instant.schema),
  settledAt: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  endedAs: NullOr(Schema.Literals(["settled", "released", "withdrawn"])),
  /** The redemption of which this order is the remainder after a partial fill. */
  remainderOf: NullOr(Schema.String),
  ...Order.terms,
  zone: Zone.schema,
  /** The oracle that prices it. */
  oracle: Party.schema,
  /** The custodian that requests the burn for the holder; null: the holder requests it. */
  custodian: NullOr(Party.schema),
  /** Base units of a rebasing instrument that the holder had free at the claim; null: its claim names none. */
  freeUnits: Field.optional(Decimal.schema),
  ...Order.onLedger,
  pricedCid: NullOr(Field.contractId),
  intentCid: NullOr(Field.contractId),
  /** Allocation of the holder's units. */
  unitsAllocation: NullOr(Allocated),
  /** Allocation of the fund's cash. */
  allocation: NullOr(Allocated)
}).annotate({ identifier: "Redemption", description: "An order that gives units back for cash." })
export type Redemption = typeof Redemption.Type

/** Checks whether its units are still the holder's. */
const unburned = (self: Redemption): boolean =>
  self.state === "claimed" || self.state === "priced" || self.state === "funded"

/** Judges the order state at an instant: the step that the order still needs before its value date. */
export const orderStateAt = (self: Redemption, now: Instant.Instant) =>
  RedemptionOrder.RedemptionOrder.judge({
    state: self.state,
    payment: self.payment,
    unitsAllocated: unitsStand(self),
    burnRequested: self.burnRequestCid !== null,
    // The fund pays a cycle's orders by the cycle's net and allocates nothing for one of them. A burned
    // redemption has left its cycle, and needs an allocation of its own.
    cashStands: Order.cashStands(self) || (self.cycleId !== null && unburned(self)),
    settleBy: self.settleBy,
    now
  })

const openEntryOf = (self: Redemption): OpenOrder.Entry => ({
  kind: "redemption",
  state: orderStateAt(self, OpenOrder.untimed),
  until: self.state === "priced" || self.state === "funded" ? self.settleBy : null
})

/** Checks whether its units can be burned and paid in one transaction: priced, without a burn request. */
export const isExchangeable = (self: Redemption): boolean =>
  (self.state === "priced" || self.state === "funded") && self.burnRequestCid === null

/** Checks whether it takes units of the holder that are not locked for it. */
export const isPledging = (self: Redemption): boolean =>
  unburned(self) && self.unitsAllocation === null && self.burnRequestCid === null

/**
 * Clears the deadline of a priced redemption that a snapshot of the ledger shows without units set aside
 * for it: its units may have been burned meanwhile, and the engine must not release by itself what the
 * fund may owe (docs/domain/orders.md#after-a-snapshot).
 */
export const unexpiring = (self: Redemption): Redemption =>
  self.state === "priced" && isPledging(self) ? { ...self, settleBy: null } : self

/** Returns the units that the order takes and that are not locked for it; zero before an order by amount is priced. */
export const pledgedOf = (self: Redemption): Decimal.Decimal =>
  isPledging(self) ? (self.units ?? Decimal.zero) : Decimal.zero

/** Returns the units that a priced order burns, base units of a rebasing instrument; null before the price. */
export const burnedBy = (
  self: Pick<Redemption, "baseUnits" | "index" | "units">
): Decimal.Decimal | null => (self.index === null ? self.units : self.baseUnits)

const isWaiting = ({ cycleId, remainderOf, state }: Redemption): boolean =>
  remainderOf !== null && cycleId === null && state === "claimed"

/** Key of a holder's position in an instrument, for the index of redemptions that take its units. */
export const pairOf = ({
  holderId,
  instrumentId
}: Pick<Redemption, "holderId" | "instrumentId">): string => `${holderId}/${instrumentId}`

export const redemptions = Collection.define<Redemption, Fact>("redemption", {
  doc: "An order that gives units back for cash, from its claim to its settlement.",
  id: (self) => self.redemptionId,
  record: Redemption,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  // Open orders of both kinds are one list: the suffix separates a redemption from a subscription
  // of the same instant and id. It follows a space, which sorts before every character of an id.
  sortKey: (self, createdAt) => `${Instant.sortable(createdAt)} ${self.redemptionId} redemption`,
  filters: {
    state: (self) => self.state,
    ...Order.filters,
    open: (self) => (self.lost ? null : OpenOrder.open(openEntryOf(self))),
    openUntil: (self) => (self.lost ? null : OpenOrder.openUntil(openEntryOf(self))),
    /** Remainders of partial fills that are in no cycle, by the cut-off at which they deal. */
    waiting: (self) => (!self.lost && isWaiting(self) ? dealtAt(self) : null),
    /** Redemptions whose units are still the holder's, by position. */
    giving: (self) => (!self.lost && unburned(self) ? pairOf(self) : null)
  },
  untold: Order.untold,
  lost: Order.lost,
  // A burn request that is gone with the gap leaves no trace of when it was made.
  continued: (next) => unexpiring(next.state === "priced" ? { ...next, fundedAt: null } : next),
  waitingOn: (self) => {
    if (self.lost) return []
    const by = self.settleBy
    if (self.state === "claimed") {
      return [{ party: self.oracle, action: "RedemptionClaim.Price", by: null }]
    }
    if (self.state === "priced") {
      return self.payment === "ledger" ? ofAllocated(self) : [ofCustodian(self)]
    }
    if (self.state === "funded") {
      return self.burnRequestCid === null
        ? [ofCustodian(self)]
        : [{ party: self.registrar, action: "BurnRequest.Accept", by }]
    }
    return self.state === "burned" ? [ofBurned(self)] : []
  },
  announce: (self, fact) =>
    fact === undefined
      ? []
      : Order.announcedBy(RedemptionMachine, fact.on).map((type) =>
          Order.announcement(
            { ...self, kind: "redemption", id: self.redemptionId },
            eventOf(self, type)
          )
        ),
  invariants: {
    ...Order.invariantsOf(RedemptionMachine),
    "a priced order has a price and proceeds": (self) =>
      (self.pricedAt === null) === (self.price === null) &&
      (self.pricedAt === null) === (self.proceeds === null),
    "the value date is the day of settlement": (self) =>
      (self.settledAt === null) === (self.valueDate === null),
    "units that are burned are paid or owed": (self) =>
      self.burnedAt === null || self.state === "burned" || self.state === "settled"
  }
})

const ofCustodian = (self: Redemption): Collection.WaitingOn => ({
  party: self.custodian ?? self.party,
  action: "Holding.RequestBurn",
  by: self.settleBy
})

/** Waits of a ledger-paid order: the holder allocates units, then the fund cash, then the venue settles. */
const ofAllocated = (self: Redemption): ReadonlyArray<Collection.WaitingOn> => {
  const by = self.settleBy
  if (!unitsStand(self)) {
    return [{ party: self.party, action: "Holding.Allocate", by }]
  }
  return [
    self.allocation === null && self.fund !== null && self.cycleId === null
      ? { party: self.fund, action: "Holding.Allocate", by }
      : {
          role: "operator",
          action: self.cycleId === null ? "redemption.settle" : "dealing-cycle.settle",
          by
        }
  ]
}

const ofBurned = (self: Redemption): Collection.WaitingOn =>
  self.payment === "ledger" && self.allocation === null && self.fund !== null
    ? { party: self.fund, action: "Holding.Allocate", by: null }
    : { role: "operator", action: "redemption.settle", by: null }

const eventOf = (self: Redemption, type: ControlEventType) => {
  const { state, price, units, proceeds, valueDate } = self
  if (type === "redemption.priced" && price !== null) return events.make(type, { state, price })
  if (type === "redemption.funded") return events.make(type, { state })
  if (type === "redemption.burned" && units !== null) {
    return events.make(type, { state, quantity: units })
  }
  if (type === "redemption.settled" && proceeds !== null && valueDate !== null) {
    return events.make(type, { state, amount: proceeds, valueDate })
  }
  if (type === "redemption.withdrawn") {
    return events.make(type, { state, how: state === "released" ? "released" : "withdrawn" })
  }
  throw new Error(`a redemption in state ${state} announces no ${type}`)
}
