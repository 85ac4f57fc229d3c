/** Which holds are open on instruments: what every gate and every shown instrument asks. */
import { Effect } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Records } from "../../records/Records.ts"
import type { Holding } from "./HoldRules.ts"

/** The holds open on these instruments at the pin, oldest first; one look-up. There is none yet. */
export const openOn = (
  _instrumentIds: ReadonlyArray<string>,
  _pin?: Pin.Resolved
): Effect.Effect<ReadonlyArray<Holding>, Unavailable, Records> => Effect.succeed([])
