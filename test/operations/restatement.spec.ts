/**
 * Restatements of a corrected NAV: every order and line that its points priced, as a venue that in fact
 * had the right point would have dealt it, with nothing written.
 */
import { Queries, Records, verify } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Atomically, Feed, Ledger, ProjectionLog } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import * as fc from "fast-check"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import { distributionPlans } from "#core/distributions/distribution/DistributionPlan.ts"
import * as RestatementQueries from "#core/reconciliation/restatement/RestatementQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Navs from "./navs.ts"
import * as Restatements from "./restatements.ts"
import * as Stating from "./stating.ts"

const engine = () => Effect.provide(world())
const d = Decimal.of
const plain = Decimal.formatPlain
const date = "2026-07-31"

/** The NAV of the date as it was, and its correction; the id of the latter. */
const corrected = (from: string, to: string, businessDate = date) =>
  Effect.gen(function* () {
    yield* Navs.states({ businessDate, official: from })
    return yield* Navs.states({ businessDate, official: to })
  })

const terms: Restatements.Terms = {
  fees: { subscription: 0, redemption: 0 },
  swing: null,
  residual: "refund",
  unitDecimals: 6
}

/** Orders of vector G62. */
const orders: ReadonlyArray<Restatements.Ordered> = [
  { id: "s1", kind: "subscription", by: "amount", size: "100000" },
  { id: "r1", kind: "redemption", by: "units", size: "95812.973076" }
]

/** Each row's basis gives its figure, without its sign. */
const verifies = (rows: Restatements.Report["rows"]) => {
  for (const { basis, should } of rows) {
    const own = Result.getOrThrow(verify(basis.at(-1)!))
    assert.strictEqual(plain(d(own)), plain(Decimal.abs(should)))
    for (const other of basis) assert.isTrue(Result.isSuccess(verify(other)))
  }
}

