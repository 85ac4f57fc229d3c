/** Parameters of what-if reads: another version of the policy, or another price. */
import { Schema } from "effect"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Amount from "../../vocabulary/Amount.ts"

const versionMax = 1_000_000_000
/** The parameters beside at and asOf that ask what would have been. */
export const fields = {
  policyVersion: Schema.optionalKey(
    Schema.FiniteFromString.check(
      Schema.isInt(),
      Schema.isBetween({ minimum: 1, maximum: versionMax })
    )
  ),
  price: Schema.optionalKey(Amount.supposedPriceText)
} as const

/** The price and the terms that are asked after; absent: those that hold. */
export interface Asked {
  readonly price?: Decimal.Decimal
  readonly policyVersion?: number
}

export const isAsked = ({ price, policyVersion }: Asked): boolean =>
  price !== undefined || policyVersion !== undefined
