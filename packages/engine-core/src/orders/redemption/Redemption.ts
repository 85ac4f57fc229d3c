/** Record and collection of redemptions: orders that give units back for cash, from claim to settlement. */
import { Schema, Result } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Field from "../../templates/Field.ts"
import type { ControlEventType } from "../../vocabulary/EventType.ts"
import { unitsStand } from "../order/AllocationRules.ts"
import * as OpenOrder from "../order/OpenOrder.ts"
import { dealtAt } from "../dealing-cycle/DealingCycle.ts"
import * as Order from "../order/Order.ts"
import {
  Allocated,
  at,
  cashIn,
  cashWith,
  Leave,
  Match,
  Misprice,
  mispricedBy,
  MoveLines,
  Release,
  RequestCash,
  requestedBy,
  Withdraw
} from "../order/OrderFacts.ts"
import { match, P } from "ts-pattern"
import * as Date from "../../kernel/Date.ts"
import { condition, judge, type Judgement } from "../../kernel/Gates.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { State } from "../../kernel/Machine.ts"
import { againstLines, type CashLine, unpaid } from "../order/CashLine.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"
import * as Judged from "../../kernel/Judged.ts"
import type { PaymentMode } from "../../vocabulary/sets.ts"

export interface Subject {
  readonly state: State<typeof RedemptionMachine>
  readonly payment: PaymentMode
  /** True if the holder's units are allocated; only an order paid on the ledger allocates them. */
  readonly unitsAllocated: boolean
  /** True if the registrar is asked to burn its units. */
  readonly burnRequested: boolean
  /** True if its cash leg is covered: matched when paid by wire, allocated when paid on the ledger. */
  readonly cashStands: boolean
  /** Instant at which a priced order expires; null: it does not expire. */
  readonly settleBy: Instant.Instant | null
  readonly now: Instant.Instant
}

/** Judges a priced, ledger-paid order by its allocations. */
const judgeAllocated = ({ unitsAllocated, cashStands }: Subject) => {
  if (!unitsAllocated) return "awaiting-units"
  return cashStands ? "ready" : "awaiting-payment"
}

const isPast = ({ now, settleBy }: Subject) => settleBy !== null && Instant.atOrAfter(now, settleBy)

export const RedemptionOrder = Judged.declare<Subject>()("RedemptionOrderState", {
  doc: "What a redemption still needs before its value date. Open are the first five.",
  states: {
    "awaiting-price": "No price yet.",
    "awaiting-units":
      "The holder or its custodian acts next: it allocates the units, or requests their burn.",
    "awaiting-registrar": "The registrar accepts the burn.",
    "awaiting-payment": "The fund's cash is missing.",
    ready: "The venue may settle.",
    expired:
      "Its time to settle passed; the next act is to release it. A burned one never expires.",
    settled: "Its value date is reached.",
    withdrawn: "Withdrawn before its units were burned.",
    released: "Released before its units were burned."
  },
  judge: (subject) =>
    match(subject)
      .with({ state: "claimed" }, () => "awaiting-price" as const)
      .with({ state: P.union("priced", "funded") }, isPast, () => "expired" as const)
      // The registrar may accept the burn at any moment, so the payment must not burn the units again.
      .with({ state: "funded", burnRequested: true }, () => "awaiting-registrar" as const)
      .with({ state: P.union("priced", "funded"), payment: "ledger" }, judgeAllocated)
      .with({ state: "priced" }, () => "awaiting-units" as const)
      .with({ state: "funded" }, () => "awaiting-registrar" as const)
      .with({ state: "burned", cashStands: true }, () => "ready" as const)
      .with({ state: "burned" }, () => "awaiting-payment" as const)
      .with({ state: P.union("settled", "withdrawn", "released") }, ({ state }) => state)
      .exhaustive()
})

