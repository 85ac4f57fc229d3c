/** A holder that is confirmed to be on a list: the engine itself restricts it, once a hit, until it is lifted. */
import { Catalogue, Records, Screenings } from "@bursar/engine-core"
import { ScreeningSource } from "@bursar/engine-core/ports"
import * as Scripted from "@bursar/storage-adapters/screening"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { holders } from "#core/holders/holder/Holder.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Killable from "../engine/killable.ts"
import { ports, world } from "../engine/world.ts"
import { activeOf, all, founded, lifts, restrictionEvents } from "./restricting.ts"

const isIn = (self: object, members: object) => assert.deepInclude(self, members)

/** A source with one answer for all holders, which a test may change. */
const source = (found: "none" | "possible" | "confirmed" | "nothing-yet") => {
  let script: Scripted.Script = { ...Scripted.clear, others: [found] }
  return {
    layer: Layer.succeed(ScreeningSource.ScreeningSource, Scripted.make(Effect.sync(() => script))),
    say: (next: typeof found) => {
      script = { ...script, others: [next] }
    }
  }
}
const screened = Effect.gen(function* () {
  const records = yield* Records
  return (yield* records.get(holders, "h1")).screening?.state
})
const rescreens = Effect.gen(function* () {
  yield* (yield* Screenings).rescreen("h1")
  yield* Calls.settle
})

describe("a confirmed hit", () => {
  it.effect("never leaves the holder free, or is somebody's act", () => {
    const one = source("confirmed")
    return Effect.gen(function* () {
      yield* founded(1)
      const [made, ...more] = yield* all
      assert.deepStrictEqual(more, [])
      if (made === undefined) throw new Error("nobody was restricted")
      isIn(made, {
        holderId: "h1",
        instrumentId: null,
        mode: "freeze",
        reason: "sanctions",
        state: "active",
        by: "engine",
        order: null,
        autoReleaseAt: null
      })
      const records = yield* Records
      isIn(yield* records.get(operations, made.operationId), {
        kind: "holder.restrict",
        state: "succeeded",
        actor: "engine",
        role: null,
        actorName: null
      })
      assert.deepStrictEqual(yield* restrictionEvents, [`restricted ${made.restrictionId}`])
    }).pipe(Effect.provide(world({ screening: one.layer })))
  })

  it.effect(
    "never is over with a later answer, is not told apart from the one before, or comes of a doubt",
    () => {
      const one = source("possible")
      return Effect.gen(function* () {
        yield* founded(1)
        assert.strictEqual(yield* screened, "review")
        assert.deepStrictEqual(yield* all, [])
        one.say("confirmed")
        yield* TestClock.adjust("61 seconds")
        yield* Calls.settle
        const [first = ""] = yield* activeOf("h1")
        one.say("none")
        yield* rescreens
        assert.strictEqual(yield* screened, "clear")
        assert.deepStrictEqual(yield* activeOf("h1"), [first])
        assert.strictEqual((yield* lifts(first)).why, "")
        assert.deepStrictEqual(yield* activeOf("h1"), [])
        one.say("confirmed")
        // A holder whose screening is clear is screened again on request, as one with a hit is.
        yield* rescreens
        const [second = "", ...more] = yield* activeOf("h1")
        assert.deepStrictEqual([second === first, more], [false, []])
        yield* rescreens
        assert.strictEqual((yield* activeOf("h1")).length, 2)
      }).pipe(Effect.provide(world({ screening: one.layer })))
    }
  )

  const declared = { operations: Catalogue.operations, fromLedger: Catalogue.fromLedger }
  const engineOf = (death?: Killable.Death) =>
    Killable.make(death === undefined ? declared : { ...declared, death })

  const lives = (death: Killable.Death) => {
    const one = source("nothing-yet")
    return Effect.gen(function* () {
      yield* Effect.scoped(founded(1).pipe(Effect.provide(engineOf().engine)))
      one.say("confirmed")
      yield* TestClock.adjust("10 seconds")
      const life = engineOf(death)
      yield* Effect.exit(Effect.scoped(Calls.settle.pipe(Effect.provide(life.engine))))
      yield* Effect.gen(function* () {
        for (let n = 0; n < 3; n++) {
          yield* TestClock.adjust("2 minutes")
          yield* Calls.settle
        }
        assert.strictEqual(yield* screened, "match")
        assert.strictEqual((yield* activeOf("h1")).length, 1)
        assert.strictEqual((yield* restrictionEvents).length, 1)
      }).pipe(Effect.provide(engineOf().engine), Effect.scoped)
      return life.calls()
    }).pipe(Effect.provide(ports({ screening: one.layer })))
  }

  it.effect.each(["before", "after"] as const)(
    "is forgotten or restricts twice, whenever the instance that heard of it dies (%s the call)",
    (side) =>
      Effect.gen(function* () {
        const calls = yield* lives({ at: Number.POSITIVE_INFINITY, side })
        for (let at = 1; at <= calls; at++) yield* lives({ at, side })
        assert.isAtLeast(calls, 5)
      })
  )
})
