/**
 * Holder and tax statements of a history that begins late: after a snapshot of the ledger, after pruning,
 * and of an old holder, whose age costs nothing.
 */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Atomically, Documents, Ledger, ProjectionLog } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { distributionLines, lineIdOf } from "#core/distributions/distribution/DistributionLine.ts"
import { lots } from "#core/instruments/lot/Lot.ts"
import { type PartyMovement, partyMovements } from "#core/instruments/register/Movement.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Given from "../machines/distributions.ts"
import { again, forgets, recordsAgain } from "./again.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reports from "./reports.ts"

const plain = Decimal.formatPlain

const disposed = ({ disposals }: Effect.Success<ReturnType<typeof Reports.taxOf>>) =>
  disposals.map(({ acquiredOn, cost, disposedOn, units }) =>
    [acquiredOn, disposedOn, plain(units), cost === null ? null : plain(cost)].join(" ")
  )

/** The projection's horizon is raised to its head, and every version that ended before it is deleted. */
const prunes = Effect.gen(function* () {
  const { run } = yield* Atomically
  const log = yield* ProjectionLog
  const documents = yield* Documents
  const ledger = yield* Ledger.Ledger
  const through = yield* ledger.ledgerEnd
  yield* run(log.prune({ offset: through, limit: 1_000 }))
  let deleted = 0
  for (const { name } of [lots, registerEntries]) {
    deleted += yield* run(documents.prune({ collection: name, through, limit: 1_000 }))
  }
  return deleted
})

describe("statements of a history that begins with a snapshot", () => {
  it.effect("open with the units of the snapshot, also of a holder who has not moved since", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened({ holderCap: 100 }, "2026-08-30T12:00:00Z")
      const h1 = yield* Cycles.joins(stage, "h1")
      const h2 = yield* Cycles.joins(stage, "h2")
      yield* Powers.mints(stage, h1, "100")
      yield* Powers.mints(stage, h2, "40")
      yield* Cycles.at("2026-09-15T12:00:00Z")
      yield* Reports.burns(stage, h1, "30")
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        yield* recordsAgain(stage)
        yield* Cycles.at("2026-11-02T12:00:00Z")
        yield* Reports.burns(stage, h1, "20")
        assert.deepStrictEqual(Reports.statementLines(yield* Reports.statements("h1")), [
          "2026-09 70 () 70",
          "2026-10 70 () 70",
          "2026-11 70 (-20) 50"
        ])
        assert.deepStrictEqual(Reports.statementLines(yield* Reports.statements("h2")), [
          "2026-09 40 () 40",
          "2026-10 40 () 40",
          "2026-11 40 () 40"
        ])
        for (const month of ["2026-09", "2026-10", "2026-11"]) {
          const [all] = (yield* Reports.statements("h1")).filter((row) => row.month === month)
          assert.deepStrictEqual(yield* Reports.statements("h1", { month }), [all!])
        }
        assert.deepStrictEqual(yield* Reports.statements("h1", { month: "2026-08" }), [])
        const tax = yield* Reports.taxOf("h1", 2026)
        assert.deepStrictEqual(disposed(tax), ["2026-09-15 2026-11-02 20 "])
        // Pruned once more, the history begins after the disposal, and the books with the snapshot.
        const rows = [yield* Reports.statements("h1"), yield* Reports.statements("h2")]
        assert.isAbove(yield* prunes, 0)
        assert.deepStrictEqual(yield* Reports.taxOf("h1", 2026), tax)
        assert.deepStrictEqual(yield* Reports.statements("h1"), rows[0]!)
        assert.deepStrictEqual(yield* Reports.statements("h2"), rows[1]!)
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )
})