export const RedemptionMachine = Machine.declare("RedemptionState", {
  doc: "A redemption, from its claim to its settlement. Once burned it can only settle.",
  states: {
    claimed: "The holder's claim is on the ledger; nobody has priced it yet.",
    priced: "The fund's oracle priced it.",
    funded: "The holder's custodian requested the burn of its units.",
    burned: "Its units are burned and its cash is owed: it can only settle.",
    settled: "Its cash is paid. This is the value date.",
    withdrawn: "The claim was withdrawn before its units were burned.",
    released: "The venue released it before its units were burned."
  },
  triggers: {
    price: { by: ["ledger"], announces: ["redemption.priced"] },
    fund: { by: ["ledger"], announces: ["redemption.funded"] },
    burn: { by: ["ledger"], announces: ["redemption.burned"] },
    settle: { by: ["redemption.settle"], announces: ["redemption.settled"] },
    exchange: {
      by: ["redemption.settle", "dealing-cycle.settle"],
      announces: ["redemption.burned", "redemption.settled"]
    },
    withdraw: {
      by: ["redemption.withdraw", "dealing-cycle.release"],
      announces: ["redemption.withdrawn"]
    },
    release: {
      by: ["redemption.release", "dealing-cycle.release"],
      announces: ["redemption.withdrawn"]
    }
  },
  initial: "claimed",
  // A projection that begins from a snapshot opens an order as its contract is.
  opensIn: ["claimed", "priced", "funded"],
  opens: { by: ["redemption.claim", "ledger"] },
  moves: {
    claimed: { price: "priced", withdraw: "withdrawn" },
    priced: { fund: "funded", exchange: "settled", withdraw: "withdrawn", release: "released" },
    funded: { burn: "burned", exchange: "settled", withdraw: "withdrawn", release: "released" },
    burned: { settle: "settled" },
    settled: {},
    withdrawn: {},
    released: {}
  },
  forward: ["price", "fund", "burn", "settle", "exchange"]
})

/** Events of a redemption. */
export const redemptionEvents = {
  "redemption.priced": about(
    "redemption",
    Schema.Struct({ state: RedemptionMachine.schema, price: Decimal.schema })
  ),
  "redemption.funded": about("redemption", Schema.Struct({ state: RedemptionMachine.schema })),
  "redemption.burned": about(
    "redemption",
    Schema.Struct({ state: RedemptionMachine.schema, quantity: Decimal.schema })
  ),
  "redemption.settled": about(
    "redemption",
    Schema.Struct({
      state: RedemptionMachine.schema,
      amount: Decimal.schema,
      valueDate: Date.schema
    })
  ),
  "redemption.withdrawn": about(
    "redemption",
    Schema.Struct({
      state: RedemptionMachine.schema,
      how: Schema.Literals(["withdrawn", "released"])
    })
  )
} as const

const makeEvent = announcing(redemptionEvents)

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

// Facts that do not change the state.

/** The fund allocated the order's cash; null: the allocation ended. */
const Allocate = Schema.Struct({
  on: Schema.Literal("allocate-cash"),
  allocation: Schema.NullOr(Allocated)
})
/** The holder allocated the order's units; null: the allocation ended. */
const AllocateUnits = Schema.Struct({
  on: Schema.Literal("allocate-units"),
  allocation: Schema.NullOr(Allocated)
})
/** Another burn request was made; null: the request was rejected or withdrawn. */
const RequestBurn = Schema.Struct({
  on: Schema.Literal("request-burn"),
  burnRequestCid: Schema.NullOr(Field.contractId)
})
/** The remainder of a partial fill joined the dealing cycle of its cut-off, opened after its claim. */
const Join = Schema.Struct({
  on: Schema.Literal("join"),
  claimCid: Field.contractId,
  cycleId: Schema.String
})

// Facts of the table's triggers.

const Price = Schema.Struct({
  on: Schema.Literal("price"),
  pricedCid: Field.contractId,
  pointCid: Field.contractId,
  price: Decimal.schema,
  index: Field.optional(Decimal.schema),
  units: Decimal.schema,
  baseUnits: Field.optional(Decimal.schema),
  proceeds: Decimal.schema,
  fee: Decimal.schema,
  ...at
})
const Fund = Schema.Struct({ on: Schema.Literal("fund"), burnRequestCid: Field.contractId, ...at })
const Burn = Schema.Struct({ on: Schema.Literal("burn"), ...at })
const settled = { valueDate: Date.schema, ...at } as const
const Settle = Schema.Struct({ on: Schema.Literal("settle"), ...settled })
/** Burned and paid in one transaction; the figures are those of the part that was filled. */
const Exchange = Schema.Struct({
  on: Schema.Literal("exchange"),
  units: Decimal.schema,
  proceeds: Decimal.schema,
  fee: Decimal.schema,
  ...settled
})

