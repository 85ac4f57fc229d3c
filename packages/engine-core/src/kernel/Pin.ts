/** The point a read is pinned to: an offset, an instant, or the latest. */
import type * as Instant from "./Instant.ts"
import type * as Offset from "./Offset.ts"

export type Pin =
  | { readonly by: "latest" }
  | { readonly by: "offset"; readonly offset: Offset.Offset }
  | { readonly by: "instant"; readonly instant: Instant.Instant }

export const latest: Pin = { by: "latest" }
export const at = (offset: Offset.Offset): Pin => ({ by: "offset", offset })
export const asOf = (instant: Instant.Instant): Pin => ({ by: "instant", instant })

/**
 * A pin after the projection has been asked: which offset answers for ledger facts, how the engine's
 * own records are selected, and at which instant what depends on time is judged.
 */
export interface Resolved {
  readonly offset: Offset.Offset
  /** The ledger time of that offset; null where the projection records none. */
  readonly ledgerTime: Instant.Instant | null
  /**
   * `at` selects by offset; `asOf` by instant, but by the offset what the ledger keeps. `snapshot` is
   * everything that was written by an instant: what is asked of the latest and its later pages, and
   * an instant that was answered for. Only what no offset dates is read as it is.
   */
  readonly select:
    | { readonly by: "latest" }
    | { readonly by: "offset" }
    | { readonly by: "instant"; readonly instant: Instant.Instant }
    | { readonly by: "snapshot"; readonly instant: Instant.Instant }
  /** The instant at which clock states are judged. */
  readonly judgedAt: Instant.Instant
}
