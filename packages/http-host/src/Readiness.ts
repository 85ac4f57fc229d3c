/** Whether the engine takes calls: looked at every two seconds, never by a request. */
import { Refusal } from "@bursar/engine-core"
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import type { Health } from "./api/SystemApi.ts"

/** What one look at the engine's surroundings tells. */
export interface Vitals {
  readonly projectionOffset: Offset.Offset
  /** Null: the ledger is not reached. */
  readonly ledgerEnd: Offset.Offset | null
  /** Seconds for which the oldest claimable operation has waited; 0 when none does. */
  readonly oldestQueuedSeconds: number
  /** Seconds for which the oldest offset that is not projected is known; 0 while there is none. */
  readonly lagSeconds: number
  readonly migrationsPending: boolean
}

/** How to look; a store that is away fails. */
export class Vital extends Context.Service<
  Vital,
  { readonly look: Effect.Effect<Vitals, Refusal.Unavailable> }
>()("@bursar/http-host/Readiness/Vital") {}

export class Readiness extends Context.Service<
  Readiness,
  {
    readonly current: Effect.Effect<({ readonly _tag: "Ready" } & Health) | Refusal.Unavailable>
    /** From now on the host is not ready: it is being stopped. */
    readonly stopping: Effect.Effect<void>
  }
>()("@bursar/http-host/Readiness") {}

const every = "2 seconds"
const lookWithin = "1500 millis"
/** A store that was not reached for this long makes the host not ready. */
const storeAwayMax = 10_000
const slowSeconds = 60
const retryAfter = 5

const notReady = Refusal.unavailable("not-ready", "The engine is not ready.", retryAfter)

/** Never shows names or causes: anybody may ask. */
export const layer = (of: { readonly version: string }): Layer.Layer<Readiness, never, Vital> =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const vital = yield* Vital
      const startedAt = yield* Instant.now
      let last: Vitals | undefined
      let seenAt = Number.NEGATIVE_INFINITY
      let stopping = false

      const look = vital.look.pipe(
        Effect.timeoutOrElse({ duration: lookWithin, orElse: () => Effect.fail(notReady) }),
        Effect.flatMap((vitals) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            last = vitals
            seenAt = now
          })
        ),
        Effect.catch((away) => Effect.logWarning("the engine's store is not reached", away.detail))
      )
      yield* look
      yield* look.pipe(Effect.repeat(Schedule.spaced(every)), Effect.forkScoped)

      return {
        current: Effect.map(Clock.currentTimeMillis, (now) => {
          if (stopping || last === undefined || last.migrationsPending) return notReady
          if (now - seenAt > storeAwayMax) return notReady
          return {
            _tag: "Ready",
            status: isSlow(last) ? "degraded" : "up",
            ready: true,
            api: "v1",
            version: of.version,
            startedAt,
            projectionOffset: last.projectionOffset,
            ledgerEnd: last.ledgerEnd
          }
        }),
        stopping: Effect.sync(() => {
          stopping = true
        })
      }
    })
  )

const isSlow = (vitals: Vitals): boolean =>
  vitals.ledgerEnd === null ||
  vitals.oldestQueuedSeconds > slowSeconds ||
  vitals.lagSeconds > slowSeconds
