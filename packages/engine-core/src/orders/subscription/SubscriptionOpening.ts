/** Pure opening of a subscription's record: from its claim, or from the contract that a snapshot shows. */
import { Schema } from "effect"
import * as Currency from "../../kernel/Currency.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { DeliveredLot, Lot, SubscriptionClaim } from "../../templates/Market.ts"
import type { Payload } from "../../templates/Template.ts"
import { type CutOff, settleBy } from "../order/CutOffRules.ts"
import type { ClaimOpening } from "../order/OrderClaimLookups.ts"
import type { Allocated, CashRequest } from "../order/OrderFacts.ts"
import {
  type Subscription,
  SubscriptionId,
  evolve,
  type Fact,
  SubscriptionMachine
} from "./Subscription.ts"
import { isPriceSized } from "../order/OrderSize.ts"
import { shownOf } from "../order/RebasingRules.ts"
import * as Pricing from "./SubscriptionPricing.ts"
import * as Rules from "./SubscriptionRules.ts"

type Claim = Payload<typeof SubscriptionClaim>
type LotPayload = Payload<typeof Lot>

/** Makes the record of a claim that is not attested yet. */
export const claimedAs = (
  payload: Claim,
  { members, terms }: ClaimOpening,
  cutOff: CutOff
): Subscription => {
  const cashDecimals = payload.cashDecimals ?? Currency.decimals(payload.currency)
  // The ledger computes the cash of an order in units by the fee rate in its claim.
  const feeRate = payload.feeRate ?? terms.fees.subscription
  const amount = payload.orderedUnits === null ? payload.cash : null
  return {
    ...members,
    ...unpriced,
    subscriptionId: Schema.decodeSync(SubscriptionId)(payload.subscriptionId),
    amount,
    fee: amount === null ? null : Rules.feeOf(amount, { feeRate, cashDecimals }),
    cutOffAt: cutOff.at,
    dealingDate: cutOff.date,
    cash: { expected: payload.cash, matched: Decimal.zero, lines: [] },
    settleBy: payload.mode === "ledger" ? settleBy(cutOff.at) : null,
    pricing: terms.manifest.pricing,
    feeRate,
    cashDecimals,
    residualRule: terms.manifest.residual,
    attesting: {
      parties: payload.attestors,
      required: payload.required,
      oracle: payload.oracle
    }
  }
}

const unpriced = {
  state: SubscriptionMachine.initial,
  residual: null,
  refund: null,
  refunded: null,
  refunds: [],
  attestors: [],
  lot: null,
  deliveredAt: null,
  remainderOf: null,
  deliveredLotCid: null,
  owedRefundCid: null,
  mintRequestCid: null
} as const

/** The contract of an open subscription that a snapshot shows. */
export type ShownSubscription =
  | { readonly as: "claim"; readonly payload: Claim }
  | { readonly as: "lot"; readonly payload: LotPayload }
  | { readonly as: "delivered"; readonly payload: Payload<typeof DeliveredLot> }

/**
 * Returns the claim that a contract came from. A lot repeats its claim but for the units ordered, which
 * are those of the lot where it names no cash, and for the number of attestors that were required. Null: a
 * lot whose figures are beyond those of an order names no cash, so that what was ordered is unknown.
 */
export const claimOf = (shownSubscription: ShownSubscription): Claim | null => {
  if (shownSubscription.as === "claim") return shownSubscription.payload
  const { attestors, cash, units, ...claimed } = shownSubscription.payload
  if (cash === null && !isPriceSized(shownSubscription.payload)) return null
  return {
    ...claimed,
    cash,
    orderedUnits: cash === null ? orderedBy(shownSubscription.payload) : null,
    attestors,
    required: attestors.length,
    attested: [],
    units
  }
}

/** Units that a lot was ordered for: of a rebasing instrument those that its base units show. */
const orderedBy = ({ price, shownDecimals = null, units }: LotPayload): Decimal.Decimal =>
  shownDecimals === null ? units : shownOf(units, { index: price, unitDecimals: shownDecimals })

/** Contracts of a snapshot that belong to an order, with its price point. */
export interface OrderContracts {
  readonly request: CashRequest | null
  readonly mintRequestCid: string | null
  readonly allocation: typeof Allocated.Type | null
  /** Price of the point that the lot names; null: the snapshot does not show the point. */
  readonly basePrice: Decimal.Decimal | null
}

/**
 * Folds the facts that led to a contract of a snapshot, all at the contract's creation. A delivered
 * lot whose mint request has ended counts as delivered: the ledger does not show how the request
 * ended, and units must not be minted twice (docs/domain/orders.md#after-a-snapshot).
 */
export const recoveredAs = (
  claimed: Subscription,
  shownSubscription: ShownSubscription,
  contract: {
    readonly contractId: string
    readonly createdAt: Instant.Instant
    readonly beside: OrderContracts
  }
): Subscription =>
  factsOf(claimed, shownSubscription, contract).reduce(evolve, {
    ...claimed,
    recovered: true
  } as Subscription)

const factsOf = (
  claimed: Subscription,
  shownSubscription: ShownSubscription,
  { beside, contractId, createdAt: at }: Parameters<typeof recoveredAs>[2]
): ReadonlyArray<Fact> => {
  const { allocation, request } = beside
  const legs: ReadonlyArray<Fact> = [
    ...(request === null ? [] : [{ on: "request-cash", ...request } as const]),
    ...(allocation === null ? [] : [{ on: "allocate", allocation } as const])
  ]
  if (shownSubscription.as === "claim") {
    const { attested: attestors } = shownSubscription.payload
    return attestors.length === 0
      ? legs
      : [{ on: "attest", claimCid: contractId, attestors, at }, ...legs]
  }
  if (!isPriceSized(shownSubscription.payload)) {
    return [{ on: "misprice", mispricedCid: contractId }, ...legs]
  }
  const priced = pricedBy(claimed, shownSubscription.payload, { at, lotCid: contractId, beside })
  if (shownSubscription.as === "lot") return [priced, ...legs]
  const { mintRequestCid } = beside
  const { deliveredAt } = shownSubscription.payload
  const deliveredLotCid = contractId
  return [
    { ...priced, at: deliveredAt },
    ...legs,
    mintRequestCid === null
      ? {
          on: "deliver",
          deliveredLotCid,
          at: deliveredAt,
          valueDate: Zone.dateAt(claimed.zone, deliveredAt)
        }
      : { on: "request-mint", deliveredLotCid, mintRequestCid }
  ]
}

const pricedBy = (
  claimed: Subscription,
  payload: LotPayload,
  {
    at,
    lotCid,
    beside
  }: { readonly at: Instant.Instant; readonly lotCid: string; readonly beside: OrderContracts }
): Extract<Fact, { readonly on: "price" }> => {
  const { attestors, pointCid } = payload
  const { due, ...figures } = Pricing.figuresOf(claimed, payload)
  return {
    on: "price",
    lotCid,
    pointCid,
    ...figures,
    basePrice: beside.basePrice,
    expected: due,
    attestors,
    at
  }
}
