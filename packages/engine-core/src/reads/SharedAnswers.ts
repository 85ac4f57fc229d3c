/** Coalesces writes of the feed's head: waiting reads of the latest share one instant. */
import { Deferred, Effect, Exit, Option, Queue } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Feed, FeedHead } from "../ports/storage/Feed.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import * as UnitOfWork from "../records/UnitOfWork.ts"

/**
 * Nanoseconds by which an answer may be older than the clock while nothing was written since: answers
 * are written to the feed's head at most a thousand times a second, however many are given.
 */
export const sameInstant = 999_000n

/**
 * Nanoseconds by which the answer of a request that was kept may be older than the clock, while
 * nothing was written and no clock move of its records is due.
 */
export const keptInstant = 49_999_000n

/** Answers that are given out to reads: the feed's head at an instant, from an instant on. */
type GiveAnswer = (now: Instant.Instant) => Effect.Effect<FeedHead, Unavailable>

/**
 * Gives out an answer: the feed's head at its instant, which is the one given or a later one, or that
 * of another answer so many nanoseconds before.
 */
export const answerAt = (
  feed: Feed["Service"],
  instant: Instant.Instant,
  before = sameInstant
): Effect.Effect<FeedHead, Unavailable> =>
  orUnavailable(
    feed.answer({
      now: Instant.sortable(instant),
      since: Instant.sortable(Instant.fromNanos(instant - before))
    })
  )

/**
 * An answer that no crash takes back any more once the reading scope of its caller has ended. The
 * fiber that shares an answer among callers is in none of their scopes, so each caller waits itself.
 */
export const settled = (
  feed: Feed["Service"],
  answer: Effect.Effect<FeedHead, Unavailable>
): Effect.Effect<FeedHead, Unavailable> =>
  Effect.tap(answer, () => orUnavailable(feed.answersSettled))

/** Answers of the feed's head that waiting reads share, each settled for its caller. */
export const ofFeed = (feed: Feed["Service"], before: bigint) =>
  Effect.map(
    make((instant) => answerAt(feed, instant, before)),
    (give): GiveAnswer =>
      (now) =>
        settled(feed, give(now))
  )

interface WaitingRead {
  readonly now: Instant.Instant
  readonly answer: Deferred.Deferred<FeedHead, Unavailable>
}

/**
 * Calls `give` for the head at an instant, one call at a time. Reads that arrive during a call share
 * the next call, which takes the latest of their clocks: it begins after all of them, so each sees
 * what was written before it arrived. Closing the scope interrupts the reads that still wait.
 */
export const make = Effect.fnUntraced(function* (give: GiveAnswer) {
  const queue = yield* Queue.unbounded<WaitingRead>()
  const end = (reads: ReadonlyArray<WaitingRead>, exit: Exit.Exit<FeedHead, Unavailable>) =>
    Effect.forEach(reads, ({ answer }) => Deferred.done(answer, exit), { discard: true })

  const answerNext = Effect.flatMap(Queue.takeAll(queue), (reads) =>
    Effect.onExit(give(reads.map(({ now }) => now).reduce(latest)), (exit) =>
      end(reads, exit)
    ).pipe(
      // The waiting reads have the defect as their answer; the next call still runs.
      Effect.ignoreCause
    )
  )
  yield* Effect.forkScoped(Effect.forever(answerNext))
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(Queue.clear(queue), (reads) => end(reads, Exit.interrupt())).pipe(
      Effect.andThen(Queue.shutdown(queue))
    )
  )

  return (now: Instant.Instant): Effect.Effect<FeedHead, Unavailable> =>
    Effect.flatMap(Effect.serviceOption(UnitOfWork.Current), (work) =>
      // An open transaction may hold the lock of the head, so it asks on its own connection.
      Option.isSome(work) && work.value !== undefined
        ? give(now)
        : Effect.gen(function* () {
            const answer = yield* Deferred.make<FeedHead, Unavailable>()
            const isRunning = yield* Queue.offer(queue, { now, answer })
            return yield* isRunning ? Deferred.await(answer) : Effect.interrupt
          })
    )
})

const latest = (a: Instant.Instant, b: Instant.Instant): Instant.Instant => (a > b ? a : b)
