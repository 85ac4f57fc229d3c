/** Projection of the verdict of an instrument, as the latest reconciliation run that covered it left it. */
import { Effect, Schema } from "effect"
import { NotCompared } from "../../findings/NotCompared.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as sets from "../../vocabulary/sets.ts"

const { Array: List, NullOr, String: Text, Struct } = Schema

/** Pin of the run: what reads the records again as the run read them. */
const Pinned = Struct({
  offset: Offset.schema,
  ledgerTime: NullOr(Instant.schema),
  /** Everything written by this instant was read. */
  writtenBy: Instant.schema,
  judgedAt: Instant.schema
})

/** Open findings, by severity. */
const Open = Struct({ blocking: Integer.schema, warning: Integer.schema, info: Integer.schema })

export const InstrumentVerdict = Struct({
  instrumentId: InstrumentId,
  runId: Text,
  verdict: sets.Verdict.schema,
  /** Open findings of the instrument, of all checks, by severity. */
  open: Open,
  /** Age of the oldest open finding in whole days; null where none is open. */
  oldestDays: NullOr(Integer.schema),
  /**
   * The same as investors and apps read it: without the findings of concealed checks, and without the
   * blocking ones of any check; null in records that were stored before it was kept.
   */
  shown: NullOr(
    Struct({ verdict: sets.Verdict.schema, open: Open, oldestDays: NullOr(Integer.schema) })
  ).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(null))),
  pin: Pinned,
  /** False where the run found the ledger unreachable, so that no check ran. */
  isReached: Schema.Boolean,
  /** False where the run could clear nothing: the projection had drifted from the ledger. */
  isGrounded: Schema.Boolean.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(true))),
  /** Checks that ran the latest time that a run asked for them. */
  ran: List(Text),
  /** Input that checks had and did not compare the latest time that a run asked for them. */
  notCompared: List(NotCompared).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed([])))
})
export type InstrumentVerdict = typeof InstrumentVerdict.Type

/**
 * Verdict, open findings and their age as investors and apps read them. Of a record that does not keep
 * them apart they read whether it is blocked, as its hold shows them, and nothing else until the next run.
 */
export const shownOf = ({
  shown,
  verdict
}: InstrumentVerdict): NonNullable<InstrumentVerdict["shown"]> => {
  if (shown === null)
    return { ...unshown, verdict: verdict === "blocked" ? "blocked" : "incomplete" }
  // Records may count blocking findings that were stored before these were left out.
  const open = { ...shown.open, blocking: 0 }
  return { ...shown, open, oldestDays: open.warning + open.info === 0 ? null : shown.oldestDays }
}

const unshown = { open: { blocking: 0, warning: 0, info: 0 }, oldestDays: null } as const

/** A later run covered the instrument. */
const Judge = Struct({ on: Schema.Literal("judge"), verdict: InstrumentVerdict })

export const instrumentVerdicts = Collection.define<InstrumentVerdict, typeof Judge.Type>(
  "instrument-verdict",
  {
    doc: "What the latest reconciliation run that covered an instrument came to.",
    id: (self) => self.instrumentId,
    record: InstrumentVerdict,
    fact: Judge,
    evolve: (_, { verdict }) => verdict,
    keptBy: "engine",
    filters: {
      instrumentId: (self) => self.instrumentId,
      verdict: (self) => self.verdict
    },
    invariants: {
      "it is blocked where a blocking finding is open": ({ verdict, open }) =>
        (verdict === "blocked") === open.blocking > 0,
      "it has an age where a finding is open": ({ open, oldestDays }) =>
        (oldestDays === null) === (open.blocking + open.warning + open.info === 0)
    }
  }
)