describe("a restatement", () => {
  it.effect("says of vector G62 what each order is owed, and the sums", () =>
    Effect.gen(function* () {
      yield* Restatements.deals(orders, "1.0437", terms)
      const id = yield* corrected("1.0437", "1.0499622")
      const { header, rows, totals } = yield* Restatements.report(id)
      assert.deepStrictEqual(rows.map(Restatements.textOf), [
        "subscription s1 units: 95812.973076 -> 95241.523932, owed -571.449144 units",
        "redemption r1 proceeds: 99999.99 -> 100599.99, owed 600 USD"
      ])
      assert.deepStrictEqual(totals, [
        { unit: "USD", owed: d("600") },
        { unit: "units", owed: d("-571.449144") }
      ])
      assert.deepInclude(header, {
        from: d("1.0437"),
        to: d("1.0499622"),
        move: d("0.006"),
        tolerance: d("0.002"),
        over: true
      })
      assert.strictEqual(header.pointCids.length, 1)
      verifies(rows)
    }).pipe(engine())
  )

  it.effect("names a point that is dated ahead once its time has come", () =>
    Effect.gen(function* () {
      const stage = yield* Restatements.deals(orders, "1.0437", terms)
      yield* Fund.publishes(stage, "1.0437", "2026-07-31T21:00:00Z")
      const id = yield* corrected("1.0437", "1.0499622")
      assert.strictEqual((yield* Restatements.report(id)).header.pointCids.length, 1)
      yield* Cycles.at("2026-07-31T21:00:00Z")
      assert.strictEqual((yield* Restatements.report(id)).header.pointCids.length, 2)
    }).pipe(engine())
  )

  it.effect("writes nothing, and is the same again at its own pin", () =>
    Effect.gen(function* () {
      yield* Restatements.deals(orders, "1.0437", terms)
      const id = yield* corrected("1.0437", "1.0499622")
      yield* Calls.settle
      const { head } = yield* Feed
      const before = yield* head
      const first = yield* Restatements.report(id)
      assert.deepStrictEqual(yield* head, before)
      yield* Cycles.at("2026-08-01T12:00:00Z")
      // The order leaves; at the pin of the first report it had not.
      const { why } = yield* Calls.write("subscription.release", { subscriptionId: "s1" }, {})
      assert.strictEqual(why, "")
      const rows = (yield* Restatements.report(id)).rows.map(({ id: rowId }) => rowId)
      assert.deepStrictEqual(rows, ["r1"])
      const { now: _, ...again } = yield* Restatements.report(id, { asOf: first.now })
      const { now: __, ...once } = first
      assert.deepStrictEqual(again, once)
    }).pipe(engine())
  )

  it.effect("sums the rows of its last reading alone, however often they are read", () =>
    Effect.gen(function* () {
      yield* Restatements.deals(orders, "1.0437", terms)
      const id = yield* corrected("1.0437", "1.0499622")
      const queries = yield* Queries
      const { rows, totals } = yield* queries.streamed(RestatementQueries.get, {
        caller: Calls.person("ada", "auditor"),
        params: { externalStatementId: id as never },
        point: {}
      })
      for (const _ of ["once", "again"]) {
        yield* Stream.runDrain(rows ?? Stream.die("a report has rows"))
        assert.deepStrictEqual(yield* totals ?? Effect.die("a report has totals"), [
          { unit: "USD", owed: d("600") },
          { unit: "units", owed: d("-571.449144") }
        ])
      }
    }).pipe(engine())
  )

  it.effect("is not found of what corrects no NAV that could price", () =>
    Effect.gen(function* () {
      yield* Restatements.deals(orders, "1.0437", terms)
      const missing = (id: string) =>
        Effect.map(Effect.flip(Restatements.report(id)), (refused) =>
          assert.deepInclude(refused, { _tag: "Refused", slug: "not-found" })
        )
      yield* missing("nobody")
      yield* missing(yield* Navs.states({ businessDate: date, official: "1.0437" }))
      yield* missing(yield* Navs.states({ businessDate: date, official: "1.05", ripcord: true }))
      const source = yield* Stating.source("register")
      const statement = { businessDate: yield* Stating.today, lines: [] }
      yield* Stating.states(source, statement)
      yield* missing(yield* Stating.states(source, statement))
    }).pipe(engine())
  )

  it.effect("counts from the last NAV that could price, through all corrections of the date", () =>
    Effect.gen(function* () {
      yield* Restatements.deals(orders, "1.0437", terms)
      yield* corrected("1.0437", "1.05")
      yield* Navs.states({ businessDate: date, official: "0", ripcord: true })
      // The point is as near to this NAV as to the first one, on which it was published.
      const id = yield* Navs.states({ businessDate: date, official: "1.0438" })
      const { header, rows } = yield* Restatements.report(id)
      assert.deepInclude(header, { from: d("1.05"), to: d("1.0438"), over: true })
      assert.deepStrictEqual(
        rows.map(({ id: rowId }) => rowId),
        ["s1", "r1"]
      )
      // Another date's NAV restates nothing.
      const other = yield* corrected("1.0437", "1.0499622", "2026-07-30")
      const empty = yield* Restatements.report(other)
      assert.deepStrictEqual([empty.header.pointCids, empty.rows, empty.totals], [[], [], []])
    }).pipe(engine())
  )

  it.effect("is refused to those who read no statements", () =>
    Effect.gen(function* () {
      yield* Restatements.deals(orders, "1.0437", terms)
      const id = yield* corrected("1.0437", "1.0499622")
      for (const role of ["operator", "approver", "risk", "auditor"] as const) {
        const caller = Calls.person("ada", role)
        assert.strictEqual((yield* Restatements.report(id, { caller })).rows.length, 2)
      }
      for (const role of ["compliance", "monitor", "feed"] as const) {
        const caller = Calls.person("ada", role)
        const refused = yield* Effect.flip(Restatements.report(id, { caller }))
        assert.deepInclude(refused, { slug: "permission-denied" })
      }
    }).pipe(engine())
  )
})

describe("a restatement concerns", () => {
  it.effect("points of the instrument's oracles alone, and of no other date", () =>
    Effect.gen(function* () {
      const stage = yield* Restatements.deals(orders, "1.0437", terms)
      const stranger = yield* Fund.outsider("stranger")
      yield* Fund.publishes({ ...stage, oracle: stranger }, "1.0437", Cycles.friday)
      yield* Fund.publishes(stage, "1.0437", "2026-08-01T00:00:00Z")
      yield* Fund.publishes(stage, "1.0437", "2026-07-30T23:59:59Z")
      const { header } = yield* Restatements.report(yield* corrected("1.0437", "1.0499622"))
      const { pointCid } = yield* Cycles.subscription("s1")
      assert.deepStrictEqual(header.pointCids, [pointCid!])
    }).pipe(engine())
  )

  it.effect("no order of a par instrument, which dealt at its par value", () =>
    Effect.gen(function* () {
      const par = { valuation: "par", parValue: 1 } as const
      yield* Restatements.deals(orders, "1", { ...terms, ...par })
      const { header, rows } = yield* Restatements.report(yield* corrected("1", "1.006"))
      assert.deepStrictEqual([header.over, header.pointCids, rows], [true, [], []])
    }).pipe(engine())
  )
})

