/**
 * Lines of a distribution that the ledger refuses to direct or to roll: they are left out by name, and
 * every other one is done (docs/domain/distributions.md#lines-that-the-ledger-refuses).
 */
import { Records, Workers } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, References } from "effect"
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
import * as Restricting from "./restricting.ts"

/** Contracts on which the ledger refuses every choice of the venue. */
const blocked = new Set<string>()

/** Answer of the ledger to every transaction of the venue, in place of its own. */
const ledger: {
  trouble: "none" | "busy" | "cut" | "no-package" | "no-direct"
  refusedAlone: boolean
} = {
  trouble: "none",
  refusedAlone: false
}

/** Choices of each transaction that the ledger was given, with the lines that they are about. */
const given: Array<string> = []

const textOf = (command: Ledger.Command): string =>
  command._tag === "Exercise" ? command.choice : command._tag

const refusal = (failure: { readonly code: string; readonly cause: string }) =>
  Effect.fail(new Ledger.Refused({ ...failure, category: 9, context: {}, resources: [] }))

/**
 * A ledger that refuses each transaction which uses a blocked contract. Where asked for it is busy from
 * the first refusal of a single command on.
 */
const tamper = (service: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
  ...service,
  submit: (submission) => {
    const { commandId, commands } = submission
    if (commands[0]?._tag === "CreateAndExercise") return service.submit(submission)
    const retryAfter = Duration.seconds(1)
    if (ledger.trouble === "busy") {
      const busy = { code: "BUSY", cause: "busy", category: 2, context: {}, resources: [] }
      return Effect.fail(new Ledger.Busy({ ...busy, retryAfter }))
    }
    given.push(commands.map(textOf).join(" "))
    if (ledger.trouble === "cut") {
      return Effect.fail(new Ledger.OutcomeUnknown({ commandId, why: "cut", retryAfter }))
    }
    const isDirected = commands.some((command) => textOf(command) === "Direct")
    if (ledger.trouble === "no-package" || (ledger.trouble === "no-direct" && isDirected)) {
      return refusal({ code: "PACKAGE_NAMES_NOT_FOUND", cause: "No such package." })
    }
    const isHit = commands.some(
      (command) => command._tag === "Exercise" && blocked.has(command.contractId)
    )
    if (!isHit) return service.submit(submission)
    if (ledger.refusedAlone && commands.length === 1) ledger.trouble = "busy"
    return refusal({ code: "DAML_FAILURE", cause: "The line is barred." })
  }
})

const engine = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    blocked.clear()
    given.length = 0
    Object.assign(ledger, { trouble: "none", refusedAlone: false })
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

