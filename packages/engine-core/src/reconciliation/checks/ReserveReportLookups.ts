/** Look-ups of the check of reports: reports of a reserve beside the figures that the engine computes. */
import { Effect, Option, Stream } from "effect"
import { findings } from "../../findings/Finding.ts"
import { acceptedFigures } from "../../findings/AcceptedLookups.ts"
import { type AcceptedFigures, idTextOf, type FindingKey } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Records } from "../../records/Records.ts"
import * as ReportRules from "../../reserves/report/ReportRules.ts"
import { type ReserveReport, reserveReports } from "../../reserves/report/ReserveReport.ts"
import * as CoverRules from "../../reserves/reserve/CoverRules.ts"
import { type Reserve, reserves } from "../../reserves/reserve/Reserve.ts"
import * as ReserveLookups from "../../reserves/reserve/ReserveLookups.ts"
import { keyOf } from "../../reserves/reserve/ReserveTerms.ts"
import { checkMarks, idOf } from "../run/CheckMark.ts"
import { ComparedFeed, NotCompared, type Note, type Point } from "./Check.ts"
import { pinAt } from "./StatementPinLookups.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** A figure as the engine computes it and as the ledger reported it; null: there is none. */
export interface Figure {
  /** Unit of the figure: the unit of account, `units` or `ratio`. */
  readonly unit: string
  /** Name of the figure; of a figure of an asset with the key of the asset. */
  readonly figure: string
  readonly computed: Decimal.Decimal | null
  readonly reported: Decimal.Decimal | null
}

/** A report of a reserve. */
export interface ComparedReport {
  readonly instrumentId: string
  readonly reserveId: string
  readonly priceDecimals: number
  /** Whether ledger and engine judge the cover alike, and report the same assets. */
  readonly isAlike: boolean
  readonly figures: ReadonlyArray<Figure>
}

/** Reports of a reserve, oldest first. */
export interface Reports {
  readonly reports: ReadonlyArray<ComparedReport>
  /** Unit and amounts that people accepted of the reserve's finding; null: it is not accepted. */
  readonly accepted: AcceptedFigures | null
}

/**
 * Loads, as one fact, the reports of the instrument's reserve beside the figures that the engine
 * computes at the offset of each. One of a snapshot, or from before the history that is kept, is named
 * where it is the newest. Each report has an offset of its own, so that its books are looked up by
 * themselves.
 */
export const reports = Effect.fnUntraced(function* (
  instrument: InstrumentIdentity,
  { reportedAt, reserveId }: Reserve,
  at: Point
) {
  const none: ReadonlyArray<Reports | Note> = []
  if (reportedAt === null) return none
  const { hasNew, reports } = yield* reportsOf(instrument, reserveId, at)
  const found = yield* Effect.forEach(reports, (report) => comparedReport(report, at))
  const compared = found.flatMap((each) => (typeof each === "string" ? [] : [each]))
  const last = found.at(-1)
  const subject = { resourceKind: "reserve", id: reserveId } as const
  const notes: ReadonlyArray<Note> = [
    new ComparedFeed({ feed: reserveId, hasNew }),
    ...(typeof last === "string"
      ? [new NotCompared({ subject, statementId: null, why: last, isNeeded: false })]
      : [])
  ]
  if (compared.length === 0) return notes
  const { instrumentId } = instrument
  const accepted = yield* acceptedOf({ check: "reserve-report", instrumentId, subject }, at)
  return [...notes, { reports: compared, accepted } satisfies Reports]
})

/** Loads the figures of a report on both sides, or the reason why they cannot be compared. */
const comparedReport = Effect.fnUntraced(function* (report: ReserveReport, at: Point) {
  if (report.follows === null) return "of-snapshot" as const
  if (report.off <= at.horizonOffset) return "before-horizon" as const
  const computed = yield* booksOfReport(report, at)
  return computed === null ? ("before-horizon" as const) : reported(report, computed)
})

/**
 * Time before a report within which a point, or a supply, may have been replaced and is still
 * accepted in the report: the venue may have sent the report before.
 */
const plannedWithin = Duration.minutes(1)

const pinOf = (pin: Pin.ResolvedPin, { off }: ReserveReport): Pin.ResolvedPin => ({
  ...pin,
  select: { by: "offset" },
  offset: off
})

/**
 * Loads the books at `plannedWithin` before a report; null: the history of the records begins later.
 */
const booksBefore = (reserve: Reserve, report: ReserveReport, at: Point) => {
  const instant = Instant.subtract(report.at, plannedWithin)
  return pinAt(instant, at).pipe(
    Effect.flatMap((pin) => ReserveLookups.booksOf(reserve, { at: report.at, pin })),
    Effect.catchTag("CheckNotRun", () => Effect.succeed(null))
  )
}

/** Chooses the figure of the earlier moment where the report has that one. */
const either = <A>(now: A, before: A | undefined, isReported: (figure: A) => boolean): A =>
  before !== undefined && !isReported(now) && isReported(before) ? before : now

