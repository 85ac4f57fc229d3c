/** At which instant what the clock has done to a record is judged: now, unless the ledger says when. */
import { Context, Effect } from "effect"
import * as Instant from "../kernel/Instant.ts"

/**
 * A projection that is late reads today what happened yesterday: an offer that ran out this morning
 * was open when its holder took it. So what is read off an update is judged at its effective time.
 */
export const JudgedAt = Context.Reference<Instant.Instant | null>(
  "@bursar/engine-core/records/JudgedAt",
  { defaultValue: () => null }
)

export const judgedAt: Effect.Effect<Instant.Instant> = Effect.flatMap(JudgedAt, (at) =>
  at === null ? Instant.now : Effect.succeed(at)
)
