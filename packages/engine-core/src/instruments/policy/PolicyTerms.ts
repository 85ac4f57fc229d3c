/** Schemas of the terms that only a policy has: window, limits, tolerances, grace times. */
import { Effect, Schema } from "effect"
import * as Amount from "../../kernel/Amount.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Shape from "../../kernel/Shape.ts"
import * as Field from "../../templates/Field.ts"
import { reconciliationChecks } from "../../vocabulary/ReconciliationChecks.ts"
import * as sets from "../../vocabulary/sets.ts"

const { Struct } = Schema

/**
 * Names that a tolerance or a grace time may have: the reconciliation checks, and the figures an
 * approver signs (docs/domain/instruments.md#tolerances).
 */
export const checks: ReadonlyArray<string> = [...sets.ReconciliationCheck.members, "figures"]

/** Largest distance of a price from the administrator's NAV where the policy names none. */
export const navPriceDefault = Decimal.of(reconciliationChecks["nav-price"].tolerance)

const rows = Object.entries(reconciliationChecks)

/**
 * Tolerances of the checks that a policy does not name; that of other names is 0
 * (docs/domain/instruments.md#tolerances). `derived`: the tolerance depends on more than the
 * policy, such as the register, a statement's places or the feed.
 */
export const toleranceDefaults: Readonly<Record<string, Decimal.Decimal | "derived">> =
  Object.fromEntries(
    rows.map(([check, { tolerance }]) => [
      check,
      tolerance === "derived" ? tolerance : Decimal.of(tolerance)
    ])
  )

/**
 * Grace times of the checks that a policy does not name (docs/domain/instruments.md#grace-times);
 * `endless`: a statement is never stale. Other checks have no grace time, or that of a source.
 */
export const graceDefaults: Readonly<Record<string, Duration.Duration | "endless">> =
  Object.fromEntries(
    rows.flatMap(([check, { grace }]) => {
      if (grace === null || grace === "source") return []
      return [[check, grace === "endless" ? grace : Duration.of(grace)]]
    })
  )

/** Refuses the name of a check that does not exist, which would otherwise be ignored silently. */
const named = Schema.makeFilter(
  (by: Readonly<Record<string, unknown>>) =>
    Object.keys(by).flatMap((word) =>
      checks.includes(word)
        ? []
        : [{ path: [word], issue: Shape.noWord(checkNames, { word, path: [word] }) }]
    ),
  { expected: "names of checks alone" }
)

const checkNames: Shape.WordSet = { name: "ReconciliationCheck", words: checks }

/** A duration without years and months, which have no exact length. */
const exact = Duration.schema.check(
  Schema.makeFilter(
    (duration) => (Duration.isExact(duration) ? undefined : "days or less, such as P3D"),
    {
      expected: "days or less, such as P3D"
    }
  )
)

export const Window = Struct({
  opensAt: Field.optional(Instant.schema),
  closesAt: Field.optional(Instant.schema)
})
export type Window = typeof Window.Type

/**
 * Limits of one subscription in currency, one redemption in units, and all orders of a cycle in
 * units.
 */
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
  /** Whether units of an order paid by wire may be delivered before its cash is received. */
  deliverBeforeCash: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  partialDistribution: sets.PartialDistribution.schema.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("carry" as const))
  ),
  rateChange: sets.RateChange.schema.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("alert" as const))
  ),
  /** Largest age of a clear screening; null: until its list changes. */
  rescreenAfter: Field.optional(RescreenAfter),
  grace: Graces.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
} as const

export const PolicyTerms = Struct(fields)
export type PolicyTerms = typeof PolicyTerms.Type

/** Terms of an instrument before its first policy.set. */
export const defaults: PolicyTerms = {
  window: { opensAt: null, closesAt: null },
  limits: { maxSubscription: null, maxRedemption: null, cycleCapacity: null },
  tolerances: {},
  deliverBeforeCash: false,
  partialDistribution: "carry",
  rateChange: "alert",
  rescreenAfter: null,
  grace: {}
}
