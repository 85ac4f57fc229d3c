/**
 * Reports of one holder among many others, against hand-written SQL that gives the same answers: a
 * portfolio, a month of a statement early and late in its history, and a year for the tax office.
 */
import { Queries, Records } from "@bursar/engine-core"
import { Date, Decimal, Instant, Month, Offset } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import { distributionLines, lineIdOf } from "#core/distributions/distribution/DistributionLine.ts"
import { type Instrument, instruments } from "#core/instruments/instrument/Instrument.ts"
import { lots } from "#core/instruments/lot/Lot.ts"
import { policyVersions } from "#core/instruments/policy/PolicyVersion.ts"
import { pricePoints, quotes } from "#core/instruments/price/PricePoint.ts"
import { quoteIdsOf } from "#core/instruments/price/QuoteRules.ts"
import { partyMovements } from "#core/instruments/register/Movement.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import * as Given from "../machines/distributions.ts"
import {
  caller,
  engineOn,
  listOf,
  printed,
  readOf,
  recordInstrument,
  registrar,
  withDatabase
} from "./database.ts"
import { type Bench, inTurns, type Options, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Seeded from "./seeded-register.ts"
import * as ReportSql from "./report-sql.ts"
import * as SeededInstruments from "./seeded.ts"

const like = "fund-a"
const heldOf = 50
const lotsEach = 3
const months = 60
/** Year of the payments: each of these instruments pays in each month. */
const [year, paying] = [2025, 20]
const answersEach = 50
const at = Instant.of("2026-01-01T00:00:00Z")

/** Holders of the register whose reports are asked for. */
const [ofPortfolio, ofStatements, ofTaxes] = [1, 2, 3].map((n) => ({
  holderId: Seeded.holderId(n),
  party: Seeded.partyOf(n)
})) as [Subject, Subject, Subject]

interface Subject {
  readonly holderId: string
  readonly party: ReturnType<typeof Seeded.partyOf>
}

/** A position in an instrument with its price, and the lots behind it. */
const positionOf = (instrument: Instrument, { party }: Subject) => {
  const { instrumentId } = instrument
  const asset = { registrar, instrumentId, party }
  const units = Decimal.of("30")
  return [
    Seeded.drawn(registerEntries, {
      ...asset,
      ...{ units, locked: Decimal.zero, since: at, emptySince: null }
    }),
    ...quoteIdsOf(instrument).map((quoteId) =>
      Seeded.drawn(quotes, {
        ...{ quoteId, contractId: "00aa" as never, price: Decimal.of("1.25") },
        ...{ valuationTime: at, isLive: true, ahead: [] }
      })
    ),
    ...Array.from({ length: lotsEach }, (_, nth) =>
      Seeded.drawn(lots, {
        ...asset,
        ...{ lotId: `of-${party.slice(0, 13)}-${nth}`, acquiredAt: at, receivedAt: null },
        ...{ units: Decimal.of("10"), remaining: Decimal.of("10"), origin: null },
        basePrice: null,
        ...{ cost: Decimal.of("11"), costLeft: Decimal.of("11"), currency: "USD" }
      })
    )
  ]
}

const manifestOf = ({ instrumentId, manifest }: Instrument) => {
  if (manifest === null) throw new Error(`${instrumentId} is not recorded`)
  return manifest
}

/** The policy of an instrument, and a distribution a month with the holder's line of it, which is paid. */
const paymentsOf = (instrument: Instrument, { holderId, party }: Subject) => {
  const { instrumentId } = instrument
  const paid = Array.from({ length: 12 }, (_, nth) => {
    const month = Month.add(Month.of(`${year}-01`), nth)
    const day = Date.addDays(Month.firstDay(month), 20)
    const report = { instrumentId, month, distributionId: `${instrumentId}.${month}` as never }
    const delivered = { offset: Offset.of(1), ledgerTime: Instant.fromDate(day) }
    return [
      Seeded.drawn(distributions, Given.distribution({ ...report, policyVersion: 1 })),
      Seeded.drawn(
        distributionLines,
        Given.line([], {
          ...report,
          ...{ holderId, party, lineId: lineIdOf(report.distributionId, 1), state: "rolled" },
          ...{ evidence: { reference: "wire", paidOn: day }, paidOn: day, lineCid: null },
          ...{ deliveredAt: delivered.ledgerTime, deliveredUid: "00aa", rolledUid: "00bb" },
          ...{ delivery: delivered, directed: null }
        })
      )
    ]
  })
  const policy = Seeded.drawn(policyVersions, {
    ...{ instrumentId, policyVersion: 1, state: "current", effectiveFrom: at, until: null },
    ...{ setBy: "bench", changes: [], manifest: manifestOf(instrument) }
  })
  // The first instrument was recorded with its policy, of which the others are copies.
  return [...(instrumentId === like ? [] : [policy]), ...paid.flat()]
}

const firstMonth = Month.of("2021-01")
const patternTime = Instant.of("2099-01-01T00:00:00Z")

/** SQL of the time of the movement `n`, so many of which are in each month. */
const timeOf = (each: number) =>
  `to_char(timestamp '2021-01-01' + n / ${each} * interval '1 month' + n % ${each} * interval '2 seconds',
    'YYYY-MM-DD"T"HH24:MI:SS')`

/** Movements of the holder, so many a month, of which every other takes back what the one before gave. */
const movementsOf = Effect.fnUntraced(function* ({ party }: Subject, each: number) {
  const [seq, instrumentId] = [Seeded.pattern, like]
  const movement = {
    ...{ registrar, instrumentId, party, seq, at: patternTime, ledgerTime: patternTime },
    ...{ offset: Offset.of(seq), updateId: "ab".repeat(34), reference: null, units: Decimal.one }
  }
  const half = Math.ceil(each / 2)
  const time = timeOf(half)
  const copied = (nth: 1 | 2, record: Parameters<typeof Seeded.drawn<typeof movement, never>>[1]) =>
    Seeded.copyEach([Seeded.drawn(partyMovements, record as never)], {
      count: months * half,
      replaced: [
        [Instant.format(patternTime), `${time} || '.000000Z'`],
        [Instant.sortable(patternTime), `${time} || '.00000000${nth}Z'`],
        [Offset.sortable(Offset.of(seq)), `lpad((2 * n + ${nth})::text, 16, '0')`],
        [String(seq), `(2 * n + ${nth})::text`]
      ]
    })
  const balance = Decimal.of("1000.5")
  const sql = yield* SqlClient.SqlClient
  // The movement of the seeded register is of a later time than these, and its offset is an earlier one.
  yield* sql`delete from bursar.document
    where collection = 'party-movement' and filters ->> 'party' = ${party}`
  yield* copied(1, {
    ...movement,
    ...{ kind: "subscription", from: null, to: party },
    balanceAfter: Decimal.add(balance, Decimal.one)
  } as never)
  yield* copied(2, {
    ...movement,
    ...{ kind: "redemption", from: party, to: null, balanceAfter: balance }
  } as never)
  yield* sql.unsafe(`
    insert into bursar.ledger_update
      ("offset", prev_offset, update_id, effective_at, record_time, ledger_time, raw)
    select o, o - 1, 'update-' || o, t, t, t, '{}' from generate_series(0, ${months * half} - 1) n
    cross join generate_series(2 * n + 1, 2 * n + 2) o
    cross join lateral (select ${time} || '.000000000Z' as t) times`)
  yield* sql.unsafe(`update bursar.head set projection_offset = ${2 * months * half},
    ledger_time = (select max(ledger_time) from bursar.ledger_update)`)
})

/** A price of the instrument on a day of each month. */
const pricesOf = (instrument: Instrument) =>
  Array.from({ length: months }, (_, nth) => {
    const valuedOn = Date.addDays(Month.firstDay(Month.add(firstMonth, nth)), 20)
    const valuationTime = Instant.fromDate(valuedOn)
    return Seeded.drawn(pricePoints, {
      ...{ contractId: `00${String(nth).padStart(4, "0")}` as never, instrumentId: like },
      ...{ price: Decimal.of("1.25"), incomePerUnit: null, withholding: null },
      ...{ valuationTime, publishedAt: valuationTime, source: oracleOf(instrument) },
      ...{ offset: Offset.of(1), statementId: null, corrects: null, correctedBy: null },
      ...{ nodeId: nth, isLive: true }
    })
  })

const oracleOf = (instrument: Instrument) => {
  const { oracle } = manifestOf(instrument)
  if (oracle === null) throw new Error(`${instrument.instrumentId} has no oracle`)
  return oracle
}

/** A register of so many holders, three of which have what their reports show. */
const seeded = Effect.fnUntraced(function* (count: number) {
  yield* recordInstrument(like)
  yield* SeededInstruments.instruments({ like, count: heldOf - 1, registrar })
  const records = yield* Records
  const found = (yield* records.list(instruments, { where: {}, limit: heldOf })).map(
    ({ record }): Instrument => record
  )
  // The register of the first is seeded for all holders.
  const others = found.filter(({ instrumentId }) => instrumentId !== like)
  yield* Seeded.put(others.flatMap((instrument) => positionOf(instrument, ofPortfolio)))
  yield* Seeded.put(found.slice(0, paying).flatMap((each) => paymentsOf(each, ofTaxes)))
  yield* Seeded.put(found.filter(({ instrumentId }) => instrumentId === like).flatMap(pricesOf))
  yield* Seeded.booked({ instrumentId: like, count, registrar })
  yield* movementsOf(ofStatements, Math.max(2, Math.round(count / 1_000)))
  const sql = yield* SqlClient.SqlClient
  yield* sql`analyze bursar.document`
  return sql
})

/** Instant after which a month takes no more payments in cash. */
const graceEndOf = (month: Month.Month): string =>
  Instant.sortable(Instant.fromDate(Date.addDays(Month.firstDay(Month.next(month)), 31)))

const program = ({ rounds, size }: Options & { readonly size: number }) =>
  Effect.gen(function* () {
    const sql = yield* seeded(size)
    const meter = Meters.of(sql)
    const queries = yield* Queries
    const repeated = <A, E, R>(effect: Effect.Effect<A, E, R>) => ({
      meter,
      run: () => timed(answersEach, Effect.repeat(effect, { times: answersEach - 1 }))
    })
    const one = (name: string, params: unknown) =>
      Effect.map(queries.one(readOf(name), { caller, params, point: {} }), ({ value }) =>
        printed(value)
      )
    const portfolio = yield* inTurns({
      rounds,
      ours: repeated(one("holders.portfolio", { holderId: ofPortfolio.holderId })),
      bound: repeated(
        Effect.map(sql.unsafe(ReportSql.portfolio, [ofPortfolio.holderId]), (rows) => printed(rows))
      )
    })
    const month = (nth: number) => {
      const yearMonth = Month.add(firstMonth, nth)
      const params = { holderId: ofStatements.holderId, month: yearMonth }
      const page = queries.page(listOf("holders.statements"), {
        caller,
        params,
        point: {},
        page: { limit: 1 }
      })
      return repeated(Effect.map(page, ({ value }) => printed(value)))
    }
    const rowsOfMonth = (nth: number) => {
      const yearMonth = Month.add(firstMonth, nth)
      const [from, to] = [yearMonth, Month.next(yearMonth)].map((month) =>
        Instant.sortable(Instant.fromDate(Month.firstDay(month)))
      )
      const params = [ofStatements.holderId, from, to]
      return repeated(
        Effect.map(
          Effect.all(
            [
              sql.unsafe<ReportSql.MonthRow>(ReportSql.month, params),
              sql.unsafe<{ readonly body: string }>(ReportSql.movements, params)
            ],
            { concurrency: 2 }
          ),
          ([rows, moved]) =>
            printed(
              ReportSql.monthOf({ month: yearMonth, graceEnd: graceEndOf(yearMonth) }, rows, moved)
            )
        )
      )
    }
    const statement = yield* inTurns({ rounds, ours: month(0), bound: rowsOfMonth(0) })
    const late = yield* inTurns({ rounds, ours: month(months - 1), bound: month(0) })
    const params = { holderId: ofTaxes.holderId, year: String(year) }
    const taxes = yield* inTurns({
      rounds,
      ours: repeated(one("holders.tax-statement", params)),
      bound: repeated(
        Effect.map(
          sql.unsafe<ReportSql.TaxLine>(ReportSql.tax, [ofTaxes.holderId, String(year)]),
          (lines) => printed({ year, zone: "UTC", ...ReportSql.taxOf(lines) })
        )
      )
    })
    return { portfolio, statement, late, taxes }
  })

export const bench: Bench = async ({ rounds, size = 1_000_000 }) => {
  const { portfolio, statement, late, taxes } = await withDatabase(
    ({ storage }) =>
      program({ rounds, size }).pipe(Effect.scoped, Effect.provide(engineOn(storage))),
    // As on the engine's own connections: compiling takes longer than these statements.
    { jit: "off" }
  )
  const each = 2 * Math.ceil(Math.max(2, Math.round(size / 1_000)) / 2)
  const among = size.toLocaleString("en-US")
  const ofOne = {
    unit: "answers/s",
    against: "the same answer by hand-written SQL, printed, same driver",
    goal: 0.5,
    note: "one caller, the same holder"
  }
  return [
    { ...ofOne, bench: `portfolio of ${heldOf} instruments among ${among} holders`, ...portfolio },
    { ...ofOne, bench: `statement month of ${each} movements among ${among}`, ...statement },
    {
      ...ofOne,
      bench: `statement month ${months} of ${each} movements each`,
      against: "the first month",
      goal: 0.83,
      note: "at 0.83 one takes 1.2 times as long as the other",
      ...late
    },
    { ...ofOne, bench: `tax statement of ${12 * paying} payments`, ...taxes }
  ]
}
