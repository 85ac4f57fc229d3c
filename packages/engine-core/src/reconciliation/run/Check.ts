/** Declaration of a check of reconciliation: facts of one instrument, compared by a pure function. */
import { Data, type Stream } from "effect"
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Difference } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { Records } from "../../records/Records.ts"

/** Point of a run: everything that the run reads was written by then. */
export interface Point {
  readonly pin: Pin.Resolved
  /**
   * Horizon: the offset after which the kept history begins; 0 where the projection began before the
   * first update of the ledger, and none is pruned.
   */
  readonly horizonOffset: number
}

/** The facts of a check cannot be read; `why` is shown with the run. */
export class CheckNotRun extends Data.TaggedError("CheckNotRun")<{ readonly why: string }> {}

/** One row of the table of checks (docs/domain/reconciliation.md#checks). */
export interface Check<F = unknown> {
  /** Streams the facts of an instrument at the point, in flat memory; none: nothing to compare. */
  facts(
    instrument: Instrument,
    at: Point
  ): Stream.Stream<F, CheckNotRun | Unavailable, Records | Crypto>
  /** Compares one fact: returns its differences beyond the tolerance. */
  differences(fact: F, tolerance: Decimal.Decimal): ReadonlyArray<Difference>
}

/** Declares a check; the type of its facts follows from the two functions. */
export const define = <F>(of: Check<F>): Check<F> => of
