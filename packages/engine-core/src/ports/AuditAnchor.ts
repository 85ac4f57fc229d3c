/** Port: external storage of checkpoints of the audit log, which the engine cannot change. */
import { Context, Data, Effect } from "effect"
import type { Anchor } from "./Anchor.ts"

/** The anchor is unavailable; the same checkpoint is offered again. */
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

/** Default: no anchor; checkpoints are kept in the audit log alone. */
export const AuditAnchor = Context.Reference<Place>("@bursar/engine-core/ports/AuditAnchor", {
  defaultValue: () => ({ keep: () => Effect.void })
})
export type AuditAnchor = Place
