/** Port: a place outside the engine's reach that keeps checkpoints of the audit log. */
import { Context, Data, Effect } from "effect"
import type { Anchor } from "../feeds/Checkpoint.ts"

/** The place is unavailable; the same checkpoint is offered again. */
export class AnchorUnavailable extends Data.TaggedError("AnchorUnavailable")<{
  readonly detail: string
}> {}

interface Place {
  /**
   * Keeps a checkpoint. It MUST be kept when this succeeds, and offering one that is kept already
   * MUST change nothing: after a crash the last one is offered again.
   */
  readonly keep: (anchor: Anchor) => Effect.Effect<void, AnchorUnavailable>
}

/** Default: no place outside; checkpoints stand in the audit log alone. */
export const AuditAnchor = Context.Reference<Place>("@bursar/engine-core/ports/AuditAnchor", {
  defaultValue: () => ({ keep: () => Effect.void })
})
export type AuditAnchor = Place