const cures = (number: number) =>
  transacts((act) =>
    Effect.gen(function* () {
      const records = yield* Records
      const line = yield* records.get(distributionLines, `d-july.${number}`)
      yield* records.append(distributionLines, line, { on: "cure", at: act.now }, act)
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

const refusalText = (...lineIds: ReadonlyArray<string>) =>
  `failed The ledger refused ${lineIds.join(", ")}, left out of the operation. The line is barred.`

/** The same of an operation after which the distribution is closed. */
const toldClosed = (...lineIds: ReadonlyArray<string>) =>
  `${refusalText(...lineIds)} The distribution stays closed until the ledger directs what could be paid against its record.`

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
        assert.deepStrictEqual(yield* ended("distribution.roll"), [
          refusalText("d-july.2", "d-july.5")
        ])
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
        const again = toldClosed("d-july.3")
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
        yield* cures(1)
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

  it.effect("close an open one where a line must wait that the ledger refuses to direct", () =>
    engine(
      Effect.gen(function* () {
        const stage = yield* sealed
        yield* mayDeliver(true)
        yield* passes(2)
        assert.deepInclude(yield* onLedger, { isOpen: true })
        yield* blocks(1)
        yield* Restricting.restricts("h1", "r1")
        yield* passes(1)
        assert.deepStrictEqual(yield* onLedger, { isOpen: false, waiting: [] })
        const [, ...ends] = yield* ended("distribution.instruct")
        assert.deepStrictEqual(ends, [toldClosed("d-july.1")])
        blocked.clear()
        yield* passes(5)
        assert.deepStrictEqual(yield* onLedger, { isOpen: true, waiting: ["d-july.1"] })
        yield* Month.delivers(stage, "d-july", "d-july.2")
      })
    )
  )

  it.effect("that are all refused leave it open until its instrument is paused", () =>
    engine(
      Effect.gen(function* () {
        yield* sealed
        yield* mayDeliver(true)
        yield* passes(2)
        ledger.trouble = "no-direct"
        yield* Restricting.restricts("h1", "r1")
        yield* passes(3)
        assert.deepStrictEqual(yield* onLedger, { isOpen: true, waiting: [] })
        const records = yield* Records
        assert.deepStrictEqual(yield* records.list(lineRefusals, { limit: 1 }), [])
        const paused = Calls.write(
          "instrument.pause",
          { instrumentId: "fund-a" },
          { reason: "why" }
        )
        assert.strictEqual((yield* paused).why, "")
        yield* passes(3)
        assert.deepStrictEqual(yield* onLedger, { isOpen: false, waiting: [] })
      })
    )
  )

  it.effect("end failed where a hold closes the distribution before the other lines are told", () =>
    engine(
      Effect.gen(function* () {
        yield* sealed
        yield* suspends([1])
        yield* mayDeliver(true)
        yield* passes(2)
        yield* blocks(1)
        ledger.refusedAlone = true
        yield* cures(1)
        yield* suspends([2])
        yield* passes(1)
        assert.strictEqual(ledger.trouble, "busy")
        yield* mayDeliver(false)
        Object.assign(ledger, { trouble: "none", refusedAlone: false })
        yield* passes(1)
        assert.deepStrictEqual(yield* onLedger, { isOpen: false, waiting: ["d-july.1"] })
        const [, ...ends] = yield* ended("distribution.instruct")
        assert.strictEqual(ends[0], refusalText("d-july.1"))
      })
    )
  )

  it.effect("try a line at once that is to be directed otherwise, and pause anew", () =>
    engine(
      Effect.gen(function* () {
        yield* sealed
        yield* Restricting.restricts("h1", "r1")
        yield* blocks(1)
        yield* mayDeliver(true)
        yield* passes(40)
        assert.deepStrictEqual(yield* refusals, [["instruct", "d-july.1", "daml-failure", 6]])
        yield* Restricting.lifts("r1")
        // A payee that the ledger has not refused yet.
        yield* transacts((act) =>
          Effect.gen(function* () {
            const records = yield* Records
            const [line, other] = yield* records.many(distributionLines, ids([1, 2]))
            const { holderId, party } = other!
            const fact = { on: "follow", at: act.now, party, custodian: null } as const
            const to = { holderId: holderId ?? "", predecessor: line!.holderId }
            yield* records.append(distributionLines, line!, { ...fact, ...to }, act)
            yield* setTimers(["d-july"], act, { isRedirected: true })
          })
        )
        yield* passes(1)
        assert.deepStrictEqual(yield* refusals, [["instruct", "d-july.1", "daml-failure", 1]])
        blocked.clear()
        yield* passes(4)
        assert.deepStrictEqual(yield* onLedger, { isOpen: true, waiting: [] })
      })
    )
  )
})

describe("an instruction that fails again and again", () => {
  /** An open distribution with a line that was to wait for hours, in vain. */
  const failing = Effect.gen(function* () {
    yield* sealed
    yield* mayDeliver(true)
    yield* passes(2)
    ledger.trouble = "no-package"
    yield* Restricting.restricts("h1", "r1")
    yield* passes(300)
    assert.deepStrictEqual(yield* onLedger, { isOpen: true, waiting: [] })
    ledger.trouble = "none"
  })

  it.effect("never keeps a hold waiting for its pause", () =>
    engine(
      Effect.gen(function* () {
        yield* failing
        yield* mayDeliver(false)
        yield* passes(2)
        assert.deepInclude(yield* onLedger, { isOpen: false })
      })
    )
  )

  it.effect("never keeps another line waiting that is to be directed", () =>
    engine(
      Effect.gen(function* () {
        yield* failing
        yield* Restricting.restricts("h2", "r2")
        yield* passes(2)
        assert.deepStrictEqual(yield* onLedger, { isOpen: true, waiting: ids([1, 2]) })
      })
    )
  )

  it.effect("never is kept waiting by a roll that fails, nor opens that roll early", () =>
    engine(
      Effect.gen(function* () {
        const stage = yield* sealed
        yield* suspends([2])
        yield* mayDeliver(true)
        yield* passes(2)
        for (const number of [1, 3, 4, 5, 6]) {
          yield* Month.delivers(stage, "d-july", `d-july.${number}`)
        }
        ledger.trouble = "no-package"
        yield* passes(400)
        const rolls = (yield* ended("distribution.roll")).length
        assert.isAtLeast(rolls, 5)
        ledger.trouble = "none"
        yield* mayDeliver(false)
        yield* passes(2)
        assert.deepInclude(yield* onLedger, { isOpen: false })
        assert.strictEqual((yield* ended("distribution.roll")).length, rolls)
      })
    )
  )
})

describe("an opening that was planned, and a line that must wait by now", () => {
  const isAlone = (text: string): boolean => text === "Open"

  it.effect("never is sent without the line where the ledger has not taken it", () =>
    engine(
      Effect.gen(function* () {
        yield* sealed
        yield* mayDeliver(true)
        ledger.trouble = "busy"
        yield* passes(2)
        yield* suspends([1])
        ledger.trouble = "none"
        yield* passes(2)
        assert.deepStrictEqual(yield* onLedger, { isOpen: true, waiting: ["d-july.1"] })
        assert.deepStrictEqual(given.filter(isAlone), [])
      })
    )
  )

  it.effect("never is sent again where nobody knows whether it was taken", () =>
    engine(
      Effect.gen(function* () {
        yield* sealed
        yield* mayDeliver(true)
        ledger.trouble = "cut"
        yield* passes(1)
        assert.isAtLeast(given.filter(isAlone).length, 1)
        yield* suspends([1])
        given.length = 0
        ledger.trouble = "none"
        yield* passes(6)
        assert.deepStrictEqual(yield* onLedger, { isOpen: true, waiting: ["d-july.1"] })
        assert.deepStrictEqual(given.filter(isAlone), [])
      })
    )
  )
})
