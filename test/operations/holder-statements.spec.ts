/** Holder statements: months of a zone, prices, payments, rebasing units, and when a month is final. */
import { Date, Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"
import { rebasingTerms } from "./instrumentBody.ts"
import * as Powers from "./powers.ts"
import * as Reports from "./reports.ts"
import * as Venue from "./venue.ts"

const head = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  return Offset.of(yield* ledger.ledgerEnd)
})

/** A fund that distributes nothing, with one holder. */
const plain = (terms: Parameters<typeof Fund.opened>[0] = {}) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened({ holderCap: 100, ...terms }, "2026-08-30T12:00:00Z")
    return { stage, h1: yield* Cycles.joins(stage, "h1") }
  })

/** The movements of G47. */
const moved = Effect.gen(function* () {
  const { stage, h1 } = yield* plain()
  yield* Cycles.at("2026-10-01T03:59:59.999Z")
  yield* Powers.mints(stage, h1, "100")
  yield* Cycles.at("2026-10-15T12:00:00Z")
  yield* Powers.mints(stage, h1, "50")
  yield* Cycles.at("2026-11-01T03:30:00Z")
  yield* Reports.burns(stage, h1, "20")
  yield* Cycles.at("2026-11-01T04:00:00Z")
  yield* Powers.mints(stage, h1, "5")
  yield* Cycles.at("2026-11-01T05:30:00Z")
  yield* Reports.burns(stage, h1, "1")
  yield* Cycles.at("2026-12-01T04:59:59Z")
  yield* Reports.burns(stage, h1, "4")
  return { stage, h1 }
})

