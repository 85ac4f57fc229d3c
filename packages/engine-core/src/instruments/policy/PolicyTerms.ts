/** Schema of the policy's own terms: window, limits, tolerances, grace times. */
import { Effect, Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Field from "../../templates/Field.ts"
import * as sets from "../../vocabulary/sets.ts"
import * as Amount from "../../vocabulary/Amount.ts"

const { Struct } = Schema

/**
 * Names that a tolerance or a grace time may have: the reconciliation checks, and the figures an
 * approver signs (docs/domain/instruments.md#tolerances).
 */
export const checks: ReadonlyArray<string> = [
  "register-supply",
  "movements-balance",
  "register-line",
  "statement-total",
  "lots-holdings",
  "supply-outstanding",
  "nav-price",
  "nav-movement",
  "nav-usable",
  "statement-overdue",
  "statement-gap",
  "cash-settlement",
  "cash-unmatched",
  "cash-balance",
  "burned-unpaid",
  "claim-aging",
  "custody-reserve",
  "reserve-cover",
  "reserve-report",
  "reserve-price-fresh",
  "distribution-recompute",
  "distribution-identity",
  "distribution-unpaid",
  "suspended-lines",
  "restriction-effect",
  "admission-effect",
  "holder-cap",
  "projection-drift",
  "orphan-locks",
  "policy-replay",
  "figures"
]

/**
 * Tolerances of the checks that a policy does not name; every other is 0
 * (docs/domain/instruments.md#tolerances). `untold`: the tolerance depends on more than the policy,
 * on the register, a statement's places or the feed.
 */
export const toleranceDefaults: Readonly<Record<string, Decimal.Decimal | "untold">> = {
  "nav-price": Decimal.of("0.0020"),
  "nav-movement": "untold",
  "supply-outstanding": "untold",
  "register-line": "untold"
}

/**
 * Grace times of the checks that a policy does not name (docs/domain/instruments.md#grace-times);
 * `endless`: it never grows stale. Any other check has none.
 */
export const graceDefaults: Readonly<Record<string, Duration.Duration | "endless">> = {
  "cash-settlement": Duration.days(2),
  "burned-unpaid": Duration.days(3),
  "claim-aging": Duration.days(2),
  "distribution-unpaid": Duration.days(2),
  "nav-usable": "endless"
}

/** Refuses the name of a check that does not exist, which would otherwise be ignored silently. */
const named = Schema.makeFilter(
  (by: Readonly<Record<string, unknown>>) =>
    Object.keys(by).every((name) => checks.includes(name)) ? undefined : "names of checks alone",
  { expected: "names of checks alone" }
)

/** Years and months have no length to measure a delay by. */
const exact = Duration.schema.check(
  Schema.makeFilter((one) => (Duration.isExact(one) ? undefined : "days or less, such as P3D"), {
    expected: "days or less, such as P3D"
  })
)

export const Window = Struct({
  opensAt: Field.optional(Instant.schema),
  closesAt: Field.optional(Instant.schema)
})
export type Window = typeof Window.Type

/** In the instrument's currency, its units, and its units of all orders of one cycle together. */
export const Limits = Struct({
  maxSubscription: Field.optional(Amount.cashLimit),
  maxRedemption: Field.optional(Amount.unitsLimit),
  cycleCapacity: Field.optional(Amount.unitsLimit)
})
export type Limits = typeof Limits.Type

/** Overrides of the checks' default tolerances. */
export const Tolerances = Schema.Record(Schema.String, Amount.tolerance).check(named)
export const Graces = Schema.Record(Schema.String, exact).check(named)

export const RescreenAfter = exact

/** The policy's own terms with their defaults: no limit, no permission. */
export const fields = {
  window: Window.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  limits: Limits.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  tolerances: Tolerances.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  /** Whether units of a wire-paid order may be delivered before its cash has come. */
  deliverBeforeCash: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  partialDistribution: sets.PartialDistribution.schema.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("carry" as const))
  ),
  rateChange: sets.RateChange.schema.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("alert" as const))
  ),
  /** How long a clear screening counts; null: until its list changes. */
  rescreenAfter: Field.optional(RescreenAfter),
  grace: Graces.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
} as const

export const PolicyTerms = Struct(fields)
export type PolicyTerms = typeof PolicyTerms.Type

/** Defaults where no policy was set. */
export const untold: PolicyTerms = {
  window: { opensAt: null, closesAt: null },
  limits: { maxSubscription: null, maxRedemption: null, cycleCapacity: null },
  tolerances: {},
  deliverBeforeCash: false,
  partialDistribution: "carry",
  rateChange: "alert",
  rescreenAfter: null,
  grace: {}
}
