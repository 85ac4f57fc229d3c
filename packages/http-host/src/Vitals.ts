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

const away = ({ detail, retryAfter }: StorageUnavailable) =>
  Refusal.unavailable("not-ready", detail, retryAfter)

export const layer: Layer.Layer<Vital, never, Ledger.Ledger | ProjectionLog | WorkQueue> =
  Layer.effect(
    Vital,
    Effect.gen(function* () {
      const ledger = yield* Ledger.Ledger
      const log = yield* ProjectionLog
      const work = yield* WorkQueue
      let behindSince: number | null = null

      return {
        look: Effect.gen(function* () {
          const head = yield* Effect.mapError(log.head, away)
          const depth = yield* Effect.mapError(work.depth(queue), away)
          const end = yield* Effect.catch(ledger.ledgerEnd, () => Effect.succeed(null))
          const now = yield* Clock.currentTimeMillis
          const behind = end !== null && end > head.offset
          behindSince = behind ? (behindSince ?? now) : null
          return {
            projectionOffset: Offset.of(head.offset),
            ledgerEnd: end,
            oldestQueuedSeconds: (depth.oldestMillis ?? 0) / 1000,
            lagSeconds: behindSince === null ? 0 : (now - behindSince) / 1000,
            // The store brings its schema up to date before it is opened.
            migrationsPending: false
          }
        })
      }
    })
  )
