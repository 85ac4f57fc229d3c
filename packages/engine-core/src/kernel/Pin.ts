/** Pin of a read: an offset, an instant, or the latest. */
import type * as Instant from "./Instant.ts"
import type * as Offset from "./Offset.ts"

/** Point of a read: the latest, an offset of the ledger, or an instant. */
export type Pin =
  | { readonly by: "latest" }
  | { readonly by: "offset"; readonly offset: Offset.Offset }
  | { readonly by: "instant"; readonly instant: Instant.Instant }

/** Pin of the latest state. */
export const latest: Pin = { by: "latest" }

/** Pin of the state at an offset of the ledger. */
export const at = (offset: Offset.Offset): Pin => ({ by: "offset", offset })

/** Pin of the state at an instant. */
export const asOf = (instant: Instant.Instant): Pin => ({ by: "instant", instant })

/**
 * A resolved pin: the offset that answers for ledger facts, the selection of the engine's own records,
 * and the instant at which clock states are judged.
 */
export interface ResolvedPin {
  readonly offset: Offset.Offset
  /** The ledger time of that offset; null where the projection records none. */
  readonly ledgerTime: Instant.Instant | null
  /**
   * Selection of versions of records. `offset`: by the ledger's offset, for `at`. `instant`: by
   * recorded instant, for `asOf`, except that records of the ledger are selected by offset.
   * `snapshot`: everything written by an instant, for reads of the latest, their later pages, and
   * instants that were answered for. `latest`: records that no offset dates, as they are.
   */
  readonly select:
    | { readonly by: "latest" }
    | { readonly by: "offset" }
    | { readonly by: "instant"; readonly instant: Instant.Instant }
    | { readonly by: "snapshot"; readonly instant: Instant.Instant }
  /** The instant at which clock states are judged. */
  readonly judgedAt: Instant.Instant
}
