/**
 * Look-ups of the checks of reserves: cover and prices at the run's pin, the newest report, and
 * holdings that are locked for reserves (docs/domain/reconciliation.md#cover-of-reserves).
 */
import { Effect, Option, Stream } from "effect"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import * as ReportRules from "../../reserves/report/ReportRules.ts"
import { type ReserveReport, reserveReports } from "../../reserves/report/ReserveReport.ts"
import * as CoverRules from "../../reserves/reserve/CoverRules.ts"
import { type Reserve, reserves } from "../../reserves/reserve/Reserve.ts"
import { reserveHoldings } from "../../reserves/reserve/ReserveHolding.ts"
import * as ReserveLookups from "../../reserves/reserve/ReserveLookups.ts"
import { keyOf } from "../../reserves/reserve/ReserveTerms.ts"
import type { Point } from "./Check.ts"
import type * as OrphanLocks from "./checks/OrphanLocks.ts"
import type * as ReserveCover from "./checks/ReserveCover.ts"
import type * as ReservePriceFresh from "./checks/ReservePriceFresh.ts"
import type * as ReserveReportCheck from "./checks/ReserveReport.ts"
import type { Backed, BatchPoint } from "./ReserveBatchLookups.ts"
import type { Facts } from "./StatementCheckLookups.ts"
import { pinAt } from "./StatementPinLookups.ts"

type Of = Pick<Instrument, "instrumentId">

/** Streams one fact of the instrument's reserve in force; none without one. */
const ofReserve = <F, E, R>(
  { instrumentId }: Of,
  at: BatchPoint,
  factOf: (backed: Backed) => Effect.Effect<ReadonlyArray<F>, E, R>
) =>
  Stream.fromIterableEffect(
    Effect.flatMap(at.reserves.backed, (all) => {
      const backed = all.get(instrumentId)
      return backed === undefined ? Effect.succeed([]) : factOf(backed)
    })
  )

/** Streams the cover of the instrument's reserve. */
export const covers = (
  { instrumentId }: Of,
  at: BatchPoint
): Stream.Stream<ReserveCover.Covered, Unavailable, Records> =>
  ofReserve({ instrumentId }, at, ({ reserve: { reserveId, unit }, books }) => {
    const { state, required, counted } = CoverRules.coverOf(books)
    const worthless = CoverRules.assetsOf(books).filter(CoverRules.isWorthless).length
    return Effect.succeed([{ instrumentId, reserveId, unit, state, required, counted, worthless }])
  })

/** Streams how many assets of the instrument's reserve have no price that counts. */
export const prices = (
  { instrumentId }: Of,
  at: BatchPoint
): Stream.Stream<ReservePriceFresh.Prices, Unavailable, Records> =>
  ofReserve({ instrumentId }, at, ({ reserve: { reserveId }, books }) => {
    const stale = CoverRules.assetsOf(books).filter(({ isFresh }) => !isFresh).length
    return Effect.succeed([{ instrumentId, reserveId, stale }])
  })

// ---- reports

/**
 * Time before a report within which a point, or a supply, may have been replaced and is still
 * accepted in the report: the venue may have sent the report before.
 */
const plannedWithin = Duration.minutes(1)

const pinOf = (pin: Pin.Resolved, { off }: ReserveReport): Pin.Resolved => ({
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
): ReadonlyArray<ReserveReportCheck.Figure> => {
  const assets = CoverRules.assetsOf(books)
  const figures = CoverRules.assetFiguresOf(books, assets)
  return assets.flatMap((asset, index) => {
    const line = report.assets.find((one) => keyOf(one.asset) === asset.key)
    const { counted = null, value = null } = figures[index] ?? {}
    return [
      { unit: "units", computed: asset.units, reported: line?.units ?? null },
      { unit, computed: asset.price, reported: line?.price ?? null },
      { unit, computed: value, reported: line?.value ?? null },
      { unit, computed: counted, reported: line?.counted ?? null }
    ]
  })
}

const reported = (
  report: ReserveReport,
  { reserve, books }: { readonly reserve: Reserve; readonly books: CoverRules.ReserveBooks }
): ReserveReportCheck.Reported => {
  const { instrumentId, priceDecimals, reserveId, unit } = reserve
  const cover = CoverRules.coverOf(books)
  const share = CoverRules.sharePriceOf(books)?.down ?? null
  return {
    instrumentId,
    reserveId,
    priceDecimals,
    isAlike: cover.state === report.cover && report.assets.length === books.terms.assets.length,
    figures: [
      { unit: "units", computed: books.outstanding, reported: report.outstanding },
      { unit, computed: cover.required, reported: report.required },
      { unit, computed: cover.counted, reported: report.counted },
      { unit: "ratio", computed: cover.ratio, reported: report.ratio },
      { unit, computed: share, reported: report.sharePrice },
      ...assetFiguresOf(report, books, unit)
    ]
  }
}

/**
 * Streams the newest report of the instrument's reserve beside the figures that the engine computes at
 * its offset. One from before the history that is kept was compared while it was the newest. Each report
 * has an offset of its own, so that its books are looked up by themselves.
 */
export const reports = (
  instrument: Of,
  at: BatchPoint
): Stream.Stream<ReserveReportCheck.Reported, never, never> | Facts<ReserveReportCheck.Reported> =>
  ofReserve(instrument, at, ({ reserve: { reportedAt, reserveId } }) =>
    Effect.gen(function* () {
      if (reportedAt === null) return []
      const records = yield* Records
      const [newest] = yield* records.list(reserveReports, {
        pin: at.pin,
        where: { reserveId: [reserveId] },
        direction: "desc",
        limit: 1
      })
      const report = newest?.record
      if (report === undefined || report.follows === null) return []
      if (report.off <= at.horizonOffset) return []
      const computed = yield* booksOfReport(report, at)
      return computed === null ? [] : [reported(report, computed)]
    })
  )

// ---- locks

/** Streams the holdings that are locked for reserves of the instrument that have ended. */
export const locks = (
  { instrumentId }: Of,
  { pin, reserves: { orphaned } }: BatchPoint
): Stream.Stream<OrphanLocks.Lock, Unavailable, Records> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const reserveId = (yield* orphaned).get(instrumentId) ?? []
      if (reserveId.length === 0) return Stream.empty
      return records.stream(reserveHoldings, { pin, where: { reserveId } }).pipe(
        Stream.map(
          ({ record: { amount, contractId } }): OrphanLocks.Lock => ({
            instrumentId,
            contractId,
            holderId: null,
            units: amount,
            isLive: false
          })
        )
      )
    })
  )
