/** Interface of steps that rooms above run when a hold opens; the catalogue gathers them. */
import type { Effect } from "effect"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Act } from "../../records/Act.ts"
import type { Records } from "../../records/Records.ts"
import type { Hold } from "./Hold.ts"

export interface HoldFollowers {
  /** Holds the distributions of the instrument that pay. Must run inside `transact`. */
  readonly holdDistributions: (
    hold: Pick<Hold, "holdId" | "instrumentId">,
    act: Act
  ) => Effect.Effect<void, Unavailable, Records>
}
