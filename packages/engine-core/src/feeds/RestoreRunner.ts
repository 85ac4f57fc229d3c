/**
 * Note of a restore: after the database came back from a copy, its feeds go on under a history of
 * their own, so that readers and receivers tell it from the one that is lost.
 */
import { Effect } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Ids } from "../ports/Ids.ts"
import { Feed } from "../ports/storage/Feed.ts"
import * as Audit from "../records/Audit.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import { Records } from "../records/Records.ts"
import * as DeliveryRules from "../records/webhook/DeliveryRules.ts"

/** Where a restored store ended when its restore was noted. */
export interface NotedRestore {
  /** The last event that it has. */
  readonly eventSeq: number
  /** The last audit record that it has, before the record of the note. */
  readonly auditSeq: number
}

/** One microsecond, the precision of a feed's instants. */
const micro = 1_000n

/** Microseconds, within which the instant of a restore is drawn. */
const drawnWithin = 1_000_000

/**
 * Notes that the store is a restored copy, before anything else is written to it: cursors that have
 * passed what is lost are refused from then on, and events after it have webhook-ids of their own
 * (docs/contract/pages-and-cursors.md#after-a-restore). It is logged in the audit log.
 *
 * The instant of the note names the history. Its last second is drawn, so that two restores of one copy
 * never have one name, also where both machines have the same time, or one that is behind the copy's.
 */
export const noteRestore: Effect.Effect<NotedRestore, Unavailable, Records | Feed | Ids> =
  Effect.gen(function* () {
    const feed = yield* Feed
    const records = yield* Records
    return yield* records.transactAlone(
      Effect.gen(function* () {
        const head = yield* orUnavailable(feed.head)
        const now = yield* Instant.now
        const chance = DeliveryRules.chanceOf(yield* (yield* Ids).bytes(4))
        const drawn = micro * BigInt(Math.floor(chance * drawnWithin))
        // Later than everything that the copy has, though the clock of this machine is behind.
        const least = [head.at, ...head.restores.map(({ at }) => at)]
          .filter((at) => at !== "")
          .map((at) => Instant.fromNanos(Instant.of(at) + micro))
          .reduce(Instant.max, now)
        yield* orUnavailable(feed.noteRestore(Instant.sortable(Instant.fromNanos(least + drawn))))
        const noted = { eventSeq: head.seq, auditSeq: head.audit.seq }
        yield* records.audit([
          Audit.entry({ action: "venue.restore", stage: "succeeded", detail: noted })
        ])
        return noted
      })
    )
  })
