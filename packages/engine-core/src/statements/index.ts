/** Declarations of the room statements: sources and statements of outside parties. */
import { externalSources } from "./external-source/ExternalSource.ts"
import * as SourceReads from "./external-source/SourceReads.ts"
import { overdueStatements } from "./external-source/OverdueStatement.ts"
import { externalStatements, statementsOfDates } from "./external-statement/ExternalStatement.ts"

export const collections = [
  externalSources,
  externalStatements,
  overdueStatements,
  statementsOfDates
] as const
export const reads = [...SourceReads.reads] as const