describe("a holder's months", () => {
  it.effect("G47: never begin at another midnight than the zone's", () =>
    Effect.gen(function* () {
      yield* moved
      const newYork = yield* Reports.statements("h1", { zone: "America/New_York" })
      assert.deepStrictEqual(Reports.statementLines(newYork), [
        "2026-09 0 (100) 100",
        "2026-10 100 (50, -20) 130",
        "2026-11 130 (5, -1, -4) 130"
      ])
      const utc = yield* Reports.statements("h1")
      assert.deepStrictEqual(Reports.statementLines(utc), [
        "2026-10 0 (100, 50) 150",
        "2026-11 150 (-20, 5, -1) 134",
        "2026-12 134 (-4) 130"
      ])
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "OCA bank-statement-import 905: never take an update into a month that is over by its date",
    () => {
      const faults = SimulatedLedger.Faults.make()
      return Effect.gen(function* () {
        const { stage, h1 } = yield* plain()
        yield* Cycles.at("2026-09-15T12:00:00Z")
        yield* Powers.mints(stage, h1, "7")
        yield* Cycles.at("2026-10-01T00:00:05Z")
        yield* Fund.publishes(stage, "1.05", "2026-09-30T20:00:00Z")
        // The ledger dates the next update 20 seconds early: into September.
        faults.replace({ skew: { minMillis: -20_000, maxMillis: -20_000 } })
        yield* Cycles.at("2026-10-01T00:00:10Z")
        yield* Powers.mints(stage, h1, "3")
        const rows = yield* Reports.statements("h1")
        assert.deepStrictEqual(Reports.statementLines(rows), [
          "2026-09 0 (7) 7",
          "2026-10 7 (3) 10"
        ])
        const [late] = rows[1]!.instruments[0]!.movements
        assert.deepStrictEqual(
          [late!.at, late!.ledgerTime].map((at) => Instant.format(at).slice(0, 7)),
          ["2026-09", "2026-10"]
        )
      }).pipe(Effect.provide(world({ faults })))
    }
  )

  it.effect("open alike whichever months are asked for, and never before the first movement", () =>
    Effect.gen(function* () {
      yield* moved
      const zone = "America/New_York"
      const all = yield* Reports.statements("h1", { zone })
      for (const [nth, { month }] of all.entries()) {
        assert.deepStrictEqual(yield* Reports.statements("h1", { zone, month }), [all[nth]!])
        const rest = yield* Reports.statements("h1", { zone, from: month })
        assert.deepStrictEqual(rest, all.slice(nth))
        const first = yield* Reports.statements("h1", { zone, from: "2020-01", to: month })
        assert.deepStrictEqual(first, all.slice(0, nth + 1))
      }
      assert.deepStrictEqual(yield* Reports.statements("h1", { zone, month: "2026-08" }), [])
      assert.deepStrictEqual(yield* Reports.statements("h1", { zone, month: "2027-01" }), [])
      const none = yield* Reports.statements("h1", { zone, instrumentId: ["fund-z"] })
      assert.deepStrictEqual(Reports.statementLines(none), ["2026-09", "2026-10", "2026-11"])
    }).pipe(Effect.provide(world()))
  )
})

const rebasing = { ...rebasingTerms, unitDecimals: 6, parValue: null } as const

const indexed = (stage: Fund.Parties, value: string, valuationTime: string) =>
  stage.oracle.act(
    Templates.create(Templates.OraclePoint, {
      ...{ oracle: stage.oracle.party, venue: stage.venue, fund: stage.fund.party },
      ...{ registrar: stage.registrar.party, attestors: [], instrumentId: "fund-a" },
      ...{ metric: "index", value: Decimal.of(value), valuationTime: Instant.of(valuationTime) },
      ...{ period: null, withholdingRate: null, statementRef: null, corrects: null }
    })
  )

const figures = (rows: Effect.Success<ReturnType<typeof Reports.statements>>) =>
  rows.map(({ month, final, instruments: [instrument] }) => [
    month,
    instrument?.price == null ? null : Decimal.formatPlain(instrument.price),
    instrument?.priceAt == null ? null : Instant.format(instrument.priceAt).slice(0, 16),
    instrument?.value == null ? null : Decimal.formatPlain(instrument.value),
    final
  ])

describe("the price of a month", () => {
  it.effect("is the last official one valued in it, and never moves once the month is final", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* plain({ valuation: "accumulating", parValue: null })
      yield* Powers.mints(stage, h1, "10.5")
      const publishes = (value: string, at: string) =>
        Executions.publishes(stage, value, at, { metric: "price" })
      yield* Cycles.at("2026-08-31T20:00:00Z")
      yield* publishes("1.01", "2026-08-31T16:00:00Z")
      yield* Cycles.at("2026-10-01T08:00:00Z")
      // The price of the last of September is published on the day after.
      assert.deepStrictEqual(figures(yield* Reports.statements("h1")), [
        ["2026-08", "1.01", "2026-08-31T16:00", "10.6", false]
      ])
      yield* publishes("1.0299", "2026-09-30T16:00:00Z")
      const september = ["2026-09", "1.0299", "2026-09-30T16:00", "10.81", false]
      const open = figures(yield* Reports.statements("h1"))
      assert.deepStrictEqual(open[1], september)
      yield* Cycles.at("2026-10-02T08:00:00Z")
      yield* publishes("1.03", "2026-10-01T16:00:00Z")
      const settled = yield* head
      assert.deepStrictEqual(figures(yield* Reports.statements("h1"))[1], [
        ...september.slice(0, 4),
        true
      ])
      const before = yield* Reports.statements("h1")
      yield* publishes("9", "2026-09-30T17:00:00Z")
      assert.deepStrictEqual((yield* Reports.statements("h1")).slice(0, 2), before.slice(0, 2))
      assert.deepStrictEqual(
        yield* Reports.statements("h1", {}, { point: { at: settled } }),
        before
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "of a corrected or withdrawn point counts until the correction, where the month was final",
    () =>
      Effect.gen(function* () {
        const { stage, h1 } = yield* plain({ valuation: "accumulating", parValue: null })
        yield* Powers.mints(stage, h1, "10")
        const publishes = (value: string, at: string) =>
          Executions.publishes(stage, value, at, { metric: "price" })
        const corrects = (value: string, at: string) =>
          Effect.flatMap(Fund.newestContract(Templates.OraclePoint), ({ cid }) =>
            stage.oracle.act(
              Templates.exercise(Templates.OraclePoint, cid, "Correct", {
                ...{ value: Decimal.of(value), valuationTime: Instant.of(at) },
                ...{ period: null, withholdingRate: null, statementRef: null }
              })
            )
          )
        yield* publishes("1", "2026-08-30T16:00:00Z")
        yield* corrects("1.1", "2026-08-30T16:00:00Z")
        yield* Cycles.at("2026-09-02T08:00:00Z")
        assert.deepStrictEqual(figures(yield* Reports.statements("h1", { month: "2026-08" })), [
          ["2026-08", "1.1", "2026-08-30T16:00", "11", false]
        ])
        yield* corrects("1.2", "2026-08-30T16:00:00Z")
        yield* Cycles.at("2026-09-03T08:00:00Z")
        const last = yield* Fund.newestContract(Templates.OraclePoint)
        yield* publishes("1.3", "2026-09-02T16:00:00Z")
        yield* stage.oracle.act(
          Templates.exercise(Templates.OraclePoint, last.cid, "Correct", {
            ...{ value: Decimal.of("7"), valuationTime: Instant.of("2026-08-30T16:00:00Z") },
            ...{ period: null, withholdingRate: null, statementRef: null }
          })
        )
        assert.deepStrictEqual(figures(yield* Reports.statements("h1", { month: "2026-08" })), [
          ["2026-08", "1.2", "2026-08-30T16:00", "12", true]
        ])
      }).pipe(Effect.provide(world()))
  )
})

describe("a rebasing instrument's months", () => {
  it.effect("add up by a rebase at the month's end, as the index of each time shows units", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* plain(rebasing)
      yield* indexed(stage, "1.7", "2026-08-30T11:00:00Z")
      yield* Powers.mints(stage, h1, "585.2941176471")
      yield* Cycles.at("2026-09-10T10:00:00Z")
      yield* indexed(stage, "1.7314", "2026-09-10T09:00:00Z")
      yield* Reports.burns(stage, h1, "288.7836432944")
      yield* Cycles.at("2026-10-05T10:00:00Z")
      yield* Reports.burns(stage, h1, "296.5104743527")
      const rows = yield* Reports.statements("h1")
      assert.deepStrictEqual(Reports.statementLines(rows), [
        "2026-08 0 (995) 995",
        "2026-09 995 (-500, 18.378235) 513.378235",
        "2026-10 513.378235 (-513.378235) 0"
      ])
      const [, september] = rows
      const rebase = september?.instruments[0]?.movements[1]
      assert.strictEqual(rebase?.kind, "rebase")
      assert.strictEqual(rebase?.seq, null)
      assert.strictEqual(Instant.format(rebase!.ledgerTime), "2026-09-30T23:59:59.999999Z")
      assert.strictEqual(september?.instruments[0]?.value, Decimal.of("513.37"))
    }).pipe(Effect.provide(world()))
  )
})

const delivers = (stage: Fund.Parties, lineId: string, paidOn: string) =>
  Effect.gen(function* () {
    const line = (yield* Cycles.active(Templates.DistributionLine)).find(
      ({ payload }) => payload.lineId === lineId
    )
    const distribution = (yield* Cycles.active(Templates.Distribution)).find(
      ({ payload }) => payload.distributionId === line?.payload.distributionId
    )
    yield* stage.registrar.act(
      Templates.exercise(Templates.DistributionLine, line!.cid, "Deliver", {
        ...{ distributionCid: distribution!.cid, credentialCid: null, configurationCid: null },
        evidence: { reference: lineId, paidOn: Date.of(paidOn) }
      })
    )
  })

/** A line of 46.17 of each holder that is due from August 3 on, and what each of them holds. */
const owed = Effect.gen(function* () {
  const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
  for (const holder of holders) yield* Powers.mints(stage, holder, "10")
  yield* Month.opened(
    stage,
    point,
    holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
  )
  return { stage, holders }
})

const paidIn = (rows: Effect.Success<ReturnType<typeof Reports.statements>>) =>
  rows.map(({ month, final, instruments }) =>
    [
      month,
      final ? "final" : "open",
      ...instruments.flatMap(({ paid }) =>
        paid.map(({ paidOn, net }) => `${paidOn} ${Decimal.formatPlain(net)}`)
      )
    ].join(" ")
  )

describe("the payments of a month", () => {
  it.effect(
    "count on the day of the evidence, which may come 31 days late, and the month waits",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* owed
        yield* Cycles.at("2026-09-05T12:00:00Z")
        // Paid on the last of August, as the bank says in September.
        yield* delivers(stage, "d-july.1", "2026-08-31")
        assert.deepStrictEqual(paidIn(yield* Reports.statements("h1")), [
          "2026-07 final",
          "2026-08 open 2026-08-31 46.17",
          "2026-09 open"
        ])
        yield* Executions.publishes(stage, "1.05", "2026-09-05T11:00:00Z", { metric: "price" })
        yield* Cycles.at("2026-10-01T23:59:00Z")
        yield* Executions.publishes(stage, "1.05", "2026-10-01T11:00:00Z", { metric: "price" })
        assert.deepStrictEqual(paidIn(yield* Reports.statements("h1")).slice(0, 2), [
          "2026-07 final",
          "2026-08 open 2026-08-31 46.17"
        ])
        yield* Cycles.at("2026-10-02T00:01:00Z")
        yield* delivers(stage, "d-july.2", "2026-08-31")
        assert.deepStrictEqual(paidIn(yield* Reports.statements("h1")).slice(1, 2), [
          "2026-08 final 2026-08-31 46.17"
        ])
        // Evidence of the 32nd day counts when it comes.
        assert.deepStrictEqual(paidIn(yield* Reports.statements("h2")), [
          "2026-07 final",
          "2026-08 final",
          "2026-09 open",
          "2026-10 open 2026-10-02 46.17"
        ])
      }).pipe(Effect.provide(world()))
  )

  it.effect("never stand in a month before the holder had the instrument", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      const [h1] = holders
      yield* Month.opened(stage, point, [Month.lineOf(1, h1!.party)])
      yield* Cycles.at("2026-09-01T12:00:00Z")
      yield* Powers.mints(stage, h1!, "10")
      yield* Cycles.at("2026-09-02T12:00:00Z")
      yield* delivers(stage, "d-july.1", "2026-08-31")
      assert.deepStrictEqual(paidIn(yield* Reports.statements("h1")), [
        "2026-09 open 2026-09-02 46.17"
      ])
    }).pipe(Effect.provide(world()))
  )
})

