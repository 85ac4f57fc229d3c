/** Reconciliation runs over an engine in memory: their findings, holds, clearings and answers. */
import { Engine, Records, Workers } from "@bursar/engine-core"
import { LeaseLost, WorkQueue } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { itemOf, queue } from "#core/findings/RunQueue.ts"
import { findings } from "#core/findings/Finding.ts"
import { idOf, registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { checkNames } from "#core/vocabulary/ReconciliationChecks.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as WorkLaw from "../reads/work-law.ts"
import * as Reconciling from "./reconciling.ts"
import * as Story from "./story.ts"
import * as Venue from "./venue.ts"
import { reachableWhile } from "./unreachable.ts"

/** The fund is recorded; its admitted holder alice has 120 units of it, in two holdings. */
const held = Effect.gen(function* () {
  const cast = yield* Story.cast
  yield* Story.recorded(cast)
  yield* Venue.act(cast.registrar, Story.configuration(cast.registrar, cast))
  yield* Story.consented(cast)
  yield* Story.registered(cast.alice, "alice", cast)
  const credential = yield* Story.admitted(cast.alice, "alice")
  for (const amount of ["100", "20"]) yield* Story.minted(cast, credential, amount)
  const asset = { registrar: cast.registrar.party, instrumentId: "fund-a" }
  return { cast, line: { ...asset, party: cast.alice.party } }
})

const released = (holdId: string, accept: ReadonlyArray<string>) =>
  Calls.write("hold.release", { holdId }, accept.length > 0 ? { accept, reason: "known" } : {})

const idle = "nothing-to-compare"
const instrumentLock = "reconciliation-lock/instrument/fund-a"

/** Checks that have something to compare where admitted holders hold units, and nothing else is. */
const compared = [
  "register-supply",
  "movements-balance",
  "lots-holdings",
  "admission-effect",
  "holder-cap",
  "projection-drift"
]

describe("a reconciliation run", () => {
  it.effect("is clear where register, movements and ledger agree", () =>
    Effect.gen(function* () {
      yield* held
      const { value, replayed } = yield* Reconciling.run()
      assert.strictEqual(replayed, false)
      assert.deepEqual(
        [value.verdict, value.trigger, value.checks],
        [
          "clear",
          "manual",
          [
            ...checkNames.map((check) => ({
              check,
              ran: true,
              why: compared.includes(check) ? null : idle,
              findings: 0
            }))
          ]
        ]
      )
      assert.deepEqual(yield* Reconciling.found, [])
    }).pipe(Venue.engine())
  )

  it.effect(
    "finds a planted difference, holds, is accepted by two, and clears it once it is gone",
    () =>
      Effect.gen(function* () {
        const { line } = yield* held
        yield* Reconciling.plant(line, "5")
        const first = yield* Reconciling.run()
        assert.strictEqual(first.value.verdict, "blocked")
        const [hold] = yield* Reconciling.openHolds
        if (hold === undefined) throw new Error("nothing is held")
        assert.deepEqual(first.value.holdsOpened, [hold.holdId])
        assert.deepEqual([hold.source, hold.runId], ["reconciliation", first.value.runId])
        assert.deepEqual((yield* Reconciling.found).toSorted(), [
          `lots-holdings alice open 5`,
          `movements-balance alice open 5`,
          "register-supply fund-a open -5"
        ])
        // The hold and its three findings, each for operators and for risk, and for the auditor once more.
        assert.isAtLeast(yield* WorkLaw.check(WorkLaw.staff), 16)

        // A day later the same differences are the same findings, and join the open hold.
        yield* TestClock.adjust("25 hours")
        const second = yield* Reconciling.run()
        assert.deepEqual([second.value.verdict, second.value.holdsOpened], ["blocked", []])
        const records = yield* Records
        const aged = yield* records.list(findings, { limit: 10 })
        assert.deepEqual(
          aged.map(({ record }) => [record.ageDays, record.seenRuns, record.firstSeenRunId]),
          [
            [1, 2, first.value.runId],
            [1, 2, first.value.runId],
            [1, 2, first.value.runId]
          ]
        )

        // The hold is released only by accepting its findings, and its release starts a run.
        const refused = yield* released(hold.holdId, [])
        assert.strictEqual(refused.why, "rule-refused hold findings-cleared")
        const accepted = yield* released(hold.holdId, hold.findings)
        assert.strictEqual(accepted.state, "succeeded")
        const third = (yield* Reconciling.allRuns).at(-1)
        assert.deepEqual(
          [third?.trigger, third?.verdict, third?.scope.instrumentIds],
          ["release", "findings", [Story.instrumentId]]
        )
        assert.deepEqual(yield* Reconciling.openHolds, [])

        // A difference larger than the accepted one opens a hold again; the vanished one is
        // cleared.
        yield* Reconciling.plant(line, "1")
        assert.strictEqual((yield* Reconciling.run()).value.verdict, "blocked")
        yield* Reconciling.plant(line, "-6")
        const last = yield* Reconciling.run()
        assert.strictEqual(last.value.verdict, "clear")
        assert.deepEqual((yield* Reconciling.found).toSorted(), [
          `lots-holdings alice cleared 6`,
          `movements-balance alice cleared 6`,
          "register-supply fund-a cleared -6"
        ])
        // The hold stays until people release it, now without accepting anything.
        const [again] = yield* Reconciling.openHolds
        assert.strictEqual((yield* released(again?.holdId ?? "", [])).state, "succeeded")
      }).pipe(Venue.engine())
  )

  it.effect("never clears findings of checks and instruments that it does not cover", () =>
    Effect.gen(function* () {
      const { line } = yield* held
      yield* Reconciling.plant(line, "5")
      yield* Reconciling.run()
      yield* Reconciling.plant(line, "-5")
      const other = '{"scope":{"checks":["register-supply"]}}'
      const { value } = yield* Reconciling.run(other)
      assert.deepEqual(
        [value.verdict, value.checks.map(({ check }) => check)],
        ["clear", ["register-supply"]]
      )
      assert.deepEqual((yield* Reconciling.found).toSorted(), [
        `lots-holdings alice open 5`,
        `movements-balance alice open 5`,
        "register-supply fund-a cleared -5"
      ])
    }).pipe(Venue.engine())
  )

  it.effect("finds a party that has movements and is missing on the register", () =>
    Effect.gen(function* () {
      const { line } = yield* held
      const records = yield* Records
      yield* records.transact(records.forget(registerEntries, [idOf(line)]))
      assert.strictEqual((yield* Reconciling.run()).value.verdict, "blocked")
      assert.deepEqual((yield* Reconciling.found).toSorted(), [
        `lots-holdings alice open -120`,
        `movements-balance alice open -120`,
        "register-supply fund-a open 120"
      ])
    }).pipe(Venue.engine())
  )

  it.effect(
    "says that there was nothing to compare, and refuses an instrument that is not there",
    () =>
      Effect.gen(function* () {
        const cast = yield* Story.cast
        yield* Story.recorded(cast)
        const { value } = yield* Reconciling.run()
        assert.deepEqual(
          value.checks.flatMap(({ check, why }) => (why === idle ? [] : [check])),
          // The cap of a recorded instrument has its places, taken or not.
          ["holder-cap"]
        )
        const scope = '{"scope":{"instrumentIds":["fund-a","fund-z"]}}'
        assert.strictEqual(yield* Calls.slug(Reconciling.run(scope)), "not-found")
        assert.strictEqual((yield* Reconciling.allRuns).length, 1)
      }).pipe(Venue.engine())
  )

  it.effect("is answered again under its key, and by its body for a day alone", () =>
    Effect.gen(function* () {
      yield* held
      const first = yield* Reconciling.run("{}", { key: "k-1" })
      const again = yield* Reconciling.run("{}", { key: "k-1" })
      assert.deepEqual([again.replayed, again.value], [true, first.value])
      const other = '{"scope":{"checks":["register-supply"]}}'
      const reused = Reconciling.run(other, { key: "k-1" })
      assert.strictEqual(yield* Calls.slug(reused), "idempotency-key-reused")

      const plain = yield* Reconciling.run("{}", { key: null })
      assert.strictEqual((yield* Reconciling.run("{}", { key: null })).replayed, true)
      yield* TestClock.adjust("25 hours")
      const nextDay = yield* Reconciling.run("{}", { key: null })
      assert.strictEqual(nextDay.replayed, false)
      assert.notStrictEqual(nextDay.value.runId, plain.value.runId)
    }).pipe(Venue.engine())
  )

  it.effect("waits 5 seconds for the run before it, and no longer", () =>
    Effect.gen(function* () {
      yield* held
      const work = yield* WorkQueue
      yield* Reconciling.run()
      const name = "reconciliation-lock"
      const [lease] = yield* work.lease({
        queue: name,
        worker: "another-host",
        limit: 1,
        leaseMillis: 60_000
      })
      if (lease === undefined) throw new Error("the lock was not freed")
      const refused = yield* Effect.forkChild(Calls.slug(Reconciling.run()))
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual(yield* Fiber.join(refused), "overloaded")

      const waiting = yield* Effect.forkChild(Reconciling.run())
      yield* TestClock.adjust("3 seconds")
      yield* work.release(lease, { delay: 0 })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(waiting)).value.verdict, "clear")
    }).pipe(Venue.engine())
  )

  it.effect("never calls anything clear while the ledger is unreachable", () => {
    let isUp = true
    const tamper = reachableWhile(() => isUp)
    return Effect.gen(function* () {
      const { line } = yield* held
      yield* Reconciling.plant(line, "5")
      yield* Reconciling.run()
      yield* Reconciling.plant(line, "-5")
      isUp = false
      const { value } = yield* Reconciling.run()
      assert.strictEqual(value.verdict, "incomplete")
      assert.isTrue(value.checks.every(({ ran, why }) => !ran && why === "ledger-unreachable"))
      assert.isTrue((yield* Reconciling.found).every((text) => text.includes(" open ")))
    }).pipe(Effect.provide(world({ tamper })))
  })

  const queued = Effect.flatMap(Records, (records) =>
    records.transact(
      records.enqueue([itemOf({ trigger: "release", instrumentId: "fund-a", causedBy: "hold-1" })])
    )
  )
  const runsMade = Effect.map(Reconciling.allRuns, (made) => made.length)

  it.effect("that waits in the queue is not made while another run compares its instrument", () =>
    Effect.gen(function* () {
      yield* held
      yield* Reconciling.run()
      const work = yield* WorkQueue
      const [lease] = yield* work.lease({
        queue: instrumentLock,
        worker: "another-host",
        limit: 1,
        leaseMillis: 60_000
      })
      if (lease === undefined) throw new Error("the lock was not freed")
      const { runOnce } = yield* Workers.runnerOf("reconciliation")
      yield* queued
      yield* runOnce
      assert.strictEqual(yield* runsMade, 1)
      yield* work.release(lease, { delay: 0 })
      yield* TestClock.adjust("1 second")
      yield* runOnce
      assert.strictEqual(yield* runsMade, 2)
    }).pipe(Venue.engine())
  )

  it.effect("that waits in the queue waits for the ledger too, and then clears", () => {
    let isUp = true
    const tamper = reachableWhile(() => isUp)
    return Effect.gen(function* () {
      yield* held
      const { runOnce } = yield* Workers.runnerOf("reconciliation")
      yield* queued
      isUp = false
      yield* runOnce
      assert.strictEqual(yield* runsMade, 0)
      isUp = true
      yield* TestClock.adjust("1 minute")
      yield* runOnce
      assert.deepEqual(
        (yield* Reconciling.allRuns).map(({ verdict }) => verdict),
        ["clear"]
      )
    }).pipe(Effect.provide(world({ tamper })))
  })

  it.effect.each([
    { lost: "reconciliation-lock", by: "call" },
    { lost: instrumentLock, by: "queue" },
    { lost: queue, by: "queue" }
  ])(
    "records nothing where another host has taken over its $lost (by $by), and runs a second later",
    ({ lost, by }) => {
      let isLost = false
      const storage = Layer.effect(
        WorkQueue,
        Effect.map(WorkQueue, (work) => ({
          ...work,
          fence: (lease: Parameters<typeof work.fence>[0]) =>
            isLost && lease.queue === lost
              ? Effect.fail(new LeaseLost({ queue: lost, itemId: lease.itemId }))
              : work.fence(lease)
        }))
      ).pipe(Layer.provideMerge(Memory.layer))
      return Effect.gen(function* () {
        const { line } = yield* held
        yield* Reconciling.plant(line, "5")
        yield* queued
        isLost = true
        const { runOnce } = yield* Workers.runnerOf("reconciliation")
        yield* by === "call" ? Effect.exit(Reconciling.run()) : runOnce
        assert.strictEqual(yield* runsMade, 0)
        assert.deepEqual(yield* Reconciling.found, [])
        assert.deepEqual(yield* Reconciling.openHolds, [])
        isLost = false
        yield* TestClock.adjust("1 second")
        yield* runOnce
        assert.strictEqual(yield* runsMade, 1)
      }).pipe(Effect.provide(world({ storage })))
    }
  )

  it.effect("is made once for each release, one after the other, whichever hosts run", () =>
    Effect.gen(function* () {
      const { line } = yield* held
      yield* Reconciling.plant(line, "5")
      yield* Reconciling.run()
      const records = yield* Records
      const other = Context.get(
        yield* Layer.build(Layer.fresh(Engine.layer)),
        Workers.Workers
      ).runnerOf("reconciliation")
      const own = yield* Workers.runnerOf("reconciliation")
      const items = ["a", "b", "c"].map((causedBy) =>
        itemOf({ trigger: "release", instrumentId: "fund-a", causedBy })
      )
      // Asked for twice, as after a transaction that ran again.
      yield* records.transact(records.enqueue([...items, ...items]))
      const until = (host: typeof own) => Effect.repeat(host.runOnce, { times: 20 })
      const called = Reconciling.run()
      const all = yield* Effect.forkChild(
        Effect.all([until(own), until(other), called, called], { concurrency: "unbounded" })
      )
      yield* Effect.repeat(TestClock.adjust("500 millis"), { times: 20 })
      yield* Fiber.join(all)
      yield* Venue.settle
      const runs = yield* Reconciling.allRuns
      assert.deepEqual(runs.map(({ trigger }) => trigger).toSorted(), [
        "manual",
        "manual",
        "manual",
        "release",
        "release",
        "release"
      ])
      // No run was lost on another, and none counted a finding twice.
      const storedFindings = yield* records.list(findings, { limit: 10 })
      assert.deepEqual(
        storedFindings.map(({ record }) => record.seenRuns),
        [6, 6, 6]
      )
      assert.strictEqual((yield* Reconciling.openHolds).length, 1)
    }).pipe(Venue.engine(), Effect.scoped)
  )
})
