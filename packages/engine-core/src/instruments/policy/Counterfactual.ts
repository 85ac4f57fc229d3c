/** What a read may suppose that is not so: another version of the policy, or another price. */
import { Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"

const versionMax = 1_000_000_000
/** No unit is priced so high, and what a whole day's orders come to at less is still a decimal. */
const priceBelow = Decimal.of("10000000000")
const priced = { expected: "a decimal above zero, of at most 10 digits before the point" }

/** The parameters beside at and asOf that ask what would have been (domain.md section 8, feature 9). */
export const fields = {
  policyVersion: Schema.optionalKey(
    Schema.FiniteFromString.check(
      Schema.isInt(),
      Schema.isBetween({ minimum: 1, maximum: versionMax })
    )
  ),
  price: Schema.optionalKey(
    Decimal.text.check(
      Schema.makeFilter(
        (price) =>
          Decimal.isPositive(price) && Decimal.lessThan(price, priceBelow)
            ? undefined
            : priced.expected,
        priced
      )
    )
  )
} as const

/** The price and the terms that are asked after; absent: those that hold. */
export interface Asked {
  readonly price?: Decimal.Decimal
  readonly policyVersion?: number
}

export const isAsked = ({ price, policyVersion }: Asked): boolean =>
  price !== undefined || policyVersion !== undefined
