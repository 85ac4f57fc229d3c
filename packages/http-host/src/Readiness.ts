/** Cached readiness of the engine: polled in the background within a second, never by a request. */
import { Refusal } from "@bursar/engine-core"
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import { Context, Duration, Effect, Layer, Schedule } from "effect"
import type { Health } from "./api/SystemApi.ts"
import * as Patience from "./Patience.ts"

/** Result of one readiness poll. */
export interface Vitals {
  readonly projectionOffset: Offset.Offset
  /** Latest offset of the ledger; null: the ledger is not reached. */
  readonly ledgerEnd: Offset.Offset | null
  /** Age in seconds of the oldest operation that may be leased; 0 where there is none. */
  readonly oldestQueuedSeconds: number
  /**
   * Seconds since the oldest offset that is not projected was first seen; 0 where there is none.
   */
  readonly lagSeconds: number
  readonly migrationsPending: boolean
}

/** Reader of what a host needs to be ready: its storage, its ledger and its engine. */
export class Vital extends Context.Service<
  Vital,
  {
    /** Polls once; fails where the store is unavailable or refuses writes. */
    readonly look: Effect.Effect<Vitals, Refusal.Unavailable>
    /**
     * Checks, without a poll, whether the store has refused a write since its last successful one.
     */
    readonly refusesWrites?: () => boolean
  }
>()("@bursar/http-host/Readiness/Vital") {}

/** Judgement of whether a host is ready for calls. */
export class Readiness extends Context.Service<
  Readiness,
  {
    readonly current: Effect.Effect<({ readonly _tag: "Ready" } & Health) | Refusal.Unavailable>
    /** Marks the host as not ready for the rest of its life, because it is being stopped. */
    readonly stopping: Effect.Effect<void>
  }
>()("@bursar/http-host/Readiness") {}

/**
 * Poll interval and timeout, together less than a second: the longest time for which an unavailable
 * store is reported as available.
 */
const every = "250 millis"
const lookWithin = Duration.millis(700)
const slowSeconds = 60
const retryAfter = 5

const notReady = Refusal.unavailable("not-ready", "The engine is not ready.", retryAfter)

const silent = Refusal.unavailable("not-ready", "It does not answer.", retryAfter)

/** Shows no names and no causes, because health is public. */
export const layer = ({
  version
}: {
  readonly version: string
}): Layer.Layer<Readiness, never, Vital> =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const vital = yield* Vital
      const startedAt = yield* Instant.now
      /** Result of the last poll; undefined: the store did not answer. */
      let latest: Vitals | undefined
      let loggedState: "reached" | "not reached" | undefined
      let stopping = false

      // Logs changes only: an outage of an hour is one line, not one for each poll.
      const tell = (now: "reached" | "not reached", line: Effect.Effect<void>) => {
        const before = loggedState
        loggedState = now
        return before === now ? Effect.void : line
      }
      const reached = (vitals: Vitals): Effect.Effect<void> => {
        latest = vitals
        return tell("reached", Effect.logInfo("the engine's store is reached"))
      }
      const missed = ({ detail }: Refusal.Unavailable): Effect.Effect<void> => {
        latest = undefined
        return tell("not reached", Effect.logWarning("the engine's store is not reached", detail))
      }
      const look = vital.look.pipe(
        Patience.within(lookWithin, () => Effect.fail(silent)),
        Effect.matchEffect({ onSuccess: reached, onFailure: missed })
      )
      yield* look
      yield* look.pipe(Effect.repeat(Schedule.spaced(every)), Effect.forkScoped)

      return {
        current: Effect.sync(() => {
          if (stopping || latest === undefined || latest.migrationsPending) return notReady
          if (vital.refusesWrites?.() === true) return notReady
          return {
            _tag: "Ready",
            status: isSlow(latest) ? "degraded" : "up",
            ready: true,
            api: "v1",
            version,
            startedAt,
            projectionOffset: latest.projectionOffset,
            ledgerEnd: latest.ledgerEnd
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
