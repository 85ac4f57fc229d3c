/** Terms of one policy version, as the gates and rules of orders read them. */
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Duration from "../../kernel/Duration.ts"
import type { PartialDistribution, RateChange } from "../../vocabulary/sets.ts"
import type { CutOffTerms, Fees, Guardrail, Manifest, Swing } from "../instrument/Manifest.ts"
import type { Limits, Window } from "./PolicyTerms.ts"

/**
 * Terms of one version; `manifest` holds all of them, also those that only a recording sets
 * (docs/domain/instruments.md#policy-versions).
 */
export interface VersionTerms {
  readonly policyVersion: number
  readonly window: Window
  readonly limits: Limits
  readonly fees: Fees
  readonly swing: Swing | null
  readonly guardrail: Guardrail | null
  /** Tolerance by check; a check that is not named has its default. */
  readonly tolerances: Readonly<Record<string, Decimal.Decimal>>
  readonly deliverBeforeCash: boolean
  readonly partialDistribution: PartialDistribution
  readonly rateChange: RateChange
  readonly rescreenAfter: Duration.Duration | null
  readonly grace: Readonly<Record<string, Duration.Duration>>
  readonly cutOff: CutOffTerms
  /** Every term of the version, these among them. */
  readonly manifest: Manifest
}

/** The terms of a stored policy version. */
export const termsOf = ({
  manifest,
  policyVersion
}: {
  readonly policyVersion: number
  readonly manifest: Manifest
}): VersionTerms => {
  return {
    policyVersion,
    window: manifest.window,
    limits: manifest.limits,
    fees: manifest.fees,
    swing: manifest.swing,
    guardrail: manifest.navGuardrail,
    tolerances: manifest.tolerances,
    deliverBeforeCash: manifest.deliverBeforeCash,
    partialDistribution: manifest.partialDistribution,
    rateChange: manifest.rateChange,
    rescreenAfter: manifest.rescreenAfter,
    grace: manifest.grace,
    cutOff: manifest.cutOff,
    manifest
  }
}
