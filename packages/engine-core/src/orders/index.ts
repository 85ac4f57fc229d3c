/** Nouns of the room orders: primary markets, orders, dealing cycles, and what pays for them. */
import * as Noun from "../nouns/Noun.ts"
import * as OrderFormulas from "./order/OrderFormulas.ts"
import { openOrderOf } from "./order/OpenOrderLookups.ts"
import * as PrefetchFromLedger from "./order/PrefetchFromLedger.ts"
import { settlementEvents } from "./proposal/SettlementEventSteps.ts"
import * as SnapshotSteps from "./order/SnapshotSteps.ts"
import { cycleSlots } from "./dealing-cycle/CycleSlot.ts"
import {
  dealingCycles,
  DealingCycleMachine,
  dealingCycleEvents
} from "./dealing-cycle/DealingCycle.ts"
import * as DealingCycleFromLedger from "./dealing-cycle/DealingCycleFromLedger.ts"
import * as DealingCycleQueries from "./dealing-cycle/DealingCycleQueries.ts"
import { dealingDays } from "./dealing-cycle/DealingDay.ts"
import * as DealingDayFromLedger from "./dealing-cycle/DealingDayFromLedger.ts"
import * as OpenCycle from "./dealing-cycle/OpenOperations.ts"
import * as ReleaseCycle from "./dealing-cycle/ReleaseOperations.ts"
import * as SettleCycle from "./dealing-cycle/SettleOperations.ts"
import * as AllocationFromLedger from "./order/AllocationFromLedger.ts"
import { cashLineParts } from "./order/CashLinePart.ts"
import * as CashMoveSteps from "./order/CashMoveSteps.ts"
import * as CashPartSteps from "./order/CashPartSteps.ts"
import { cashLines, cashTakings } from "./order/CashTaking.ts"
import { holderOrders } from "./order/HolderOrder.ts"
import * as HolderOrderFromLedger from "./order/HolderOrderFromLedger.ts"
import { primaryMarkets, PrimaryMarketMachine } from "./primary-market/PrimaryMarket.ts"
import * as PrimaryMarketFromLedger from "./primary-market/PrimaryMarketFromLedger.ts"
import * as PrimaryMarketOperations from "./primary-market/PrimaryMarketOperations.ts"
import { proposals } from "./proposal/Proposal.ts"
import * as ProposalFromLedger from "./proposal/ProposalFromLedger.ts"
import {
  provisionSettlements,
  ProvisionSettlementMachine
} from "./provision-settlement/ProvisionSettlement.ts"
import * as ProvisionSettlementFromLedger from "./provision-settlement/ProvisionSettlementFromLedger.ts"
import * as ProvisionSettlementOperations from "./provision-settlement/ProvisionSettlementOperations.ts"
import {
  redemptions,
  RedemptionMachine,
  redemptionEvents,
  RedemptionOrder
} from "./redemption/Redemption.ts"
import { cycleJoinings } from "./dealing-cycle/CycleJoinings.ts"
import { claimedUnits } from "./redemption/ClaimedUnits.ts"
import * as RedemptionFromLedger from "./redemption/RedemptionFromLedger.ts"
import * as RedemptionOperations from "./redemption/RedemptionOperations.ts"
import * as RedemptionQueries from "./redemption/RedemptionQueries.ts"
import * as IterationOperations from "./standing-settlement/IterationOperations.ts"
import {
  standingParties,
  standingSettlements,
  StandingSettlementMachine
} from "./standing-settlement/StandingSettlement.ts"
import * as StandingSettlementFromLedger from "./standing-settlement/StandingSettlementFromLedger.ts"
import * as StandingSettlementOperations from "./standing-settlement/StandingSettlementOperations.ts"
import * as StandingSettlementQueries from "./standing-settlement/StandingSettlementQueries.ts"
import {
  subscriptions,
  SubscriptionMachine,
  subscriptionEvents,
  SubscriptionOrder
} from "./subscription/Subscription.ts"
import * as SubscriptionFromLedger from "./subscription/SubscriptionFromLedger.ts"
import * as SubscriptionLotLookups from "./subscription/SubscriptionLotLookups.ts"
import * as SubscriptionOperations from "./subscription/SubscriptionOperations.ts"
import * as SubscriptionQueries from "./subscription/SubscriptionQueries.ts"

