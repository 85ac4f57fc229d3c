/**
 * Clock states are announced once each and never needed by the fold, under any timing
 * (docs/domain/every-record.md#clock-states).
 */
import { Engine, EventQueries, Records, Workers } from "@bursar/engine-core"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type * as Pin from "#core/kernel/Pin.ts"
import * as Calls from "../engine/calls.ts"
import { timer, type Timer, timers } from "../engine/timers.ts"
import { ports } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

const runs = runsOf(60)
const auditor = Calls.person("aud", "auditor")

/** Acts at one moment; the clock moves between moments. */
const moment = fc.record({
  wait: fc.integer({ min: 0, max: 20 }),
  set: fc.option(
    fc.record({ rings: fc.integer({ min: -2, max: 40 }), stops: fc.integer({ min: -2, max: 40 }) })
  ),
  touch: fc.option(fc.nat(5)),
  /** Which of the two instances look; they do so at the same time. */
  look: fc.constantFrom([], [], [0], [1], [0, 1], [0, 0, 1, 1])
})

/** One instance of a deployment over the ports around it. */
const instance = Effect.map(
  Layer.build(Layer.fresh(Engine.layerOf({ operations: [], fromLedger: [], clocked: [timers] }))),
  (built) => ({
    schedules: Context.get(built, Workers.Workers).runnerOf("schedules"),
    services: built
  })
)

/** Model of a timer: computed from its whole history, without stored notices. */
interface Told {
  readonly rings: number
  readonly stops: number
  readonly opened: number
  touched: number
}
const stateAt = ({ rings, stops }: Told, at: number): (typeof Timer.Type)["state"] =>
  at < rings ? "set" : at < Math.max(rings, stops) ? "rung" : "stopped"
const movesAt = (times: Told, at: number): number =>
  ({ set: 0, rung: 1, stopped: 2 })[stateAt(times, at)]

const instantPin = (at: Instant.Instant): Pin.ResolvedPin => ({
  offset: Offset.zero,
  ledgerTime: null,
  judgedAt: at,
  select: { by: "instant", instant: at }
})

const shown = (self: typeof Timer.Type) => ({
  state: self.state,
  rings: self.rings,
  touched: self.touched
})

const inOrder = (all: ReadonlyArray<typeof Timer.Type>) =>
  all
    .map((self) => ({ id: self.timerId, ...shown(self) }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))

const announced = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const { value } = yield* feed.page({ caller: auditor, params: {}, limit: 1000 })
  return value.map(({ payload, resourceId }) => {
    const { on } = payload as unknown as { readonly on: string }
    return `${resourceId} ${on}`
  })
})

describe("what the clock does to records", () => {
  // Switched off to see it red: that a later version is set down for another instant, that `noted` asks
  // for every move that is due, that a record which is not due yet waits again, `hold`.
  it("never is announced twice, late for ever or never, or is read otherwise before it is noted than after", () =>
    fc.assert(
      fc.asyncProperty(fc.array(moment, { minLength: 1, maxLength: 10 }), (moments) =>
        Calls.runCase(
          Effect.gen(function* () {
            const both = [yield* instance, yield* instance]
            const story = new Map<string, Told>()
            const answers: Array<{ readonly at: Instant.Instant; readonly all: unknown }> = []
            const own = both[0]?.services as Context.Context<Engine.Services>
            const records = Context.get(own, Records)
            const look = (which: ReadonlyArray<number>) =>
              Effect.forEach(which, (n) => both[n]?.schedules.runOnce ?? Effect.void, {
                concurrency: "unbounded",
                discard: true
              })
            // No timer is due before the epoch.
            yield* TestClock.adjust("1 hour")
            yield* look([0])
            for (const [index, one] of moments.entries()) {
              yield* TestClock.adjust(one.wait * 1_000)
              const now = yield* Instant.now
              const from = Instant.toEpochMillis(now)
              const act = { cause: { by: "request" as const, requestId: "r" }, now }
              const { set, touch } = one
              if (set !== null) {
                const [rings, stops] = [from + set.rings * 1_000, from + set.stops * 1_000]
                yield* records.transact(records.open(timers, timer(`t${index}`, rings, stops), act))
                story.set(`t${index}`, { rings, stops, opened: from, touched: 0 })
              }
              const touched = touch === null ? undefined : story.get(`t${touch}`)
              if (touched !== undefined) {
                yield* records.transact(
                  Effect.flatMap(records.get(timers, `t${touch}`), (self) =>
                    records.append(timers, self, { on: "touch" }, act)
                  )
                )
                touched.touched += 1
              }
              yield* look(one.look)
              // Between the instant of a move and its notice, and after: the same record is read.
              for (const [id, times] of story) {
                const self = yield* records.get(timers, id)
                expect(shown(self)).toEqual({
                  state: stateAt(times, from),
                  rings: Math.min(1, movesAt(times, from)),
                  touched: times.touched
                })
              }
              const ids = [...story.keys()]
              // Writes while the clock stands still have this very instant.
              const before = Instant.fromNanos(now - 1_000n)
              const pinned = yield* records.many(timers, ids, instantPin(before))
              answers.push({ at: before, all: inOrder(pinned) })
            }
            // Down for an hour, and everything is caught up with.
            yield* TestClock.adjust("1 hour")
            for (let n = 0; n < 3; n++) {
              yield* look([0, 1])
              yield* TestClock.adjust("1 minute")
            }
            const expected = [...story.keys()].flatMap((id) => [`${id} ring`, `${id} stop`])
            const announcements = yield* Effect.provideContext(announced, own)
            expect(announcements.filter((one) => !one.endsWith("touch")).toSorted()).toEqual(
              expected.toSorted()
            )
            for (const [id, { touched }] of story) {
              const self = yield* records.get(timers, id)
              expect(self.version, "a notice is a version").toBe(1 + touched + 2)
            }
            // A point that was read before is read the same.
            for (const [index, { at, all }] of answers.entries()) {
              const ids = [...story.keys()].filter((id) => Number(id.slice(1)) <= index)
              const again = yield* records.many(timers, ids, instantPin(at))
              expect(inOrder(again)).toEqual(all)
            }
          }).pipe(Effect.provide(ports()))
        )
      ),
      { numRuns: runs }
    ))
})
