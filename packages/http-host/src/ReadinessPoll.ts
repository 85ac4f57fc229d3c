/** Readiness poll: store, ledger, age of the queue, lag of the projection. */
import { Refusal } from "@bursar/engine-core"
import { Offset } from "@bursar/engine-core/kernel"
import {
  Atomically,
  Blobs,
  Ledger,
  ProjectionLog,
  RefusedWrites,
  type StorageUnavailable,
  WorkQueue
} from "@bursar/engine-core/ports"
import { Clock, Data, Duration, Effect, Layer } from "effect"
import { createHash, randomBytes } from "node:crypto"
import * as Patience from "./Patience.ts"
import { Vital } from "./Readiness.ts"

const queue = "operations"

/** Timeout of the ledger's answer, shorter than that of the whole poll. */
const ledgerWithin = Duration.millis(500)

const notReady = ({ detail, retryAfter }: StorageUnavailable) =>
  Refusal.unavailable("not-ready", detail, retryAfter)

/**
 * Size of the test write in random bytes: more than a page has left, so that it needs room on the
 * disk.
 */
const triedBytes = 64 * 1024

/** Failure that rolls back the test write. */
class TakenBack extends Data.TaggedError("TakenBack")<{}> {}

/** Checks, by a test write that is rolled back, whether the store accepts writes again. */
const tryWrite = Effect.fnUntraced(function* (
  { run }: Atomically["Service"],
  blobs: Blobs["Service"]
) {
  const bytes = randomBytes(triedBytes)
  const hash = createHash("sha256").update(bytes).digest("hex")
  yield* run(
    Effect.gen(function* () {
      yield* blobs.put({ hash, bytes })
      // A read after the write proves that the write was accepted.
      yield* blobs.get(hash)
      return yield* new TakenBack()
    })
  ).pipe(
    Effect.catchTags({
      TakenBack: () => Effect.void,
      StorageUnavailable: (error) => Effect.fail(notReady(error))
    })
  )
})

type Needs = Ledger.Ledger | ProjectionLog | WorkQueue | Atomically | Blobs

/** Reader that looks again by itself, so that a call for readiness waits for nothing. */
export const layer: Layer.Layer<Vital, never, Needs> = Layer.effect(
  Vital,
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const log = yield* ProjectionLog
    const work = yield* WorkQueue
    const writes = yield* RefusedWrites.Current
    const tried = tryWrite(yield* Atomically, yield* Blobs)
    /** The oldest ledger end that is not projected yet, and when it was first seen. */
    let awaited: { readonly end: number; readonly since: number } | null = null

    const ledgerEnd = ledger.ledgerEnd.pipe(
      Effect.catch(() => Effect.succeed(null)),
      Patience.within(ledgerWithin, () => Effect.succeed(null))
    )
    const store = Effect.all([log.head, work.depth(queue)]).pipe(Effect.mapError(notReady))

    return {
      refusesWrites: () => writes.reason() !== null,
      look: Effect.gen(function* () {
        // Only after a refused write: a store that accepts writes needs no test write.
        if (writes.reason() !== null) {
          yield* tried
          writes.onTaken()
        }
        // In parallel, so that a slow ledger does not use up the store's timeout.
        const [[head, depth], end] = yield* Effect.all([store, ledgerEnd], {
          concurrency: "unbounded"
        })
        const now = yield* Clock.currentTimeMillis
        // Counts from the oldest end that is not projected, so that a busy ledger does not count as
        // lag.
        const reached = awaited !== null && awaited.end <= head.offset
        if (reached || (end !== null && end <= head.offset)) awaited = null
        if (awaited === null && end !== null && end > head.offset) awaited = { end, since: now }
        return {
          projectionOffset: Offset.of(head.offset),
          ledgerEnd: end,
          oldestQueuedSeconds: (depth.oldestMillis ?? 0) / 1000,
          lagSeconds: awaited === null ? 0 : (now - awaited.since) / 1000,
          // Constant: the store applies its migrations before it is opened.
          migrationsPending: false
        }
      })
    }
  })
)
