/** State machine of a dealing cycle: moves, who makes each, and the checks on its own record. */
import { Effect, Result, Schema } from "effect"
import { match } from "ts-pattern"
import * as Decimal from "../../kernel/Decimal.ts"
import { check, judge, type Objection } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import { refuse, type Refused } from "../../kernel/Refusal.ts"
import * as Field from "../../templates/Field.ts"
import type { DealingCycle } from "./DealingCycle.ts"

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

/**
 * Sums of a cycle's orders, by side: cash including fees, refunds of cash that bought no units,
 * units.
 */
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

/** By which part redemptions were filled, and why. */
export const Gating = Schema.Struct({
  factor: Decimal.schema,
  capacity: Decimal.schema,
  reason: Schema.Literal("cycle-capacity")
})
export type Gating = typeof Gating.Type

/** Partial fill of one redemption; a null remainder id where only figures were computed. */
export const Filled = Schema.Struct({
  redemptionId: Schema.String,
  ordered: Decimal.schema,
  filled: Decimal.schema,
  remainderId: Schema.NullOr(Schema.String)
})
export type Filled = typeof Filled.Type

const Ids = Schema.Array(Schema.String)
/** The orders of a cycle, by their ids. */
export const Members = Schema.Struct({ subscriptions: Ids, redemptions: Ids })
export type Members = typeof Members.Type

/** How many orders of each kind. */
export const Counts = Schema.Struct({
  subscriptions: Integer.schema,
  redemptions: Integer.schema
})
export type Counts = typeof Counts.Type

// What leaves the state as it is.

/** An order joined, got its price, or left: what it changes in the counts and sums of its side. */
const Count = Schema.Struct({
  on: Schema.Literal("count"),
  orderId: Schema.String,
  members: Schema.Struct({ subscriptions: Integer.schema, redemptions: Integer.schema }),
  gross: Gross
})
/** The fund set cash aside for its net, or took it back. */
const Allocate = Schema.Struct({
  on: Schema.Literal("allocate"),
  cid: Field.contractId,
  amount: Decimal.schema,
  settleBefore: Field.optional(Instant.schema)
})
const Unallocate = Schema.Struct({ on: Schema.Literal("unallocate"), cid: Field.contractId })
/** The clock passed the cut-off: nothing joins any more. */
const CutOff = Schema.Struct({ on: Schema.Literal("cut-off") })

// The table's triggers.

/** When, and by which update. */
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
  fills: Schema.Array(Filled)
})
const Release = Schema.Struct({ on: Schema.Literal("release"), ...ending })

export const Fact = Schema.Union([Count, Allocate, Unallocate, CutOff, Settle, Release])
export type Fact = typeof Fact.Type

/** Commands of the venue on a cycle, at an instant. */
export interface Command {
  readonly on: "settle" | "release"
  readonly now: Instant.Instant
}

/** Decides whether the cycle's own record allows the command. */
export const decide = (self: DealingCycle, command: Command) =>
  admitted(self, command.on).pipe(
    Result.flatMap(() => judge(objections(self, command))),
    Result.map(() => command)
  )

/** Whether the cycle's state answers to this; one that has ended is named with how it ended. */
export const admitted = (
  self: Pick<DealingCycle, "cycleId" | "state" | "endedAs">,
  on: Command["on"]
): Result.Result<void, Refused<"state-conflict">> =>
  self.endedAs === null
    ? Machine.admit(DealingCycleMachine, self, on)
    : refuse("state-conflict", {
        check: DealingCycleMachine.name,
        detail: `The dealing cycle ${self.cycleId} has ended: it was ${self.endedAs}.`
      })

/** Checks of a command on the cycle's own record. */
export const objections = (self: DealingCycle, { on, now }: Command): ReadonlyArray<Objection> =>
  on === "release"
    ? []
    : [
        check("cut-off-passed", Instant.atOrAfter(now, self.cutOffAt)),
        check("settle-by", Instant.isBefore(now, self.settleBy), {
          recovery: "Release the cycle: its time to settle passed."
        }),
        check("cycle-has-orders", self.members.subscriptions + self.members.redemptions !== 0)
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
      allocations: self.allocations.filter((one) => one.cid !== cid)
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
    // Nothing was dealt; the event still lists the orders.
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

/** The formula fund-net: net movement of the fund's accounts, after refunds. */
export const netOf = ({ subscribed, refunded, redeemed, minted, burned }: Gross): FundNet => ({
  cash: Decimal.subtract(subscribed, Decimal.add(refunded, redeemed)),
  units: Decimal.subtract(minted, burned)
})

/**
 * The gate as it shows on the record: the part of what was ordered that was filled, cut to ten
 * places: min(1, capacity/ordered) (docs/domain/dealing-cycles.md#partial-fills). Null where
 * nothing was held back.
 */
export const gatingOf = (of: {
  readonly ordered: Decimal.Decimal
  readonly filled: Decimal.Decimal
}): Gating | null =>
  Decimal.atLeast(of.filled, of.ordered)
    ? null
    : {
        factor: Decimal.divideRounded(of.filled, of.ordered, {
          places: Decimal.places,
          rounding: "floor"
        }),
        capacity: of.filled,
        reason: "cycle-capacity"
      }
