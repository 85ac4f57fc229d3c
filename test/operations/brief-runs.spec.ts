/**
 * Runs that start by themselves on an instrument: the facts that they read again, and those that
 * they leave to the last run.
 */
import { Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { contracts } from "#core/projection/Contract.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { brief, read, scene, whole } from "./brief-runs.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Reconciling from "./reconciling.ts"

describe("a run that a statement starts", () => {
  it.effect("judges the orders that changed since the last run, and those that are findings", () =>
    Effect.gen(function* () {
      const { claims, forges } = yield* scene
      yield* claims(["s2", "s3", "s4"])
      assert.strictEqual((yield* read(true)).count, 4)
      yield* whole
      yield* TestClock.adjust("1 second")
      yield* claims(["s5"])
      assert.strictEqual((yield* read(true)).count, 1)
      assert.strictEqual((yield* read(false)).count, 5)
      yield* forges("s2", 7)
      yield* brief
      yield* TestClock.adjust("1 second")
      // The finding is seen again, though its order has not changed.
      assert.strictEqual((yield* read(true)).count, 1)
      const run = yield* brief
      assert.strictEqual(run.verdict, "blocked")
      // A version that was accepted since may be one that an old order was claimed under.
      yield* Cycles.changes(1, { holderCap: 50 })
      assert.strictEqual((yield* read(true)).count, 5)
    }).pipe(Effect.provide(world()))
  )
})

describe("the comparison with the ledger", () => {
  const queries = { acs: 0 }
  const counting = world({
    tamper: (ledger) => ({
      ...ledger,
      acs: (query) => Stream.suspend(() => ((queries.acs += 1), ledger.acs(query)))
    })
  })
  const acsOf = <A, E, R>(run: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      queries.acs = 0
      yield* run
      return queries.acs
    })
  const why = Effect.map(
    brief,
    ({ checks }) => checks.find((outcome) => outcome.check === drift)?.why
  )
  const drift = "projection-drift"

  it.effect("serves runs that start by themselves for 15 minutes, and no others", () =>
    Effect.gen(function* () {
      yield* scene
      assert.strictEqual(yield* acsOf(brief), 1)
      assert.strictEqual(yield* acsOf(brief), 0)
      assert.strictEqual(yield* why, "compared-before")
      assert.strictEqual(yield* acsOf(whole), 1)
      const one = Reconciling.run('{"scope":{"instrumentIds":["fund-a"]}}')
      assert.strictEqual(yield* acsOf(one), 1)
      yield* TestClock.adjust("899999 millis")
      assert.strictEqual(yield* acsOf(brief), 0)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* acsOf(brief), 1)
    }).pipe(Effect.provide(counting))
  )

  it.effect("serves no run that could clear a distribution", () =>
    Effect.gen(function* () {
      const { holders, point, stage } = yield* Month.founded(["h1"])
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* whole
      assert.strictEqual(yield* acsOf(brief), 0)
      yield* Month.executes(stage, Month.termsOf(stage, point))
      yield* Month.adds("d-july", lines)
      assert.strictEqual(yield* acsOf(brief), 1)
      // The seal starts a run, a second after the last comparison.
      assert.strictEqual(yield* acsOf(Month.seals("d-july", lines)), 1)
      assert.strictEqual((yield* Month.distribution()).state, "payable")
    }).pipe(Effect.provide(counting))
  )

  it.effect("serves no run while a drift is open, and none once it was not made", () =>
    Effect.gen(function* () {
      yield* scene
      yield* whole
      const records = yield* Records
      const [row] = yield* records.list(contracts, { where: { active: ["true"] }, limit: 1 })
      const { offset } = yield* Calls.catchUp
      const act = { cause: { by: "run", runId: "fault" } as const, now: yield* Instant.now }
      const forge = (payload: unknown) =>
        Effect.gen(function* () {
          const evolve = (before: typeof contracts.record.Type) => ({ ...before, payload }) as never
          const before = yield* records.get(contracts, row!.record.contractId)
          const fact = { on: "archive", offset } as never
          const by = { ...act, offset: offset as never }
          yield* records.transact(records.append({ ...contracts, evolve }, before, fact, by))
        })
      yield* forge({ forged: true })
      // Found by a run that compares, which within the time that the last comparison serves is no
      // brief run.
      assert.strictEqual((yield* brief).verdict, "clear")
      assert.strictEqual((yield* whole).value.verdict, "blocked")
      assert.strictEqual(yield* acsOf(brief), 1)
      assert.strictEqual(yield* why, "projection-drift")
      yield* forge(row!.record.payload)
      yield* whole
      assert.strictEqual(yield* acsOf(brief), 0)
    }).pipe(Effect.provide(counting))
  )
})