export const Fact = Schema.Union([
  RequestCash,
  Allocate,
  AllocateUnits,
  RequestBurn,
  Join,
  Leave,
  Match,
  MoveLines,
  Misprice,
  Price,
  Fund,
  Burn,
  Settle,
  Exchange,
  Release,
  Withdraw
])
export type Fact = typeof Fact.Type

/** Commands of the venue. It neither prices nor burns: the oracle and the registrar do. */
export type Command =
  | { readonly on: "withdraw" | "release" }
  | { readonly on: "settle" | "exchange"; readonly cash: ReadonlyArray<CashLine> }

/**
 * Guard: decides by the order's own record whether the venue may send the command to the ledger. The
 * fact is recorded once the ledger has committed it.
 */
export const decide = (self: Redemption, command: Command) =>
  Machine.admit(RedemptionMachine, self, command.on).pipe(
    Result.flatMap(() => judge(objections(self, command))),
    Result.map(() => command)
  )

/** Conditions of a command on the order's own record, one row a condition. */
export const objections = (self: Redemption, command: Command): ReadonlyArray<Judgement> =>
  match(command)
    .with({ on: P.union("withdraw", "release") }, () => [burnRequested(self)])
    .with({ on: "settle" }, ({ cash }) => againstSettling(self, cash))
    .with({ on: "exchange" }, ({ cash }) => againstExchange(self, cash))
    .exhaustive()

/** A burn request stops the venue: only the holder's custodian or the registrar can end one. */
const burnRequested = (self: Redemption): Judgement =>
  condition("burn-requested", self.burnRequestCid === null, { party: self.custodian ?? self.party })

/** Checks of paying a burned order: bank lines prove a wire payment, on the ledger the fund allocates. */
const againstSettling = (
  self: Redemption,
  cash: ReadonlyArray<CashLine>
): ReadonlyArray<Judgement> =>
  self.payment === "ledger"
    ? [linesOnLedger(cash), unallocated(self)]
    : [...againstLines(self.cash, cash), unpaid(self.cash, cash)]

const againstExchange = (
  self: Redemption,
  cash: ReadonlyArray<CashLine>
): ReadonlyArray<Judgement> => [
  condition("paid-on-ledger", self.payment === "ledger", {
    recovery: "Have its units burned first: its cash goes by wire."
  }),
  condition("units-allocated", self.unitsAllocation !== null, { party: self.party }),
  // Units must not be burned twice: by request, and again with the payment.
  burnRequested(self),
  linesOnLedger(cash),
  unallocated(self)
]

const linesOnLedger = (cash: ReadonlyArray<CashLine>): Judgement =>
  condition("cash-on-ledger", cash.length === 0)

const unallocated = (self: Redemption): Judgement =>
  condition("cash-allocated", self.allocation !== null, {
    party: self.fund,
    recovery: "Have the fund allocate the order's cash."
  })

