/** Reads of subscriptions: all of them, or one. */
import { Effect, Schema } from "effect"
import { HolderId } from "../../holders/holder/Holder.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { SubscriptionId, subscriptions } from "./Subscription.ts"
import { SubscriptionMachine } from "./SubscriptionMachine.ts"
import * as SubscriptionView from "./SubscriptionView.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all",
  app: "all",
  investor: "own",
  registrar: "near"
} as const satisfies Read.Audience

export const list = Read.list({
  name: "subscriptions.list",
  doc: "Lists subscriptions.",
  route: "GET /v1/subscriptions",
  audience,
  pinned: true,
  collection: subscriptions,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(SubscriptionMachine.schema)),
    instrumentId: Schema.optionalKey(InstrumentId),
    holderId: Schema.optionalKey(HolderId)
  }),
  item: SubscriptionView.SubscriptionView,
  direction: "asc",
  order: "by the instant they were recorded, then by id",
  changes: true,
  where: ({ state, instrumentId, holderId }) => ({
    ...(state === undefined ? {} : { state }),
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
    ...(holderId === undefined ? {} : { holderId: [holderId] })
  }),
  scope: (asking, { holderId }) =>
    Sight.scopeNaming(asking, holderId === undefined ? undefined : [holderId]),
  view: (records, { pin }) =>
    Effect.succeed(records.map((record) => SubscriptionView.of(record, pin.judgedAt, pin.offset)))
})

export const get = Read.one({
  name: "subscriptions.get",
  doc: "A subscription.",
  route: "GET /v1/subscriptions/{subscriptionId}",
  audience,
  pinned: true,
  params: Schema.Struct({ subscriptionId: SubscriptionId }),
  value: SubscriptionView.SubscriptionView,
  refuses: ["not-found"],
  run: Effect.fn("subscriptions.get")(function* ({ subscriptionId }, asking) {
    const records = yield* Records
    const record = yield* records.get(subscriptions, subscriptionId, asking.pin)
    yield* Sight.demand(asking, subscriptions, record)
    return SubscriptionView.of(record, asking.pin.judgedAt, asking.pin.offset)
  })
})

export const reads = [list, get] as const
