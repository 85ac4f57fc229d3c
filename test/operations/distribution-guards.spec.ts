/** Guards of distributions against what comes at the same time, in between, or under a hold. */
import { Records } from "@bursar/engine-core"
import { Date, Instant } from "@bursar/engine-core/kernel"
import { Atomically } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import * as Memory from "@bursar/storage-adapters/memory"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { distributionTimers } from "#core/distributions/distribution/DistributionTimer.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { transactions } from "../engine/ledger-toys.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Restricting from "./restricting.ts"

const engine = (options: Parameters<typeof world>[0] = {}) => Effect.provide(world(options))
const july = { instrumentId: "fund-a", month: "2026-07" } as const
const conflict = "state-conflict DistributionState"

/** A par fund whose July may be executed, of two holders with units. */
const due = Effect.gen(function* () {
  const { stage, holders } = yield* Executions.founded(["h1", "h2"])
  for (const holder of holders) yield* Powers.mints(stage, holder, "333333.333333")
  yield* Cycles.at("2026-07-28T12:00:00Z")
  yield* Executions.publishes(stage, "0.000095759", "2026-07-28T11:00:00Z")
  yield* Cycles.at("2026-08-01T00:02:00Z")
  return { stage, holders }
})

/** Choices of a template that were exercised, each with its offset, in the order of the ledger. */
const exercised = (entity: string) =>
  Effect.map(transactions, (all) =>
    all.flatMap(({ events, offset }) =>
      events.flatMap((event) =>
        event._tag === "Exercised" && event.template.entity === entity
          ? [{ choice: event.choice, offset: offset as number }]
          : []
      )
    )
  )

/** Kind, state and refusal of the operations about distributions, in order. */
const written = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* Stream.runCollect(records.stream(operations, {}))
  return found.flatMap(({ record: { kind, problem, state } }) =>
    kind.startsWith("distribution.")
      ? [[kind, state, String(problem?.["check"] ?? "")].join(" ").trim()]
      : []
  )
})

/** The engine's own writes run until nothing is left. */
const passes = (duration: "1 minute" | "2 hours") =>
  Effect.gen(function* () {
    yield* TestClock.adjust(duration)
    yield* Cycles.turns
  })

const pauses = Effect.map(
  Calls.write("instrument.pause", { instrumentId: "fund-a" }, { reason: "looked into" }),
  ({ result }) => String(result["holdId"])
)

