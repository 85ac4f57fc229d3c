/** Where checkpoints of the audit log are kept out of the engine's own reach. */
import { Context, Data, Effect } from "effect"
import type { Anchor } from "../feeds/Checkpoint.ts"

/** The place is away; the same checkpoint is offered again. */
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

/** Without a place of its own an engine keeps its checkpoints nowhere but in the log itself. */
export const AuditAnchor = Context.Reference<Place>("@bursar/engine-core/ports/AuditAnchor", {
  defaultValue: () => ({ keep: () => Effect.void })
})
export type AuditAnchor = Place
