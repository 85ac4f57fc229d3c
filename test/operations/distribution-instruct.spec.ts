/**
 * Instructions of the venue to the registrar about a distribution, and rolls of delivered lines, by
 * a person or by the engine.
 */
import { Records, Workers } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Documents, type ListQuery } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { distributionContracts } from "#core/distributions/distribution/DistributionContract.ts"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import {
  type DistributionLine,
  distributionLines,
  type Fact
} from "#core/distributions/distribution/DistributionLine.ts"
import { type Change, setTimers } from "#core/distributions/distribution/DistributionTimerSteps.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"

const engine = (options: Parameters<typeof world>[0] = {}) => Effect.provide(world(options))

/** Names of the filters, joined, by which the lines of distributions were looked up. */
const filters = new Set<string>()

/** Storage in memory that notes the filters of each list and stream of lines. */
const noting = Layer.effect(
  Documents,
  Effect.map(Documents, (documents) => {
    const note = ({ collection, where }: Pick<ListQuery, "collection" | "where">) => {
      if (collection === distributionLines.name)
        filters.add(where.map(({ column }) => column).join(" "))
    }
    return {
      ...documents,
      list: (options: Parameters<typeof documents.list>[0]) => {
        note(options)
        return documents.list(options)
      },
      stream: (query: ListQuery) => {
        note(query)
        return documents.stream(query)
      }
    }
  })
).pipe(Layer.provideMerge(Memory.layer))

const acting = Effect.map(Instant.now, (now) => ({
  cause: { by: "request" as const, requestId: "run" },
  now
}))

/** Sets the timers, as a run or a hold would. */
const sets = (change: Change) =>
  Effect.gen(function* () {
    const records = yield* Records
    yield* records.transact(Effect.flatMap(acting, (act) => setTimers(["d-july"], act, change)))
  })

/** Records a fact of a line and sets the timers, as who changes a cause would. */
const moves = (lineId: string, fact: (at: Instant.Instant) => Fact) =>
  Effect.gen(function* () {
    const records = yield* Records
    yield* records.transact(
      Effect.gen(function* () {
        const act = yield* acting
        const line = yield* records.get(distributionLines, lineId)
        yield* records.append<DistributionLine, Fact>(distributionLines, line, fact(act.now), act)
        yield* setTimers(["d-july"], act)
      })
    )
  })

const suspends = (lineId: string) =>
  moves(lineId, (at) => ({ on: "suspend", at, causes: ["restriction"] }))
const cures = (lineId: string) => moves(lineId, (at) => ({ on: "cure", at }))

/** The clock's task and what it opens run until nothing is left. */
const passes = (duration: string) =>
  Effect.gen(function* () {
    yield* Workers.runOnce("schedules")
    yield* TestClock.adjust(duration as "1 second")
    yield* Workers.runOnce("schedules")
    yield* Calls.settle
    yield* TestClock.adjust("61 seconds")
    yield* Workers.runOnce("schedules")
    yield* Calls.settle
  })

/** Kind, state and maker of the operations about the distribution, in order. */
const written = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* Stream.runCollect(records.stream(operations, {}))
  return found.flatMap(({ record: { kind, role, state } }) =>
    kind.startsWith("distribution.") ? [`${kind} ${state} ${role ?? "engine"}`] : []
  )
})

/** Result of the last operation of a kind, and how many ledger steps it took. */
const resultOf = (kind: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* Stream.runCollect(records.stream(operations, {}))
    const operation = found.findLast(({ record }) => record.kind === kind)?.record
    const { distributionId, lines } = (operation?.result ?? {}) as Record<string, unknown>
    return { distributionId, lines: String(lines), steps: operation?.step?.step }
  })

const onLedger = Effect.gen(function* () {
  const lines = yield* Cycles.active(Templates.DistributionLine)
  const [distribution] = yield* Cycles.active(Templates.Distribution)
  return {
    isOpen: distribution?.payload.open,
    waits: lines
      .toSorted((a, b) => (a.payload.lineId < b.payload.lineId ? -1 : 1))
      .map(({ payload }) => payload.waits)
  }
})

/** A month of these holders, sealed and so cleared by a run, and not opened yet. */
const sealed = (holderIds: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { stage, holders, point } = yield* Month.founded(holderIds)
    const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
    yield* Cycles.at("2026-08-03T09:00:00Z")
    yield* Month.executes(stage, Month.termsOf(stage, point))
    yield* Month.adds("d-july", lines)
    yield* Month.seals("d-july", lines)
    return { stage, holders }
  })

