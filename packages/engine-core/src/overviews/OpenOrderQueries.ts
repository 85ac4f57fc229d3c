/** Read of open orders of every kind in one list, with the next act and its deadline. */
import { Effect, Schema } from "effect"
import * as OrderList from "../orders/order/OrderList.ts"
import { HolderId } from "../holders/holder/HolderId.ts"
import { InstrumentId } from "../instruments/instrument/Instrument.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Read from "../reads/Read.ts"
import { releasesFor } from "../reserves/reserve-order/HeldOrderLookups.ts"
import { settlementActs } from "../reserves/reserve-order/ReserveOrder.ts"
import * as RecordView from "../records/RecordView.ts"
import type { Stored } from "../records/Records.ts"
import { OpenOrderKind, OpenOrderState } from "../vocabulary/sets.ts"
import * as OpenOrder from "../orders/order/OpenOrder.ts"
import * as Redemption from "../orders/redemption/Redemption.ts"
import * as Subscription from "../orders/subscription/Subscription.ts"
import * as Mint from "../reserves/reserve-order/Mint.ts"
import * as ReserveRedemption from "../reserves/reserve-order/ReserveRedemption.ts"

const { NullOr } = Schema

export const OpenOrderView = Schema.Struct({
  orderId: Schema.String,
  kind: OpenOrderKind.schema,
  /** One of the open states of the order's kind. */
  state: OpenOrderState.schema,
  instrumentId: InstrumentId,
  holderId: NullOr(HolderId),
  /** Units ordered, or the units of a priced amount; null before the price. */
  quantity: NullOr(Decimal.schema),
  /** Cash ordered, or the cash of priced units; null before the price. */
  cash: NullOr(Decimal.schema),
  currency: Schema.String,
  cycleId: NullOr(Schema.String),
  ...RecordView.fields,
  /** Earliest deadline of the acts that it waits for; null: none. */
  by: NullOr(Instant.schema)
}).annotate({
  identifier: "OpenOrder",
  description: "An open order, and who must act next."
})
export type OpenOrderView = typeof OpenOrderView.Type

type Order =
  | Subscription.Subscription
  | Redemption.Redemption
  | Mint.Mint
  | ReserveRedemption.ReserveRedemption

const Params = Schema.Struct({
  kind: Schema.optionalKey(Schema.Array(OpenOrderKind.schema)),
  state: Schema.optionalKey(Schema.Array(OpenOrderState.schema)),
  ...OrderList.params
})
export type OpenOrderFilter = typeof Params.Type

export const list = Read.list<
  Order,
  unknown,
  OpenOrderFilter,
  typeof Params.Encoded,
  OpenOrderView,
  "open-orders.list"
>({
  name: "open-orders.list",
  doc: "Lists the orders that still wait for something, of every kind.",
  route: "GET /v1/open-orders",
  audience: OrderList.audience,
  pinned: true,
  collection: Subscription.subscriptions,
  beside: [Redemption.redemptions, Mint.mints, ReserveRedemption.reserveRedemptions],
  params: Params,
  item: OpenOrderView,
  direction: "asc",
  order: "by the instant they were recorded, then by id",
  changes: false,
  where: ({ kind = OpenOrderKind.members, state = OpenOrderState.members, ...filters }) => ({
    open: kind.flatMap((kind) =>
      state
        .filter((state) => OpenOrder.openStates[kind].has(state))
        .map((state) => OpenOrder.openAs({ kind, state }))
    ),
    ...OrderList.columns(filters)
  }),
  judged: (judgedAt) => ({ openUntil: OpenOrder.stillOpenAt(judgedAt) }),
  scope: OrderList.scope,
  view: Effect.fnUntraced(function* (records, { pin }) {
    const minted = records.filter((order) => "mintId" in order)
    const redeemed = records.filter((order) => "reserveRedemptionId" in order)
    const releaseOf = {
      mint: yield* releasesFor(minted, { act: settlementActs.mint, pin }),
      redemption: yield* releasesFor(redeemed, { act: settlementActs["reserve-redemption"], pin })
    }
    return records.map((order) => {
      if ("mintId" in order) return ofMint(order, releaseOf.mint(order))
      if ("reserveRedemptionId" in order) {
        return ofReserveRedemption(order, releaseOf.redemption(order))
      }
      return "subscriptionId" in order
        ? ofSubscription(order, pin.judgedAt)
        : ofRedemption(order, pin.judgedAt)
    })
  })
})

const ofSubscription = (
  order: Stored<Subscription.Subscription>,
  now: Instant.Instant
): OpenOrderView => ({
  ...common(order, RecordView.waitingOn(Subscription.subscriptions, order)),
  orderId: order.subscriptionId,
  kind: "subscription",
  state: openState("subscription", Subscription.openStateAt(order, now)),
  cash: order.cash.expected ?? order.amount
})

const ofRedemption = (
  order: Stored<Redemption.Redemption>,
  now: Instant.Instant
): OpenOrderView => ({
  ...common(order, RecordView.waitingOn(Redemption.redemptions, order)),
  orderId: order.redemptionId,
  kind: "redemption",
  state: openState("redemption", Redemption.orderStateAt(order, now)),
  cash: order.proceeds ?? order.amount
})

/** No cash moves by an order with a reserve: its asset does. */
const ofReserve = <R extends Mint.Mint | ReserveRedemption.ReserveRedemption>(
  order: Stored<R>,
  waitingOn: OpenOrderView["waitingOn"]
) => ({ ...common({ ...order, currency: order.unit, cycleId: null }, waitingOn), cash: null })

type Waits = OpenOrderView["waitingOn"]

const ofMint = (order: Stored<Mint.Mint>, release: Waits | undefined): OpenOrderView => ({
  ...ofReserve(order, release ?? RecordView.waitingOn(Mint.mints, order)),
  orderId: order.mintId,
  kind: "mint",
  state: openState("mint", order.state)
})

const ofReserveRedemption = (
  order: Stored<ReserveRedemption.ReserveRedemption>,
  release: Waits | undefined
): OpenOrderView => ({
  ...ofReserve(order, release ?? RecordView.waitingOn(ReserveRedemption.reserveRedemptions, order)),
  orderId: order.reserveRedemptionId,
  kind: "reserve-redemption",
  state: openState("reserve-redemption", order.state)
})

const common = (
  {
    instrumentId,
    holderId,
    units,
    currency,
    cycleId,
    createdAt,
    updatedAt,
    version
  }: Pick<
    OpenOrderView,
    "instrumentId" | "holderId" | "currency" | "cycleId" | "createdAt" | "updatedAt" | "version"
  > & { readonly units: Decimal.Decimal | null },
  waitingOn: OpenOrderView["waitingOn"]
) => ({
  instrumentId,
  holderId,
  quantity: units,
  currency,
  cycleId,
  createdAt,
  updatedAt,
  version,
  waitingOn,
  by: waitingOn.reduce<Instant.Instant | null>(
    (first, { by }) => (first === null || (by !== null && by < first) ? by : first),
    null
  )
})

/**
 * Narrows a state to the open ones; the list filters by open states, so another one is a defect.
 */
const openState = (kind: OpenOrderKind, state: string): OpenOrderState => {
  const open = OpenOrder.openState({ kind, state })
  if (open === null) throw new Error(`${kind}: an order listed as open is ${state}`)
  return open
}

export const queries = [list] as const
