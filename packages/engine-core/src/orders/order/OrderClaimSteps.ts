/** Look-ups and ledger commands that the claims of subscriptions and redemptions call. */
import { Effect, Option } from "effect"
import { holders } from "../../holders/holder/Holder.ts"
import { assetOf, type InstrumentId, instruments } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import type { Collection } from "../../kernel/Collection.ts"
import type * as Party from "../../kernel/Party.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import { create } from "../../templates/Template.ts"
import type { Command } from "../../ports/Ledger.ts"
import * as ControlGates from "./ControlGates.ts"
import { controlsOf } from "./ControlLookups.ts"
import * as Currency from "../../kernel/Currency.ts"
import { againstOtherPoint } from "../dealing-cycle/CyclePointLookups.ts"
import { joining } from "../dealing-cycle/OpenCycleLookups.ts"
import type { ClaimInput } from "./OrderClaim.ts"
import { isSized } from "./OrderSize.ts"
import { isRebasing } from "./RebasingRules.ts"
import { latestMarket } from "../primary-market/PrimaryMarketLookups.ts"
import { againstSigned, signedOrder } from "./SignedOrderLookups.ts"
import type { OrderKind } from "./HolderOrder.ts"
import { nextCutOff, settleBy } from "./CutOffRules.ts"

/** Input of a claim of either kind. */
interface Input extends ClaimInput {
  readonly instrumentId: InstrumentId
  readonly holderId: string
}

/** Members that the operations `subscription.claim` and `redemption.claim` declare alike. */
export const sharedDeclaration = {
  makers: ["operator", "app"],
  approvers: 0,
  figuresFor: "every-role",
  refuses: ["already-exists", "not-found", "rule-refused"]
} as const

/** Loads instrument, holder and controls, and checks the controls; refuses an id that exists. */
export const subjectOf = Effect.fnUntraced(function* <R, F>(
  { holderId, instrumentId }: Input,
  {
    id,
    orders,
    passing
  }: {
    /** Id of the order; null in a precheck, which places none. */
    readonly id: string | null
    readonly orders: Collection<R, F>
    /** The movement that a restriction of the holder may stop: ordering in, or giving units back. */
    readonly passing: "order-in" | "units-back"
  }
) {
  const records = yield* Records
  if (id !== null && Option.isSome(yield* records.find(orders, id))) {
    return yield* Effect.fail(
      refused("already-exists", { detail: `A ${orders.name} of this id exists.` })
    )
  }
  const holder = yield* records.get(holders, holderId)
  const instrument = yield* records.get(instruments, instrumentId)
  const controls = yield* controlsOf({ instrumentId, holderIds: [holderId] })
  const ofControls = ControlGates.against(controls, { holder, instrumentId, passing })
  return { holder, instrument, controls, ofControls }
})
export type Subject = Effect.Success<ReturnType<typeof subjectOf>>

/** Loads the records that a claim of either kind is checked against, with the terms in force now. */
export const load = Effect.fnUntraced(function* (
  kind: OrderKind,
  input: Input,
  subject: Subject,
  { now, operationId }: OperationAct
) {
  const { instrumentId, payment } = input
  const { ofControls, controls, holder } = subject
  const instrument = yield* Effect.fromResult(recorded(subject.instrument, ofControls))
  const terms = yield* inForce(instrument, now)
  const cutOffAt = nextCutOff(terms.cutOff, now).at
  const latest = yield* latestMarket(instrumentId)
  const market = latest?.state === "agreed" ? latest : null
  const order = yield* signedOrder(kind, input, holder.party)
  const { amount, units } = order !== null && isSized(order) ? order : input
  const joins =
    payment === "ledger"
      ? yield* joining(
          {
            instrumentId,
            cutOffAt,
            fund: market?.fund ?? null,
            paymentAsset: market?.paymentAsset ?? null
          },
          { kind: `${kind}s`, operationId }
        )
      : null
  const pricing = {
    ...{ instrumentId, now, oracle: market?.terms.oracle ?? null },
    pricing: terms.manifest.pricing
  }
  return {
    ...controls,
    instrument,
    holder,
    market,
    terms,
    /** The order that the holder signed on the ledger; null: none is signed, or it is paid by wire. */
    order,
    payment,
    /** Cash and units ordered: those of the holder's signed order, else those of the claim. */
    amount,
    units,
    cashDecimals: Currency.decimals(terms.manifest.currency),
    cutOffAt,
    /** Contract of the open cycle that the order joins; null: the order settles by itself. */
    cycleCid: joins?.cycle?.cycleCid ?? null,
    /** The same cycle by its id. */
    cycleId: joins?.cycle?.cycleId ?? null,
    now,
    /** Rows of the conditions of the signed order and of the cycle that the claim joins. */
    ofOrder: [
      ...againstSigned(input, { order, instrument, holder, market, now }),
      ...(joins === null ? [] : [joins.against, yield* againstOtherPoint(joins.cycle, pricing)])
    ]
  }
})
export type LoadedClaim = Effect.Success<ReturnType<typeof load>>

/** An order that the holder signed, and the market that claims it. */
interface SignedClaim {
  readonly order: NonNullable<LoadedClaim["order"]>
  readonly market: NonNullable<LoadedClaim["market"]> & { readonly marketCid: string }
}

/** The signed order of a claim that has passed its gates, and its market; null: it is paid by wire. */
export const signedOf = ({ market, order }: LoadedClaim): SignedClaim | null => {
  if (market === null || order === null) return null
  const { marketCid } = market
  if (marketCid === null) throw new Error("an agreed market has a contract")
  return { order, market: { ...market, marketCid } }
}

/** Arguments that the market's choices for both kinds of order share. */
export const marketArgument = (
  { cycleCid, holder, terms }: LoadedClaim,
  { order }: SignedClaim
) => ({
  orderCid: order.cid,
  custodian: holder.custodian,
  currency: terms.manifest.currency,
  cycleCid
})

/**
 * Requests an allocation of the cash of an order by amount, between its holder and the fund. The cash of
 * an order in units is requested once it is priced.
 */
export const allocationRequest = (
  { cutOffAt }: LoadedClaim,
  { market, order }: SignedClaim,
  payment: {
    readonly reference: { readonly kind: OrderKind; readonly id: string }
    readonly sender: Party.Party
    readonly receiver: Party.Party
  },
  { now, venue }: OperationAct
): ReadonlyArray<Command> => {
  if (order.amount === null) return []
  const { reference, ...between } = payment
  const instrument = market.paymentAsset
  const by = settleBy(cutOffAt)
  return [
    create(SettlementIntent, {
      venue,
      settlementId: reference.id,
      reference,
      legs: [{ legId: "cash", ...between, instrument, amount: order.amount }],
      requestedAt: now,
      allocateBefore: by,
      settleBefore: by
    })
  ]
}

/** Members of the claim contract of a wire-paid order that both kinds share. */
export const wireFields = ({ holder, instrument, terms }: LoadedClaim, { venue }: OperationAct) =>
  ({
    venue,
    orderId: null,
    instrument: assetOf(instrument),
    holder: holder.party,
    custodian: holder.custodian,
    fund: null,
    mode: "wire",
    currency: terms.manifest.currency,
    paymentAsset: null,
    cycleId: null,
    ...(isRebasing(terms.manifest) ? { shownDecimals: terms.manifest.unitDecimals } : {})
  }) as const
