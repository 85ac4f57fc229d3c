/** Declarations of the room reconciliation: runs that compare the records with the ledger. */
import { historyKeeper } from "./run/DistributionCheckLookups.ts"
import { checkMarks } from "./run/CheckMark.ts"
import { runs, runEvents } from "./run/Run.ts"
import { runInstruments } from "./run/RunInstrument.ts"
import { runParts } from "./run/RunPart.ts"
import { reconciliationWorker, venueReconciliationWorker } from "./run/RunRunner.ts"
import { runsUnderWay } from "./run/RunUnderWay.ts"
import * as RunRetentionSteps from "./run/RunRetentionSteps.ts"
import * as RunQueries from "./run/RunQueries.ts"
import * as StatementRetentionSteps from "./statement-retention/StatementRetentionSteps.ts"
import { instrumentVerdicts } from "./verdict/InstrumentVerdict.ts"
import * as RestatementQueries from "./restatement/RestatementQueries.ts"
import * as VerdictQueries from "./verdict/VerdictQueries.ts"

export const historyKeepers = [historyKeeper] as const
/**
 * Retention steps, in order. A run under way continues at the number of its step, so new steps are
 * appended.
 */
export const retentionSteps = [
  ...RunRetentionSteps.steps,
  ...StatementRetentionSteps.steps
] as const
export const collections = [
  runs,
  runInstruments,
  runsUnderWay,
  runParts,
  checkMarks,
  instrumentVerdicts
] as const
export const queries = [
  ...RunQueries.queries,
  ...VerdictQueries.queries,
  ...RestatementQueries.queries
] as const
export const workers = [reconciliationWorker, venueReconciliationWorker] as const
/** Events that the room announces. */
export const events = { ...runEvents } as const