describe("the venue's word on the ledger", () => {
  it.effect("makes lines wait before it opens the distribution, by the engine alone", () =>
    Effect.gen(function* () {
      yield* sealed(["h1", "h2"])
      yield* suspends("d-july.2")
      assert.deepStrictEqual(yield* onLedger, { isOpen: false, waits: [false, false] })
      yield* sets({ mayDeliver: true })
      yield* passes("1 minute")
      assert.deepStrictEqual(yield* onLedger, { isOpen: true, waits: [false, true] })
      assert.deepStrictEqual(yield* written, ["distribution.instruct succeeded engine"])
      yield* passes("1 day")
      assert.deepStrictEqual(yield* written, ["distribution.instruct succeeded engine"])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("goes on in batches, and opens after the last of them", () =>
    Effect.gen(function* () {
      yield* sealed(["h1", "h2", "h3", "h4", "h5"])
      for (const number of [1, 2, 4, 5]) yield* suspends(`d-july.${number}`)
      yield* sets({ mayDeliver: true })
      yield* passes("1 minute")
      assert.deepStrictEqual(yield* onLedger, {
        isOpen: true,
        waits: [true, true, false, true, true]
      })
      assert.deepStrictEqual(yield* resultOf("distribution.instruct"), {
        distributionId: "d-july",
        lines: "4",
        steps: 2
      })
    }).pipe(engine({ settings: { batchLines: 2 } }))
  )

  it.effect("follows a line that is suspended, and one that is cured, while it is open", () =>
    Effect.gen(function* () {
      yield* sealed(["h1", "h2"])
      yield* sets({ mayDeliver: true })
      yield* passes("1 minute")
      yield* suspends("d-july.1")
      yield* passes("1 minute")
      assert.deepStrictEqual(yield* onLedger, { isOpen: true, waits: [true, false] })
      yield* cures("d-july.1")
      yield* passes("1 minute")
      assert.deepStrictEqual(yield* onLedger, { isOpen: true, waits: [false, false] })
      assert.strictEqual((yield* written).length, 3)
    }).pipe(engine())
  )

  it.effect("says nothing of a line that is cured before it was said that it waits", () =>
    Effect.gen(function* () {
      yield* sealed(["h1"])
      yield* sets({ mayDeliver: true })
      yield* passes("1 minute")
      yield* suspends("d-july.1")
      yield* cures("d-july.1")
      yield* passes("1 minute")
      assert.deepStrictEqual(yield* written, ["distribution.instruct succeeded engine"])
    }).pipe(engine())
  )

  it.effect("closes the distribution under a hold, and opens it when a run finds nothing", () =>
    Effect.gen(function* () {
      yield* sealed(["h1"])
      yield* sets({ mayDeliver: true })
      yield* passes("1 minute")
      yield* sets({ mayDeliver: false })
      yield* passes("1 minute")
      assert.deepStrictEqual(yield* onLedger, { isOpen: false, waits: [false] })
      yield* suspends("d-july.1")
      yield* passes("1 minute")
      assert.deepStrictEqual(yield* onLedger, { isOpen: false, waits: [false] })
      yield* sets({ mayDeliver: true })
      yield* passes("1 minute")
      assert.deepStrictEqual(yield* onLedger, { isOpen: true, waits: [true] })
    }).pipe(engine())
  )

  it.effect("is not said where nothing is owed any more", () =>
    Effect.gen(function* () {
      const { stage } = yield* sealed(["h1"])
      yield* sets({ mayDeliver: true })
      yield* passes("1 minute")
      yield* Month.delivers(stage, "d-july", "d-july.1")
      yield* sets({ mayDeliver: false })
      yield* passes("1 minute")
      const records = yield* Records
      assert.isTrue((yield* records.get(distributionContracts, "d-july")).isOpen)
      assert.deepStrictEqual(yield* written, ["distribution.instruct succeeded engine"])
    }).pipe(engine())
  )
})

describe("a write of the engine that is queued and finds nothing left to do", () => {
  /** Opens the operations that are due by the clock, without running them. */
  const queues = (duration: string) =>
    Effect.gen(function* () {
      yield* Workers.runOnce("schedules")
      yield* TestClock.adjust(duration as "1 second")
      yield* Workers.runOnce("schedules")
    })

  it.effect("never fails: a hold opened before the registrar was told to deliver", () =>
    Effect.gen(function* () {
      yield* sealed(["h1"])
      yield* sets({ mayDeliver: true })
      yield* queues("1 minute")
      assert.deepStrictEqual(yield* written, ["distribution.instruct queued engine"])
      yield* sets({ mayDeliver: false })
      yield* Calls.settle
      yield* passes("1 hour")
      assert.deepStrictEqual(yield* written, ["distribution.instruct succeeded engine"])
      assert.deepStrictEqual(yield* resultOf("distribution.instruct"), {
        distributionId: "d-july",
        lines: "0",
        steps: undefined
      })
      assert.deepStrictEqual(yield* onLedger, { isOpen: false, waits: [false] })
      yield* sets({ mayDeliver: true })
      yield* passes("1 minute")
      assert.deepStrictEqual(yield* onLedger, { isOpen: true, waits: [false] })
    }).pipe(engine())
  )

  it.effect("never fails: a person rolled before the engine did", () =>
    Effect.gen(function* () {
      const { stage } = yield* sealed(["h1"])
      yield* sets({ mayDeliver: true })
      yield* passes("1 minute")
      yield* Month.delivers(stage, "d-july", "d-july.1")
      yield* queues("61 minutes")
      const [, own] = yield* written
      assert.strictEqual(own, "distribution.roll queued engine")
      yield* Month.rolls(["d-july.1"])
      yield* passes("2 hours")
      assert.deepStrictEqual(yield* Month.states, ["1 rolled"])
      assert.deepStrictEqual(yield* written, [
        "distribution.instruct succeeded engine",
        "distribution.roll succeeded engine"
      ])
    }).pipe(engine())
  )
})

describe("a roll", () => {
  const delivered = (holderIds: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const { stage } = yield* sealed(holderIds)
      yield* sets({ mayDeliver: true })
      yield* passes("1 minute")
      for (const [nth] of holderIds.entries()) {
        yield* Month.delivers(stage, "d-july", `d-july.${nth + 1}`)
      }
      return stage
    })

  it.effect(
    "by a person closes all that is delivered, in batches, and the distribution is paid",
    () =>
      Effect.gen(function* () {
        yield* delivered(["h1", "h2", "h3"])
        yield* Calls.write("distribution.roll", { distributionId: "d-july" }, {})
        yield* passes("1 minute")
        assert.deepStrictEqual(yield* resultOf("distribution.roll"), {
          distributionId: "d-july",
          lines: "3",
          steps: 2
        })
        assert.strictEqual((yield* Month.distribution()).state, "paid")
        assert.deepStrictEqual(yield* Month.states, ["1 rolled", "2 rolled", "3 rolled"])
        yield* passes("1 day")
        assert.deepStrictEqual(yield* written, [
          "distribution.instruct succeeded engine",
          "distribution.roll succeeded operator"
        ])
      }).pipe(engine({ settings: { batchLines: 2 } }))
  )

  it.effect(
    "never reads past the lines of other states, for each batch, as a delivery does not",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* sealed(["h1", "h2", "h3"])
        yield* sets({ mayDeliver: true })
        yield* passes("1 minute")
        filters.clear()
        for (const nth of [1, 2, 3]) yield* Month.delivers(stage, "d-july", `d-july.${nth}`)
        yield* passes("61 minutes")
        const queriedFilters = [...filters]
        assert.deepStrictEqual(yield* Month.states, ["1 rolled", "2 rolled", "3 rolled"])
        assert.include(queriedFilters, "tally")
        assert.deepStrictEqual(
          queriedFilters.filter((names) => names.includes("distributionId")),
          []
        )
      }).pipe(engine({ settings: { batchLines: 2 }, storage: noting }))
  )

  it.effect("is refused where no line is delivered, and of no distribution", () =>
    Effect.gen(function* () {
      yield* sealed(["h1"])
      const early = yield* Calls.write("distribution.roll", { distributionId: "d-july" }, {})
      assert.strictEqual(early.why, "state-conflict DistributionRollState")
      const none = yield* Calls.write("distribution.roll", { distributionId: "d-june" }, {})
      assert.strictEqual(none.why, "not-found")
    }).pipe(engine())
  )

  it.effect("is the engine's an hour after the last due line was delivered, once", () =>
    Effect.gen(function* () {
      yield* delivered(["h1", "h2"])
      yield* passes("57 minutes")
      assert.deepStrictEqual(yield* Month.states, ["1 delivered", "2 delivered"])
      yield* passes("5 minutes")
      assert.deepStrictEqual(yield* Month.states, ["1 rolled", "2 rolled"])
      yield* passes("2 days")
      assert.deepStrictEqual(yield* written, [
        "distribution.instruct succeeded engine",
        "distribution.roll succeeded engine"
      ])
      const records = yield* Records
      assert.strictEqual((yield* records.get(distributions, "d-july")).state, "paid")
    }).pipe(engine())
  )

  it.effect(
    "of the engine waits while a line is due, and follows a suspended one once it is cured",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* sealed(["h1", "h2", "h3"])
        yield* suspends("d-july.2")
        yield* sets({ mayDeliver: true })
        yield* passes("1 minute")
        yield* Month.delivers(stage, "d-july", "d-july.1")
        yield* passes("3 hours")
        assert.deepStrictEqual(yield* Month.states, [
          "1 delivered",
          "2 suspended restriction",
          "3 due"
        ])
        yield* Month.delivers(stage, "d-july", "d-july.3")
        yield* passes("61 minutes")
        assert.deepStrictEqual(yield* Month.states, [
          "1 rolled",
          "2 suspended restriction",
          "3 rolled"
        ])
        yield* cures("d-july.2")
        yield* passes("1 minute")
        yield* Month.delivers(stage, "d-july", "d-july.2")
        yield* passes("61 minutes")
        assert.deepStrictEqual(yield* Month.states, ["1 rolled", "2 rolled", "3 rolled"])
      }).pipe(engine())
  )
})