describe("an execution", () => {
  it.effect("is never signed for other figures than those that were shown", () =>
    Effect.gen(function* () {
      yield* due
      const action = yield* Calls.openAction("distribution.execute", {}, july)
      const rate = {
        name: "tax-rate",
        value: "0.1501",
        state: "valid",
        validFrom: "2026-07-01T00:00:00Z"
      }
      const evidence = { evidenceHash: "ab".repeat(32) }
      const set = yield* Calls.write(
        "holder.set-attributes",
        { holderId: "h1" },
        { attributes: [{ ...rate, ...evidence }] }
      )
      assert.strictEqual(set.why, "")
      const moved = yield* Calls.approveAction(action)
      assert.strictEqual(moved.why, "rule-refused four-eyes figures-moved")
      assert.strictEqual((yield* Calls.approveAction(action)).why, "")
    }).pipe(engine())
  )

  it.effect(
    "never begins while another of its instrument is at work, signed or not, in any month",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* due
        const begun = (month: string) =>
          Effect.gen(function* () {
            const body = { ...july, month }
            const other = { ...body, distributionId: `d-other-${month}` }
            const first = yield* Calls.openAction("distribution.execute", {}, body)
            const second = yield* Calls.openAction("distribution.execute", {}, other)
            // Both actions are signed before either runs.
            for (const action of [first, second]) {
              yield* Calls.approve(String(action), Calls.person("ada", "approver"))
            }
            yield* Calls.settle
            assert.strictEqual(
              (yield* Calls.write("distribution.execute", {}, other)).why,
              conflict
            )
            return (yield* exercised("DistributionSlot")).length
          })
        const executed = Effect.map(written, (all) =>
          all.filter((text) => text.startsWith("distribution.execute")).toSorted()
        )
        const [failed, succeeded] = [
          "distribution.execute failed DistributionState",
          "distribution.execute succeeded"
        ]
        assert.strictEqual(yield* begun("2026-07"), 1)
        assert.deepStrictEqual(yield* executed, [failed, succeeded])
        yield* Executions.publishes(stage, "0.000095759", "2026-08-28T11:00:00Z")
        yield* Cycles.at("2026-09-01T00:02:00Z")
        assert.strictEqual(yield* begun("2026-08"), 2)
        assert.deepStrictEqual(yield* executed, [failed, failed, succeeded, succeeded])
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(engine({ settings: { batchLines: 1 } }))
  )

  it.effect("never goes on with lines whose plan this engine did not keep", () =>
    Effect.gen(function* () {
      const { stage, point } = yield* Month.founded(["h1"])
      yield* Month.executes(stage, Month.termsOf(stage, point))
      const body = { ...july, distributionId: "d-july" }
      assert.strictEqual((yield* Calls.write("distribution.execute", {}, body)).why, conflict)
      assert.deepStrictEqual(yield* exercised("Distribution"), [])
    }).pipe(engine())
  )

  it.effect("is kept as a breach where the ledger has its id already", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      yield* Month.opened(stage, point, [Month.lineOf(1, holders[0]!.party)])
      const before = yield* Month.distribution()
      const slot = yield* Powers.saying(Templates.DistributionSlot, {})
      yield* Month.venueActs([
        Templates.exercise(Templates.DistributionSlot, slot.cid, "Execute", {
          ...Month.termsOf(stage, point),
          month: "2026-08",
          recordDate: Date.of("2026-08-31"),
          payableFrom: Instant.of("2026-09-03T00:00:00Z")
        })
      ])
      assert.deepStrictEqual(yield* Fund.surprises, [
        "distribution open: A distribution of this id exists."
      ])
      assert.deepStrictEqual(yield* Month.distribution(), before)
    }).pipe(engine())
  )
})

describe("the word on the ledger", () => {
  it.effect("never opens a distribution before every line that waits is said to", () =>
    Effect.gen(function* () {
      const holderIds = ["h1", "h2", "h3", "h4", "h5"]
      const { stage, holders, point } = yield* Month.founded(holderIds)
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Cycles.at("2026-08-03T09:00:00Z")
      yield* Month.executes(stage, Month.termsOf(stage, point))
      yield* Month.adds("d-july", lines)
      for (const holderId of holderIds) yield* Restricting.restricts(holderId, `r-${holderId}`)
      yield* Month.seals("d-july", lines)
      yield* passes("1 minute")
      const directs = (yield* exercised("DistributionLine")).map(({ offset }) => offset)
      const [open] = (yield* exercised("Distribution")).filter(({ choice }) => choice === "Open")
      assert.lengthOf(directs, 5)
      assert.strictEqual(new Set(directs).size, 3)
      assert.strictEqual(open?.offset, Math.max(...directs))
    }).pipe(engine({ settings: { batchLines: 2 } }))
  )

  it.effect("is never said of a distribution that is not sealed", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      yield* Month.executes(stage, Month.termsOf(stage, point))
      yield* Month.adds("d-july", [Month.lineOf(1, holders[0]!.party)])
      yield* Reconciling.run()
      yield* passes("2 hours")
      assert.deepStrictEqual(yield* written, [])
    }).pipe(engine())
  )

  it.effect("says nothing of lines while the distribution is closed under a hold", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Month.opened(stage, point, lines)
      yield* pauses
      yield* passes("1 minute")
      yield* Restricting.restricts("h1", "r1")
      yield* passes("2 hours")
      assert.deepStrictEqual(yield* written, ["distribution.instruct succeeded"])
      assert.deepStrictEqual(yield* exercised("DistributionLine"), [])
    }).pipe(engine())
  )
})

const stateOfMonth = Effect.map(Month.distribution(), ({ state }) => state)

