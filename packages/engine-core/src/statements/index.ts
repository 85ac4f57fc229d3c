/** Nouns of the room statements: sources and statements of outside parties. */
import * as Noun from "../nouns/Noun.ts"
import { externalSources } from "./external-source/ExternalSource.ts"
import { overdueStatementEvents, overdueStatements } from "./external-source/OverdueStatement.ts"
import * as SourceQueries from "./external-source/SourceQueries.ts"
import {
  externalStatements,
  statementEvents,
  statementsOfDates
} from "./external-statement/ExternalStatement.ts"
import { stageWorker } from "./external-statement/StageRunner.ts"

const externalSource = Noun.declare({
  collections: [externalSources, overdueStatements],
  queries: SourceQueries.queries,
  events: overdueStatementEvents
})

const externalStatement = Noun.declare({
  collections: [externalStatements, statementsOfDates],
  events: statementEvents,
  workers: [stageWorker]
})

export const nouns = [externalSource, externalStatement] as const
