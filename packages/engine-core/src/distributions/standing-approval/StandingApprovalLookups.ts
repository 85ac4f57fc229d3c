/** Look-up of the standing approval that an instrument's executions come under. */
import { Effect } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type StandingApproval, standingApprovals } from "./StandingApproval.ts"

/** Finds the instrument's scheduled or active approval; null: it has none, and never two. */
export const openOf: (
  instrumentId: string,
  pin?: Pin.ResolvedPin
) => Effect.Effect<Stored<StandingApproval> | null, Unavailable, Records> = Effect.fnUntraced(
  function* (instrumentId, pin) {
    const records = yield* Records
    const [row] = yield* records.list(standingApprovals, {
      ...(pin === undefined ? {} : { pin }),
      where: { instrumentId: [instrumentId], state: ["scheduled", "active"] },
      limit: 1
    })
    return row?.record ?? null
  }
)
