/**
 * Pure rules of a point that a NAV feed must confirm before the point may price anything
 * (docs/domain/statements.md#nav-feed).
 */
import type { Guardrail } from "../../instruments/instrument/Manifest.ts"
import { moveOf } from "../../instruments/price/NavFeedRules.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Rational from "../../kernel/Rational.ts"

/** NAV that a statement in force states for a business date. */
export interface StatedNav {
  readonly statementId: string
  readonly businessDate: Date.Date
  readonly official: Decimal.Decimal
  /** True: no value of the statement may be used. */
  readonly ripcord: boolean
}

/** Official price of a business date. */
export interface DatedPrice {
  readonly businessDate: Date.Date
  readonly price: Decimal.Decimal
}

/** Terms that decide whether a NAV confirms a price. */
export interface Bounds {
  /** Largest distance of price and NAV, as a fraction of the NAV; equal to it is within. */
  readonly tolerance: Decimal.Decimal
  /** Null: a move of any size is inside. */
  readonly guardrail: Guardrail | null
}

/** Verdict on a point that may price: `usable`, or the first reason against it. */
export type PointVerdict = "usable" | "missing" | "ripcord" | "off-price" | "deviating"

/**
 * Checks whether a price is within the tolerance of a NAV: |NAV − price| / NAV at most the tolerance,
 * exactly. A NAV of 0 confirms a price of 0 alone.
 */
export const isWithin = (
  { nav, price }: { readonly nav: Decimal.Decimal; readonly price: Decimal.Decimal },
  tolerance: Decimal.Decimal
): boolean => {
  const official = Rational.of(nav)
  const apart = Rational.of(Decimal.abs(Decimal.subtract(nav, price)))
  // Multiplies instead of dividing, so that a NAV of zero needs no rule of its own.
  return Rational.atMost(apart, Rational.multiply(official, Rational.of(tolerance)))
}

/**
 * Judges a price by the NAV of its own business date. `accepted` is the price of the last accepted
 * point of an earlier business date; null where there is none, so that there is no move.
 */
export const verdictOf = (
  {
    accepted,
    nav,
    price
  }: {
    readonly nav: StatedNav | null
    readonly price: Decimal.Decimal
    readonly accepted: Decimal.Decimal | null
  },
  { guardrail, tolerance }: Bounds
): PointVerdict => {
  if (nav === null) return "missing"
  if (nav.ripcord) return "ripcord"
  if (!isWithin({ nav: nav.official, price }, tolerance)) return "off-price"
  const move = moveOf({ last: accepted, next: nav.official, guardrail })
  return move === "outside" ? "deviating" : "usable"
}

/**
 * Returns the price of the last accepted point before a business date: folds the points from the
 * oldest on, each judged against the one accepted before it; null where none is accepted.
 */
export const acceptedBefore = (
  businessDate: Date.Date,
  history: { readonly navs: ReadonlyArray<StatedNav>; readonly prices: ReadonlyArray<DatedPrice> },
  bounds: Bounds
): Decimal.Decimal | null => {
  const navs = new Map(history.navs.map((nav) => [nav.businessDate, nav]))
  return history.prices
    .filter((dated) => Date.isBefore(dated.businessDate, businessDate))
    .toSorted((a, b) => Date.compare(a.businessDate, b.businessDate))
    .reduce<Decimal.Decimal | null>((accepted, dated) => {
      const nav = navs.get(dated.businessDate) ?? null
      const verdict = verdictOf({ nav, price: dated.price, accepted }, bounds)
      return verdict === "usable" ? dated.price : accepted
    }, null)
}

/**
 * Verdict on the point that is to price an act: `none` where no feed is mapped, and, with a feed or without
 * one, `corrected` or `withdrawn` where its oracle took the point back after it priced an order.
 */
export type FeedVerdict = PointVerdict | "none" | "stale" | "corrected" | "withdrawn"

const detailOf: Readonly<Record<Exclude<FeedVerdict, "none" | "usable">, string>> = {
  corrected: "The oracle has corrected the point that priced the order.",
  withdrawn: "The oracle has withdrawn the point that priced the order.",
  ripcord: "The administrator has suspended its NAV.",
  stale: "The latest NAV has expired.",
  missing: "No statement of the price's business date has come.",
  "off-price": "The NAV of the business date is further from the price than the policy allows.",
  deviating: "The NAV moved beyond its guardrail."
}

/** Row of the condition `feed-usable`. */
export const feedUsable = (verdict: FeedVerdict): Judgement =>
  verdict === "none" || verdict === "usable"
    ? condition("feed-usable", true)
    : condition("feed-usable", false, { detail: detailOf[verdict] })
