/**
 * Watermark of a check: the instant up to which the last complete run had read an instrument, or the
 * venue, so that a run which starts by itself judges only later changes.
 */
import { Effect, Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"

const { Array: List, Literal, NullOr, String: Text, Struct } = Schema

const Mark = Struct({
  runId: Text,
  /** All records written by this instant were judged. */
  writtenBy: Instant.schema,
  /** The instant that the run judged time at. */
  judgedAt: Instant.schema,
  /**
   * Statements that were written by then and that the next run compares again: it found differences in
   * them that are not settled, or could not compare them.
   */
  again: List(Text).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed([])))
})

export const CheckMark = Struct({
  check: Text,
  /** Null: the watermark of the venue's own facts. */
  instrumentId: NullOr(Text),
  ...Mark.fields
})
export type CheckMark = typeof CheckMark.Type

const Move = Struct({ on: Literal("move"), ...Mark.fields })

export const idOf = ({ check, instrumentId }: Pick<CheckMark, "check" | "instrumentId">): string =>
  `${check}/${instrumentId ?? ""}`

export const checkMarks = Collection.define<CheckMark, typeof Move.Type>("check-mark", {
  doc: "What the last run that judged everything of an instrument by a check had read.",
  id: idOf,
  record: CheckMark,
  fact: Move,
  evolve: (self, { on: _, ...mark }) => ({ ...self, ...mark }),
  keptBy: "engine"
})
