/** Nouns of the room distributions: the income that is paid to holders, and its lines. */
import { awaitingTerms } from "../instruments/instrument/AwaitingTermsSteps.ts"
import * as Noun from "../nouns/Noun.ts"
import { holdDistributions } from "./distribution/ClearingSteps.ts"
import {
  distributions,
  shownDistributions,
  DistributionMachine,
  distributionEvents
} from "./distribution/Distribution.ts"
import { distributionContracts } from "./distribution/DistributionContract.ts"
import { formulas } from "./distribution/DistributionFormulas.ts"
import * as DistributionFromLedger from "./distribution/DistributionFromLedger.ts"
import { distributionLines, DistributionLineMachine } from "./distribution/DistributionLine.ts"
import * as DistributionLotLookups from "./distribution/DistributionLotLookups.ts"
import { distributionPlans } from "./distribution/DistributionPlan.ts"
import * as DistributionQueries from "./distribution/DistributionQueries.ts"
import { distributionSlots } from "./distribution/DistributionSlot.ts"
import { distributionTimers } from "./distribution/DistributionTimer.ts"
import * as Execute from "./distribution/ExecuteOperations.ts"
import { executionLocks } from "./distribution/ExecutionLock.ts"
import * as HolderTiesLookups from "./distribution/HolderTiesLookups.ts"
import * as InstructOperations from "./distribution/InstructOperations.ts"
import { historyKeeper } from "./distribution/KeptHistoryLookups.ts"
import * as LineFromLedger from "./distribution/LineFromLedger.ts"
import { unrolledOfHolder } from "./distribution/LineLookups.ts"
import { lineRefusals } from "./distribution/LineRefusal.ts"
import { lineWrites } from "./distribution/LineWrite.ts"
import * as SnapshotSteps from "./distribution/SnapshotSteps.ts"
import * as SuspenseSteps from "./distribution/SuspenseSteps.ts"
import * as TimerFromLedger from "./distribution/TimerFromLedger.ts"
import { linesById } from "./distribution/VoidableLineLookups.ts"
import * as CalendarQueries from "./period/CalendarQueries.ts"
import { DistributionPeriod } from "./period/DistributionPeriod.ts"
import { DistributionRoll } from "./roll/DistributionRoll.ts"
import * as RollOperations from "./roll/RollOperations.ts"
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

const distribution = Noun.declare({
  collections: [
    distributions,
    shownDistributions,
    distributionContracts,
    distributionPlans,
    distributionSlots,
    executionLocks,
    distributionTimers
  ],
  machine: DistributionMachine,
  judged: [DistributionPeriod, DistributionRoll],
  writes: [...Execute.operations, RollOperations.roll],
  queries: [...DistributionQueries.queries, ...CalendarQueries.queries],
  fromLedger: DistributionFromLedger.fromLedger,
  timely: InstructOperations.timely,
  formulas,
  events: distributionEvents,
  // They would disclose that a line waits: instructions, rolls, and the moves of the distribution,
  // whose projection for investors and apps shows the line as due.
  concealed: {
    types: ["distribution.held", "distribution.paid", "distribution.payable"],
    operations: ["distribution.instruct", "distribution.roll"]
  },
  historyKeepers: [historyKeeper]
})

const distributionLine = Noun.declare({
  collections: [distributionLines, lineWrites, lineRefusals],
  machine: DistributionLineMachine,
  fromLedger: [...LineFromLedger.fromLedger.map(awaitingTerms), ...TimerFromLedger.fromLedger],
  consequences: [...SuspenseSteps.consequences, ...SnapshotSteps.consequences]
})

const standingApproval = Noun.declare({
  collections: [standingApprovals],
  judged: [StandingApprovalState],
  writes: StandingApprovalOperations.operations,
  queries: StandingApprovalQueries.queries,
  events: standingApprovalEvents
})

const scheduledDistribution = Noun.declare({
  collections: [scheduledDistributions],
  events: scheduledDistributionEvents
})

export const nouns = [
  distribution,
  distributionLine,
  standingApproval,
  scheduledDistribution
] as const

/** Cost of the units that distributions mint. */
export const acquisitions = { distribution: DistributionLotLookups.acquisitionsOf } as const
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
