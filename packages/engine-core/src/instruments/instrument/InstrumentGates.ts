/**
 * Gates that every act on an instrument shares: its terms are recorded, its registrar configured
 * it.
 */
import { Result } from "effect"
import { condition, judge, type Judgement } from "../../kernel/Gates.ts"
import * as Currency from "../../kernel/Currency.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { type Refused, refuse } from "../../kernel/Refusal.ts"
import type { Manifest } from "./Manifest.ts"
import { type Instrument, isOnRegistry, isRecorded, type RecordedInstrument } from "./Instrument.ts"

/** The condition that does not hold for an instrument without terms; later conditions need its terms. */
export const notRecorded = condition("in-manifest", false, {
  detail: "The venue's manifest does not hold this instrument."
})

/**
 * Narrows an instrument to one with terms. Refuses `rule-refused` where the manifest does not
 * record it; `before` lists the conditions of earlier gates, whose refusals take precedence
 * (docs/domain/every-record.md#gate-order).
 */
export const recorded = <I extends Instrument>(
  instrument: I,
  before: ReadonlyArray<Judgement> = []
): Result.Result<I & RecordedInstrument, Refused<"rule-refused">> =>
  isRecorded(instrument)
    ? Result.succeed(instrument)
    : Result.flatMap(judge(before), () => refuse("rule-refused", notRecorded.refusal))

/**
 * Checks that the terms of distributions can be paid: a rebasing instrument pays nothing and withholds
 * nothing, and cash has no more places than its currency (docs/domain/instruments.md#payouts).
 */
export const payable = (
  {
    currency,
    distribution: { payout, payoutDecimals, withholding },
    valuation
  }: Pick<Manifest, "currency" | "distribution" | "valuation">,
  { policyVersion }: { readonly policyVersion: number | null }
): ReadonlyArray<Judgement> => {
  const policy = policyVersion === null ? {} : { policyVersion }
  const rebases = valuation === "rebasing"
  const places = Currency.decimals(currency)
  return [
    condition("payout", !rebases || (payout === "units" && Decimal.isZero(withholding)), policy),
    condition("payout-places", payout !== "cash" || payoutDecimals <= places, {
      ...policy,
      detail: `Amounts of ${currency} have at most ${places} places.`
    })
  ]
}

/**
 * The condition that terms which swing prices have forward pricing: the swing counts all orders of a day,
 * which are known at its cut-off, and a historic order deals before (docs/domain/orders.md#day-price). Terms
 * that had both before keep them while others change; `replaced` are those, null: there are none.
 */
export const swungForward = (
  terms: Pick<Manifest, "pricing" | "swing">,
  {
    policyVersion,
    replaced
  }: {
    readonly policyVersion: number | null
    readonly replaced: Pick<Manifest, "pricing" | "swing"> | null
  }
): Judgement =>
  condition(
    "swing-forward",
    !isSwungHistoric(terms) || (replaced !== null && isSwungHistoric(replaced)),
    policyVersion === null ? {} : { policyVersion }
  )

const isSwungHistoric = ({ pricing, swing }: Pick<Manifest, "pricing" | "swing">): boolean =>
  pricing === "historic" && swing !== null

/** The condition that no reserve backs the instrument: its units come and go by mints and reserve redemptions alone. */
export const notBacked = ({ backedBy }: Pick<Instrument, "backedBy">): Judgement =>
  condition("backed", backedBy === null, {
    detail: `The reserve ${backedBy} backs the instrument.`
  })

/** The condition that the instrument's registrar has configured it on the ledger. */
export const onRegistry = (instrument: RecordedInstrument): Judgement =>
  condition("on-registry", isOnRegistry(instrument), { party: instrument.registrar })
