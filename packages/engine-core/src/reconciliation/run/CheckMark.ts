/**
 * Watermark of a check: what the last run that judged everything of an instrument, or of the venue, had
 * read by then, so that a run which starts by itself judges what is new.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"

const { Literal, NullOr, String: Text, Struct } = Schema

const Mark = Struct({
  runId: Text,
  /** Everything written by this instant was judged. */
  writtenBy: Instant.schema,
  /** The instant that the run judged time at. */
  judgedAt: Instant.schema
})

export const CheckMark = Struct({
  check: Text,
  /** Null: the mark is of facts of the venue. */
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
