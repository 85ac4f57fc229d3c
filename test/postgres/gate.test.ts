/** The gate at the feed's head: places are handed on in order and never lost. */
import * as Gate from "#adapters/postgres/Gate.ts"
import { it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { expect } from "vitest"

const two = () => Gate.make({ places: 2, wait: "1 second" })

it.effect("lets two in, and the third when one leaves", () =>
  Effect.gen(function* () {
    const gate = two()
    expect([yield* gate.enter, yield* gate.enter]).toEqual([true, true])
    const third = yield* Effect.forkChild(gate.enter, { startImmediately: true })
    expect(third.pollUnsafe()).toBeUndefined()
    gate.leave()
    expect(yield* Fiber.join(third)).toBe(true)
  })
)

it.effect("tells who waited too long, and gives the place to the next", () =>
  Effect.gen(function* () {
    const gate = two()
    yield* gate.enter
    yield* gate.enter
    const late = yield* Effect.forkChild(gate.enter, { startImmediately: true })
    yield* TestClock.adjust("1 second")
    expect(yield* Fiber.join(late)).toBe(false)
    gate.leave()
    expect(yield* gate.enter).toBe(true)
  })
)

it.effect("loses no place to one that is interrupted, waiting or let in", () =>
  Effect.gen(function* () {
    const gate = two()
    yield* gate.enter
    yield* gate.enter
    const waiting = yield* Effect.forkChild(gate.enter, { startImmediately: true })
    const letIn = yield* Effect.forkChild(gate.enter, { startImmediately: true })
    yield* Fiber.interrupt(waiting)
    // Let in, but interrupted before it goes on.
    gate.leave()
    letIn.interruptUnsafe()
    yield* Fiber.await(letIn)
    const ended = letIn.pollUnsafe()
    if (ended?._tag === "Success") gate.leave()
    gate.leave()
    const again = yield* Effect.all([gate.enter, gate.enter])
    expect(again).toEqual([true, true])
  })
)
