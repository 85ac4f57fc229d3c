/**
 * Record of a business date whose statement a run found overdue. Its opening announces the date,
 * once.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as sets from "../../vocabulary/sets.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"

/** Events of an overdue statement. */
export const overdueStatementEvents = {
  "statement.overdue": about(
    "external-source",
    Schema.Struct({
      kind: sets.StatementKind.schema,
      businessDate: Date.schema,
      dueBy: Instant.schema,
      runId: Schema.String
    })
  )
} as const

const makeEvent = announcing(overdueStatementEvents)

export const OverdueStatement = Schema.Struct({
  externalSourceId: Schema.String,
  kind: sets.StatementKind.schema,
  instrumentId: Schema.String,
  businessDate: Date.schema,
  dueBy: Instant.schema,
  /** The run that found it overdue first. */
  runId: Schema.String
})
export type OverdueStatement = typeof OverdueStatement.Type

export const idOf = ({
  externalSourceId,
  instrumentId,
  businessDate
}: Pick<OverdueStatement, "externalSourceId" | "instrumentId" | "businessDate">): string =>
  `${externalSourceId}/${instrumentId}/${businessDate}`

export const overdueStatements = Collection.define<OverdueStatement, never>("overdue-statement", {
  doc: "A business date whose statement did not come by the end of its grace time.",
  id: idOf,
  record: OverdueStatement,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "engine",
  announce: ({ businessDate, dueBy, externalSourceId, instrumentId, kind, runId }) => [
    {
      ...makeEvent("statement.overdue", { kind, businessDate, dueBy, runId }),
      resourceKind: "external-source",
      resourceId: externalSourceId,
      instrumentId,
      party: null,
      holderIds: []
    }
  ]
})
