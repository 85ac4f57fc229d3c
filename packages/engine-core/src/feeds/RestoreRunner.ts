/**
 * Note of a restore: after the database came back from a copy, its feeds go on under a history of
 * their own, so that readers and receivers tell it from the one that is lost.
 */
import { Effect } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Feed } from "../ports/storage/Feed.ts"
import * as Audit from "../records/Audit.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import { Records } from "../records/Records.ts"

/** Where a restored store ended when its restore was noted. */
export interface NotedRestore {
  /** The last event that it has. */
  readonly eventSeq: number
  /** The last audit record that it has, before the record of the note. */
  readonly auditSeq: number
}

/** One microsecond, the precision of a feed's instants. */
const micro = 1_000n

/**
 * Notes that the store is a restored copy, before anything else is written to it: cursors that have
 * passed what is lost are refused from then on, and events after it have webhook-ids of their own
 * (docs/contract/pages-and-cursors.md#after-a-restore). It is logged in the audit log.
 */
export const noteRestore: Effect.Effect<NotedRestore, Unavailable, Records | Feed> = Effect.gen(
  function* () {
    const feed = yield* Feed
    const records = yield* Records
    return yield* records.transactAlone(
      Effect.gen(function* () {
        const head = yield* orUnavailable(feed.head)
        const now = yield* Instant.now
        // Later than everything that the copy has, though the clock of this machine is behind.
        const least = head.at === "" ? now : Instant.fromNanos(Instant.of(head.at) + micro)
        yield* orUnavailable(feed.noteRestore(Instant.sortable(Instant.max(now, least))))
        const noted = { eventSeq: head.seq, auditSeq: head.audit.seq }
        yield* records.audit([
          Audit.entry({ action: "venue.restore", stage: "succeeded", detail: noted })
        ])
        return noted
      })
    )
  }
)
