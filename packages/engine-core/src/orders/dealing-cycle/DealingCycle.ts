/** Record and collection of dealing cycles: the orders of one instrument and cut-off, settled in one transaction. */
import { Effect, Schema, type Result } from "effect"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import type { Announcement } from "../../kernel/Announcement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import { CycleEnding } from "../../vocabulary/sets.ts"
import { match } from "ts-pattern"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Machine from "../../kernel/Machine.ts"
import { refuse, type Refused } from "../../kernel/Refusal.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"

export const DealingCycleMachine = Machine.declare("DealingCycleState", {
  doc: "A dealing cycle: the orders of one cut-off, settled together or not at all.",
  states: {
    open: "Takes orders until its cut-off, then waits to settle them.",
    ended: "Settled its orders, or released them; the record says which."
  },
  triggers: {
    settle: { by: ["dealing-cycle.settle"], announces: ["dealing-cycle.settled"] },
    release: { by: ["dealing-cycle.release"], announces: ["dealing-cycle.released"] }
  },
  initial: "open",
  opens: { by: ["dealing-cycle.open"] },
  moves: {
    open: { settle: "ended", release: "ended" },
    ended: {}
  },
  forward: ["settle"]
})

/** Events of a dealing cycle. */
export const dealingCycleEvents = {
  "dealing-cycle.settled": about(
    "dealing-cycle",
    Schema.Struct({
      subscriptions: Integer.schema,
      redemptions: Integer.schema,
      fundNet: Schema.Struct({ amount: Decimal.schema, quantity: Decimal.schema })
    })
  ),
  "dealing-cycle.released": about(
    "dealing-cycle",
    Schema.Struct({ subscriptions: Integer.schema, redemptions: Integer.schema })
  )
} as const

const makeEvent = announcing(dealingCycleEvents)

/** Sums of a cycle's orders, by side: cash with fees, refunds of cash that bought no units, and units. */
export const Gross = Schema.Struct({
  subscribed: Decimal.schema,
  refunded: Decimal.schema.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(Decimal.zero))),
  redeemed: Decimal.schema,
  minted: Decimal.schema,
  burned: Decimal.schema
})
export type Gross = typeof Gross.Type

/** Net movement of the fund's accounts: cash positive to the fund, units positive minted. */
export const FundNet = Schema.Struct({ cash: Decimal.schema, units: Decimal.schema })
export type FundNet = typeof FundNet.Type

/** Fraction of the redemptions that was filled, the capacity, and the reason. */
export const Gating = Schema.Struct({
  factor: Decimal.schema,
  capacity: Decimal.schema,
  reason: Schema.Literal("cycle-capacity")
})
export type Gating = typeof Gating.Type

/** Fill of one redemption; the remainder id is null if nothing is left, or if the settlement is computed only. */
export const OrderFill = Schema.Struct({
  redemptionId: Schema.String,
  ordered: Decimal.schema,
  filled: Decimal.schema,
  remainderId: Schema.NullOr(Schema.String)
})
export type OrderFill = typeof OrderFill.Type

const Ids = Schema.Array(Schema.String)
/** Ids of the orders of a cycle. */
export const Members = Schema.Struct({ subscriptions: Ids, redemptions: Ids })
export type Members = typeof Members.Type

/** Number of orders of each kind. */
export const Counts = Schema.Struct({
  subscriptions: Integer.schema,
  redemptions: Integer.schema
})
export type Counts = typeof Counts.Type

// Facts that do not change the state.

/** An order joined, was priced, or left: the changes of the counts and sums of its side. */
const Count = Schema.Struct({
  on: Schema.Literal("count"),
  orderId: Schema.String,
  members: Schema.Struct({ subscriptions: Integer.schema, redemptions: Integer.schema }),
  gross: Gross
})
/** The fund allocated cash for its net. */
const Allocate = Schema.Struct({
  on: Schema.Literal("allocate"),
  cid: Field.contractId,
  amount: Decimal.schema,
  settleBefore: Field.optional(Instant.schema)
})
/** An allocation of the fund ended. */
const Unallocate = Schema.Struct({ on: Schema.Literal("unallocate"), cid: Field.contractId })
/** The clock passed the cut-off: no order joins after it. */
const CutOff = Schema.Struct({ on: Schema.Literal("cut-off") })

