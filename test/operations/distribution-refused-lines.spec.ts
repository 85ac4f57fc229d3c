/**
 * Lines of a distribution that the ledger refuses to direct or to roll: they are left out by name, and
 * every other one is done (docs/domain/distributions.md#lines-that-the-ledger-refuses).
 */
import { Records, Workers } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, References } from "effect"
import { TestClock } from "effect/testing"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import { setTimers } from "#core/distributions/distribution/DistributionTimerSteps.ts"
import { lineRefusals } from "#core/distributions/distribution/LineRefusal.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"

/** Contracts on which the ledger refuses every choice of the venue. */
const blocked = new Set<string>()

/** A ledger that refuses each transaction which uses a blocked contract. */
const tamper = (ledger: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
  ...ledger,
  submit: (submission) => {
    const hit = submission.commands.find(
      (command) => command._tag === "Exercise" && blocked.has(command.contractId)
    )
    if (hit === undefined) return ledger.submit(submission)
    const failure = { code: "DAML_FAILURE", cause: "The line is barred.", category: 9 }
    return Effect.fail(new Ledger.Refused({ ...failure, context: {}, resources: [] }))
  }
})

const engine = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    blocked.clear()
    return yield* effect
  }).pipe(
    Effect.provide(world({ tamper, settings: { batchLines: 4 } })),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

const ids = (numbers: ReadonlyArray<number>) => numbers.map((number) => `d-july.${number}`)

/** Blocks the contracts that lines have now. */
const blocks = (...numbers: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const records = yield* Records
    for (const { lineCid } of yield* records.many(distributionLines, ids(numbers))) {
      if (lineCid !== null) blocked.add(lineCid)
    }
  })

const transacts = <A, E, R>(
  work: (act: {
    readonly cause: { readonly by: "request"; readonly requestId: string }
    readonly now: Instant.Instant
  }) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    yield* records.transact(work({ cause: { by: "request", requestId: "run" }, now }))
  })

const suspends = (numbers: ReadonlyArray<number>) =>
  transacts((act) =>
    Effect.gen(function* () {
      const records = yield* Records
      for (const line of yield* records.many(distributionLines, ids(numbers))) {
        const fact = { on: "suspend", at: act.now, causes: ["restriction"] } as const
        yield* records.append(distributionLines, line, fact, act)
      }
      yield* setTimers(["d-july"], act)
    })
  )

const mayDeliver = (may: boolean) =>
  transacts((act) => setTimers(["d-july"], act, { mayDeliver: may }))

/** The clock's task and what it opens run, a minute at a time. */
const passes = (minutes: number) =>
  Effect.gen(function* () {
    // The first turn of all only begins the tasks.
    yield* Workers.runOnce("schedules")
    for (let minute = 0; minute < minutes; minute++) {
      yield* TestClock.adjust("1 minute")
      yield* Workers.runOnce("schedules")
      yield* Calls.settle
    }
  })

/** Eight lines, sealed and not opened; the first ones of them are delivered where asked for. */
const sealed = Effect.gen(function* () {
  const { stage, holders, point } = yield* Month.founded(["h1", "h2", "h3", "h4", "h5", "h6"])
  const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
  yield* Cycles.at("2026-08-03T09:00:00Z")
  yield* Month.executes(stage, Month.termsOf(stage, point))
  yield* Month.adds("d-july", lines)
  yield* Month.seals("d-july", lines)
  return stage
})

const onLedger = Effect.gen(function* () {
  const lines = yield* Cycles.active(Templates.DistributionLine)
  const [distribution] = yield* Cycles.active(Templates.Distribution)
  const waiting = lines.filter(({ payload }) => payload.waits)
  return {
    isOpen: distribution?.payload.open,
    waiting: waiting.map(({ payload }) => payload.lineId).toSorted()
  }
})

/** The operations of a kind: how each ended, and the detail of its problem. */
const ended = (kind: "distribution.instruct" | "distribution.roll") =>
  Effect.gen(function* () {
    const records = yield* Records
    const rows = yield* records.list(operations, { where: { kind: [kind] }, limit: 100 })
    return rows.map(({ record: { problem, state } }) => `${state} ${problem?.detail ?? ""}`.trim())
  })

