/** Audit records outside of writes: refused calls, declared reads, the start of a host. */
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

/** Subjects that are counted apart within a minute; further ones share one count. */
const subjectsMax = 10_000

/**
 * Timeout in milliseconds after which a refusal is answered while its record is still being
 * written.
 */
const writtenWithin = 2_000

const minute = 60_000

/** Service that appends to the audit log, whose entries are chained by their hashes. */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    /**
     * Logs a refused call, in a transaction of its own, before it is answered: at most 60 of one
     * subject and minute, the rest counted in one record at the minute's end or when the engine
     * stops. Callers without sign-in share one subject. It never fails: an unavailable store must
     * not turn a refusal into another answer, so a record that could not be written is warned of
     * and counted.
     */
    readonly note: (entry: Audit.Entry) => Effect.Effect<void>
    /**
     * Logs an act that must not happen unlogged (a declared read, a configuration), in a
     * transaction of its own. Where it fails the act is refused.
     */
    readonly log: (entry: Audit.Entry) => Effect.Effect<void, Unavailable>
    /** Writes the records of refusals that are only counted so far. */
    readonly flush: Effect.Effect<void>
  }
>()("@bursar/engine-core/feeds/AuditLog") {}

/** Subject of callers without sign-in. */
const anonymous = ""
/** Subject that further subjects share once too many are counted; no name contains it. */
const overflow = "\n"

const make = Effect.gen(function* () {
  const records = yield* Records
  const writing = yield* FiberSet.make<void, never>()

  const log = (entry: Audit.Entry) => records.transact(records.audit([entry]))

  /** Warns of and counts refusals whose record could not be written. */
  const unlogged = (entry: Audit.Entry, count: number) => (unavailable: Unavailable) =>
    Effect.andThen(
      Effect.logWarning("a refused call could not be logged", {
        requestId: entry.requestId,
        count,
        detail: unavailable.detail
      }),
      Metric.update(Metrics.auditUnlogged, count)
    )

  /** Refusals of each subject in this minute, counted by this host alone. */
  let counting = { minute: 0, refused: new Map<string, number>() }

  const write = (entry: Audit.Entry, count: number) =>
    Effect.catch(log(entry), unlogged(entry, count))

  /** Writes one record a subject, of the refusals counted beyond those logged one by one. */
  const writeCounts = (refused: ReadonlyMap<string, number>) =>
    Effect.forEach(
      [...refused].filter(([, count]) => count > perMinute),
      ([subject, count]) =>
        write(
          Audit.entry({
            action: "access.refused",
            stage: "refused",
            actor: subject === anonymous || subject === overflow ? null : subject,
            detail: { count: count - perMinute }
          }),
          count - perMinute
        ),
      { discard: true }
    )

  const minuteOf = Effect.map(Instant.now, (now) => Math.floor(Instant.toEpochMillis(now) / minute))

  /** Starts the count of a new minute where one has begun; returns the count before it. */
  const rolled = (now: number): ReadonlyMap<string, number> => {
    if (now === counting.minute) return new Map()
    const { refused } = counting
    counting = { minute: now, refused: new Map() }
    return refused
  }

  const flush = Effect.suspend(() => {
    const refused = new Map(counting.refused)
    // After a flush within the minute, further refusals are only counted.
    for (const [subject, count] of refused) {
      counting.refused.set(subject, Math.min(count, perMinute))
    }
    return writeCounts(refused)
  })

  const scope = yield* Effect.scope
  const minuteEnds = Effect.gen(function* () {
    const now = Instant.toEpochMillis(yield* Instant.now)
    yield* Effect.sleep(Duration.millis(minute - (now % minute)))
    yield* writeCounts(rolled(yield* minuteOf))
  })

  /** Counts a refusal; returns whether it is still logged by itself. */
  const count = Effect.fnUntraced(function* (actor: string | null) {
    const before = rolled(yield* minuteOf)
    if (before.size > 0) yield* FiberSet.run(writing, writeCounts(before))
    const { refused } = counting
    const named = actor ?? anonymous
    const subject = refused.has(named) || refused.size < subjectsMax ? named : overflow
    const total = (refused.get(subject) ?? 0) + 1
    // The minute's end is awaited only where something is counted.
    if (refused.size === 0) yield* Effect.forkIn(minuteEnds, scope)
    refused.set(subject, total)
    return total <= perMinute
  })

  const note = Effect.fnUntraced(function* (entry: Audit.Entry) {
    if (!(yield* count(entry.actor))) return
    // The write goes on when the caller disconnects, and a store that hangs does not delay the
    // answer.
    const written = yield* FiberSet.run(
      writing,
      Effect.tapCause(write(entry, 1), (cause) =>
        Effect.logError("a refused call was not logged", cause)
      )
    )
    yield* Effect.timeoutOption(Fiber.await(written), Duration.millis(writtenWithin))
  })

  yield* Effect.addFinalizer(() =>
    flush.pipe(
      Effect.andThen(FiberSet.awaitEmpty(writing)),
      Effect.timeoutOption(Duration.millis(5 * writtenWithin))
    )
  )

  return AuditLog.of({ note, log, flush })
})

export const layer = Layer.effect(AuditLog, make)
