/** In-memory publish and subscribe: one element to each subscriber of a topic when it changes. */
import { Effect, Queue, Stream } from "effect"

export interface Wakes {
  readonly wake: (topic: string) => void
  readonly stream: (topic: string) => Stream.Stream<void>
}

export const make = (): Wakes => {
  const waiting = new Map<string, Set<Queue.Queue<void>>>()
  return {
    wake: (topic) => {
      for (const queue of waiting.get(topic) ?? []) Queue.offerUnsafe(queue, undefined)
    },
    // A sliding buffer of one: an element only says that something changed.
    stream: (topic) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const queue = yield* Queue.sliding<void>(1)
          const listeners = waiting.get(topic) ?? new Set()
          waiting.set(topic, listeners.add(queue))
          yield* Effect.addFinalizer(() =>
            Effect.sync(() => {
              listeners.delete(queue)
              if (listeners.size === 0) waiting.delete(topic)
            })
          )
          return Stream.fromQueue(queue)
        })
      )
  }
}
