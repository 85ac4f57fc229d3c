/** Whether the engine takes calls: looked at and told of within a second, never by a request. */
import { Refusal } from "@bursar/engine-core"
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import { Context, Effect, Layer, Schedule } from "effect"
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

export class Vital extends Context.Service<
  Vital,
  {
    /** One look; a store that is away, or that still refuses what is written, fails. */
    readonly look: Effect.Effect<Vitals, Refusal.Unavailable>
    /** Whether the store has refused a write since it last took one: known at once, without a look. */
    readonly refusesWrites?: () => boolean
  }
>()("@bursar/http-host/Readiness/Vital") {}

export class Readiness extends Context.Service<
  Readiness,
  {
    readonly current: Effect.Effect<({ readonly _tag: "Ready" } & Health) | Refusal.Unavailable>
    /** From now on the host is not ready: it is being stopped. */
    readonly stopping: Effect.Effect<void>
  }
>()("@bursar/http-host/Readiness") {}

/** Together less than a second: so long a store that is gone, or says nothing, may count as there. */
const every = "250 millis"
const lookWithin = "700 millis"
const slowSeconds = 60
const retryAfter = 5

const notReady = Refusal.unavailable("not-ready", "The engine is not ready.", retryAfter)

const silent = Refusal.unavailable("not-ready", "It does not answer.", retryAfter)

/** Never shows names or causes: anybody may ask. */
export const layer = (of: { readonly version: string }): Layer.Layer<Readiness, never, Vital> =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const vital = yield* Vital
      const startedAt = yield* Instant.now
      /** What the last look told; undefined: it did not reach the store. */
      let last: Vitals | undefined
      let told: "reached" | "not reached" | undefined
      let stopping = false

      // Told when it changes: a store that is away for an hour is one line, not one for each look.
      const tell = (now: "reached" | "not reached", line: Effect.Effect<void>) => {
        const before = told
        told = now
        return before === now ? Effect.void : line
      }
      const reached = (vitals: Vitals): Effect.Effect<void> => {
        last = vitals
        return tell("reached", Effect.logInfo("the engine's store is reached"))
      }
      const missed = ({ detail }: Refusal.Unavailable): Effect.Effect<void> => {
        last = undefined
        return tell("not reached", Effect.logWarning("the engine's store is not reached", detail))
      }
      const look = vital.look.pipe(
        Effect.timeoutOrElse({ duration: lookWithin, orElse: () => Effect.fail(silent) }),
        Effect.matchEffect({ onSuccess: reached, onFailure: missed })
      )
      yield* look
      yield* look.pipe(Effect.repeat(Schedule.spaced(every)), Effect.forkScoped)

      return {
        current: Effect.sync(() => {
          if (stopping || last === undefined || last.migrationsPending) return notReady
          if (vital.refusesWrites?.() === true) return notReady
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
