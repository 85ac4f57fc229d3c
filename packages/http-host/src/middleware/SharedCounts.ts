/**
 * Coalesces counts of the rate limiter: calls of one subject that arrive while its count is asked for
 * share the next one. They would wait for each other anyway, for the subject's row.
 */
import { Deferred, Effect } from "effect"
import type { Cost, BudgetVerdict } from "./CallBudget.ts"

/**
 * Counts calls by `take`, one call of it at a time for each subject. Calls that share a count are
 * admitted as if they had been counted one after another: at once where the budget has all of them,
 * and else singly, since a refusal counts nothing.
 */
export const make = <E>(
  take: (cost: Cost) => Effect.Effect<BudgetVerdict, E>
): ((cost: Cost) => Effect.Effect<BudgetVerdict, E>) => {
  type Answer = Deferred.Deferred<BudgetVerdict, E>
  /** Calls that wait for the running count of their subject, by cost. */
  const waiting = new Map<string, Array<Answer>>()

  const single = (cost: Cost, answer: Answer) =>
    Effect.flatMap(Effect.exit(take(cost)), (exit) => Deferred.done(answer, exit))

  const together = (cost: Cost, answers: ReadonlyArray<Answer>) =>
    Effect.gen(function* () {
      const all = { ...cost, cost: cost.cost * answers.length }
      const { admitted, ahead } = yield* take(all)
      if (!admitted) return yield* Effect.forEach(answers, (answer) => single(cost, answer))
      for (const [index, answer] of answers.entries()) {
        const after = answers.length - 1 - index
        const taken = { admitted, ahead: ahead - after * cost.cost * cost.interval }
        yield* Deferred.succeed(answer, taken)
      }
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.forEach(answers, (answer) => Deferred.failCause(answer, cause), { discard: true })
      )
    )

  const countAll = (cost: Cost, key: string, first: Answer) =>
    Effect.gen(function* () {
      yield* single(cost, first)
      for (;;) {
        const answers = waiting.get(key) ?? []
        if (answers.length === 0) break
        waiting.set(key, [])
        yield* together(cost, answers)
      }
      waiting.delete(key)
    })

  return (cost) =>
    Effect.suspend(() => {
      const key = JSON.stringify([cost.subject, cost.cost, cost.interval, cost.tolerance])
      const answer: Answer = Deferred.makeUnsafe()
      const others = waiting.get(key)
      if (others !== undefined) {
        others.push(answer)
        return Deferred.await(answer)
      }
      waiting.set(key, [])
      // Apart from the caller, whose end must not end the count of the others.
      return Effect.andThen(
        Effect.forkDetach(countAll(cost, key, answer), { startImmediately: true }),
        Deferred.await(answer)
      )
    })
}