describe("a distribution", () => {
  const month = (holderIds: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(holderIds)
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Month.opened(stage, point, lines)
      return stage
    })

  it.effect("is never paid while a delivered line is not rolled, though no other is owed", () =>
    Effect.gen(function* () {
      const stage = yield* month(["h1", "h2"])
      yield* Month.delivers(stage, "d-july", "d-july.1")
      yield* Restricting.restricts("h2", "r2")
      yield* Month.voids("d-july.2")
      assert.deepStrictEqual(yield* Month.states, ["1 delivered", "2 void"])
      assert.strictEqual(yield* stateOfMonth, "payable")
      yield* Month.rolls(["d-july.1"])
      assert.strictEqual(yield* stateOfMonth, "paid")
    }).pipe(engine())
  )

  it.effect(
    "is never paid under a hold, though its last line is void, but by the run after it",
    () =>
      Effect.gen(function* () {
        yield* month(["h1"])
        const holdId = yield* pauses
        yield* Month.voids("d-july.1")
        assert.strictEqual(yield* stateOfMonth, "held")
        yield* Calls.write("hold.release", { holdId }, {})
        assert.strictEqual(yield* stateOfMonth, "paid")
      }).pipe(engine())
  )
})

describe("a carried line", () => {
  it.effect("never waits, nor keeps a cause, whatever stops its holder", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
      const [h1, h2] = holders
      yield* Restricting.restricts("h2", "r1")
      yield* Month.executes(stage, Month.termsOf(stage, point))
      yield* Month.adds("d-july", [Month.lineOf(1, h1!.party), Month.carried(2, h2!.party)])
      const carried = Effect.map(Executions.linesOf("d-july"), ([, line]) => ({
        state: line?.state,
        reason: line?.reason,
        causes: line?.causes
      }))
      const expected = { state: "carried", reason: "unrolled", causes: [] }
      assert.deepStrictEqual((yield* carried) as unknown, expected)
      yield* Restricting.lifts("r1")
      yield* Restricting.restricts("h2", "r2")
      assert.deepStrictEqual((yield* carried) as unknown, expected)
    }).pipe(engine())
  )
})

describe("a judgement", () => {
  it.effect("cures a line though its distribution is held already", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Month.opened(stage, point, lines)
      yield* Restricting.restricts("h1", "r1")
      const holdId = yield* pauses
      const before = yield* Month.distribution()
      assert.deepInclude(before, { state: "held", holdId })
      yield* Restricting.lifts("r1")
      assert.deepStrictEqual(yield* Month.states, ["1 due", "2 due"])
      assert.deepStrictEqual(yield* Month.distribution(), before)
    }).pipe(engine())
  )

  it.effect("that finds the causes of before writes nothing", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      yield* Month.opened(stage, point, [Month.lineOf(1, holders[0]!.party)])
      yield* Restricting.restricts("h1", "r1")
      const before = yield* Month.lines
      yield* Restricting.restricts("h1", "r2")
      yield* Restricting.lifts("r2")
      assert.deepStrictEqual(yield* Month.states, ["1 suspended restriction"])
      assert.deepStrictEqual(yield* Month.lines, before)
    }).pipe(engine())
  )
})

describe("the instant of the word on the ledger", () => {
  const timer = Effect.flatMap(Records, (records) => records.get(distributionTimers, "d-july"))
  const month = Effect.gen(function* () {
    const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
    const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
    yield* Month.opened(stage, point, lines)
    yield* passes("1 minute")
    assert.isNull((yield* timer).instructAt)
  })

  it.effect("stays where another line comes to wait before it is said", () =>
    Effect.gen(function* () {
      yield* month
      yield* Restricting.restricts("h1", "r1")
      const { instructAt } = yield* timer
      assert.isNotNull(instructAt)
      yield* TestClock.adjust("1 second")
      yield* Restricting.restricts("h2", "r2")
      assert.strictEqual((yield* timer).instructAt, instructAt)
    }).pipe(engine())
  )

  it.effect("is another one after each word, though no time has passed", () =>
    Effect.gen(function* () {
      yield* month
      yield* Restricting.restricts("h1", "r1")
      yield* Restricting.lifts("r1")
      const first = yield* timer
      // The lift leaves no instruction to send; the next restriction makes one due at the same
      // instant.
      assert.isNull(first.instructAt)
      yield* Restricting.restricts("h1", "r2")
      const { instructAt } = yield* timer
      assert.isNotNull(instructAt)
      assert.isTrue(Instant.isAfter(instructAt!, first.lastInstructAt!))
    }).pipe(engine())
  )
})

