/**
 * Health of the store's writes: the adapter notes a refused write, and the health check reads it.
 */
import { Context } from "effect"

/** Port that hears of writes which the store refuses. */
export interface RefusedWrites {
  /**
   * An adapter MUST call it when a write fails for a reason of the store, such as a full disk or a
   * store that became read-only. The reason is the store's text and holds nothing of what was
   * written.
   */
  readonly note: (reason: string) => void
  /** Reason of the last refused write; null: none was refused since the last that succeeded. */
  readonly reason: () => string | null
  /** Notes that a write has succeeded. */
  readonly onTaken: () => void
}

/** Health of one store's writes. */
export const make = (): RefusedWrites => {
  let refused: string | null = null
  return {
    note: (reason) => {
      refused = reason
    },
    reason: () => refused,
    onTaken: () => {
      refused = null
    }
  }
}

/** Default: nothing is kept, because no health check reads it. */
export const Current = Context.Reference<RefusedWrites>(
  "@bursar/engine-core/ports/storage/RefusedWrites",
  { defaultValue: () => ({ note: () => {}, reason: () => null, onTaken: () => {} }) }
)
