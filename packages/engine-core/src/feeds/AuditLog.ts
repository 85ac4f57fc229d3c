/** Logs what is no part of any write: refused calls, reads that are logged, a host that started. */
import { Context, Duration, Effect, Fiber, FiberSet, Layer, Metric } from "effect"
import * as Metrics from "../engine/Metrics.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Records } from "../records/Records.ts"
import * as Audit from "../records/Audit.ts"

/**
 * Refused calls of one subject that are logged one by one within a minute
 * (docs/contract/audit-log.md#what-is-logged).
 */
export const perMinute = 60

/** Subjects that are told apart within a minute; beyond that, whoever comes shares one. */
const subjectsMax = 10_000

/** Milliseconds after which a refusal is answered though its record is still being written. */
const notedWithin = 2_000

const minute = 60_000

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /**
     * Logs a refused call, in a transaction of its own, before it is answered: at most 60 of one
     * subject and minute, the rest counted in one record at the minute's end or when the engine
     * stops. Callers that are not known share one subject. It never fails: a store that is away must
     * not turn a refusal into another answer, so what could not be logged is warned of and counted.
     */
    readonly note: (entry: Audit.Entry) => Effect.Effect<void>
    /**
     * Logs what must not happen unlogged, in a transaction of its own: a read that is logged, a
     * configuration. Where it fails the act is refused.
     */
    readonly log: (entry: Audit.Entry) => Effect.Effect<void, Unavailable>
    /** Logs what is only counted yet. */
    readonly flush: Effect.Effect<void>
  }
>()("@bursar/engine-core/feeds/AuditLog") {}

const strangers = ""
const others = "\n"

const make = Effect.gen(function* () {
  const records = yield* Records
  const writing = yield* FiberSet.make<void, never>()

  const log = (entry: Audit.Entry) => records.transact(records.audit([entry]))

  const unlogged = (entry: Audit.Entry, count: number) => (away: Unavailable) =>
    Effect.andThen(
      Effect.logWarning("a refused call could not be logged", {
        requestId: entry.requestId,
        count,
        detail: away.detail
      }),
      Metric.update(Metrics.auditUnlogged, count)
    )

  /** How often each subject was refused in this minute; a host's own count, no store's. */
  let counting = { minute: 0, refused: new Map<string, number>() }

  const tell = (entry: Audit.Entry, count: number) =>
    Effect.catch(log(entry), unlogged(entry, count))

  /** What a minute's count says beyond what was logged one by one. */
  const told = (refused: ReadonlyMap<string, number>) =>
    Effect.forEach(
      [...refused].filter(([, count]) => count > perMinute),
      ([subject, count]) =>
        tell(
          Audit.entry({
            action: "access.refused",
            stage: "refused",
            actor: subject === strangers || subject === others ? null : subject,
            detail: { count: count - perMinute }
          }),
          count - perMinute
        ),
      { discard: true }
    )

  const minuteOf = Effect.map(Instant.now, (now) => Math.floor(Instant.toEpochMillis(now) / minute))

  /** Begins a new minute where one has begun; answers what the old one counted. */
  const rolled = (now: number): ReadonlyMap<string, number> => {
    if (now === counting.minute) return new Map()
    const { refused } = counting
    counting = { minute: now, refused: new Map() }
    return refused
  }

  const flush = Effect.suspend(() => {
    const refused = new Map(counting.refused)
    // Within the same minute nobody is logged one by one again.
    for (const [subject, count] of refused) {
      counting.refused.set(subject, Math.min(count, perMinute))
    }
    return told(refused)
  })

  const scope = yield* Effect.scope
  const minuteEnds = Effect.gen(function* () {
    const now = Instant.toEpochMillis(yield* Instant.now)
    yield* Effect.sleep(Duration.millis(minute - (now % minute)))
    yield* told(rolled(yield* minuteOf))
  })

  /** Whether this call is logged by itself; it is counted either way. */
  const counted = Effect.fnUntraced(function* (actor: string | null) {
    const before = rolled(yield* minuteOf)
    if (before.size > 0) yield* FiberSet.run(writing, told(before))
    const { refused } = counting
    const own = actor ?? strangers
    const subject = refused.has(own) || refused.size < subjectsMax ? own : others
    const count = (refused.get(subject) ?? 0) + 1
    // Only a minute that counts anything is waited for.
    if (refused.size === 0) yield* Effect.forkIn(minuteEnds, scope)
    refused.set(subject, count)
    return count <= perMinute
  })

  const note = Effect.fnUntraced(function* (entry: Audit.Entry) {
    if (!(yield* counted(entry.actor))) return
    // Written on though the caller hangs up; a store that hangs does not keep the caller.
    const written = yield* FiberSet.run(
      writing,
      Effect.tapCause(tell(entry, 1), (cause) =>
        Effect.logError("a refused call was not logged", cause)
      )
    )
    yield* Effect.timeoutOption(Fiber.await(written), Duration.millis(notedWithin))
  })

  yield* Effect.addFinalizer(() =>
    flush.pipe(
      Effect.andThen(FiberSet.awaitEmpty(writing)),
      Effect.timeoutOption(Duration.millis(5 * notedWithin))
    )
  )

  return AuditLog.of({ note, log, flush })
})

export const layer = Layer.effect(AuditLog, make)
