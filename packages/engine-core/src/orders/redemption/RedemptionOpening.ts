/** Pure opening of a redemption's record: from its claim, or from the contract that a snapshot shows. */
import { Schema } from "effect"
import * as Currency from "../../kernel/Currency.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { PricedRedemption, RedemptionClaim } from "../../templates/Redemption.ts"
import type { Payload } from "../../templates/Template.ts"
import { type CutOff, settleBy } from "../order/CutOffRules.ts"
import type { ClaimOpening } from "../order/OrderClaimLookups.ts"
import type { Allocated, CashRequest } from "../order/OrderFacts.ts"
import {
  type Redemption,
  RedemptionId,
  unexpiring,
  evolve,
  type Fact,
  RedemptionMachine
} from "./Redemption.ts"
import * as Pricing from "./RedemptionPricing.ts"

type Claim = Payload<typeof RedemptionClaim>

/** Makes the record of a claim that is not priced yet. */
export const claimedAs = (
  payload: Claim,
  { members, terms }: ClaimOpening,
  cutOff: CutOff
): Redemption => ({
  ...members,
  ...unpriced,
  redemptionId: Schema.decodeSync(RedemptionId)(payload.redemptionId),
  amount: payload.orderedAmount,
  cutOffAt: cutOff.at,
  dealingDate: cutOff.date,
  cash: { expected: payload.orderedAmount, matched: Decimal.zero, lines: [] },
  settleBy: payload.mode === "ledger" ? settleBy(cutOff.at) : null,
  remainderOf: payload.remainderOf,
  // A remainder is priced forward from its cut-off, under every pricing rule.
  pricing: payload.cutOffAt === null ? terms.manifest.pricing : "forward",
  feeRate: terms.fees.redemption,
  cashDecimals: Currency.decimals(payload.currency),
  oracle: payload.oracle,
  custodian: payload.custodian,
  freeUnits: payload.freeUnits ?? null
})

const unpriced = {
  state: RedemptionMachine.initial,
  fee: null,
  proceeds: null,
  burnRequestCid: null,
  fundedAt: null,
  burnedAt: null,
  settledAt: null,
  pricedCid: null,
  unitsAllocation: null
} as const

/** The contract of an open redemption that a snapshot shows. */
export type ShownRedemption =
  | { readonly as: "claim"; readonly payload: Claim }
  | { readonly as: "priced"; readonly payload: Payload<typeof PricedRedemption> }

/** Contracts of a snapshot that belong to an order. */
export interface OrderContracts {
  readonly request: CashRequest | null
  readonly burnRequest: { readonly cid: string; readonly at: Instant.Instant } | null
  readonly unitsAllocation: typeof Allocated.Type | null
  readonly allocation: typeof Allocated.Type | null
}

/** An order without any contract beside its own. */
export const alone: OrderContracts = {
  request: null,
  burnRequest: null,
  unitsAllocation: null,
  allocation: null
}

/** Folds the facts that led to a contract of a snapshot. */
export const recoveredAs = (
  claimed: Redemption,
  shownRedemption: ShownRedemption,
  contract: {
    readonly contractId: string
    readonly createdAt: Instant.Instant
    readonly beside: OrderContracts
  }
): Redemption => {
  const facts = factsOf(claimed, shownRedemption, contract)
  return unexpiring(facts.reduce<Redemption>(evolve, { ...claimed, recovered: true }))
}

const factsOf = (
  claimed: Redemption,
  shownRedemption: ShownRedemption,
  { beside, contractId: pricedCid, createdAt: at }: Parameters<typeof recoveredAs>[2]
): ReadonlyArray<Fact> => {
  const { allocation, burnRequest, request, unitsAllocation } = beside
  const legs: ReadonlyArray<Fact> = [
    ...(request === null ? [] : [{ on: "request-cash", ...request } as const]),
    ...(unitsAllocation === null
      ? []
      : [{ on: "allocate-units", allocation: unitsAllocation } as const]),
    ...(allocation === null ? [] : [{ on: "allocate-cash", allocation } as const])
  ]
  if (shownRedemption.as === "claim") return legs
  if (!Pricing.isWithinOrder(claimed, shownRedemption.payload)) {
    return [{ on: "misprice", mispricedCid: pricedCid }, ...legs]
  }
  const { pointCid, proceeds } = shownRedemption.payload
  const figures = Pricing.pricedAs(claimed, shownRedemption.payload)
  return [
    { on: "price", pricedCid, pointCid, proceeds, ...figures, at },
    ...legs,
    ...(burnRequest === null
      ? []
      : [{ on: "fund", burnRequestCid: burnRequest.cid, at: burnRequest.at } as const])
  ]
}