const primaryMarket = Noun.declare({
  collections: [primaryMarkets],
  machine: PrimaryMarketMachine,
  writes: [PrimaryMarketOperations.propose],
  fromLedger: PrimaryMarketFromLedger.fromLedger
})

/** Declarations that subscriptions and redemptions share; facts of the index by holder come before those of the orders. */
const order = Noun.declare({
  collections: [holderOrders],
  fromLedger: [
    ...PrefetchFromLedger.fromLedger,
    ...HolderOrderFromLedger.fromLedger,
    ...AllocationFromLedger.fromLedger
  ],
  formulas: OrderFormulas.formulas
})

const subscription = Noun.declare({
  collections: [subscriptions],
  machine: SubscriptionMachine,
  judged: [SubscriptionOrder],
  writes: SubscriptionOperations.operations,
  queries: SubscriptionQueries.queries,
  fromLedger: SubscriptionFromLedger.fromLedger,
  timely: SubscriptionOperations.timely,
  events: subscriptionEvents
})

const redemption = Noun.declare({
  collections: [redemptions, claimedUnits],
  machine: RedemptionMachine,
  judged: [RedemptionOrder],
  writes: RedemptionOperations.operations,
  queries: RedemptionQueries.queries,
  fromLedger: RedemptionFromLedger.fromLedger,
  timely: RedemptionOperations.timely,
  events: redemptionEvents
})

/** Bank lines that orders take. */
const cash = Noun.declare({
  collections: [cashLines, cashTakings, cashLineParts],
  consequences: [...CashMoveSteps.consequences, CashPartSteps.consequence]
})

const dealingCycle = Noun.declare({
  collections: [dealingCycles, dealingDays, cycleSlots, cycleJoinings],
  machine: DealingCycleMachine,
  writes: [OpenCycle.open, SettleCycle.settle, ReleaseCycle.release],
  queries: DealingCycleQueries.queries,
  // After the orders' own facts, since a dealing day counts by the orders' records.
  fromLedger: [...DealingDayFromLedger.fromLedger, ...DealingCycleFromLedger.fromLedger],
  timely: ReleaseCycle.timely,
  events: dealingCycleEvents
})

/** Open orders and cycles of a snapshot of the ledger. */
const snapshot = Noun.declare({
  fromLedger: SnapshotSteps.fromLedger,
  consequences: SnapshotSteps.consequences
})

const standingSettlement = Noun.declare({
  collections: [standingSettlements, standingParties],
  machine: StandingSettlementMachine,
  writes: [...StandingSettlementOperations.operations, IterationOperations.settle],
  queries: StandingSettlementQueries.queries,
  fromLedger: StandingSettlementFromLedger.fromLedger
})

const provisionSettlement = Noun.declare({
  collections: [provisionSettlements],
  machine: ProvisionSettlementMachine,
  writes: [ProvisionSettlementOperations.propose],
  fromLedger: ProvisionSettlementFromLedger.fromLedger
})

const proposal = Noun.declare({
  collections: [proposals],
  fromLedger: ProposalFromLedger.fromLedger,
  events: settlementEvents
})

export const nouns = [
  primaryMarket,
  order,
  subscription,
  redemption,
  cash,
  dealingCycle,
  snapshot,
  standingSettlement,
  provisionSettlement,
  proposal
] as const

/** Cost of the units that subscriptions mint. */
export const acquisitions = { subscription: SubscriptionLotLookups.acquisitionsOf } as const
/** Contribution to the ties of a holder: an open order keeps the holder from being closed. */
export const holderTies = { openOrder: openOrderOf } as const