describe("of two at once", () => {
  /** Storage that notes the named locks of its transactions. */
  const noted = () => {
    const names = new Set<string>()
    const storage = Layer.effect(
      Atomically,
      Effect.map(Atomically, (atomically) => ({
        ...atomically,
        lock: (name: string) =>
          Effect.andThen(
            Effect.sync(() => names.add(name)),
            atomically.lock(name)
          )
      }))
    ).pipe(Layer.provideMerge(Memory.layer))
    return { names, storage }
  }

  it.effect(
    "judgements wait for each other, and for lines that are added: each locks restrictions",
    () => {
      const { names, storage } = noted()
      return Effect.gen(function* () {
        const { stage, holders, point } = yield* Month.founded(["h1"])
        const line = Month.lineOf(1, holders[0]!.party)
        yield* Month.executes(stage, Month.termsOf(stage, point))
        names.clear()
        yield* Month.adds("d-july", [line])
        assert.include([...names], "restrictions")
        names.clear()
        const validUntil = "2027-08-03T10:00:00Z"
        const kyc = { name: "kyc", value: "passed", evidenceHash: "ab".repeat(32), state: "valid" }
        const body = { attributes: [kyc], validUntil }
        yield* Calls.write("holder.set-attributes", { holderId: "h1" }, body)
        assert.include([...names], "restrictions")
      }).pipe(engine({ storage }))
    }
  )

  it.effect("a hold and the run that clears never overlook each other: both lock the holds", () => {
    const { names, storage } = noted()
    return Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      const line = Month.lineOf(1, holders[0]!.party)
      yield* Month.executes(stage, Month.termsOf(stage, point))
      yield* Month.adds("d-july", [line])
      names.clear()
      yield* Month.seals("d-july", [line])
      yield* Cycles.turns
      assert.isAbove((yield* Reconciling.allRuns).length, 0)
      assert.include([...names], "holds:fund-a")
      names.clear()
      const paused = Calls.write(
        "instrument.pause",
        { instrumentId: "fund-a" },
        { reason: "a question" }
      )
      assert.strictEqual((yield* paused).why, "")
      assert.include([...names], "holds:fund-a")
    }).pipe(engine({ storage }))
  })

  it.effect("grants of an instrument the second finds the first: both lock its approvals", () => {
    const { names, storage } = noted()
    return Effect.gen(function* () {
      yield* Month.founded([])
      const body = { instrumentId: "fund-a", until: "2027-06-30T00:00:00Z" }
      assert.strictEqual((yield* Calls.write("standing-approval.grant", {}, body)).why, "")
      assert.include([...names], "standing-approval:fund-a")
    }).pipe(engine({ storage }))
  })
})

describe("under a hold", () => {
  it.effect("a delivery is recorded, and the breach is kept", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Month.opened(stage, point, lines)
      yield* pauses
      // The instruction is not on the ledger yet.
      yield* Month.delivers(stage, "d-july", "d-july.1")
      assert.deepStrictEqual(yield* Month.states, ["1 delivered", "2 due"])
      assert.deepStrictEqual(yield* Fund.surprises, [
        "distribution deliver: The line was due, and its distribution held."
      ])
    }).pipe(engine())
  )

  it.effect("the engine never rolls, also where no line is due any more", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
      const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
      yield* Month.opened(stage, point, lines)
      yield* Month.delivers(stage, "d-july", "d-july.1")
      const holdId = yield* pauses
      yield* passes("1 minute")
      yield* Restricting.restricts("h2", "r2")
      yield* passes("2 hours")
      assert.deepStrictEqual(yield* Month.states, ["1 delivered", "2 suspended restriction"])
      yield* Calls.write("hold.release", { holdId }, {})
      yield* passes("2 hours")
      assert.deepStrictEqual(yield* Month.states, ["1 rolled", "2 suspended restriction"])
    }).pipe(engine())
  )
})
