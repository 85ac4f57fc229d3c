/** Instances that die in the middle of a recovery of several steps, at each of their calls. */
import { Catalogue, FourEyes } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import * as Killable from "../engine/killable.ts"
import { ports } from "../engine/world.ts"
import { isLong } from "../long-run.ts"
import * as Cycles from "./cycles.ts"
import type * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const declared = {
  operations: Catalogue.operations,
  fromLedger: Catalogue.fromLedger,
  clocked: Catalogue.collections,
  timely: Catalogue.timely
}
const engineOf = (death?: Killable.Death) =>
  Killable.make(death === undefined ? declared : { ...declared, death })

let generation = 0

/** Runs an effect with an engine that does not die. */
const alive = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(effect.pipe(Effect.provide(engineOf().engine)))

const turns = (seconds: number, count: number) =>
  Effect.gen(function* () {
    for (let n = 0; n < count; n++) {
      yield* TestClock.adjust(`${seconds} seconds`)
      yield* Calls.settle
    }
  })

/** Signed and queued, and not begun. */
const queueRecovery = (holderId: string) =>
  Effect.gen(function* () {
    const actionKey = yield* Calls.openAction("holder.recover", { holderId }, {})
    const door = yield* FourEyes
    yield* door.approve({
      actionKey: String(actionKey),
      caller: Calls.person("ada", "approver"),
      identity: { requestId: `req-${holderId}`, traceId: null, keyId: null }
    })
  })

/** Recovers the holder by an engine that dies, and another that goes on; answers its successor. */
const recovers = (stage: Fund.Parties, who: Cycles.Holder, death: Killable.Death) =>
  Effect.gen(function* () {
    const next = yield* alive(
      Effect.gen(function* () {
        yield* Powers.consents(who)
        const successor = yield* Powers.succeeds(stage, who, { id: `h-${++generation}` })
        yield* queueRecovery(who.holderId)
        return successor
      })
    )
    const life = engineOf(death)
    yield* Effect.exit(Effect.scoped(turns(1, 5).pipe(Effect.provide(life.engine))))
    yield* alive(turns(120, 5))
    return { next, calls: life.calls() }
  })

/** Distance of the calls at which an instance dies. */
const stride = isLong ? 4 : 8

describe("a recovery in several steps", () => {
  // One call of each stretch on one side, and those between them on the other.
  it.effect.each([
    ["before", 1],
    ["after", 3]
  ] as const)(
    "moves units twice or not at all, or loses its event or its restriction, when an instance dies (%s the call)",
    ([side, first]) =>
      Effect.gen(function* () {
        const { stage, h1 } = yield* alive(
          Effect.gen(function* () {
            const { stage, holders } = yield* Cycles.opened(["h"])
            const [h1] = holders
            if (h1 === undefined) throw new Error("no holder")
            for (let nth = 0; nth < 5; nth++) yield* Powers.mints(stage, h1, "1")
            yield* Powers.agrees(stage)
            yield* Powers.restricts("h", { reason: "lost-key" })
            return { stage, h1 }
          })
        )
        let who = h1
        let calls = Number.POSITIVE_INFINITY
        for (let at = 0, times = 1; at <= calls; at = at === 0 ? first : at + stride, times++) {
          // The first run does not die, and counts the calls at which later ones die.
          const death = { at: at === 0 ? Number.POSITIVE_INFINITY : at, side }
          const done = yield* recovers(stage, who, death)
          if (at === 0) calls = done.calls
          const { next } = done
          yield* alive(
            Effect.gen(function* () {
              assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "5", `at ${at}`)
              assert.strictEqual((yield* Powers.holder(who.holderId)).state, "succeeded")
              const summedActs = yield* Powers.summed
              assert.strictEqual(summedActs.length, times, `at ${at}`)
              assert.strictEqual(
                summedActs.at(-1),
                `holder.recovered ${who.holderId} fund-a to ${next.holderId} 5`
              )
              const active = (yield* Powers.restricted).filter((one) => one.includes(" active"))
              assert.deepEqual(active, [`${next.holderId} freeze lost-key active carried-from`])
              assert.strictEqual(
                (yield* Powers.moved({ [who.party]: "from", [next.party]: "to" })).filter((one) =>
                  one.startsWith("recovery from to")
                ).length,
                3,
                `at ${at}`
              )
            })
          )
          who = next
        }
        assert.isAtLeast(calls, 12)
      }).pipe(Effect.provide(ports({ settings: { inputsMax: 9 } })))
  )
})
