/** Which restrictions are in force: what every gate, register and portfolio asks of them. */
import { Effect } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Records } from "../../records/Records.ts"
import type { Restricting } from "./RestrictionRules.ts"

/** Of these holders: those on the instrument named and those on all; without one, all of them. */
export interface Of {
  readonly holderIds?: ReadonlyArray<string>
  readonly instrumentId?: string
}

/** The restrictions in force at the pin; one look-up. The engine records none yet. */
export const inForce = (
  _of: Of,
  _pin?: Pin.Resolved
): Effect.Effect<ReadonlyArray<Restricting>, Unavailable, Records> => Effect.succeed([])