/** Fold: the redemption after `fact`. */
export const evolve = (self: Redemption, fact: Fact): Redemption =>
  match(fact)
    .with({ on: "request-cash" }, (request) => requestedBy(self, request))
    .with({ on: "allocate-cash" }, ({ allocation }) => ({ ...self, allocation }))
    .with({ on: "allocate-units" }, ({ allocation }) => ({ ...self, unitsAllocation: allocation }))
    .with({ on: "request-burn" }, ({ burnRequestCid }) => ({ ...self, burnRequestCid }))
    .with({ on: "join" }, ({ claimCid, cycleId }) => ({ ...self, claimCid, cycleId }))
    .with({ on: "leave" }, ({ formerCycle }) => ({ ...self, cycleId: null, formerCycle }))
    .with({ on: "match" }, ({ lines }) => ({
      ...self,
      cash: cashWith(self.cash, lines)
    }))
    .with({ on: "move-lines" }, ({ lines }) => ({ ...self, cash: cashIn(self.cash, lines) }))
    .with({ on: "misprice" }, (fact) => mispricedBy(self, fact))
    .with({ on: "price" }, ({ on, at: pricedAt, ...priced }) => ({
      ...moved(self, on),
      ...priced,
      pricedAt,
      cash: { ...self.cash, expected: priced.proceeds },
      claimCid: null
    }))
    .with({ on: "fund" }, ({ on, burnRequestCid, at: fundedAt }) => ({
      ...moved(self, on),
      burnRequestCid,
      fundedAt
    }))
    .with({ on: "burn" }, ({ on, at: burnedAt }) => ({
      ...moved(self, on),
      burnRequestCid: null,
      burnedAt
    }))
    .with({ on: "settle" }, ({ on, at: settledAt, valueDate }) => ({
      ...moved(self, on),
      ...paid(self),
      ...ended("settled", settledAt),
      settledAt,
      valueDate
    }))
    .with({ on: "exchange" }, ({ on, at: settledAt, valueDate, units, proceeds, fee }) => ({
      ...moved(self, on),
      units,
      proceeds,
      fee,
      cash: { ...self.cash, expected: proceeds, matched: proceeds },
      ...ended("settled", settledAt),
      burnedAt: settledAt,
      settledAt,
      valueDate
    }))
    .with({ on: P.union("release", "withdraw") }, (fact) => ({
      ...moved(self, fact.on),
      ...ended(fact.on === "release" ? "released" : "withdrawn", fact.at)
    }))
    .exhaustive()

const moved = (self: Redemption, on: Machine.TriggerOf<typeof RedemptionMachine>): Redemption => ({
  ...self,
  state: Machine.follow(RedemptionMachine, self.state, on)
})

/** Paid on the ledger, the allocation matches all of the cash; by wire the bank lines match it in parts. */
const paid = ({ cash, payment }: Redemption) =>
  payment === "ledger" ? { cash: { ...cash, matched: cash.expected ?? cash.matched } } : {}

const ended = (endedAs: "settled" | "released" | "withdrawn", at: Instant.Instant) => ({
  endedAs,
  endedAt: at,
  claimCid: null,
  mispricedCid: null,
  pricedCid: null,
  intentCid: null,
  allocation: null,
  unitsAllocation: null,
  burnRequestCid: null
})

/** Checks whether its units are still the holder's. */
const unburned = (self: Redemption): boolean =>
  self.state === "claimed" || self.state === "priced" || self.state === "funded"

/** Judges the order state at an instant: the step that the order still needs before its value date. */
export const orderStateAt = (self: Redemption, now: Instant.Instant) =>
  RedemptionOrder.judge({
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

const isWaiting = ({ cycleId, mispricedCid, remainderOf, state }: Redemption): boolean =>
  remainderOf !== null && cycleId === null && mispricedCid === null && state === "claimed"

/** Key of a holder's position in an instrument, for the index of redemptions that take its units. */
export const pairOf = ({
  holderId,
  instrumentId
}: {
  readonly holderId: string
  readonly instrumentId: string
}): string => `${holderId}/${instrumentId}`

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
  waitingOn: (self) => waitingOn(self),
  indexedWaits: (self) => OpenOrder.indexedWaits(waitingOn(self), openEntryOf(self), self.state),
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
    "only a claimed order is mispriced": Order.isMispricedOnlyAsClaimed,
    "units that are burned are paid or owed": (self) =>
      self.burnedAt === null || self.state === "burned" || self.state === "settled"
  }
})

const waitingOn = (self: Redemption): ReadonlyArray<Collection.WaitingOn> => {
  if (self.lost) return []
  const by = self.settleBy
  if (self.mispricedCid !== null) {
    return [{ role: "operator", action: "redemption.withdraw", by: null }]
  }
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
}

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
  if (type === "redemption.priced" && price !== null) return makeEvent(type, { state, price })
  if (type === "redemption.funded") return makeEvent(type, { state })
  if (type === "redemption.burned" && units !== null) {
    return makeEvent(type, { state, quantity: units })
  }
  if (type === "redemption.settled" && proceeds !== null && valueDate !== null) {
    return makeEvent(type, { state, amount: proceeds, valueDate })
  }
  if (type === "redemption.withdrawn") {
    return makeEvent(type, { state, how: state === "released" ? "released" : "withdrawn" })
  }
  throw new Error(`a redemption in state ${state} announces no ${type}`)
}
