/** Fair semaphore with a timeout: a few at a time, in order of arrival. */
import { Deferred, type Duration, Effect, Exit } from "effect"

export interface Gate {
  /** True once let in, and then `leave` must be called; false if the wait was too long. */
  readonly enter: Effect.Effect<boolean>
  readonly leave: () => void
}

interface Waiter {
  letIn: boolean
  readonly turn: Deferred.Deferred<void>
}

export const make = (of: { readonly places: number; readonly wait: Duration.Input }): Gate => {
  let free = of.places
  const waiting = new Set<Waiter>()

  const leave = (): void => {
    const [next] = waiting
    if (next === undefined) {
      free += 1
      return
    }
    // The place is handed over, so who is let in as its wait ends still has it.
    waiting.delete(next)
    next.letIn = true
    Deferred.doneUnsafe(next.turn, Effect.void)
  }

  const enter = Effect.suspend(() => {
    if (free > 0) {
      free -= 1
      return Effect.succeed(true)
    }
    const waiter: Waiter = { letIn: false, turn: Deferred.makeUnsafe() }
    waiting.add(waiter)
    return Deferred.await(waiter.turn).pipe(
      Effect.timeoutOption(of.wait),
      Effect.onExit((exit) =>
        Effect.sync(() => {
          waiting.delete(waiter)
          if (Exit.isFailure(exit) && waiter.letIn) leave()
        })
      ),
      Effect.map(() => waiter.letIn)
    )
  })

  return { enter, leave }
}
