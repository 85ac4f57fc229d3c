/** Look-ups of the members that open an order's record, and of its cut-off, from its claim contract. */
import { Effect, Option } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { Node } from "../../projection/FromLedger.ts"
import { Records } from "../../records/Records.ts"
import type { SubscriptionClaim } from "../../templates/Market.ts"
import type { RedemptionClaim } from "../../templates/Redemption.ts"
import type { Payload } from "../../templates/Template.ts"
import { dealingCycles } from "../dealing-cycle/DealingCycle.ts"
import { nextCutOff } from "./CutOffRules.ts"

type Claim = Payload<typeof SubscriptionClaim> | Payload<typeof RedemptionClaim>

/** Loads the policy terms in force at the claim, and the members; null: instrument or holder is not recorded. */
export const openingOf = Effect.fnUntraced(function* (
  payload: Claim,
  node: Pick<Node, "contractId" | "effectiveAt">
) {
  const records = yield* Records
  const instrument = yield* records.find(instruments, payload.instrument.id)
  const holder = yield* records.find(holderParties, payload.holder)
  if (Option.isNone(instrument) || !isRecorded(instrument.value) || Option.isNone(holder)) {
    return null
  }
  const { instrumentId, registrar } = instrument.value
  const terms = yield* inForce(instrument.value, node.effectiveAt)
  const { manifest, policyVersion } = terms
  const members = {
    ...unpriced,
    instrumentId,
    registrar,
    holderId: holder.value.holderId,
    party: payload.holder,
    payment: payload.mode,
    orderedAs: payload.orderedUnits === null ? ("amount" as const) : ("units" as const),
    units: payload.orderedUnits,
    currency: payload.currency,
    policyVersion,
    cycleId: payload.cycleId,
    claimedAt: node.effectiveAt,
    unitDecimals: manifest.unitDecimals,
    isRebasing: (payload.shownDecimals ?? null) !== null,
    zone: manifest.businessZone ?? Zone.utc,
    fund: payload.fund,
    paymentAsset: payload.paymentAsset,
    orderId: payload.orderId,
    claimCid: node.contractId,
    mispricedCid: null
  }
  return { terms, members }
})
export type ClaimOpening = NonNullable<Effect.Success<ReturnType<typeof openingOf>>>

/**
 * Finds the cut-off that a claim deals at: the one that it names, or that of its cycle, which the policy
 * may have left since the cycle was opened; else the next after the claim
 * (docs/domain/orders.md#price-choice).
 */
export const cutOffOf = Effect.fnUntraced(function* (
  {
    cutOffAt: named = null,
    cycleId
  }: Pick<Claim, "cycleId"> & {
    /** Cut-off of a remainder; subscriptions have none. */
    readonly cutOffAt?: Instant.Instant | null
  },
  { terms: { cutOff: rule } }: ClaimOpening,
  { effectiveAt }: Pick<Node, "effectiveAt">
) {
  const records = yield* Records
  const cycle = cycleId === null ? Option.none() : yield* records.find(dealingCycles, cycleId)
  const at = named ?? Option.getOrNull(cycle)?.cutOffAt ?? null
  return at === null ? nextCutOff(rule, effectiveAt) : { at, date: Zone.dateAt(rule.zone, at) }
})

const unpriced = {
  formerCycle: null,
  price: null,
  pointCid: null,
  index: null,
  baseUnits: null,
  valueDate: null,
  pricedAt: null,
  endedAt: null,
  endedAs: null,
  intentCid: null,
  allocation: null,
  recovered: false,
  lost: false
} as const
