/** Declarations of the room distributions: the state sets of income that is paid to holders. */
import { DistributionLineMachine } from "./distribution/DistributionLineMachine.ts"
import { DistributionMachine } from "./distribution/DistributionMachine.ts"
import { DistributionPeriod } from "./period/DistributionPeriod.ts"
import { DistributionRoll } from "./roll/DistributionRoll.ts"
import { StandingApprovalState } from "./standing-approval/StandingApprovalState.ts"

export const machines = [DistributionMachine, DistributionLineMachine] as const
export const judged = [DistributionPeriod, DistributionRoll, StandingApprovalState] as const
export { formulas } from "./distribution/DistributionFormulas.ts"
export { events } from "./events.ts"
