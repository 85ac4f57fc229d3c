/** In-memory publish and subscribe: one element to each subscriber of a topic when it changes. */
import { Effect, Queue, Stream } from "effect"

export interface Wakes {
  readonly wake: (topic: string) => void
  readonly stream: (topic: string) => Stream.Stream<void>
}

interface LocalWakes extends Wakes {
  /** Wakes the subscribers of every topic. */
  readonly wakeAll: () => void
}

export const make = (): LocalWakes => {
  const waiting = new Map<string, Set<Queue.Queue<void>>>()
  const wake = (topic: string): void => {
    for (const queue of waiting.get(topic) ?? []) Queue.offerUnsafe(queue, undefined)
  }
  return {
    wake,
    wakeAll: () => {
      for (const topic of waiting.keys()) wake(topic)
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
