/** Pure rules of price points: the figures of a point by the instrument's valuation mode. */
import { Result } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import { isRate, priceLimit } from "../../kernel/Amount.ts"
import type { Manifest } from "../instrument/Manifest.ts"

interface Figures {
  readonly price: Decimal.Decimal
  /** Income of one unit of a par instrument; null for a price or an index. */
  readonly incomePerUnit: Decimal.Decimal | null
}

/**
 * Price at which a reserve counts an asset of which its source published this value: 0 or less is a price
 * of 0, so that an asset without a worth is never counted at an older price.
 */
export const countedPriceOf = (value: Decimal.Decimal): Decimal.Decimal =>
  Decimal.max(value, Decimal.zero)

/** Terms of the instrument's value; null before the manifest records the instrument. */
type ValuationTerms = Pick<Manifest, "valuation" | "parValue"> | null

/** Metric of the points of each valuation mode. */
export const metrics = { par: "income", accumulating: "price", rebasing: "index" } as const

interface PublishedFigures {
  readonly metric: string
  readonly value: Decimal.Decimal
  /** Fraction of the income that is withheld; null: the point states none. */
  readonly withholdingRate: Decimal.Decimal | null
}

/**
 * Figures of a published point, or the reason why the point is invalid. Points of a par instrument
 * publish the day's income, or the par value as price; points of an accumulating instrument a
 * price, of a rebasing one an index, all of at most 10 digits before the point
 * (docs/domain/instruments.md#price-points), and a withholding rate from 0 to 1 where they state one.
 * Before the instrument's terms are recorded a price or an index is accepted and an income is not: an
 * income taken for a price would value units at a fraction of their price.
 */
export const figuresOf = (
  { metric, value, withholdingRate }: PublishedFigures,
  terms: ValuationTerms
): Result.Result<Figures, string> => {
  if (withholdingRate !== null && !isRate(withholdingRate)) {
    return Result.fail("A withholding rate is from 0 to 1.")
  }
  if (!Decimal.lessThan(Decimal.abs(value), priceLimit)) {
    return Result.fail(`The ${metric} has more than 10 digits before the point.`)
  }
  const price = Decimal.isPositive(value)
    ? Result.succeed({ price: value, incomePerUnit: null })
    : Result.fail(`A ${metric} is above zero.`)
  if (terms === null) {
    return metric === "price" || metric === "index"
      ? price
      : Result.fail(`The metric ${metric} says nothing of an instrument without terms.`)
  }
  const { valuation, parValue } = terms
  if (metric === metrics[valuation]) {
    return valuation === "par"
      ? Result.succeed({ price: parValue ?? Decimal.one, incomePerUnit: value })
      : price
  }
  if (valuation === "par" && metric === "price") {
    return Decimal.equals(value, parValue ?? Decimal.one)
      ? price
      : Result.fail("An instrument at par is worth its par value, and no other price.")
  }
  return Result.fail(`The metric ${metric} says nothing of an instrument that is ${valuation}.`)
}