describe("the lines of a restatement", () => {
  const month = { payout: "cash", units: ["1000", "2000"], ex: "1", cum: "1.1" } as const

  it.effect("are named as not computed where the plan of their execution is gone", () =>
    Effect.gen(function* () {
      yield* Restatements.executes(month)
      const id = yield* corrected("1.1", "1.2")
      assert.lengthOf((yield* Restatements.report(id)).rows, 4)
      const records = yield* Records
      const { executedBy } = yield* Executions.distributionOf("fund-a.2026-07")
      yield* records.transact(records.forget(distributionPlans, [executedBy.operationId!]))
      const { header, rows, totals } = yield* Restatements.report(id)
      assert.deepStrictEqual([rows, totals], [[], []])
      assert.deepStrictEqual(header.notComputed, [
        { distributionId: "fund-a.2026-07" as never, why: "plan-missing" }
      ])
    }).pipe(engine())
  )

  it.effect("are refused where their history is deleted while they are read", () =>
    Effect.gen(function* () {
      yield* Restatements.executes(month)
      const id = yield* corrected("1.1", "1.2")
      const queries = yield* Queries
      const read = queries.streamed(RestatementQueries.get, {
        caller: Calls.person("ada", "auditor"),
        params: { externalStatementId: id as never },
        point: {}
      })
      const { record, rows } = yield* read
      assert.deepStrictEqual(record.notComputed, [])
      const { run } = yield* Atomically
      const { prune } = yield* ProjectionLog
      const { ledgerEnd } = yield* Ledger.Ledger
      yield* run(prune({ offset: yield* ledgerEnd, limit: 1_000 }))
      const refusal = yield* Effect.flip(Stream.runCollect(rows ?? Stream.die("no rows")))
      assert.deepInclude(refusal, { slug: "overloaded", retryAfter: 1 })
      // A new report says which distribution it cannot compute.
      const { header } = yield* Restatements.report(id)
      assert.deepStrictEqual(header.notComputed, [
        { distributionId: "fund-a.2026-07" as never, why: "before-horizon" }
      ])
    }).pipe(engine())
  )

  it.effect("are those that the execution has added", () =>
    Effect.gen(function* () {
      yield* Restatements.executes(month)
      const records = yield* Records
      yield* records.transact(records.forget(distributionLines, ["fund-a.2026-07.2"]))
      const { rows } = yield* Restatements.report(yield* corrected("1.1", "1.2"))
      assert.deepStrictEqual(rows.map(Restatements.textOf), [
        "distribution-line fund-a.2026-07.1 gross: 100 -> 200, owed 100 USD",
        "distribution-line fund-a.2026-07.1 net: 85 -> 170, owed 85 USD"
      ])
    }).pipe(engine())
  )

  it.effect("are of their own month: a closing price concerns one, the ex price every one", () =>
    Effect.gen(function* () {
      yield* Restatements.executes(month)
      for (const on of ["2026-06-29", date]) {
        const id = yield* corrected(on === date ? "1.1" : "1", "1.05", on)
        const { rows } = yield* Restatements.report(id)
        assert.deepStrictEqual(
          rows.map(({ id: rowId, owed }) => [rowId, plain(owed)]),
          [
            ["fund-a.2026-07.1", "-50"],
            ["fund-a.2026-07.1", "-42.5"],
            ["fund-a.2026-07.2", "-100"],
            ["fund-a.2026-07.2", "-85"]
          ]
        )
      }
    }).pipe(engine())
  )
})

// ---- laws

const price = fc
  .integer({ min: 900_000, max: 1_200_000 })
  .map((micros) => plain(Decimal.fromAtoms(BigInt(micros) * 10n ** 4n)))
const rate = fc.constantFrom(0, 0.005, 0.0125)
const dealing = fc.record({
  from: price,
  to: price,
  terms: fc.record({
    fees: fc.record({ subscription: rate, redemption: rate }),
    swing: fc.option(
      fc.record({
        threshold: fc.constantFrom(0, 0.001, 0.05),
        up: fc.constantFrom(0.0015, 0.02),
        down: fc.constantFrom(0.001, 0.03)
      })
    ),
    residual: fc.constantFrom("refund" as const, "fund" as const),
    unitDecimals: fc.constantFrom(0, 2, 6)
  }),
  orders: fc
    .array(
      fc.record({
        kind: fc.constantFrom("subscription" as const, "redemption" as const),
        by: fc.constantFrom("amount" as const, "units" as const),
        size: fc.integer({ min: 100, max: 90_000 }).map(String)
      }),
      { minLength: 1, maxLength: 4 }
    )
    .map((all) => all.map((order, n) => ({ ...order, id: `o${n}` })))
})

