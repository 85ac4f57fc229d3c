/** Queries of subscriptions: the list, and one by its id. */
import { Effect, Schema } from "effect"
import * as OrderList from "../order/OrderList.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { SubscriptionId, subscriptions, SubscriptionMachine } from "./Subscription.ts"
import { withRemaining } from "./SubscriptionLotLookups.ts"
import * as SubscriptionView from "./SubscriptionView.ts"

export const list = Read.list({
  name: "subscriptions.list",
  doc: "Lists subscriptions.",
  route: "GET /v1/subscriptions",
  audience: OrderList.audience,
  pinned: true,
  collection: subscriptions,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(SubscriptionMachine.schema)),
    ...OrderList.params
  }),
  item: SubscriptionView.SubscriptionView,
  direction: "asc",
  order: "by the instant they were recorded, then by id",
  changes: true,
  where: ({ state, ...params }) => ({
    ...(state === undefined ? {} : { state }),
    ...OrderList.columns(params)
  }),
  scope: OrderList.scope,
  view: (records, { pin }) =>
    Effect.map(withRemaining(records, pin), (orders) =>
      orders.map((order) => SubscriptionView.of(order, pin.judgedAt, pin.offset))
    )
})

export const get = Read.one({
  name: "subscriptions.get",
  doc: "A subscription.",
  route: "GET /v1/subscriptions/{subscriptionId}",
  audience: OrderList.audience,
  pinned: true,
  params: Schema.Struct({ subscriptionId: SubscriptionId }),
  value: SubscriptionView.SubscriptionView,
  refuses: ["not-found"],
  run: Effect.fn("subscriptions.get")(function* ({ subscriptionId }, asking) {
    const records = yield* Records
    const record = yield* records.get(subscriptions, subscriptionId, asking.pin)
    yield* Sight.demand(asking, subscriptions, record)
    const [order = record] = yield* withRemaining([record], asking.pin)
    return SubscriptionView.of(order, asking.pin.judgedAt, asking.pin.offset)
  })
})

export const queries = [list, get] as const
