/** What the orders context holds: its state sets, then its writes and reads. */
import { DealingCycleMachine } from "./dealing-cycle/DealingCycleMachine.ts"
import { PrimaryMarketMachine } from "./primary-market/PrimaryMarketMachine.ts"
import { RedemptionMachine } from "./redemption/RedemptionMachine.ts"
import { RedemptionOrder } from "./redemption/RedemptionOrder.ts"
import { StandingSettlementMachine } from "./standing-settlement/StandingSettlementMachine.ts"
import { SubscriptionMachine } from "./subscription/SubscriptionMachine.ts"
import { SubscriptionOrder } from "./subscription/SubscriptionOrder.ts"

export const machines = [
  PrimaryMarketMachine,
  SubscriptionMachine,
  RedemptionMachine,
  DealingCycleMachine,
  StandingSettlementMachine
] as const
export const judged = [SubscriptionOrder, RedemptionOrder] as const