describe("a statement's point", () => {
  it.effect("reads the same by asOf and by the offset it names, however late it is asked", () =>
    Effect.gen(function* () {
      yield* moved
      yield* Cycles.at("2027-03-01T00:00:00Z")
      const at = yield* head
      const asOf = Instant.of("2026-11-01T05:00:00Z")
      const rows = yield* Reports.statements("h1", {}, { point: { asOf } })
      const last = yield* Reports.statements("h1", {}, { point: { at } })
      assert.deepStrictEqual(Reports.statementLines(rows).at(-1), "2026-11 150 (-20, 5) 135")
      assert.deepStrictEqual(yield* Reports.statements("h1"), last)
      // A later clock alone adds no report.
      assert.strictEqual(last.at(-1)?.month, "2026-12")
    }).pipe(Effect.provide(world()))
  )

  it.effect("refuses a month beside a range, and a range that ends before it begins", () =>
    Effect.gen(function* () {
      yield* plain()
      const ranges = [
        { month: "2026-09", from: "2026-09" },
        { month: "2026-09", to: "2026-09" },
        { from: "2026-09", to: "2026-08" }
      ]
      for (const months of ranges) {
        assert.strictEqual(
          yield* Venue.refusal(Reports.statements("h1", months)),
          "invalid-request"
        )
      }
      assert.strictEqual(yield* Venue.refusal(Reports.statements("h9")), "not-found")
    }).pipe(Effect.provide(world()))
  )
})
