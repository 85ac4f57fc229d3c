/** The operation runner whose worker dies at any of its calls: each write commits once and ends once. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Killable from "../engine/killable.ts"
import * as Notes from "../engine/ledger-toys.ts"
import * as Passing from "../engine/passing.ts"
import { ports } from "../engine/world.ts"
import { ask, commitsOf, declared, isFinal, stateOf } from "./asked.ts"

describe("whatever call a worker dies at", () => {
  for (const [name, write, effects] of [
    ["of one step", Notes.propose, 1],
    ["of two steps", Notes.twice, 2]
  ] as const) {
    for (const side of ["before", "after"] as const) {
      it.effect(
        `a write ${name} is committed once and ends once (${side} the call)`,
        () =>
          Effect.gen(function* () {
            let reached = true
            let deaths = 0
            for (let at = 1; reached && at < 80; at++) {
              reached = yield* Effect.gen(function* () {
                const { party } = yield* Notes.outsider("registrar")
                const first = Killable.make({ ...declared, death: { at, side } })
                const second = Killable.make(declared)
                const one = yield* Layer.build(first.engine)
                const other = yield* Layer.build(second.engine)
                yield* Effect.provide(Passing.working, one)
                yield* Passing.seconds(2)
                const id = yield* Effect.provide(ask(write, "a", party), other)
                yield* Passing.seconds(3)
                yield* Effect.provide(Passing.working, other)
                yield* Passing.until(Effect.provide(isFinal(id), other), 400)
                assert.strictEqual(
                  yield* Effect.provide(stateOf(id), other),
                  "succeeded",
                  `at ${at}`
                )
                assert.strictEqual(yield* commitsOf(id), effects, `at ${at}`)
                yield* second.kill
                yield* first.kill
                return first.calls() >= at && at < 60
              }).pipe(Effect.provide(ports()), Effect.scoped)
              if (reached) deaths += 1
            }
            assert.isAbove(deaths, 12)
          }),
        60_000
      )
    }
  }
})
