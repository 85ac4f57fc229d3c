/** Whether the store takes what is written: noted by its adapter when a write is refused, seen by who asks. */
import { Context } from "effect"

export interface RefusedWrites {
  /**
   * An adapter MUST call it when a write fails for a reason that is the store's own and not the
   * write's, such as a full disk or a store that became read-only. The reason is the store's word,
   * and holds nothing of what was written.
   */
  readonly note: (reason: string) => void
  /** Why the last write was refused; null: none was since a write was last taken. */
  readonly reason: () => string | null
  /** A write of some size was taken: the store is well again. */
  readonly taken: () => void
}

/** One store's note. */
export const make = (): RefusedWrites => {
  let refused: string | null = null
  return {
    note: (reason) => {
      refused = reason
    },
    reason: () => refused,
    taken: () => {
      refused = null
    }
  }
}

/** Where nobody asks, nothing is kept. */
export const Current = Context.Reference<RefusedWrites>(
  "@bursar/engine-core/ports/storage/RefusedWrites",
  { defaultValue: () => ({ note: () => {}, reason: () => null, taken: () => {} }) }
)
