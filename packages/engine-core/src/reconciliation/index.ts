/** Declarations of the room reconciliation: runs that compare the records with the ledger. */
import { historyKeeper } from "./run/DistributionCheckLookups.ts"
import { runs } from "./run/Run.ts"
import { runInstruments } from "./run/RunInstrument.ts"
import * as RunRetentionSteps from "./run/RunRetentionSteps.ts"
import * as RunReads from "./run/RunReads.ts"

export const historyKeepers = [historyKeeper] as const
export const retentionSteps = RunRetentionSteps.steps
export const collections = [runs, runInstruments] as const
export const reads = [...RunReads.reads] as const
export { events } from "./events.ts"
