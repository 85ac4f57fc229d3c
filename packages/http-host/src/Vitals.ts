/** What readiness looks at: the store, the ledger, the queue, and how far the projection is behind. */
import { Refusal } from "@bursar/engine-core"
import { Offset } from "@bursar/engine-core/kernel"
import {
  Ledger,
  ProjectionLog,
  type StorageUnavailable,
  WorkQueue
} from "@bursar/engine-core/ports"
import { Clock, Effect, Layer } from "effect"
import { Vital } from "./Readiness.ts"

const queue = "operations"

/** A ledger that says nothing for this long is away; a look has to end before the store counts as away. */
const ledgerWithin = "1 second"

const away = ({ detail, retryAfter }: StorageUnavailable) =>
  Refusal.unavailable("not-ready", detail, retryAfter)

export const layer: Layer.Layer<Vital, never, Ledger.Ledger | ProjectionLog | WorkQueue> =
  Layer.effect(
    Vital,
    Effect.gen(function* () {
      const ledger = yield* Ledger.Ledger
      const log = yield* ProjectionLog
      const work = yield* WorkQueue
      /** An end of the ledger that is not projected yet, and since when it is known. */
      let awaited: { readonly end: number; readonly since: number } | null = null

      const ledgerEnd = ledger.ledgerEnd.pipe(
        Effect.timeout(ledgerWithin),
        Effect.catch(() => Effect.succeed(null))
      )
      const store = Effect.all([log.head, work.depth(queue)]).pipe(Effect.mapError(away))

      return {
        look: Effect.gen(function* () {
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