// Facts of the table's triggers.

/** Instant and ledger update of the end. */
const ending = { at: Instant.schema, uid: Schema.String } as const

const Settle = Schema.Struct({
  on: Schema.Literal("settle"),
  ...ending,
  orders: Members,
  policyVersion: Integer.schema,
  pointCid: Field.contractId,
  price: Decimal.schema,
  swungPrice: Schema.NullOr(Decimal.schema),
  gross: Gross,
  fundNet: FundNet,
  gate: Schema.NullOr(Gating),
  fills: Schema.Array(OrderFill)
})
const Release = Schema.Struct({ on: Schema.Literal("release"), ...ending })

export const Fact = Schema.Union([Count, Allocate, Unallocate, CutOff, Settle, Release])
export type Fact = typeof Fact.Type

/** Guard of the state alone; the refusal of an ended cycle names its end. */
export const admitted = (
  self: Pick<DealingCycle, "cycleId" | "state" | "endedAs">,
  on: "settle" | "release"
): Result.Result<void, Refused<"state-conflict">> =>
  self.endedAs === null
    ? Machine.admit(DealingCycleMachine, self, on)
    : refuse("state-conflict", {
        check: DealingCycleMachine.name,
        detail: `The dealing cycle ${self.cycleId} has ended: it was ${self.endedAs}.`
      })

/** Conditions of settling on the cycle's own record; its state alone decides about a release. */
export const againstSettling = (
  self: DealingCycle,
  now: Instant.Instant
): ReadonlyArray<Judgement> => [
  condition("cut-off-passed", Instant.atOrAfter(now, self.cutOffAt)),
  condition("settle-by", Instant.isBefore(now, self.settleBy), {
    recovery: "Release the cycle: its time to settle passed."
  }),
  condition("cycle-has-orders", self.members.subscriptions + self.members.redemptions !== 0)
]

/** Fold: the cycle after `fact`. */
export const evolve = (self: DealingCycle, fact: Fact): DealingCycle =>
  match(fact)
    .with({ on: "count" }, ({ members, gross }) => {
      const summed = added(self.gross, gross)
      return {
        ...self,
        members: {
          subscriptions: self.members.subscriptions + members.subscriptions,
          redemptions: self.members.redemptions + members.redemptions
        },
        gross: summed,
        fundNet: netOf(summed)
      }
    })
    .with({ on: "allocate" }, ({ cid, amount, settleBefore }) => ({
      ...self,
      allocations: [...self.allocations, { cid, amount, settleBefore }]
    }))
    .with({ on: "unallocate" }, ({ cid }) => ({
      ...self,
      allocations: self.allocations.filter((allocation) => allocation.cid !== cid)
    }))
    .with({ on: "cut-off" }, () => ({ ...self, acceptsOrders: false }))
    .with({ on: "settle" }, ({ on, at, uid, ...settled }) => ({
      ...ended(self, on, { at, uid }),
      ...settled,
      endedAs: "settled" as const,
      members: {
        subscriptions: settled.orders.subscriptions.length,
        redemptions: settled.orders.redemptions.length
      }
    }))
    // A released cycle has no sums; its counts stay, for its event.
    .with({ on: "release" }, ({ on, ...released }) => ({
      ...ended(self, on, released),
      endedAs: "released" as const,
      gross: nothing,
      fundNet: netOf(nothing)
    }))
    .exhaustive()

const ended = (
  self: DealingCycle,
  on: Machine.TriggerOf<typeof DealingCycleMachine>,
  { at, uid }: { readonly at: Instant.Instant; readonly uid: string }
): DealingCycle => ({
  ...self,
  state: Machine.follow(DealingCycleMachine, self.state, on),
  acceptsOrders: false,
  endedAt: at,
  uid,
  allocations: [],
  cycleCid: null
})

