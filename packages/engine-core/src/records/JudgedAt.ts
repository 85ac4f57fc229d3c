/** Instant at which clock states of loaded records are judged: the clock's, or that of a ledger update. */
import { Context } from "effect"
import type * as Instant from "../kernel/Instant.ts"

/**
 * Effective time of the ledger update that is being folded; null outside of one. A late projection
 * reads updates of yesterday: an offer that has expired since was open when its holder accepted it,
 * so records are judged at the update's effective time.
 */
export const JudgedAt = Context.Reference<Instant.Instant | null>(
  "@bursar/engine-core/records/JudgedAt",
  { defaultValue: () => null }
)
