/** What the distributions context holds: its state sets, then its writes and reads. */
import { DistributionLineMachine } from "./distribution/DistributionLineMachine.ts"
import { DistributionMachine } from "./distribution/DistributionMachine.ts"
import { DistributionPeriod } from "./period/DistributionPeriod.ts"
import { provisionSettlements } from "./provision-settlement/ProvisionSettlement.ts"
import { ProvisionSettlementMachine } from "./provision-settlement/ProvisionSettlementMachine.ts"
import * as ProvisionSettlementOperations from "./provision-settlement/ProvisionSettlementOperations.ts"
import * as ProvisionSettlementReadings from "./provision-settlement/ProvisionSettlementReadings.ts"
import { DistributionRoll } from "./roll/DistributionRoll.ts"
import { StandingApprovalState } from "./standing-approval/StandingApprovalState.ts"

export const machines = [
  DistributionMachine,
  DistributionLineMachine,
  ProvisionSettlementMachine
] as const
export const judged = [DistributionPeriod, DistributionRoll, StandingApprovalState] as const
export const collections = [provisionSettlements] as const
export const operations = [ProvisionSettlementOperations.propose] as const
export const readings = ProvisionSettlementReadings.readings
