/** Books of the shown units of a fund and of their worth, by the points that the ledger shows: now, and month by month as statements settle them. */
import { Date, Month, Zone } from "@bursar/engine-core/kernel"
import { atoms, type Atoms, cent, whole } from "./figures.ts"
import type { Contract } from "./ledger-observer.ts"
import { isRebasing, lastPoint, metricOf, shownOf, valuedAt } from "./rebasing.ts"
import type { Fund, Town } from "./town.ts"
import { member } from "./wallets.ts"

/** Days after a month until which its last price may be published (docs/domain/reports.md#price). */
const graceDays = 31

const figureOf = (point: Contract | undefined): Atoms | null =>
  point === undefined ? null : atoms(member(point, "value"))

/** Ledger units as holders are shown them at an index, which is null before the first. */
const shownAt = (fund: Fund, units: Atoms, index: Atoms | null): Atoms => {
  if (!isRebasing(fund) || index === null) return units
  const size = shownOf(units < 0n ? -units : units, { ...fund, index })
  return units < 0n ? -size : size
}

/** Worth of shown units at a published figure, cut to whole cents; null without one. */
const worthOf = (fund: Fund, units: Atoms, figure: Atoms | null): Atoms | null => {
  if (figure === null) return null
  // The index is in the shown units already, each of which is worth 1.
  const price = isRebasing(fund) ? whole : figure
  return ((units * price) / (whole * cent)) * cent
}

/** Latest figure of a fund: of one at par always 1. */
const latestOf = (town: Town, fund: Fund): Atoms | null =>
  fund.valuation === "par"
    ? whole
    : figureOf(lastPoint(town, { instrumentId: fund.instrumentId, metric: metricOf(fund) }))

export interface Position {
  readonly units: Atoms
  readonly price: Atoms | null
  readonly value: Atoms | null
}

/** Position of a party in a fund, as it is shown and worth now. */
export const positionOf = (town: Town, fund: Fund, party: string): Position => {
  const price = latestOf(town, fund)
  const units = shownAt(fund, town.observer.units(fund.instrumentId, party), price)
  return { units, price, value: worthOf(fund, units, price) }
}

/** Points that price a month: those that were official when the month's price was settled, by valuation. */
const pointsOf = (
  town: Town,
  { instrumentId, valuation }: Fund,
  { month, zone }: { readonly month: Month.Month; readonly zone: Zone.Zone }
): ReadonlyArray<Contract> => {
  const nextDay = Month.firstDay(Month.next(month))
  const end = Zone.startOfDay(zone, nextDay)
  const graceEnd = Zone.startOfDay(zone, Date.addDays(nextDay, graceDays))
  const metric = metricOf({ valuation })
  const inTime = [...town.observer.every("OraclePoint").values()].filter(
    (one) =>
      member(one, "instrumentId") === instrumentId &&
      member(one, "metric") === metric &&
      one.effectiveAt < graceEnd
  )
  const settling = inTime.find((one) => valuedAt(one) >= end)
  // The ledger's order is that of publication: what comes with or after the settling point changes nothing.
  const before = settling === undefined ? inTime : inTime.slice(0, inTime.indexOf(settling))
  const isGone = ({ endedAt, endedOffset }: Contract) => {
    if (endedOffset === null || endedAt === null) return false
    return settling === undefined ? endedAt < graceEnd : endedOffset <= settling.createdOffset
  }
  return before
    .filter((one) => valuedAt(one) < end && !isGone(one))
    .toSorted((a, b) => (valuedAt(a) < valuedAt(b) ? -1 : valuedAt(a) > valuedAt(b) ? 1 : 0))
}

/** Units that moved at one instant of the ledger. */
export interface Moves {
  /** Ledger time in nanoseconds. */
  readonly at: bigint
  /** With a sign, each as it was shown then. */
  readonly units: Atoms
  /** Balance that the last of them left. */
  readonly after: Atoms
}

/** Adds up movements of one instant: a transaction may have several. */
export const byInstant = (moves: ReadonlyArray<Moves>): ReadonlyArray<Moves> => {
  const found = new Map<bigint, Moves>()
  for (const { after, at, units } of moves) {
    found.set(at, { at, units: (found.get(at)?.units ?? 0n) + units, after })
  }
  return [...found.values()]
}

/** A month of one fund as a holder's statement is to show it. */
export interface BookedMonth {
  readonly opening: Atoms
  readonly closing: Atoms
  /** Shown units that moved at each instant of the ledger. */
  readonly moves: ReadonlyArray<Moves>
  /** Units that the index added in the month, or with a minus took. */
  readonly rebased: Atoms
  readonly price: Atoms | null
  readonly value: Atoms | null
}

/** Computes a party's month of a fund in a zone from what the ledger showed. */
export const monthOf = (
  town: Town,
  fund: Fund,
  period: { readonly party: string; readonly month: Month.Month; readonly zone: Zone.Zone }
): BookedMonth => {
  const { month, party, zone } = period
  const { instrumentId } = fund
  const points = pointsOf(town, fund, period)
  const start = Zone.startOfMonth(zone, month)
  const end = Zone.startOfMonth(zone, Month.next(month))
  const opened = town.observer.unitsBefore(instrumentId, party, start)
  const closed = town.observer.unitsBefore(instrumentId, party, end)
  const before = pointsOf(town, fund, { month: Month.previous(month), zone }).at(-1)
  const opening = shownAt(fund, opened, figureOf(before))
  const last = figureOf(points.at(-1))
  const closing = shownAt(fund, closed, last)
  let held = opened
  const moves = town.observer
    .changesOf(instrumentId, party)
    .filter(({ amount, at }) => amount !== 0n && at >= start && at < end)
    .map(({ amount, at }) => {
      held += amount
      const index = figureOf(points.findLast((one) => valuedAt(one) <= at))
      return { at, units: shownAt(fund, amount, index), after: shownAt(fund, held, index) }
    })
  const moved = moves.reduce((sum, { units }) => sum + units, 0n)
  const price = fund.valuation === "par" ? whole : last
  const value = worthOf(fund, closing, price)
  const rebased = closing - opening - moved
  return { opening, closing, moves: byInstant(moves), rebased, price, value }
}
