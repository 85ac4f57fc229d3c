/** Declarations of the room statements: sources and statements of outside parties. */
import { externalSources } from "./external-source/ExternalSource.ts"
import * as SourceQueries from "./external-source/SourceQueries.ts"
import { overdueStatementEvents, overdueStatements } from "./external-source/OverdueStatement.ts"
import {
  externalStatements,
  statementEvents,
  statementsOfDates
} from "./external-statement/ExternalStatement.ts"
import { stageWorker } from "./external-statement/StageRunner.ts"

export const collections = [
  externalSources,
  externalStatements,
  overdueStatements,
  statementsOfDates
] as const
export const queries = [...SourceQueries.queries] as const
export const workers = [stageWorker] as const
/** Events that the room announces. */
export const events = { ...statementEvents, ...overdueStatementEvents } as const
