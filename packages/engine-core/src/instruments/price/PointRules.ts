/** Pure rules of price points: the figures of a point by the instrument's valuation mode. */
import { Result } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Manifest } from "../instrument/Manifest.ts"

export interface Figures {
  readonly price: Decimal.Decimal
  /** What a unit of a par instrument earned; null for a price or an index. */
  readonly incomePerUnit: Decimal.Decimal | null
}

/** What the instrument's terms say of its value; null while nothing is recorded of it. */
type Valued = Pick<Manifest, "valuation" | "parValue"> | null

/** The metric a point of each valuation is published as. */
const metrics = { par: "income", accumulating: "price", rebasing: "index" } as const

/**
 * The figures of a published point, or why it is no valid one. A par instrument is worth its par
 * value, so its points publish the day's income, or that very price; an accumulating one has a
 * price, a rebasing one an index (docs/domain/instruments.md#price-points). Before its terms are
 * recorded a price or an index is taken as it is; an income is not, since what it is the income of
 * is not known. Who holds units at 1.04 and reads an income as their price would see them priced at
 * a thousandth.
 */
export const figuresOf = (
  { metric, value }: { readonly metric: string; readonly value: Decimal.Decimal },
  terms: Valued
): Result.Result<Figures, string> => {
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
