/** What readiness looks at: the store, the ledger, the queue, and how far the projection is behind. */
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
import { Clock, Data, Effect, Layer } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { Vital } from "./Readiness.ts"

const queue = "operations"

/** A ledger that says nothing for this long is away; a look has to end before the store counts as away. */
const ledgerWithin = "500 millis"

const away = ({ detail, retryAfter }: StorageUnavailable) =>
  Refusal.unavailable("not-ready", detail, retryAfter)

/** Bytes that no compression shrinks, more than a page has left: writing them needs room on the disk. */
const triedBytes = 64 * 1024

/** Ends the transaction of a try, which is to leave nothing behind. */
class TakenBack extends Data.TaggedError("TakenBack")<{}> {}

/** Writes as much as a small statement and takes it back: whether the store has room again. */
const tryWrite = Effect.gen(function* () {
  const blobs = yield* Blobs
  const { run } = yield* Atomically
  const bytes = randomBytes(triedBytes)
  const hash = createHash("sha256").update(bytes).digest("hex")
  yield* run(
    Effect.gen(function* () {
      yield* blobs.put({ hash, bytes })
      // A write is known to be taken only when something after it is answered.
      yield* blobs.get(hash)
      return yield* new TakenBack()
    })
  ).pipe(
    Effect.catchTags({
      TakenBack: () => Effect.void,
      StorageUnavailable: (error) => Effect.fail(away(error))
    })
  )
})

type Needs = Ledger.Ledger | ProjectionLog | WorkQueue | Atomically | Blobs

export const layer: Layer.Layer<Vital, never, Needs> = Layer.effect(
  Vital,
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const log = yield* ProjectionLog
    const work = yield* WorkQueue
    const writes = yield* RefusedWrites.Current
    const tried = Effect.provideContext(tryWrite, yield* Effect.context<Atomically | Blobs>())
    /** An end of the ledger that is not projected yet, and since when it is known. */
    let awaited: { readonly end: number; readonly since: number } | null = null

    const ledgerEnd = ledger.ledgerEnd.pipe(
      Effect.timeout(ledgerWithin),
      Effect.catch(() => Effect.succeed(null))
    )
    const store = Effect.all([log.head, work.depth(queue)]).pipe(Effect.mapError(away))

    return {
      refusesWrites: () => writes.reason() !== null,
      look: Effect.gen(function* () {
        // Only then: a store that takes writes is not written to in order to see that it does.
        if (writes.reason() !== null) {
          yield* tried
          writes.taken()
        }
        // Side by side, so that a slow ledger takes nothing of the store's time.
        const [[head, depth], end] = yield* Effect.all([store, ledgerEnd], {
          concurrency: "unbounded"
        })
        const now = yield* Clock.currentTimeMillis
        // What came after that end is younger: a busy ledger is not one that is far ahead.
        const reached = awaited !== null && awaited.end <= head.offset
        if (reached || (end !== null && end <= head.offset)) awaited = null
        if (awaited === null && end !== null && end > head.offset) awaited = { end, since: now }
        return {
          projectionOffset: Offset.of(head.offset),
          ledgerEnd: end,
          oldestQueuedSeconds: (depth.oldestMillis ?? 0) / 1000,
          lagSeconds: awaited === null ? 0 : (now - awaited.since) / 1000,
          // The store brings its schema up to date before it is opened.
          migrationsPending: false
        }
      })
    }
  })
)
