/** Look-up of the order that a holder signed in its wallet, and its comparison with the claim. */
import { Effect, Option } from "effect"
import type { Holder } from "../../holders/holder/Holder.ts"
import { assetOf, type RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import { Records } from "../../records/Records.ts"
import type * as Field from "../../templates/Field.ts"
import type { ClaimInput } from "./OrderClaim.ts"
import { isSized } from "./OrderSize.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import { type HolderOrder, holderOrders, type OrderKind, nameOf } from "./HolderOrder.ts"

/** Finds the order that the holder signed on the ledger; null: none is signed. */
export const signedOrder = Effect.fnUntraced(function* (
  kind: OrderKind,
  { orderId, payment }: ClaimInput,
  party: Party.Party
) {
  if (payment === "wire" || orderId === null) return null
  const records = yield* Records
  const found = yield* records.find(holderOrders, nameOf({ kind, party, orderId }))
  return Option.isSome(found) && found.value.state === "signed" ? found.value : null
})

/** A signed order, and the records that it is compared with. */
export interface SignedOrder {
  readonly order: HolderOrder | null
  readonly instrument: RecordedInstrument
  readonly holder: Pick<Holder, "party">
  readonly market: Pick<PrimaryMarket, "fund" | "paymentAsset"> | null
  readonly now: Instant.Instant
}

/** Checks that the signed order equals the claim and that the market accepts it. */
export const againstSigned = (input: ClaimInput, signed: SignedOrder): ReadonlyArray<Judgement> => {
  const { order, holder } = signed
  if (input.payment === "wire") return []
  return [
    condition("order-signed", order !== null, { party: holder.party }),
    condition("order-fits", order === null || fits(input, order, signed), { party: holder.party })
  ]
}

const fits = (
  input: ClaimInput,
  order: HolderOrder,
  { instrument, market, now }: SignedOrder
): boolean =>
  isSized(order) &&
  (input.amount === null || input.amount === order.amount) &&
  (input.units === null || input.units === order.units) &&
  isAsset(order.instrument, assetOf(instrument)) &&
  (order.expiresAt === null || Instant.isBefore(now, order.expiresAt)) &&
  // Without a market the condition `primary-market` refuses the claim.
  (market === null ||
    (order.fund === market.fund && isAsset(order.paymentAsset, market.paymentAsset)))

const isAsset = (left: Field.Asset, right: Field.Asset): boolean =>
  left.admin === right.admin && left.id === right.id
