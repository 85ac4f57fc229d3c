/** Declarations of the room orders: primary markets, orders, dealing cycles, and what pays for them. */
import * as PrefetchFromLedger from "./PrefetchFromLedger.ts"
import { cycleSlots } from "./dealing-cycle/CycleSlot.ts"
import {
  dealingCycles,
  DealingCycleMachine,
  dealingCycleEvents
} from "./dealing-cycle/DealingCycle.ts"
import * as DealingCycleFromLedger from "./dealing-cycle/DealingCycleFromLedger.ts"
import * as OpenCycle from "./dealing-cycle/OpenOperations.ts"
import * as ReleaseCycle from "./dealing-cycle/ReleaseOperations.ts"
import * as SettleCycle from "./dealing-cycle/SettleOperations.ts"
import * as DealingCycleQueries from "./dealing-cycle/DealingCycleQueries.ts"
import { dealingDays } from "./dealing-cycle/DealingDay.ts"
import * as DealingDayFromLedger from "./dealing-cycle/DealingDayFromLedger.ts"
import { openOrderOf } from "./OpenOrderLookups.ts"
import * as OrderFormulas from "./OrderFormulas.ts"
import * as AllocationFromLedger from "./order/AllocationFromLedger.ts"
import { proposals } from "./proposal/Proposal.ts"
import * as ProposalFromLedger from "./proposal/ProposalFromLedger.ts"
import { primaryMarkets, PrimaryMarketMachine } from "./primary-market/PrimaryMarket.ts"
import * as PrimaryMarketOperations from "./primary-market/PrimaryMarketOperations.ts"
import * as PrimaryMarketFromLedger from "./primary-market/PrimaryMarketFromLedger.ts"
import {
  provisionSettlements,
  ProvisionSettlementMachine
} from "./provision-settlement/ProvisionSettlement.ts"
import * as ProvisionSettlementOperations from "./provision-settlement/ProvisionSettlementOperations.ts"
import * as ProvisionSettlementFromLedger from "./provision-settlement/ProvisionSettlementFromLedger.ts"
import {
  redemptions,
  RedemptionMachine,
  redemptionEvents,
  RedemptionOrder
} from "./redemption/Redemption.ts"
import * as RedemptionOperations from "./redemption/RedemptionOperations.ts"
import * as RedemptionFromLedger from "./redemption/RedemptionFromLedger.ts"
import * as RedemptionQueries from "./redemption/RedemptionQueries.ts"
import * as IterationOperations from "./standing-settlement/IterationOperations.ts"
import {
  standingParties,
  standingSettlements,
  StandingSettlementMachine
} from "./standing-settlement/StandingSettlement.ts"
import * as StandingSettlementOperations from "./standing-settlement/StandingSettlementOperations.ts"
import * as StandingSettlementFromLedger from "./standing-settlement/StandingSettlementFromLedger.ts"
import * as StandingSettlementQueries from "./standing-settlement/StandingSettlementQueries.ts"
import { cashLineParts } from "./order/CashLinePart.ts"
import * as CashMoveSteps from "./order/CashMoveSteps.ts"
import * as CashPartSteps from "./order/CashPartSteps.ts"
import { cashLines, cashTakings } from "./order/CashTaking.ts"
import * as SnapshotSteps from "./SnapshotSteps.ts"
import { holderOrders } from "./order/HolderOrder.ts"
import * as HolderOrderFromLedger from "./order/HolderOrderFromLedger.ts"
import {
  subscriptions,
  SubscriptionMachine,
  subscriptionEvents,
  SubscriptionOrder
} from "./subscription/Subscription.ts"
import * as SubscriptionLotLookups from "./subscription/SubscriptionLotLookups.ts"
import * as SubscriptionOperations from "./subscription/SubscriptionOperations.ts"
import * as SubscriptionFromLedger from "./subscription/SubscriptionFromLedger.ts"
import * as SubscriptionQueries from "./subscription/SubscriptionQueries.ts"
import { settlementEvents } from "./SettlementEventSteps.ts"

export const acquisitions = { subscription: SubscriptionLotLookups.acquisitionsOf } as const
export const machines = [
  PrimaryMarketMachine,
  SubscriptionMachine,
  RedemptionMachine,
  DealingCycleMachine,
  StandingSettlementMachine,
  ProvisionSettlementMachine
] as const
export const judged = [SubscriptionOrder, RedemptionOrder] as const
export const formulas = OrderFormulas.formulas
export const collections = [
  primaryMarkets,
  subscriptions,
  redemptions,
  holderOrders,
  cashLines,
  cashTakings,
  cashLineParts,
  dealingCycles,
  dealingDays,
  cycleSlots,
  standingSettlements,
  standingParties,
  provisionSettlements,
  proposals
] as const
export const operations = [
  PrimaryMarketOperations.propose,
  ...SubscriptionOperations.operations,
  ...RedemptionOperations.operations,
  OpenCycle.open,
  SettleCycle.settle,
  ReleaseCycle.release,
  ...StandingSettlementOperations.operations,
  IterationOperations.settle,
  ProvisionSettlementOperations.propose
] as const
export const queries = [
  ...SubscriptionQueries.queries,
  ...RedemptionQueries.queries,
  ...DealingCycleQueries.queries,
  ...StandingSettlementQueries.queries
] as const
export const fromLedger = [
  ...PrefetchFromLedger.fromLedger,
  ...PrimaryMarketFromLedger.fromLedger,
  ...HolderOrderFromLedger.fromLedger,
  ...SubscriptionFromLedger.fromLedger,
  ...RedemptionFromLedger.fromLedger,
  ...AllocationFromLedger.fromLedger,
  // After the orders' own readings, since they count by the orders' records.
  ...DealingDayFromLedger.fromLedger,
  ...DealingCycleFromLedger.fromLedger,
  ...SnapshotSteps.fromLedger,
  ...StandingSettlementFromLedger.fromLedger,
  ...ProposalFromLedger.fromLedger,
  ...ProvisionSettlementFromLedger.fromLedger
] as const
export const consequences = [
  ...CashMoveSteps.consequences,
  CashPartSteps.consequence,
  ...SnapshotSteps.consequences
] as const
export const timely = [
  ...SubscriptionOperations.timely,
  ...RedemptionOperations.timely,
  ...ReleaseCycle.timely
] as const
/** Contribution to the ties of a holder: an open order keeps the holder from being closed. */
export const holderTies = { openOrder: openOrderOf } as const
/** Events that the room announces. */
export const events = {
  ...subscriptionEvents,
  ...redemptionEvents,
  ...dealingCycleEvents,
  ...settlementEvents
} as const
