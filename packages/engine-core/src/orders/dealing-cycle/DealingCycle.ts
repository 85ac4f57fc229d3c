/** Record and collection of dealing cycles: the orders of one instrument and cut-off, settled in one transaction. */
import { Effect, Schema } from "effect"
import * as events from "../events.ts"
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
import {
  Counts,
  DealingCycleMachine,
  evolve,
  Fact,
  OrderFill,
  FundNet,
  Gating,
  Gross,
  Members,
  netOf
} from "./DealingCycleMachine.ts"

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
        events.make("dealing-cycle.settled", {
          subscriptions,
          redemptions,
          fundNet: { amount: cash, quantity: units }
        })
      )
    ]
  }
  return fact.on === "release"
    ? [tell(self, events.make("dealing-cycle.released", { subscriptions, redemptions }))]
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
