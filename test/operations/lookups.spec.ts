/** Look-ups of transactions over many records: as many for a dozen as for three, but of new holds. */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Documents } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { assetQuotes } from "#core/instruments/price/AssetQuote.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { cashTakings } from "#core/orders/order/CashTaking.ts"
import { compare } from "#core/reconciliation/run/CompareSteps.ts"
import * as RecordSteps from "#core/reconciliation/run/RecordSteps.ts"
import { RunId, type RunScope } from "#core/reconciliation/run/Run.ts"
import { reserves } from "#core/reserves/reserve/Reserve.ts"
import { steps } from "#core/reconciliation/statement-retention/StatementRetentionSteps.ts"
import { world } from "../engine/world.ts"
import * as Calls from "../engine/calls.ts"
import * as Bank from "./bank.ts"
import { bodyOf, registrar } from "./instrumentBody.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"
import * as StoredReserves from "./storedReserves.ts"

/** Storage in memory that counts the look-ups of records by their ids, of lists, and of counts. */
const counting = (counts: { lookUps: number }) =>
  Layer.effect(
    Documents,
    Effect.map(Documents, (documents) => ({
      ...documents,
      get: (options: Parameters<typeof documents.get>[0]) => {
        counts.lookUps++
        return documents.get(options)
      },
      list: (options: Parameters<typeof documents.list>[0]) => {
        counts.lookUps++
        return documents.list(options)
      },
      stream: (options: Parameters<typeof documents.stream>[0]) => {
        counts.lookUps++
        return documents.stream(options)
      },
      countBy: (options: Parameters<typeof documents.countBy>[0]) => {
        counts.lookUps++
        return documents.countBy(options)
      }
    }))
  ).pipe(Layer.provideMerge(Memory.layer))

/** An instrument whose register has units that the ledger has not: its supply differs. */
const differing = Effect.fnUntraced(function* (instrumentId: string) {
  yield* Calls.write("instrument.record", {}, { ...bodyOf(), instrumentId })
  const records = yield* Records
  const now = yield* Instant.now
  const entry = {
    ...{ registrar: registrar as never, instrumentId, party: registrar as never },
    ...{ units: Decimal.of("7"), locked: Decimal.zero, since: now, emptySince: null }
  }
  const act = { cause: { by: "run", runId: "fault" }, now } as const
  yield* records.transact(Effect.orDie(records.open(registerEntries, entry, act)))
})

/** Look-ups of two runs over so many instruments: the first opens holds, the second joins them. */
const lookUpsOf = (count: number) => {
  const counts = { lookUps: 0 }
  return Effect.gen(function* () {
    const ids = Array.from({ length: count }, (_, n) => `fund-${n}`)
    yield* Effect.forEach(ids, differing)
    const records = yield* Records
    const scope = { instrumentIds: ids, checks: ["register-supply"] } as unknown as RunScope
    return yield* Effect.forEach(["run_1", "run_2"], (text) =>
      Effect.gen(function* () {
        const compared = yield* compare(scope)
        counts.lookUps = 0
        const runId = Schema.decodeSync(RunId)(text)
        const act = { cause: { by: "run", runId } as const, now: yield* Instant.now }
        yield* records.transactAlone(
          RecordSteps.record({ runId, trigger: "manual", scope, compared }, act)
        )
        const { lookUps } = counts
        const holds = yield* Reconciling.openHolds
        assert.lengthOf(holds, count, "each instrument has a hold")
        return lookUps
      })
    )
  }).pipe(Effect.scoped, Effect.provide(world({ storage: counting(counts) })))
}

describe("the transaction that stores a run", () => {
  it.effect(
    "looks up for each instrument the new id of a hold that it opens, and nothing more",
    () =>
      Effect.gen(function* () {
        const [opening = 0, joining = 0] = yield* lookUpsOf(3)
        const many = yield* lookUpsOf(12)
        assert.deepStrictEqual(many, [opening + 12 - 3, joining])
        assert.isAbove(joining, 0)
      })
  )
})

const fault = Effect.map(
  Instant.now,
  (now) => ({ cause: { by: "run", runId: "fault" }, now }) as const
)

/** A price of the asset of every reserve: a unit is worth 1. */
const priced = Effect.gen(function* () {
  const records = yield* Records
  const act = yield* fault
  const quote = StoredReserves.quoteOf({ assetId: "BILL", price: "1", now: act.now })
  yield* records.transact(Effect.orDie(records.open(assetQuotes, quote, act)))
})

/** An instrument of whose reserve 60 are locked, with units outstanding. */
const backed = Effect.fnUntraced(function* (instrumentId: string, outstanding: string) {
  yield* Calls.write("instrument.record", {}, { ...bodyOf(), instrumentId })
  const records = yield* Records
  const act = yield* fault
  const locked = { BILL: "60" }
  const reserve = StoredReserves.reserveOf({ instrumentId, outstanding, locked, now: act.now })
  yield* records.transact(Effect.orDie(records.open(reserves, reserve, act)))
})

const ofReserves = [
  "custody-reserve",
  "reserve-cover",
  "reserve-report",
  "reserve-price-fresh"
] as const

