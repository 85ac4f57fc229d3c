/** Checks of reconciliation that judge the cover, the prices and the reports of reserves. */
import { Effect, Stream } from "effect"
import {
  compare,
  isAccepted,
  type PlainDifference,
  withoutAmounts
} from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as CoverRules from "../../reserves/reserve/CoverRules.ts"
import type { CoverState } from "../../vocabulary/sets.ts"
import * as Check from "./Check.ts"
import * as ReserveReports from "./ReserveReportLookups.ts"

/** Loads the reserve of an instrument that is in force, with its books; undefined: there is none. */
const backing = ({ instrumentId }: Pick<Instrument, "instrumentId">, at: Check.BatchPoint) =>
  Effect.map(at.reserves.backed, (all) => all.get(instrumentId))

/** Members of a difference whose subject is a reserve, of no holder. */
const aboutReserve = ({
  instrumentId,
  reserveId
}: {
  readonly instrumentId: string
  readonly reserveId: string
}) =>
  ({ instrumentId, subject: { resourceKind: "reserve", id: reserveId }, holderId: null }) as const

/** Cover of a reserve at the run's pin, in its unit of account. */
interface CoverFigures {
  readonly instrumentId: string
  readonly reserveId: string
  /** Unit of account. */
  readonly unit: string
  readonly state: CoverState
  /** Locked assets of which the published price is 0 or less. */
  readonly worthless: number
  /** Rounded up. */
  readonly required: Decimal.Decimal
  /** Rounded down. */
  readonly counted: Decimal.Decimal
}

/**
 * A reserve that is covered has no difference, however its figures are rounded, unless a locked asset
 * lost its worth: then one of the number of such assets, since a price of 0 is a fault of its source or
 * a loss, and people judge which before more is minted.
 */
export const reserveCover = Check.define("reserve-cover", {
  doc: "Compares the value of the locked assets of a reserve with the value that its minimum cover asks for.",
  rule: "cover-of-reserves",
  needs: "A reserve of the instrument in force.",
  cannot: {},
  facts: (instrument, at) =>
    Stream.fromIterableEffect(
      Effect.map(backing(instrument, at), (backed): ReadonlyArray<CoverFigures> => {
        if (backed === undefined) return []
        const { books, reserve } = backed
        const { state, required, counted } = CoverRules.coverOf(books)
        const worthless = CoverRules.assetsOf(books).filter(CoverRules.isWorthless).length
        const { instrumentId } = instrument
        const { reserveId, unit } = reserve
        return [{ instrumentId, reserveId, unit, state, required, counted, worthless }]
      })
    ),
  differences: (cover: CoverFigures, tolerance) => {
    const about = { ...aboutReserve(cover), severity: "blocking" } as const
    const { unit, required: expected, counted: actual } = cover
    const short =
      cover.state === "covered" ? [] : compare({ ...about, unit, expected, actual, tolerance })
    const worthless = compare({
      ...about,
      unit: "assets",
      expected: Decimal.zero,
      actual: Decimal.fromInteger(cover.worthless),
      tolerance: Decimal.zero
    })
    return [...short, ...worthless]
  }
})

/**
 * The first figure that differs and that no acceptance covers, of the newest report with one, is the
 * difference; else the first that differs, of the newest report that does.
 */
export const reserveReport = Check.define("reserve-report", {
  doc: "Compares the figures that the ledger reported of a reserve with those that the engine computes.",
  rule: "reports-of-reserves",
  needs: "A reserve of the instrument in force, with a report.",
  cannot: {
    "of-snapshot": "a snapshot of the ledger showed the newest report, without its history",
    "before-horizon": "the history that is kept begins after the newest report"
  },
  derives: "An atom of the reserve's share price.",
  facts: (instrument, at) =>
    Stream.fromIterableEffect(
      Effect.flatMap(backing(instrument, at), (backed) =>
        backed === undefined
          ? Effect.succeed([])
          : ReserveReports.reports(instrument, backed.reserve, at)
      )
    ),
  differences: ({ accepted, reports }: ReserveReports.Reports, tolerance) => {
    const found = reports.toReversed().flatMap((report) => ofReport(report, tolerance))
    const open = found.filter(
      (difference) => accepted === null || !isAccepted(accepted, difference)
    )
    return (open.length > 0 ? open : found).slice(0, 1)
  }
})

/**
 * Compares the figures in their order, and how the cover is judged. A figure that is there on one side alone,
 * and a cover that is judged otherwise, differ without amounts.
 */
const ofReport = (
  report: ReserveReports.ComparedReport,
  policy: Decimal.Decimal | null
): ReadonlyArray<PlainDifference<"info" | "blocking">> => {
  const { figures, isAlike, priceDecimals } = report
  const tolerance = policy ?? atomOf(priceDecimals)
  const about = { ...aboutReserve(report), severity: "blocking" } as const
  const found = figures.flatMap(({ computed, figure, reported, unit }) => {
    if (computed === null && reported === null) return []
    if (computed === null || reported === null) return [withoutAmounts({ ...about, unit, figure })]
    const amounts = { expected: computed, actual: reported, tolerance }
    return compare({ ...about, unit, figure, ...amounts })
  })
  return isAlike ? found : [...found, withoutAmounts({ ...about, unit: "cover" })]
}

/** One atom of the share price. */
export const atomOf = (places: number): Decimal.Decimal =>
  Decimal.fromAtoms(10n ** BigInt(Decimal.places - places))

/** Assets of the terms in force at the run's pin. */
interface ReservePrices {
  readonly instrumentId: string
  readonly reserveId: string
  /** Number of assets whose price is past their freshness, of the future, or not there. */
  readonly stale: number
}

export const reservePriceFresh = Check.define("reserve-price-fresh", {
  doc: "Warns of assets of a reserve that have no price, or one that is too old.",
  rule: "prices-of-reserves",
  needs: "A reserve of the instrument in force.",
  cannot: {},
  facts: (instrument, at) =>
    Stream.fromIterableEffect(
      Effect.map(backing(instrument, at), (backed): ReadonlyArray<ReservePrices> => {
        if (backed === undefined) return []
        const { reserveId } = backed.reserve
        const stale = CoverRules.assetsOf(backed.books).filter(({ isFresh }) => !isFresh).length
        return [{ instrumentId: instrument.instrumentId, reserveId, stale }]
      })
    ),
  differences: (prices: ReservePrices, tolerance) =>
    compare({
      ...aboutReserve(prices),
      severity: "warning",
      unit: "assets",
      expected: Decimal.zero,
      actual: Decimal.fromInteger(prices.stale),
      tolerance
    })
})
