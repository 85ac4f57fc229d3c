/**
 * Part of a reconciliation run under way: the outcome of one of its instruments, or of the venue's own
 * facts. The record of the run replaces its parts (docs/domain/reconciliation.md#runs-in-parts).
 */
import { Schema } from "effect"
import { NotCompared } from "../../findings/NotCompared.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as sets from "../../vocabulary/sets.ts"
import { RunCheck, ShownVerdict } from "./Run.ts"

const { Array: List, NullOr, String: Text, Struct } = Schema

/** Outcome of a part, of which the outcome of a run is the sum. */
const outcomeFields = {
  /** Offset of the ledger at which the part was compared. */
  asOf: Offset.schema,
  /** The checks that compared something of the part. */
  checks: List(RunCheck),
  /** Input that was not compared, the first thousand. */
  notCompared: List(NotCompared),
  notComparedCount: Integer.schema,
  verdict: sets.Verdict.schema,
  shownVerdict: ShownVerdict,
  holdsOpened: List(Text),
  distributionsCleared: List(Text)
} as const

export const PartOutcome = Struct(outcomeFields)
export type PartOutcome = typeof PartOutcome.Type

export const RunPart = Struct({
  partId: Text,
  runId: Text,
  /** Null: the part is of the venue's own facts. */
  instrumentId: NullOr(Text),
  ...outcomeFields
})
export type RunPart = typeof RunPart.Type

/**
 * Id of a part: parts of instruments in their order, then those of the venue, one for each time that
 * the run began or was continued.
 */
export const partIdOf = ({
  instrumentId,
  runId,
  continued
}: {
  readonly runId: string
  readonly instrumentId: string | null
  /** Number of times that the run was continued. */
  readonly continued: number
}): string =>
  instrumentId === null ? `${runId}/venue/${continued}` : `${runId}/instrument/${instrumentId}`

export const runParts = Collection.define<RunPart, never>("run-part", {
  doc: "The outcome of one instrument in a reconciliation run of several that has not ended.",
  id: (self) => self.partId,
  record: RunPart,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "engine",
  filters: {
    runId: (self) => self.runId,
    instrumentId: (self) => self.instrumentId
  }
})