describe("statements of a history that was pruned", () => {
  it.effect("read as before: every month, and what was disposed of in every year", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened({ holderCap: 100 }, "2026-08-30T12:00:00Z")
      const h1 = yield* Cycles.joins(stage, "h1")
      yield* Powers.mints(stage, h1, "100")
      yield* Cycles.at("2026-10-15T12:00:00Z")
      yield* Powers.mints(stage, h1, "50")
      yield* Reports.burns(stage, h1, "20")
      yield* Cycles.at("2027-01-15T12:00:00Z")
      yield* Reports.burns(stage, h1, "70")
      yield* Reports.burns(stage, h1, "20")
      yield* Cycles.at("2027-03-15T12:00:00Z")
      yield* Powers.mints(stage, h1, "1")
      const all = yield* Reports.statements("h1")
      const taxes = [yield* Reports.taxOf("h1", 2026), yield* Reports.taxOf("h1", 2027)]
      assert.deepStrictEqual(taxes.map(disposed), [
        ["2026-08-30 2026-10-15 20 "],
        ["2026-08-30 2027-01-15 70 ", "2026-08-30 2027-01-15 10 ", "2026-10-15 2027-01-15 10 "]
      ])
      assert.isAbove(yield* prunes, 0)
      assert.deepStrictEqual(yield* Reports.statements("h1"), all)
      for (const [nth, row] of all.entries()) {
        assert.deepStrictEqual(yield* Reports.statements("h1", { month: row.month }), [row])
        assert.deepStrictEqual(yield* Reports.statements("h1", { from: row.month }), all.slice(nth))
      }
      for (const [nth, year] of [2026, 2027].entries()) {
        assert.deepStrictEqual(yield* Reports.taxOf("h1", year), taxes[nth])
      }
    }).pipe(Effect.provide(world()))
  )
})

/** Storage in memory that counts the rows that queries read. */
const counting = (read: { rows: number }) =>
  Layer.effect(
    Documents,
    Effect.map(Documents, (documents) => ({
      ...documents,
      get: (options: Parameters<typeof documents.get>[0]) =>
        Effect.tap(documents.get(options), (rows) => Effect.sync(() => (read.rows += rows.length))),
      list: (options: Parameters<typeof documents.list>[0]) =>
        Effect.tap(documents.list(options), (rows) =>
          Effect.sync(() => (read.rows += rows.length))
        ),
      stream: (options: Parameters<typeof documents.stream>[0]) =>
        Stream.tap(documents.stream(options), () => Effect.sync(() => (read.rows += 1))),
      countBy: (options: Parameters<typeof documents.countBy>[0]) =>
        Effect.tap(documents.countBy(options), (counts) =>
          Effect.sync(() => {
            for (const count of counts.values()) read.rows += count
          })
        )
    }))
  ).pipe(Layer.provideMerge(Memory.layer))

const seeding = (now: Instant.Instant) => ({ cause: { by: "run", runId: "seed" }, now }) as const

/** A line that was delivered to a holder, in cash. */
const paidTo = (
  { holderId, party }: Cycles.Holder,
  statement: { readonly number: number; readonly at: string; readonly paidOn: string }
) => {
  const deliveredAt = Instant.of(statement.at)
  const paidOn = Date.of(statement.paidOn)
  return Given.line([], {
    ...{ holderId, party, number: statement.number, lineId: lineIdOf("d-old", statement.number) },
    ...{ state: "rolled", rolledUid: "u", deliveredUid: "u", directed: null, lineCid: null },
    ...{ deliveredAt, delivery: { offset: Offset.of(1), ledgerTime: deliveredAt } },
    ...{ paidOn, evidence: { reference: "wire", paidOn } }
  })
}

/** A holder with so many movements, lots and payments in 2026, and a few in 2027; the rows of its reports. */
const rowsRead = Effect.fnUntraced(function* (count: number) {
  const read = { rows: 0 }
  return yield* Effect.gen(function* () {
    const stage = yield* Fund.opened({ holderCap: 100 }, "2026-08-30T12:00:00Z")
    const h1 = yield* Cycles.joins(stage, "h1")
    for (let n = 0; n < count; n++) yield* Powers.mints(stage, h1, "1")
    const records = yield* Records
    const now = yield* Instant.now
    yield* records.transact(
      Effect.forEach(Array.from({ length: count }), (_, n) =>
        Effect.orDie(
          records.open(
            distributionLines,
            paidTo(h1, { number: n + 1, at: "2026-06-15T12:00:00Z", paidOn: "2026-06-15" }),
            seeding(now)
          )
        )
      )
    )
    yield* Cycles.at("2027-01-15T12:00:00Z")
    yield* Reports.burns(stage, h1, "0.5")
    yield* Cycles.at("2027-03-02T12:00:00Z")
    yield* Powers.mints(stage, h1, "1")
    read.rows = 0
    const tax = yield* Reports.taxOf("h1", 2027)
    const taxRows = read.rows
    assert.deepStrictEqual(disposed(tax), ["2026-08-30 2027-01-15 0.5 "])
    read.rows = 0
    const [month] = yield* Reports.statements("h1", { month: "2027-01" })
    assert.strictEqual(month?.instruments[0]?.closing, Decimal.of(`${count - 1}.5`))
    return { tax: taxRows, month: read.rows }
  }).pipe(Effect.provide(world({ storage: counting(read) })))
})

