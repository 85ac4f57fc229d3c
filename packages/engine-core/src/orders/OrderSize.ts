/** How large the cash and the units of an order may be: no figure that is made of them outgrows a decimal. */
import { Schema } from "effect"
import * as Decimal from "../kernel/Decimal.ts"
import type * as PlainNumber from "../kernel/PlainNumber.ts"

/**
 * Less than this, in cash and in units: what a price, a fee and a day's other orders make of it still
 * has at most the 28 digits of a decimal. Nobody deals in more of any currency.
 */
const sizeBelow = Decimal.of("1000000000000000")

/** Whether an order is of a size to deal in: on the ledger any figure can be signed. */
export const isSized = (of: {
  readonly amount: Decimal.Decimal | null
  readonly units: Decimal.Decimal | null
}): boolean =>
  [of.amount, of.units].every((size) => size === null || Decimal.lessThan(size, sizeBelow))

const expected = { expected: "a decimal above zero, of at most 15 digits before the point" }

/** A size as a caller sends it. */
export const sized = (
  codec: Schema.Codec<Decimal.Decimal, PlainNumber.PlainNumber>
): Schema.Codec<Decimal.Decimal, PlainNumber.PlainNumber> =>
  codec.check(
    Schema.makeFilter(
      (size) =>
        Decimal.isPositive(size) && Decimal.lessThan(size, sizeBelow)
          ? undefined
          : expected.expected,
      expected
    )
  )
