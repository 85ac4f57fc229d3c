/** View of a statement of an outside party. */
import { Schema, Struct } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as Integer from "../../kernel/Integer.ts"
import { ExternalStatement, externalStatements, placeInDayOf } from "./ExternalStatement.ts"

/** A NAV as a statement's own form has it: decimals as texts. */
const Nav = Schema.Struct({
  official: Decimal.text,
  indicative: Schema.NullOr(Decimal.text),
  indicativeAsOf: Schema.NullOr(Instant.schema),
  expiresAt: Instant.schema,
  ripcord: Schema.Boolean
})

const shown = {
  ...Struct.omit(ExternalStatement.fields, [
    "nav",
    "prunedAt",
    "sequence",
    "placeInDay",
    "fileId",
    "fileStatements"
  ]),
  nav: Schema.NullOr(Nav)
}

/** Instant at which retention deleted the lines and the bytes; null: they are stored. */
const prunedAt = Schema.NullOr(Instant.schema)

/** The bank's own number of the statement, digits alone; null: the file states none. */
const sequence = Schema.NullOr(Schema.String)

/** Place among the statements of its date that follow one another, from 1. */
const placeInDay = Integer.schema

export const StatementView = RecordView.schemaOf(
  { ...shown, prunedAt, sequence, placeInDay },
  {
    identifier: "ExternalStatementView",
    description: "A statement of an outside party about an instrument and a business date."
  }
)
export type StatementView = typeof StatementView.Type

export const of = (statement: Stored<ExternalStatement>): StatementView => ({
  ...RecordView.of(externalStatements, shown, statement),
  prunedAt: statement.prunedAt ?? null,
  sequence: statement.sequence ?? null,
  placeInDay: placeInDayOf(statement)
})
