/**
 * Schema of input that a reconciliation run had and did not compare, as runs and verdicts list it
 * (docs/domain/reconciliation.md#not-compared).
 */
import { Schema } from "effect"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"

const { NullOr, String: Text, Struct } = Schema

export const NotCompared = Struct({
  check: Text,
  instrumentId: NullOr(Text),
  /** The source, account, distribution or other record whose input was not compared. */
  subject: Struct({ resourceKind: ResourceKind.schema, id: Text }),
  /** The statement, or the newest of several; null: it is none. */
  statementId: NullOr(Text),
  /** Reason why it was not compared. */
  why: Text,
  /** True: the check has not run until this is compared. */
  isNeeded: Schema.Boolean
}).annotate({
  identifier: "NotCompared",
  description: "Input that a check of a reconciliation run had and did not compare."
})
export type NotCompared = typeof NotCompared.Type
