/**
 * Record of a line that the ledger refuses to direct or to roll: its reason, and until when writes
 * leave the line out (docs/domain/distributions.md#lines-that-the-ledger-refuses).
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Field from "../../templates/Field.ts"
import { LineDirection } from "./DistributionLine.ts"
import { DistributionId } from "./DistributionTerms.ts"

/** The writes that leave lines out. */
const LineWriteKind = Schema.Literals(["instruct", "roll"])
export type LineWriteKind = typeof LineWriteKind.Type

const refusal = {
  /** The operation that was refused last. */
  operationId: Schema.String,
  /** Number of operations in a row to which the ledger refused the line. */
  times: Integer.schema,
  /** Instant from which the engine's own writes try it again. */
  againAt: Instant.schema,
  /**
   * The direction that was refused, since a line that is to be directed otherwise does not pause; null of
   * a roll, and in facts that were recorded before this member.
   */
  direction: Field.optional(LineDirection),
  /** The ledger's refusal, as the problem of a write shows it. */
  check: Schema.String,
  reason: Schema.String,
  detail: Schema.String
} as const

export const LineRefusal = Schema.Struct({
  lineId: Schema.String,
  distributionId: DistributionId,
  write: LineWriteKind,
  ...refusal
})
export type LineRefusal = typeof LineRefusal.Type

export const Fact = Schema.Struct({ on: Schema.Literal("refuse"), ...refusal })
export type Fact = typeof Fact.Type

export const idOf = ({ lineId, write }: Pick<LineRefusal, "lineId" | "write">): string =>
  `${write}:${lineId}`

/** Key by which the refused lines of a distribution are found. */
export const writeOf = ({
  distributionId,
  write
}: {
  readonly distributionId: string
  readonly write: LineWriteKind
}): string => `${write}:${distributionId}`

export const lineRefusals = Collection.define<LineRefusal, Fact>("distribution-line-refusal", {
  doc: "A line of a distribution that the ledger refuses to direct or to roll.",
  id: idOf,
  record: LineRefusal,
  fact: Fact,
  evolve: (self, { on: _, ...refused }) => ({ ...self, ...refused }),
  keptBy: "engine",
  filters: { write: writeOf }
})
