/**
 * Envelope of every read's answer: the value, the offset it was read at, and the engine's clock.
 */
import type * as Instant from "./Instant.ts"
import type * as Offset from "./Offset.ts"

/** Value of a read, with the point that it was read at. */
export interface Envelope<A> {
  /** 0 for an answer from the engine's own records that no ledger offset dates. */
  readonly offset: Offset.Offset
  /** Present on reads that take at or asOf and on ledger reads; null where none is recorded. */
  readonly ledgerTime?: Instant.Instant | null
  readonly now: Instant.Instant
  readonly value: A
  /** Lists and feeds only: the cursor for the next page. */
  readonly next?: string | null
}