describe("statements of an old holder", () => {
  it.effect(
    "read what belongs to their year or month, however many movements and payments it had",
    () =>
      Effect.gen(function* () {
        const few = yield* rowsRead(36)
        assert.isBelow(few.tax, 70)
        assert.deepStrictEqual(yield* rowsRead(72), few)
      })
  )
})

describe("a person of whom many units were recovered", () => {
  it.effect("is found however many recoveries came before the one to its successor", () =>
    Effect.gen(function* () {
      const { stage, h1, h2, h3 } = yield* Powers.founded()
      const records = yield* Records
      const now = yield* Instant.now
      const moved = (
        seq: number,
        partyMovement: Pick<PartyMovement, "from" | "to">
      ): PartyMovement => ({
        ...{ registrar: stage.registrar.party, instrumentId: "fund-z", party: h1.party, seq },
        ...{ at: now, ledgerTime: now, offset: Offset.of(1), updateId: "u", kind: "recovery" },
        ...{
          units: Decimal.one,
          reference: null,
          balanceAfter: Decimal.fromInteger(seq),
          ...partyMovement
        },
        restricted: false
      })
      const came = { from: h2.party, to: h1.party }
      const recovered = [
        ...Array.from({ length: 150 }, (_, nth) => moved(nth + 1, came)),
        moved(151, { from: h1.party, to: h3.party })
      ]
      yield* records.transact(
        Effect.forEach(recovered, (movement) =>
          Effect.orDie(records.open(partyMovements, movement, seeding(now)))
        )
      )
      assert.deepStrictEqual((yield* Reports.taxOf("h1", 2026)).holderIds, ["h1", "h3"])
    }).pipe(Effect.provide(world()))
  )
})

describe("a holder that was paid without ever having units", () => {
  it.effect("has a row from the month of its first payment on", () =>
    Effect.gen(function* () {
      const { stage, h2, h3 } = yield* Powers.founded()
      const records = yield* Records
      const now = yield* Instant.now
      yield* Cycles.at("2026-08-20T12:00:00Z")
      const line = paidTo(h2, { number: 1, at: "2026-08-20T12:00:00Z", paidOn: "2026-07-31" })
      yield* records.transact(Effect.orDie(records.open(distributionLines, line, seeding(now))))
      yield* Cycles.at("2026-09-20T12:00:00Z")
      yield* Powers.mints(stage, h3, "1")
      const rows = yield* Reports.statements("h2")
      assert.deepStrictEqual(Reports.statementLines(rows), ["2026-08 0 () 0", "2026-09"])
      // Cash counts on the day of its delivery where no month of the holder waits for evidence.
      assert.deepStrictEqual(
        rows[0]?.instruments[0]?.paid.map(({ lineId, paidOn }) => [lineId, paidOn]),
        [["d-old.1", "2026-08-20"]]
      )
      const none = yield* Reports.statements("h2", { instrumentId: ["fund-z"] })
      assert.deepStrictEqual(Reports.statementLines(none), ["2026-08", "2026-09"])
      // Units that come later open at nothing, and the payment keeps its month.
      yield* Cycles.at("2026-10-20T12:00:00Z")
      yield* Powers.mints(stage, h2, "5")
      const laterRows = yield* Reports.statements("h2")
      assert.deepStrictEqual(Reports.statementLines(laterRows), [
        "2026-08 0 () 0",
        "2026-09",
        "2026-10 0 (5) 5"
      ])
      assert.deepStrictEqual(laterRows[0]?.instruments, rows[0]?.instruments)
      assert.deepStrictEqual(yield* Reports.statements("h2", { month: "2026-08" }), [laterRows[0]!])
    }).pipe(Effect.provide(world()))
  )
})
