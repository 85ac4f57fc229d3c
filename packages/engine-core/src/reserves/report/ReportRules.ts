/** Pure rules of reserve reports: the books that a report follows from, and when reports are due. */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { ReserveBooks } from "../reserve/CoverRules.ts"
import type { LoadedPoint } from "../reserve/ReserveLookups.ts"
import { keyOf } from "../reserve/ReserveTerms.ts"
import type { ReserveReport } from "./ReserveReport.ts"

/** Places of the worths of a report, whatever the unit of account has. */
export const reportPlaces = 10

/** Points of a report by the key of their asset. */
export const pointsOf = ({
  assets
}: Pick<ReserveReport, "assets">): ReadonlyMap<string, LoadedPoint> =>
  new Map(
    assets.flatMap(({ asset, price, pricedAt, pointCid }) =>
      price === null || pricedAt === null || pointCid === null
        ? []
        : [[keyOf(asset), { price, valuationTime: pricedAt, contractId: pointCid }] as const]
    )
  )

/**
 * Books that the figures of a report follow from; null: the history does not have the reserve of
 * that time.
 */
export const booksOf = (
  self: Pick<ReserveReport, "follows" | "assets" | "outstanding" | "at">
): ReserveBooks | null => {
  const { follows, assets, outstanding, at } = self
  if (follows === null) return null
  const { terms, parValue, initialSharePrice, priceDecimals } = follows
  return {
    valuation:
      parValue === null
        ? { mode: "accumulating", initialSharePrice: initialSharePrice ?? Decimal.one }
        : { mode: "par", parValue },
    terms,
    locked: new Map(assets.map(({ asset, units }) => [keyOf(asset), units])),
    points: pointsOf(self),
    outstanding,
    at,
    decimals: reportPlaces,
    priceDecimals,
    currencyDecimals: reportPlaces
  }
}

// ---- schedule

/**
 * Returns the latest instant at which scheduled reports are due, and the next: whole periods since 1970,
 * so that a period of a day is due at midnight UTC.
 */
export const dueAt = (
  every: Duration.Duration,
  now: Instant.Instant
): { readonly latest: Instant.Instant; readonly next: Instant.Instant } => {
  const period = Duration.toMillis(every)
  const latest = Math.floor(Instant.toEpochMillis(now) / period) * period
  return {
    latest: Instant.fromEpochMillis(latest),
    next: Instant.fromEpochMillis(latest + period)
  }
}
