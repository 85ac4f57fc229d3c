/** Restrictions in time and number: what the clock ends, what is in force, and a thousand at once. */
import { Instant } from "@bursar/engine-core/kernel"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { inForce } from "#core/restraints/restriction/RestrictionLookups.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import {
  activeOf,
  founded,
  foundedNow,
  frozen,
  lifts,
  one,
  restricts,
  restrictionEvents,
  turn
} from "./restricting.ts"

const engine = (options: Parameters<typeof world>[0] = {}) => Effect.provide(world(options))
const isIn = (self: object, members: object) => assert.deepInclude(self, members)
const until = "2026-07-31T14:00:00Z"

describe("a restriction with a date", () => {
  it.effect("never is in force past it, before its end is noted, or its end is told of twice", () =>
    Effect.gen(function* () {
      yield* founded(1)
      assert.strictEqual((yield* restricts("h1", "r1", { autoReleaseAt: until })).why, "")
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(until)) - 1)
      assert.deepStrictEqual(yield* activeOf("h1"), ["r1"])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* activeOf("h1"), [])
      isIn(yield* one("r1"), { state: "lapsed", endedAt: Instant.of(until), version: 1 })
      assert.deepStrictEqual(yield* restrictionEvents, ["restricted r1"])
      yield* turn
      isIn(yield* one("r1"), { state: "lapsed", endedAt: Instant.of(until), version: 2 })
      yield* turn
      isIn(yield* one("r1"), { version: 2 })
      assert.deepStrictEqual(yield* restrictionEvents, ["restricted r1", "unrestricted r1 lapsed"])
      assert.strictEqual((yield* lifts("r1")).why, "state-conflict RestrictionState")
    }).pipe(engine())
  )

  it.effect("never ends by its date once it was lifted before", () =>
    Effect.gen(function* () {
      yield* founded(1)
      yield* restricts("h1", "r1", { autoReleaseAt: until })
      assert.strictEqual((yield* lifts("r1")).why, "")
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(until)))
      yield* turn
      isIn(yield* one("r1"), { state: "lifted", version: 2, liftedBy: ["ada", "abel"] })
      assert.deepStrictEqual(yield* restrictionEvents, ["restricted r1", "unrestricted r1 lifted"])
    }).pipe(engine())
  )

  it.effect("lapses if it came to its date while its lift was being signed", () =>
    Effect.gen(function* () {
      yield* founded(1)
      yield* restricts("h1", "r1", { autoReleaseAt: until })
      const made = yield* Calls.openAction(
        "restriction.lift",
        { restrictionId: "r1" },
        { reason: "now" }
      )
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(until)))
      const ended = yield* Calls.approveAction(made)
      assert.strictEqual(ended.why, "state-conflict RestrictionState")
      isIn(yield* one("r1"), { state: "lapsed", liftedBy: null })
    }).pipe(engine())
  )
})

describe("what is in force", () => {
  it.effect("never leaves out one on everything or one of many, or takes in another's", () =>
    Effect.gen(function* () {
      yield* founded(3)
      yield* restricts("h1", "all-1")
      yield* restricts("h1", "a-1", { instrumentId: "fund-a" })
      yield* restricts("h1", "b-1", { instrumentId: "fund-b" })
      yield* restricts("h2", "a-2", { instrumentId: "fund-a" })
      yield* restricts("h1", "over", { instrumentId: "fund-a" })
      yield* lifts("over")
      assert.deepStrictEqual(yield* activeOf("h1"), ["a-1", "all-1", "b-1"])
      assert.deepStrictEqual(yield* activeOf("h1", "fund-a"), ["a-1", "all-1"])
      assert.deepStrictEqual(yield* activeOf("h1", "fund-c"), ["all-1"])
      assert.deepStrictEqual(yield* activeOf("h2"), ["a-2"])
      assert.deepStrictEqual(yield* activeOf("h3"), [])
      assert.sameMembers(
        (yield* inForce({ instrumentId: "fund-a" })).map((self): string => self.restrictionId),
        ["all-1", "a-1", "a-2"]
      )
      assert.deepStrictEqual(yield* inForce({ holderIds: [] }), [])
    }).pipe(engine())
  )
})

describe("a batch of a thousand", () => {
  for (const [name, storage] of [
    ["memory", Memory.layer],
    ["PostgreSQL", TestDatabase.layer as typeof Memory.layer]
  ] as const) {
    it.live(
      `never restricts fewer, or what is in force stops at one look-up's worth, on ${name}`,
      () =>
        Effect.gen(function* () {
          yield* foundedNow(1_002)
          const holderIds = Array.from({ length: 1_002 }, (_, nth) => `h${nth + 1}`)
          const entries = holderIds.slice(0, 1_000).map((holderId) => ({ ...frozen, holderId }))
          const ended = yield* Calls.write("holder.restrict-batch", {}, { entries })
          assert.strictEqual(ended.why, "")
          const made = ended.result["restrictions"] as unknown as ReadonlyArray<object>
          assert.strictEqual(made.length, 1_000)
          yield* restricts("h1001", "one-more")
          yield* restricts("h1002", "and-another", { instrumentId: "fund-a" })
          for (const found of [
            yield* inForce({ instrumentId: "fund-a" }),
            yield* inForce({ holderIds, instrumentId: "fund-a" })
          ]) {
            assert.deepStrictEqual(
              found.map(({ holderId }): string => holderId).toSorted(),
              holderIds.toSorted()
            )
          }
        }).pipe(engine({ storage })),
      60_000
    )

    it.live(
      `and single ones of its holders at the same time are all kept, on ${name}`,
      () =>
        Effect.gen(function* () {
          yield* foundedNow(200)
          const holderIds = Array.from({ length: 200 }, (_, nth) => `h${nth + 1}`)
          const entries = holderIds.map((holderId) => ({ ...frozen, holderId }))
          const batch = (restrictionId: string) =>
            Calls.write("holder.restrict-batch", {}, { restrictionId, entries })
          const singles = holderIds
            .slice(0, 20)
            .map((holderId) => restricts(holderId, `one-${holderId}`))
          const ended = yield* Effect.all([batch("first"), ...singles, batch("second")], {
            concurrency: "unbounded"
          })
          yield* Calls.settle
          assert.deepStrictEqual([...new Set(ended.map(({ why }) => why))], [""])
          const found = yield* inForce({ holderIds })
          assert.strictEqual(found.length, 420)
          assert.sameMembers(yield* activeOf("h20"), ["first-20", "one-h20", "second-20"])
          const made = new Set(found.map(({ operationId }) => operationId))
          assert.strictEqual(made.size, 22)
        }).pipe(engine({ storage })),
      60_000
    )
  }
})
