/** Index of waiting records: keyset pages and counts of it at a pin. */
import type { Effect } from "effect"
import type { WaitCondition } from "../kernel/Collection.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { StoredWait, WaitCount, WaitQuery } from "../ports/storage/Documents.ts"
import type * as Waits from "./Waits.ts"

/** Filter of waits at the pin of a read; clock states and deadlines are judged at the pin's instant. */
export interface IndexQuery
  extends Pick<WaitQuery, "audience" | "where" | "overdue" | "subject" | "conditions"> {
  readonly pin: Pin.ResolvedPin
}

/** The part of `Records` that reads and fills the index of waiting records. */
export interface WaitIndex {
  /** The kinds of record whose waits are indexed. */
  readonly kinds: ReadonlyMap<string, Waits.WaitingKind>
  /**
   * At most `limit` waits, earliest deadline first, those without one last. At an offset the engine's own
   * records, such as four-eyes actions, are left out: no offset dates them.
   */
  readonly list: (
    query: IndexQuery & { readonly after?: string | undefined; readonly limit: number }
  ) => Effect.Effect<ReadonlyArray<StoredWait>, Unavailable>
  /** Counts waits by role and kind, at most `most` of each. */
  readonly counts: (
    query: IndexQuery & { readonly most: number }
  ) => Effect.Effect<ReadonlyArray<WaitCount>, Unavailable>
  /** Keys of the conditions about other records under which records wait at the pin. */
  readonly conditions: (
    pin: Pin.ResolvedPin
  ) => Effect.Effect<ReadonlyArray<WaitCondition["key"]>, Unavailable>
  /**
   * Fails with `not-ready` while records of before the index are still being added to it: a list that
   * lacks some of them would be taken for a whole one.
   */
  readonly checkFilled: Effect.Effect<void, Unavailable>
  /** Adds the records that were written before the store had the index; nothing where all are in it. */
  readonly fill: Effect.Effect<void, Unavailable>
}