export const nothing: Gross = {
  subscribed: Decimal.zero,
  refunded: Decimal.zero,
  redeemed: Decimal.zero,
  minted: Decimal.zero,
  burned: Decimal.zero
}

export const added = (self: Gross, that: Gross): Gross => ({
  subscribed: Decimal.add(self.subscribed, that.subscribed),
  refunded: Decimal.add(self.refunded, that.refunded),
  redeemed: Decimal.add(self.redeemed, that.redeemed),
  minted: Decimal.add(self.minted, that.minted),
  burned: Decimal.add(self.burned, that.burned)
})

export const negated = (self: Gross): Gross => ({
  subscribed: Decimal.negate(self.subscribed),
  refunded: Decimal.negate(self.refunded),
  redeemed: Decimal.negate(self.redeemed),
  minted: Decimal.negate(self.minted),
  burned: Decimal.negate(self.burned)
})

/** Computes the formula fund-net: the net movement of the fund's accounts, after refunds. */
export const netOf = ({ subscribed, refunded, redeemed, minted, burned }: Gross): FundNet => ({
  cash: Decimal.subtract(subscribed, Decimal.add(refunded, redeemed)),
  units: Decimal.subtract(minted, burned)
})

/**
 * Computes the gate of the record: the filled fraction of the ordered units, rounded down to ten places
 * (docs/domain/dealing-cycles.md#partial-fills). Null if all are filled.
 */
export const gatingOf = ({
  ordered,
  filled
}: {
  readonly ordered: Decimal.Decimal
  readonly filled: Decimal.Decimal
}): Gating | null =>
  Decimal.atLeast(filled, ordered)
    ? null
    : {
        factor: Decimal.divideRounded(filled, ordered, {
          places: Decimal.places,
          rounding: "floor"
        }),
        capacity: filled,
        reason: "cycle-capacity"
      }

export const CycleId = RecordId.make("CycleId")
export type CycleId = typeof CycleId.Type

const { NullOr } = Schema

export const DealingCycle = Schema.Struct({
  cycleId: CycleId,
  instrumentId: InstrumentId,
  state: DealingCycleMachine.schema,
  endedAs: NullOr(CycleEnding.schema),
  cutOffAt: Instant.schema,
  /** True if orders may join: until the clock passes the cut-off. */
  acceptsOrders: Schema.Boolean,
  settleBy: Instant.schema,
  /** The price point of its orders; null before it has settled. */
  pointCid: NullOr(Field.contractId),
  /** Price of that point. */
  price: NullOr(Decimal.schema),
  /** Price swung by the net flow, at which the orders dealt; null: they dealt unswung. */
  swungPrice: NullOr(Decimal.schema),
  /**
   * Ids of the orders that it settled; empty before. The orders of an open cycle are those that name it,
   * so that an order that joins does not rewrite a list of all others.
   */
  orders: Members,
  members: Counts,
  /** Sums of the orders in it; once it has settled, the sums that it settled. */
  gross: Gross,
  fundNet: FundNet,
  gate: NullOr(Gating),
  /** Fills of its redemptions; empty if each is filled in whole. */
  fills: Schema.Array(OrderFill),
  /** Version of the policy that it settled under. */
  policyVersion: NullOr(Integer.schema),
  uid: NullOr(Schema.String),
  openedAt: Instant.schema,
  endedAt: NullOr(Instant.schema),
  /** The party that pays and is paid for the fund. */
  fund: Party.schema,
  paymentAsset: Field.asset,
  registrar: Party.schema,
  currency: Schema.String,
  unitDecimals: Integer.schema,
  cashDecimals: Integer.schema,
  /** The fund's allocations for its net payment. */
  allocations: Schema.Array(
    Schema.Struct({
      cid: Field.contractId,
      amount: Decimal.schema,
      /** Deadline of the allocation on the ledger; null where it is not recorded. */
      settleBefore: Field.optional(Instant.schema)
    })
  ),
  /** Its contract on the ledger; null once it has ended. */
  cycleCid: NullOr(Field.contractId),
  /**
   * True where a new ledger epoch began without the contract of the open cycle: it was settled or
   * released meanwhile, nobody knows which.
   */
  lost: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))
}).annotate({
  identifier: "DealingCycle",
  description: "The orders of one cut-off, settled together or not at all."
})
export type DealingCycle = typeof DealingCycle.Type