const runs = { numRuns: Number(process.env["RESTATEMENTS"] ?? 3) }

const sumsOf = (rows: Restatements.Report["rows"]) => {
  const sums = new Map<string, Decimal.Decimal>()
  for (const { field, owed, unit } of rows) {
    if (field === "gross" || field === "carry") continue
    sums.set(unit, Decimal.add(sums.get(unit) ?? Decimal.zero, owed))
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([unit, owed]) => ({ unit, owed }))
}

describe("the rows of a restatement", () => {
  it("are the figures of a venue that in fact dealt at the right point", async () => {
    const property = fc.asyncProperty(dealing, async ({ from, orders: given, terms, to }) => {
      const right = await Calls.runCase(
        Effect.andThen(Restatements.deals(given, to, terms), Restatements.figuresOf(given)).pipe(
          engine()
        )
      )
      const { dealt, rows, totals } = await Calls.runCase(
        Effect.gen(function* () {
          yield* Restatements.deals(given, from, terms)
          const id = yield* corrected(from, to)
          return {
            dealt: yield* Restatements.figuresOf(given),
            ...(yield* Restatements.report(id))
          }
        }).pipe(engine())
      )
      const expected = [...dealt].flatMap(([figure, was]) => {
        const should = right.get(figure)!
        return should === was ? [] : [`${figure} ${plain(was)} ${plain(should)}`]
      })
      const actual = rows.map(({ field, id, owed, should, was }) => {
        assert.strictEqual(owed, Decimal.subtract(should, was))
        return `${id} ${field} ${plain(was)} ${plain(should)}`
      })
      assert.deepStrictEqual(actual.toSorted(), expected.toSorted())
      assert.deepStrictEqual(totals, sumsOf(rows))
      verifies(rows)
    })
    await fc.assert(property, runs)
  })

  it("are the lines of a venue that in fact executed the month at the right point", async () => {
    const month = fc.record({
      payout: fc.constantFrom("units" as const, "cash" as const),
      units: fc.array(fc.integer({ min: 1, max: 100_000 }).map(String), {
        minLength: 1,
        maxLength: 3
      }),
      ex: price,
      cum: price,
      to: price,
      which: fc.constantFrom("ex" as const, "cum" as const)
    })
    const property = fc.asyncProperty(month, async ({ to, which, ...month }) => {
      const right = await Calls.runCase(
        Restatements.executes({ ...month, [which]: to }).pipe(engine())
      )
      const { dealt, rows, totals } = await Calls.runCase(
        Effect.gen(function* () {
          const lines = yield* Restatements.executes(month)
          const on = which === "ex" ? "2026-06-29" : date
          const id = yield* corrected(month[which], to, on)
          return { dealt: lines, ...(yield* Restatements.report(id)) }
        }).pipe(engine())
      )
      const fields = ["gross", month.payout === "cash" ? "net" : "payoutUnits", "carryOut"] as const
      const cent = d("0.01")
      const expected = month.units.flatMap((_, n) => {
        const holderId = `h${n + 1}`
        const [was, should] = [dealt.get(holderId), right.get(holderId)]
        return fields.flatMap((field) => {
          const before = was?.[field] ?? Decimal.zero
          const after = should?.[field] ?? Decimal.zero
          const apart = Decimal.abs(Decimal.subtract(after, before))
          const isRow = field === "carryOut" ? Decimal.atLeast(apart, cent) : before !== after
          const name = { gross: "gross", net: "net", payoutUnits: "units", carryOut: "carry" }[
            field
          ]
          const kind = was === undefined ? "distribution" : "distribution-line"
          const id = was?.lineId ?? "fund-a.2026-07"
          return isRow ? [`${kind} ${id} ${holderId} ${name} ${plain(before)} ${plain(after)}`] : []
        })
      })
      const actual = rows.map(
        ({ field, holderId, id, resourceKind, should, was }) =>
          `${resourceKind} ${id} ${holderId} ${field} ${plain(was)} ${plain(should)}`
      )
      assert.deepStrictEqual(actual.toSorted(), expected.toSorted())
      assert.deepStrictEqual(totals, sumsOf(rows))
      verifies(rows)
    })
    await fc.assert(property, runs)
  })
})

it.effect("never shows a correction that is not there: no row where no figure differs", () =>
  Effect.gen(function* () {
    yield* Restatements.deals(orders, "1.0437", terms)
    const id = yield* corrected("1.0437", "1.0437")
    const { header, rows } = yield* Restatements.report(id)
    assert.deepInclude(header, { over: false, move: d("0"), pointCids: [] })
    assert.deepStrictEqual(rows, [])
  }).pipe(engine())
)
