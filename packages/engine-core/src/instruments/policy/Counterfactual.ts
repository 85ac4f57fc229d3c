/** Query parameters of what-if reads: another version of the policy, or another price. */
import { Schema } from "effect"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Amount from "../../kernel/Amount.ts"

const versionMax = 1_000_000_000
/** Query parameters of what-if reads. */
export const fields = {
  policyVersion: Schema.optionalKey(
    Schema.FiniteFromString.check(
      Schema.isInt(),
      Schema.isBetween({ minimum: 1, maximum: versionMax })
    )
  ),
  price: Schema.optionalKey(Amount.supposedPriceText)
} as const

/** The supposed price and terms; absent: those in force. */
export interface Supposition {
  readonly price?: Decimal.Decimal
  readonly policyVersion?: number
}

export const isAsked = ({ price, policyVersion }: Supposition): boolean =>
  price !== undefined || policyVersion !== undefined