/** Look-ups of a run's checks over instruments, and of the transaction that stores what they found. */
const lookUpsOfChecks = (
  count: number,
  input: { readonly checks: ReadonlyArray<string>; readonly outstanding: string | null }
) => {
  const counts = { lookUps: 0 }
  return Effect.gen(function* () {
    const ids = Array.from({ length: count }, (_, n) => `fund-${n}`)
    yield* priced
    yield* Effect.forEach(ids, (instrumentId) =>
      input.outstanding === null
        ? Calls.write("instrument.record", {}, { ...bodyOf(), instrumentId })
        : backed(instrumentId, input.outstanding)
    )
    const records = yield* Records
    const scope = { instrumentIds: ids, checks: input.checks } as unknown as RunScope
    counts.lookUps = 0
    const compared = yield* compare(scope)
    const comparing = counts.lookUps
    const runId = Schema.decodeSync(RunId)("run_1")
    const act = { cause: { by: "run", runId } as const, now: yield* Instant.now }
    const recording = { runId, trigger: "manual", scope, compared } as const
    counts.lookUps = 0
    yield* records.transactAlone(RecordSteps.record(recording, act))
    const storing = counts.lookUps
    const opened = (yield* Reconciling.openHolds).length
    return { comparing, storing, opened }
  }).pipe(Effect.scoped, Effect.provide(world({ storage: counting(counts) })))
}

describe("the checks of reserves", () => {
  it.effect("look up no reserve, price, supply or account of each instrument by itself", () =>
    Effect.gen(function* () {
      for (const outstanding of [null, "50"]) {
        const few = yield* lookUpsOfChecks(3, { checks: ofReserves, outstanding })
        const many = yield* lookUpsOfChecks(12, { checks: ofReserves, outstanding })
        assert.strictEqual(many.comparing, few.comparing)
        assert.isAbove(few.comparing, 0)
      }
    })
  )

  it.effect("never look for the ended reserves of each instrument by itself", () =>
    Effect.gen(function* () {
      const checks = ["orphan-locks"]
      const few = yield* lookUpsOfChecks(3, { checks, outstanding: "100" })
      const many = yield* lookUpsOfChecks(12, { checks, outstanding: "100" })
      // One stream of the register's holdings for each.
      assert.strictEqual(many.comparing, few.comparing + 12 - 3)
    })
  )

  it.effect(
    "are stored with one look-up for the new id of each hold that they open, and no more",
    () =>
      Effect.gen(function* () {
        const checks = ["reserve-cover"]
        const few = yield* lookUpsOfChecks(3, { checks, outstanding: "100" })
        const many = yield* lookUpsOfChecks(12, { checks, outstanding: "100" })
        assert.deepStrictEqual([few.opened, many.opened], [3, 12])
        assert.strictEqual(many.storing, few.storing + 12 - 3)
      })
  )
})

/** Look-ups of a correction of a bank statement of which so many orders took. */
const lookUpsOfCorrection = (count: number) => {
  const counts = { lookUps: 0 }
  return Effect.gen(function* () {
    const entries = Array.from({ length: count }, (_, n) => ({
      amount: "100",
      bankReference: `B-${n}`
    }))
    yield* Bank.states({ id: "st-1", entries })
    yield* Effect.forEach(entries, (_, n) =>
      Bank.reserves({
        order: { kind: "subscription", orderId: `s${n}` },
        named: { statementId: "st-1", line: n + 1, amount: "100" }
      })
    )
    counts.lookUps = 0
    yield* Bank.states({ id: "st-2", corrects: "st-1", entries: entries.toReversed() })
    const { lookUps } = counts
    const records = yield* Records
    const moved = yield* records.countBy(cashTakings, "statementId", {})
    assert.deepStrictEqual([...moved], [["st-2", count]])
    return lookUps
  }).pipe(Effect.provide(world({ storage: counting(counts) })))
}

/** Look-ups of a step of retention over two statements of each of so many sources. */
const lookUpsOfRetention = (count: number) => {
  const counts = { lookUps: 0 }
  return Effect.gen(function* () {
    const ids = Array.from({ length: count }, (_, n) => `admin-${n}`)
    for (const businessDate of [Date.of("2026-03-02"), Date.of("2026-03-03")]) {
      yield* Effect.forEach(ids, (id) =>
        Effect.flatMap(Stating.source(id), (source) => Stating.states(source, { businessDate }))
      )
    }
    yield* TestClock.adjust("4000 days")
    const records = yield* Records
    const [step] = steps
    counts.lookUps = 0
    if (step === undefined) throw new Error("retention has no step of statements")
    const released = yield* records.transact(step.run({ now: yield* Instant.now, after: null }))
    assert.deepStrictEqual(released.counts, { externalStatements: count })
    return counts.lookUps
  }).pipe(Effect.provide(world({ storage: counting(counts) })))
}

describe("a correction of a bank statement", () => {
  it.effect("never looks up each line that orders took by itself", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* lookUpsOfCorrection(12), yield* lookUpsOfCorrection(3))
    })
  )
})

describe("retention of statements", () => {
  it.effect("never looks for the newest statement of each source by itself", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* lookUpsOfRetention(12), yield* lookUpsOfRetention(3))
    })
  )
})
