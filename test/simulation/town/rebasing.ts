/** Arithmetic of rebasing instruments, written without the engine: units that are shown, base units that the ledger moves, and the index between them. */
import { Instant } from "@bursar/engine-core/kernel"
import { type Atoms, atoms, halfUp, whole } from "./figures.ts"
import type { Contract } from "./ledger-observer.ts"
import type { Fund, Town } from "./town.ts"
import { member, text } from "./wallets.ts"

export const isRebasing = ({ valuation }: Pick<Fund, "valuation">): boolean =>
  valuation === "rebasing"

/** Base units of units that are shown: half up at the places of the ledger. */
export const baseOf = (units: Atoms, index: Atoms): Atoms => halfUp(units * whole, index)

/** Units that are shown for base units: half up at the places of the instrument. */
export const shownOf = (
  base: Atoms,
  { atom, index }: { readonly atom: Atoms; readonly index: Atoms }
): Atoms => halfUp(base * index, whole * atom) * atom

/** The smallest part of a fund's units that the ledger moves. */
export const movedAtom = (fund: Pick<Fund, "atom" | "valuation">): Atoms =>
  isRebasing(fund) ? 1n : fund.atom

/** Points of a fund's index, or of its price, are stated by this name. */
export const metricOf = (fund: Pick<Fund, "valuation">): "index" | "price" =>
  isRebasing(fund) ? "index" : "price"

/** The point of an instrument that is valued last, of those of one instant the one published last. */
export const lastPoint = (
  town: Town,
  { instrumentId, metric }: { readonly instrumentId: string; readonly metric: string }
): Contract | undefined => {
  let last: Contract | undefined
  for (const one of town.observer.all("OraclePoint").values()) {
    if (member(one, "instrumentId") !== instrumentId || member(one, "metric") !== metric) continue
    if (last === undefined || valuedAt(one) >= valuedAt(last)) last = one
  }
  return last
}

/** Instant that a point is valued at, in nanoseconds. */
export const valuedAt = (point: Contract): bigint => Instant.of(member(point, "valuationTime"))

/** The latest index of a rebasing fund; null before the first. */
export const indexOf = (town: Town, { instrumentId }: Pick<Fund, "instrumentId">): Atoms | null => {
  const point = lastPoint(town, { instrumentId, metric: "index" })
  return point === undefined ? null : atoms(text(point.payload["value"]))
}

const firstIndex: Atoms = (17n * whole) / 10n
/** An index as high as this falls. */
const highIndex: Atoms = 20n * whole

/** The next index: as often as not the last one, else one some per cent above or below it. */
export const nextIndex = (town: Town, fund: Pick<Fund, "instrumentId">): Atoms => {
  const { die } = town
  const last = indexOf(town, fund) ?? firstIndex
  if (die.once(2)) return last
  const parts = last > highIndex ? 9_000 : 9_800 + die.roll(451)
  return (last * BigInt(parts)) / 10_000n + BigInt(die.roll(1_000))
}
