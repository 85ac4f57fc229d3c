/** Nouns of the room reconciliation: runs that compare the records with the ledger, and verdicts. */
import * as Noun from "../nouns/Noun.ts"
import * as RestatementQueries from "./restatement/RestatementQueries.ts"
import { historyKeeper } from "./checks/DistributionCheckLookups.ts"
import { checkMarks } from "./run/CheckMark.ts"
import { runs, runEvents, shownPayloads } from "./run/Run.ts"
import { runInstruments } from "./run/RunInstrument.ts"
import { runParts } from "./run/RunPart.ts"
import * as RunQueries from "./run/RunQueries.ts"
import * as RunRetentionSteps from "./run/RunRetentionSteps.ts"
import { reconciliationWorker, venueReconciliationWorker } from "./run/RunRunner.ts"
import { runsUnderWay } from "./run/RunUnderWay.ts"
import * as StatementRetentionSteps from "./statement-retention/StatementRetentionSteps.ts"
import { instrumentVerdicts } from "./verdict/InstrumentVerdict.ts"
import * as VerdictQueries from "./verdict/VerdictQueries.ts"

const run = Noun.declare({
  collections: [runs, runInstruments, runsUnderWay, runParts, checkMarks],
  queries: RunQueries.queries,
  events: runEvents,
  concealed: { payloads: shownPayloads },
  workers: [reconciliationWorker, venueReconciliationWorker],
  historyKeepers: [historyKeeper],
  retentionSteps: RunRetentionSteps.steps
})

const verdict = Noun.declare({
  collections: [instrumentVerdicts],
  queries: VerdictQueries.queries
})

const restatement = Noun.declare({ queries: RestatementQueries.queries })

/** Statements whose lines and bytes are past their period. */
const statementRetention = Noun.declare({ retentionSteps: StatementRetentionSteps.steps })

export const nouns = [run, verdict, restatement, statementRetention] as const