/**
 * Loads the books that the ledger should have computed a report with, as the engine keeps them; null:
 * the history of the records does not have the reserve then.
 */
const booksOfReport = Effect.fnUntraced(function* (report: ReserveReport, at: Point) {
  const records = yield* Records
  const pin = pinOf(at.pin, report)
  const reserve = Option.getOrNull(yield* records.find(reserves, report.reserveId, pin))
  if (reserve === null) return null
  const loaded = yield* ReserveLookups.booksOf(reserve, { at: report.at, pin })
  const before = yield* booksBefore(reserve, report, at)
  const named = ReportRules.pointsOf(report)
  const points = new Map(
    [...loaded.points].map(([key, point]) => [
      key,
      either(
        point,
        before?.points.get(key),
        ({ contractId }) => named.get(key)?.contractId === contractId
      )
    ])
  )
  const outstanding = either(
    loaded.books.outstanding,
    before?.books.outstanding,
    (units: Decimal.Decimal) => Decimal.equals(units, report.outstanding)
  )
  const books = { ...loaded.books, points, outstanding }
  return { reserve, books: { ...books, currencyDecimals: ReportRules.reportPlaces } }
})

/** Figures of an asset on both sides, each of which may lack it. */
const assetFiguresOf = (
  report: ReserveReport,
  books: CoverRules.ReserveBooks,
  unit: string
): ReadonlyArray<Figure> => {
  const assets = CoverRules.assetsOf(books)
  const figures = CoverRules.assetFiguresOf(books, assets)
  return assets.flatMap((asset, index) => {
    const line = report.assets.find((one) => keyOf(one.asset) === asset.key)
    const { counted = null, value = null } = figures[index] ?? {}
    return [
      {
        ...{ unit: "units", figure: `${asset.key} units` },
        ...{ computed: asset.units, reported: line?.units ?? null }
      },
      {
        ...{ unit, figure: `${asset.key} price` },
        ...{ computed: asset.price, reported: line?.price ?? null }
      },
      {
        ...{ unit, figure: `${asset.key} value` },
        ...{ computed: value, reported: line?.value ?? null }
      },
      {
        ...{ unit, figure: `${asset.key} counted` },
        ...{ computed: counted, reported: line?.counted ?? null }
      }
    ]
  })
}

const reported = (
  report: ReserveReport,
  { reserve, books }: { readonly reserve: Reserve; readonly books: CoverRules.ReserveBooks }
): ComparedReport => {
  const { instrumentId, priceDecimals, reserveId, unit } = reserve
  const cover = CoverRules.coverOf(books)
  const share = CoverRules.sharePriceOf(books)?.down ?? null
  return {
    instrumentId,
    reserveId,
    priceDecimals,
    isAlike: cover.state === report.cover && report.assets.length === books.terms.assets.length,
    figures: [
      {
        ...{ unit: "units", figure: "outstanding" },
        ...{ computed: books.outstanding, reported: report.outstanding }
      },
      { unit, figure: "required", computed: cover.required, reported: report.required },
      { unit, figure: "counted", computed: cover.counted, reported: report.counted },
      { unit: "ratio", figure: "ratio", computed: cover.ratio, reported: report.ratio },
      { unit, figure: "sharePrice", computed: share, reported: report.sharePrice },
      ...assetFiguresOf(report, books, unit)
    ]
  }
}

/** Reports that the first run on a reserve compares, the newest. */
const firstMax = 100

/**
 * Loads the reports of a reserve that came since the check's watermark, and the newest, oldest first; the
 * newest hundred where there is no watermark.
 */
const reportsOf = Effect.fnUntraced(function* (
  { instrumentId }: InstrumentIdentity,
  reserveId: string,
  { pin }: Point
) {
  const records = yield* Records
  const markId = idOf({ check: "reserve-report", instrumentId })
  const mark = Option.getOrNull(yield* records.find(checkMarks, markId, pin))
  const where = { reserveId: [reserveId] }
  const newest = yield* records.list(reserveReports, {
    pin,
    where,
    direction: "desc",
    limit: mark === null ? firstMax : 1
  })
  // Reports written at that very instant were judged.
  const arrived =
    mark === null
      ? []
      : yield* records
          .stream(reserveReports, {
            pin,
            where,
            updatedFrom: Instant.fromNanos(mark.writtenBy + 1n)
          })
          .pipe(Stream.runCollect)
  const all = [...newest, ...arrived].map(({ record }) => record)
  const byId = new Map(all.map((report) => [report.reportId, report]))
  const reports = [...byId.values()].toSorted((a, b) => a.off - b.off)
  return { reports, hasNew: mark === null || arrived.length > 0 }
})

/** Loads a finding that people accepted; null: it is not accepted. */
const acceptedOf = Effect.fnUntraced(function* (finding: FindingKey, { pin }: Point) {
  const records = yield* Records
  const { sha256 } = yield* Crypto
  const found = Option.getOrNull(yield* records.find(findings, idTextOf(finding, sha256)))
  if (found === null) return null
  return (yield* acceptedFigures([found], pin)).get(found.findingId) ?? null
})
