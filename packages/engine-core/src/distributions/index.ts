/** Declarations of the room distributions: the income that is paid to holders, and its lines. */
import { distributionContracts } from "./distribution/DistributionContract.ts"
import {
  distributions,
  shownDistributions,
  DistributionMachine,
  distributionEvents
} from "./distribution/Distribution.ts"
import { distributionLines, DistributionLineMachine } from "./distribution/DistributionLine.ts"
import { holdDistributions } from "./distribution/ClearingSteps.ts"
import * as DistributionLotLookups from "./distribution/DistributionLotLookups.ts"
import { distributionPlans } from "./distribution/DistributionPlan.ts"
import * as DistributionFromLedger from "./distribution/DistributionFromLedger.ts"
import * as Execute from "./distribution/ExecuteOperations.ts"
import { executionLocks } from "./distribution/ExecutionLock.ts"
import { distributionTimers } from "./distribution/DistributionTimer.ts"
import * as DistributionQueries from "./distribution/DistributionQueries.ts"
import { distributionSlots } from "./distribution/DistributionSlot.ts"
import * as InstructOperations from "./distribution/InstructOperations.ts"
import * as LineFromLedger from "./distribution/LineFromLedger.ts"
import * as CalendarQueries from "./period/CalendarQueries.ts"
import {
  scheduledDistributions,
  scheduledDistributionEvents
} from "./schedule/ScheduledDistribution.ts"
import {
  standingApprovals,
  StandingApprovalState,
  standingApprovalEvents
} from "./standing-approval/StandingApproval.ts"
import * as StandingApprovalOperations from "./standing-approval/StandingApprovalOperations.ts"
import * as StandingApprovalQueries from "./standing-approval/StandingApprovalQueries.ts"
import { historyKeeper } from "./distribution/KeptHistoryLookups.ts"
import * as HolderTiesLookups from "./distribution/HolderTiesLookups.ts"
import { unrolledOfHolder } from "./distribution/LineLookups.ts"
import { lineWrites } from "./distribution/LineWrite.ts"
import { awaitingTerms } from "../instruments/instrument/AwaitingTermsSteps.ts"
import * as SnapshotSteps from "./distribution/SnapshotSteps.ts"
import * as SuspenseSteps from "./distribution/SuspenseSteps.ts"
import { linesById } from "./distribution/VoidableLineLookups.ts"
import * as TimerFromLedger from "./distribution/TimerFromLedger.ts"
import { DistributionPeriod } from "./period/DistributionPeriod.ts"
import { DistributionRoll } from "./roll/DistributionRoll.ts"
import * as RollOperations from "./roll/RollOperations.ts"
import type { ConcealedEvents } from "../writes/Concealment.ts"

export const acquisitions = { distribution: DistributionLotLookups.acquisitionsOf } as const
export const machines = [DistributionMachine, DistributionLineMachine] as const
export const judged = [DistributionPeriod, DistributionRoll, StandingApprovalState] as const
export const collections = [
  distributions,
  shownDistributions,
  distributionLines,
  distributionContracts,
  distributionPlans,
  distributionSlots,
  standingApprovals,
  scheduledDistributions,
  executionLocks,
  distributionTimers,
  lineWrites
] as const
export const fromLedger = [
  ...DistributionFromLedger.fromLedger,
  ...LineFromLedger.fromLedger.map(awaitingTerms),
  ...TimerFromLedger.fromLedger
] as const
export const operations = [
  ...Execute.operations,
  RollOperations.roll,
  ...StandingApprovalOperations.operations
] as const
export const consequences = [...SuspenseSteps.consequences, ...SnapshotSteps.consequences] as const
export const timely = InstructOperations.timely
export const queries = [
  ...DistributionQueries.queries,
  ...CalendarQueries.queries,
  ...StandingApprovalQueries.queries
] as const
/**
 * Events that are concealed from investors and apps, because they would disclose that a line waits:
 * instructions, rolls, and the moves of the distribution, whose projection shows the line as due.
 */
export const concealed = {
  resourceKinds: [],
  types: ["distribution.held", "distribution.paid", "distribution.payable"],
  operations: ["distribution.instruct", "distribution.roll"]
} as const satisfies ConcealedEvents
export const historyKeepers = [historyKeeper] as const
export { formulas } from "./distribution/DistributionFormulas.ts"

/** Consequence of the opening of a hold for distributions. */
export const holdFollowers = { holdDistributions } as const
/** Distribution lines that a forced transfer voids under a cited order. */
export const voidableLines = { linesById } as const
/** Look-ups of what prevents the closing of a holder. */
export const holderTies = {
  openLine: unrolledOfHolder,
  carry: HolderTiesLookups.carryOf,
  accrual: HolderTiesLookups.accrualOf
} as const
/** Events that the room announces. */
export const events = {
  ...distributionEvents,
  ...scheduledDistributionEvents,
  ...standingApprovalEvents
} as const
