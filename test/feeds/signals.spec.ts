/** Signals of the ends of operations: an event that names none ends no other wait. */
import { Signals } from "@bursar/engine-core"
import { Feed } from "@bursar/engine-core/ports"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Memory from "@bursar/storage-adapters/memory"

/** Signals of a feed whose events are written by the test. */
const signalling = Effect.gen(function* () {
  const memory = Context.get(yield* Layer.build(Memory.layer), Feed)
  const wakes = yield* Queue.unbounded<void>()
  const payloads: Array<string> = []
  let heads = 0
  const feed: Feed["Service"] = {
    ...memory,
    head: Effect.suspend(() => {
      heads += 1
      return Effect.map(memory.head, (head) => ({ ...head, seq: payloads.length }))
    }),
    read: ({ after = 0 }) =>
      Effect.sync(() => ({
        events: payloads.slice(after).map((payload, n) => ({
          seq: after + n + 1,
          kind: "control",
          type: "operation.succeeded",
          at: null,
          offset: null,
          instrumentId: null,
          party: null,
          resourceKind: "operation",
          resourceId: "op",
          holderIds: [],
          payload,
          source: null
        })),
        scanned: payloads.length,
        prunedTo: 0,
        journalPrunedTo: 0,
        end: payloads.length,
        restores: []
      })),
    wakes: Stream.fromQueue(wakes)
  }
  const layer = Signals.layer.pipe(Layer.provide(Layer.succeed(Feed, feed)))
  const signals = Context.get(yield* Layer.build(layer), Signals.Signals)
  /** Wakes who reads the feed, and lets all fibers run. */
  const wake = Effect.andThen(Queue.offer(wakes, undefined), TestClock.adjust("1 second"))
  return {
    signals,
    wake,
    /** Writes an event of an end with this payload, and wakes. */
    write: (payload: string) =>
      Effect.suspend(() => {
        payloads.push(payload)
        return wake
      }),
    heads: () => heads
  }
})

const endOf = (operationId: string) => JSON.stringify({ operationId })

/** Checks whether a signal has come; one that has is taken. */
const hasCome = Effect.fnUntraced(function* (signal: Signals.Signal) {
  const fiber = yield* Effect.forkChild(signal)
  yield* TestClock.adjust("1 second")
  const exit = fiber.pollUnsafe()
  yield* Fiber.interrupt(fiber)
  return exit !== undefined
})

// Switched off to see it red: `catchDefect` in SignalRunner.ts.
it.effect("signals ends after an event that names no operation", () =>
  Effect.gen(function* () {
    const { signals, wake, write } = yield* signalling
    const signal = yield* signals.operation("op-1")
    // The first signal begins the reading, and all look.
    yield* wake
    expect(yield* hasCome(signal)).toBe(true)
    yield* write("{}")
    expect(yield* hasCome(signal)).toBe(true)
    yield* wake
    expect(yield* hasCome(signal)).toBe(true)
    expect(yield* hasCome(signal)).toBe(false)
    yield* write(endOf("op-2"))
    expect(yield* hasCome(signal)).toBe(false)
    yield* write(endOf("op-1"))
    expect(yield* hasCome(signal)).toBe(true)
  })
)
