/** Coalesces writes of the feed's head: waiting reads of the latest share one instant. */
import { Deferred, Effect, Exit, Option, Queue } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { FeedHead } from "../ports/storage/Feed.ts"
import * as UnitOfWork from "../records/UnitOfWork.ts"

interface WaitingRead {
  readonly now: Instant.Instant
  readonly answer: Deferred.Deferred<FeedHead, Unavailable>
}

/**
 * Calls `give` for the head at an instant, one call at a time. Reads that arrive during a call share
 * the next call, which takes the latest of their clocks: it begins after all of them, so each sees
 * what was written before it arrived. Closing the scope interrupts the reads that still wait.
 */
export const make = Effect.fnUntraced(function* (
  give: (now: Instant.Instant) => Effect.Effect<FeedHead, Unavailable>
) {
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
