/** What the orders context holds: its state sets, then its records, writes, reads and readings. */
import { DealingCycleMachine } from "./dealing-cycle/DealingCycleMachine.ts"
import { primaryMarkets } from "./primary-market/PrimaryMarket.ts"
import { PrimaryMarketMachine } from "./primary-market/PrimaryMarketMachine.ts"
import * as PrimaryMarketOperations from "./primary-market/PrimaryMarketOperations.ts"
import * as PrimaryMarketReadings from "./primary-market/PrimaryMarketReadings.ts"
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
export const collections = [primaryMarkets] as const
export const operations = [PrimaryMarketOperations.propose] as const
export const readings = [...PrimaryMarketReadings.readings] as const
