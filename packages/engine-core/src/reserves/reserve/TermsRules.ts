/**
 * Pure rules of a reserve's terms: terms in force at an instant, the direction of a change, and terms
 * that no deposits could meet (docs/domain/reserves.md#terms).
 */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Direction from "../../kernel/Direction.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Plain } from "../../kernel/PlainJson.ts"
import * as Rational from "../../kernel/Rational.ts"
import * as TermChange from "../../writes/TermChange.ts"
import { type AssetTerms, keyOf, type ReserveTerms, type TermsCourse } from "./ReserveTerms.ts"

/** Terms in force: pending ones are in force from the instant they are effective, without an act. */
export const inForceAt = <T extends ReserveTerms>(
  { terms, pending }: TermsCourse<T>,
  at: Instant.Instant
): T => (pending !== null && Instant.atOrAfter(at, pending.effectiveAt) ? pending.terms : terms)

// ---- direction

const { larger, neither, optional, smaller, struct } = Direction

/**
 * Scale of the terms by what they permit. Less cover, another asset, a smaller haircut, a larger
 * share, an older price and another price source each permit more.
 */
const scale = struct<{
  readonly minCover: Decimal.Decimal
  readonly assets: Readonly<Record<string, Omit<AssetTerms, "asset">>>
}>({
  minCover: smaller,
  assets: Direction.named(() =>
    optional(
      "narrowest",
      struct<Omit<AssetTerms, "asset">>({
        priceSource: neither,
        freshness: optional("widest", Direction.by(Duration.nanos, larger)),
        haircut: smaller,
        maxShare: optional("widest", larger)
      })
    )
  )
})

const scaledOf = ({ minCover, assets }: ReserveTerms) => ({
  minCover,
  assets: Object.fromEntries(assets.map(({ asset, ...terms }) => [keyOf(asset), terms]))
})

/**
 * Changes from one set of terms to another, each with its direction; the order of the assets does
 * not matter. A path names an asset by its key (ReserveTerms.keyOf).
 */
const changesOf = ({ from, to }: Direction.Pair<ReserveTerms>): ReadonlyArray<Direction.Change> =>
  scale.changes({ from: scaledOf(from), to: scaledOf(to) })

/** Direction of a change of terms as a whole: one member that loosens makes all of it wait. */
export const directionOf = (pair: Direction.Pair<ReserveTerms>): Direction.Direction | "none" =>
  Direction.whole(changesOf(pair))

/** Terms as the values of their changes are shown, with assets by their keys. */
const plainOf = ({ minCover, assets }: ReserveTerms): Plain => ({
  minCover: Decimal.formatPlain(minCover),
  assets: Object.fromEntries(
    assets.map(({ asset, priceSource, freshness, haircut, maxShare }) => [
      keyOf(asset),
      {
        priceSource,
        freshness: freshness === null ? null : Duration.format(freshness),
        haircut: Decimal.formatPlain(haircut),
        maxShare: maxShare === null ? null : Decimal.formatPlain(maxShare)
      }
    ])
  )
})

/** The changes with their values before and after, as approvers and records show them. */
export const shownChangesOf = (
  pair: Direction.Pair<ReserveTerms>
): ReadonlyArray<TermChange.TermChange> =>
  TermChange.withValues(changesOf(pair), { from: plainOf(pair.from), to: plainOf(pair.to) })

// ---- feasibility

/** Reason why no deposits could meet the terms. */
type Infeasible =
  /** The caps leave this fraction of the value outstanding uncovered, whatever is locked. */
  | { readonly reason: "uncovered"; readonly uncovered: Decimal.Decimal }
  /**
   * The assets of an accumulating reserve would have to be worth this many times the units that own
   * them; it is more than 1.
   */
  | { readonly reason: "haircuts"; readonly worth: Decimal.Decimal }

/**
 * Judges whether some deposits meet the terms: the requirement is filled asset by asset, the one with
 * the least haircut first, each up to its cap. Null: they do. Fractions are rounded up to 10 places.
 */
export const infeasible = (
  { assets, minCover }: ReserveTerms,
  { isAccumulating }: { readonly isAccumulating: boolean }
): Infeasible | null => {
  const required = Rational.of(minCover)
  const ordered = assets.toSorted((a, b) => Decimal.compare(a.haircut, b.haircut))
  let left = required
  let worth = Rational.zero
  for (const { haircut, maxShare } of ordered) {
    const cap = maxShare === null ? left : Rational.multiply(Rational.of(maxShare), required)
    const filled = Rational.min(left, cap)
    const afterHaircut = Rational.subtract(Rational.one, Rational.of(haircut))
    left = Rational.subtract(left, filled)
    worth = Rational.add(worth, Rational.divide(filled, afterHaircut))
  }
  if (Rational.isPositive(left)) return { reason: "uncovered", uncovered: shown(left) }
  return isAccumulating && Rational.greaterThan(worth, Rational.one)
    ? { reason: "haircuts", worth: shown(worth) }
    : null
}

const shown = (fraction: Rational.Rational): Decimal.Decimal =>
  Rational.round(fraction, { places: 10, rounding: "ceiling" })
