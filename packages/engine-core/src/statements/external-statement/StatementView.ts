/** View of a statement of an outside party. */
import { Schema, Struct } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { ExternalStatement, externalStatements } from "./ExternalStatement.ts"

/** A NAV as a statement's own form has it: decimals as texts. */
const Nav = Schema.Struct({
  official: Decimal.text,
  indicative: Schema.NullOr(Decimal.text),
  indicativeAsOf: Schema.NullOr(Instant.schema),
  expiresAt: Instant.schema,
  ripcord: Schema.Boolean
})

const shown = {
  ...Struct.omit(ExternalStatement.fields, ["nav", "prunedAt"]),
  nav: Schema.NullOr(Nav)
}

/** Instant at which retention deleted the lines and the bytes; null: they are stored. */
const prunedAt = Schema.NullOr(Instant.schema)

export const StatementView = RecordView.schemaOf(
  { ...shown, prunedAt },
  {
    identifier: "ExternalStatementView",
    description: "A statement of an outside party about an instrument and a business date."
  }
)
export type StatementView = typeof StatementView.Type

export const of = (statement: Stored<ExternalStatement>): StatementView => ({
  ...RecordView.of(externalStatements, shown, statement),
  prunedAt: statement.prunedAt ?? null
})