/** Largest number of allocations of the fund for one cycle. */
export const allocationsMax = 32

/** Key of an instrument's cycle of one cut-off, of which at most one is open. */
export const dealtAt = ({
  instrumentId,
  cutOffAt
}: Pick<DealingCycle, "instrumentId" | "cutOffAt">): string =>
  `${instrumentId}/${Instant.sortable(cutOffAt)}`

export const dealingCycles = Collection.define<DealingCycle, Fact>("dealing-cycle", {
  doc: "The orders of one cut-off, settled together or not at all.",
  id: (self) => self.cycleId,
  record: DealingCycle,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  filters: {
    cycleId: (self) => self.cycleId,
    state: (self) => self.state,
    instrumentId: (self) => self.instrumentId,
    /** Open cycles of an instrument in the order in which they settle. */
    open: (self) => (self.state === "open" && !self.lost ? dealtAt(self) : null)
  },
  lost: (self) => ({ ...self, acceptsOrders: false, lost: true }),
  due: (self) =>
    self.state === "open" && self.acceptsOrders
      ? { at: self.cutOffAt, fact: { on: "cut-off" } }
      : undefined,
  waitingOn: (self) =>
    self.state === "open" && !self.lost
      ? [{ role: "operator", action: "dealing-cycle.settle", by: self.settleBy }]
      : [],
  announce: (self, fact) => (fact === undefined ? [] : announced(self, fact)),
  invariants: {
    "an ended cycle says when, how and by which update": (self) =>
      (self.state === "ended") === (self.endedAt !== null) &&
      (self.endedAt === null) === (self.endedAs === null) &&
      (self.endedAt === null) === (self.uid === null),
    "an open cycle stands on its contract": (self) =>
      (self.state === "open") === (self.cycleCid !== null),
    "a settled cycle has one point and price": (self) =>
      (self.endedAs === "settled") === (self.pointCid !== null && self.price !== null),
    "its cut-off comes before its time to settle": (self) =>
      Instant.isBefore(self.cutOffAt, self.settleBy),
    "allocations are distinct and limited": ({ allocations }) =>
      allocations.length <= allocationsMax &&
      new Set(allocations.map(({ cid }) => cid)).size === allocations.length,
    "nobody has left who had not joined": ({ members }) =>
      members.subscriptions >= 0 && members.redemptions >= 0,
    "the fund moves the difference of both sides": ({ gross, fundNet }) => {
      const { cash, units } = netOf(gross)
      return fundNet.cash === cash && fundNet.units === units
    }
  }
})

const announced = (self: DealingCycle, fact: Fact): ReadonlyArray<Announcement> => {
  const { subscriptions, redemptions } = self.members
  if (fact.on === "settle") {
    const { cash, units } = self.fundNet
    return [
      tell(
        self,
        makeEvent("dealing-cycle.settled", {
          subscriptions,
          redemptions,
          fundNet: { amount: cash, quantity: units }
        })
      )
    ]
  }
  return fact.on === "release"
    ? [tell(self, makeEvent("dealing-cycle.released", { subscriptions, redemptions }))]
    : []
}

/** Makes an event of a cycle, which names the fund and no holder. */
const tell = (self: DealingCycle, event: Pick<Announcement, "type" | "payload">): Announcement => ({
  ...event,
  resourceKind: "dealing-cycle",
  resourceId: self.cycleId,
  instrumentId: self.instrumentId,
  party: self.fund,
  holderIds: []
})