const refusals = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(lineRefusals, { limit: 100 })
  return rows.map(({ record: { lineId, reason, times, write } }) => [write, lineId, reason, times])
})

const told = (...lineIds: ReadonlyArray<string>) =>
  `failed The ledger refused ${lineIds.join(", ")}; every other line is done. The line is barred.`

describe("a roll of lines of which the ledger refuses some", () => {
  it.effect("rolls every other line once, names these, and tries them again an hour later", () =>
    engine(
      Effect.gen(function* () {
        const stage = yield* sealed
        yield* mayDeliver(true)
        yield* passes(2)
        for (const number of [1, 2, 3, 4, 5, 6]) {
          yield* Month.delivers(stage, "d-july", `d-july.${number}`)
        }
        yield* blocks(2, 5)
        const answer = yield* Calls.write("distribution.roll", { distributionId: "d-july" }, {})
        yield* passes(2)
        assert.strictEqual(answer.why, "ledger-rejected ledger choice")
        assert.deepStrictEqual(yield* Month.states, [
          ...["1 rolled", "2 delivered", "3 rolled", "4 rolled", "5 delivered", "6 rolled"]
        ])
        assert.deepStrictEqual(yield* ended("distribution.roll"), [told("d-july.2", "d-july.5")])
        assert.deepStrictEqual(yield* refusals, [
          ["roll", "d-july.2", "daml-failure", 1],
          ["roll", "d-july.5", "daml-failure", 1]
        ])
        blocked.clear()
        yield* passes(65)
        assert.deepStrictEqual((yield* ended("distribution.roll")).slice(1), ["succeeded"])
        assert.strictEqual((yield* Month.distribution()).state, "paid")
        assert.deepStrictEqual(yield* Fund.surprises, [])
      })
    )
  )
})

describe("instructions of which the ledger refuses some", () => {
  it.effect("direct every other line, and keep closed what would pay a line that must wait", () =>
    engine(
      Effect.gen(function* () {
        yield* sealed
        yield* suspends([1, 2, 3, 4, 5])
        yield* blocks(3)
        yield* mayDeliver(true)
        yield* passes(2)
        assert.deepStrictEqual(yield* onLedger, {
          ...{ isOpen: false, waiting: ["d-july.1", "d-july.2", "d-july.4", "d-july.5"] }
        })
        const again = told("d-july.3")
        assert.deepStrictEqual(yield* ended("distribution.instruct"), [again, again])
        // Tried again after one minute, two more and four more.
        yield* passes(10)
        assert.strictEqual((yield* ended("distribution.instruct")).length, 4)
        blocked.clear()
        yield* passes(10)
        assert.deepStrictEqual(yield* onLedger, {
          ...{ isOpen: true, waiting: ids([1, 2, 3, 4, 5]) }
        })
      })
    )
  )

  it.effect("open it where the refused line cannot be delivered, and pay the others", () =>
    engine(
      Effect.gen(function* () {
        const stage = yield* sealed
        yield* suspends([1])
        yield* mayDeliver(true)
        yield* passes(2)
        yield* mayDeliver(false)
        yield* passes(2)
        yield* transacts((act) =>
          Effect.gen(function* () {
            const records = yield* Records
            const line = yield* records.get(distributionLines, "d-july.1")
            yield* records.append(distributionLines, line, { on: "cure", at: act.now }, act)
          })
        )
        yield* blocks(1)
        yield* mayDeliver(true)
        yield* passes(2)
        assert.deepStrictEqual(yield* onLedger, { isOpen: true, waiting: ["d-july.1"] })
        yield* Month.delivers(stage, "d-july", "d-july.2")
        // A hold does not wait for the line to be tried again, which takes ever longer.
        yield* passes(20)
        yield* mayDeliver(false)
        yield* passes(2)
        assert.deepInclude(yield* onLedger, { isOpen: false })
      })
    )
  )
})
