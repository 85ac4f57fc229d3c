/**
 * Figures of a distribution's lines against the statement that sums the same rows, and the heap that they
 * need against that of a tenth of the lines.
 */
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Atomically, Documents, Feed } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as LineFigureLookups from "#core/distributions/distribution/LineFigureLookups.ts"
import type { LineSource } from "#core/distributions/distribution/LineSource.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import * as Codecs from "#core/records/Codecs.ts"
import * as Columns from "#core/records/Columns.ts"
import { engineOn, recordInstrument, registrar, type Services, withDatabase } from "./database.ts"
import { type Bench, inTurns, type Options, timed } from "./measure.ts"
import { heapRow, heldWhile } from "./memory.ts"
import * as Meters from "./meter.ts"
import * as Seeded from "./seeded-register.ts"

const asset = { registrar, instrumentId: "fund-a" }
const pointCount = 21
/** One holder in as many gets units in the period. */
const movesOneIn = 20
const at = Instant.of("2026-01-02T00:00:00Z")
const income = "0.000103333"
const perTransaction = 1_000

/** Units of some holders change, spread over the days of the points. */
const moved = Effect.fnUntraced(function* (count: number) {
  const { run } = yield* Atomically
  const documents = yield* Documents
  const feed = yield* Feed
  const moving = Array.from({ length: Math.floor(count / movesOneIn) }, (_, n) => n * movesOneIn)
  for (let from = 0; from < moving.length; from += perTransaction) {
    const some = moving.slice(from, from + perTransaction)
    yield* run(
      Effect.gen(function* () {
        const head = yield* feed.take(Instant.sortable(at))
        yield* documents.put(
          some.map((n) => {
            const record = {
              ...asset,
              party: Seeded.partyOf(n),
              units: Decimal.of("2000.75"),
              locked: Decimal.zero,
              since: at,
              emptySince: null
            }
            return {
              collection: registerEntries.name,
              recordId: registerEntries.id(record),
              version: 2,
              closes: 1,
              body: Codecs.of(registerEntries).encodeRecord(record),
              sortKey: registerEntries.sortKey(record, at),
              filters: Columns.of(registerEntries, record),
              createdAt: head.at,
              fromOffset: 2 + ((n / movesOneIn) % pointCount),
              fromInstant: head.at
            }
          })
        )
        yield* feed.append(head, { events: [], audit: [], webhooks: "same" })
      })
    )
  }
})

const source: LineSource = {
  ...asset,
  unitDecimals: 6,
  terms: { pricing: { valuation: "par" }, payoutDecimals: 2, payout: null },
  ratesSeen: [],
  withholding: Decimal.of("0.15"),
  recordOffset: Offset.of(pointCount + 1),
  recordEndsAt: at,
  executedOffset: Offset.of(pointCount + 1),
  executedAt: at,
  points: Array.from({ length: pointCount }, (_, n) => ({
    contractId: `00${n.toString(16).padStart(4, "0")}`,
    income: Decimal.of(income),
    days: 1,
    offset: Offset.of(n + 1)
  })),
  previous: null,
  unrolledIn: [],
  partyOffsets: []
}

const figures = LineFigureLookups.figuresOf(source, { batchLines: 500, linesMax: 1_000_000 })

/** An instrument with so many holders, of whom some move in the period. */
const seeded = Effect.fnUntraced(function* (lines: number) {
  yield* recordInstrument("fund-a")
  yield* Seeded.register({ instrumentId: "fund-a", count: lines, registrar })
  yield* moved(lines)
  const sql = yield* SqlClient.SqlClient
  yield* sql`analyze bursar.document`
  return sql
})

const onDatabase = <A, E>(program: Effect.Effect<A, E, Services>) =>
  withDatabase(({ storage }) => program.pipe(Effect.scoped, Effect.provide(engineOn(storage))))

const heldBy = (lines: number) => Effect.andThen(seeded(lines), heldWhile(figures))

const program = ({ rounds, size: lines }: Options & { readonly size: number }) =>
  Effect.gen(function* () {
    const sql = yield* seeded(lines)
    const meter = Meters.of(sql)
    const compared = yield* inTurns({
      rounds,
      ours: {
        meter,
        run: () =>
          timed(
            lines,
            Effect.tap(figures, ({ totals }) =>
              totals.holders === lines
                ? Effect.void
                : Effect.die(new Error(`${totals.holders} lines of ${lines}`))
            )
          )
      },
      bound: {
        meter,
        run: () =>
          timed(
            lines,
            sql`select sum(trunc(entitled, 2)) as gross from (
              select d.record_id, sum((d.body::json ->> 'units')::numeric * ${income}::numeric) as entitled
              from generate_series(1, ${pointCount}::int8) as point
              join bursar.document d on d.collection = 'register-entry'
                and d.filters @> ${JSON.stringify({ asset: `${registrar}/fund-a` })}::jsonb
                and d.from_offset <= point and (d.to_offset is null or d.to_offset > point)
              group by d.record_id) line`
          )
      }
    })
    return { compared, mebibytes: yield* heldWhile(figures) }
  })

export const bench: Bench = async ({ rounds, size = 100_000 }) => {
  const { compared, mebibytes } = await onDatabase(program({ rounds, size }))
  const fewer = Math.round(size / 10)
  const mebibytesOfFewer = await onDatabase(heldBy(fewer))
  const name = size.toLocaleString("en-US")
  return [
    {
      bench: `figures of ${name} lines`,
      unit: "lines/s",
      against: "one statement that sums the same rows",
      goal: 0.5,
      note: `par, ${pointCount} points, 5 % moved`,
      ...compared
    },
    heapRow(`the figures of ${name} lines are computed`, {
      ...{ held: mebibytes, fewer: mebibytesOfFewer },
      ofFewer: `of ${fewer.toLocaleString("en-US")} lines`
    })
  ]
}
