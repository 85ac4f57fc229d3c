/** Queries of redemptions: the list, and one by its id. */
import { Effect, Schema } from "effect"
import * as OrderList from "../order/OrderList.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { RedemptionId, redemptions, RedemptionMachine } from "./Redemption.ts"
import * as RedemptionView from "./RedemptionView.ts"

export const list = Read.list({
  name: "redemptions.list",
  doc: "Lists redemptions.",
  route: "GET /v1/redemptions",
  audience: OrderList.audience,
  pinned: true,
  collection: redemptions,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(RedemptionMachine.schema)),
    ...OrderList.params
  }),
  item: RedemptionView.RedemptionView,
  direction: "asc",
  order: "by the instant they were recorded, then by id",
  changes: true,
  where: ({ state, ...params }) => ({
    ...(state === undefined ? {} : { state }),
    ...OrderList.columns(params)
  }),
  scope: OrderList.scope,
  view: (records, { pin }) =>
    Effect.succeed(records.map((record) => RedemptionView.of(record, pin.judgedAt, pin.offset)))
})

export const get = Read.one({
  name: "redemptions.get",
  doc: "A redemption.",
  route: "GET /v1/redemptions/{redemptionId}",
  audience: OrderList.audience,
  pinned: true,
  params: Schema.Struct({ redemptionId: RedemptionId }),
  value: RedemptionView.RedemptionView,
  refuses: ["not-found"],
  run: Effect.fn("redemptions.get")(function* ({ redemptionId }, asking) {
    const records = yield* Records
    const record = yield* records.get(redemptions, redemptionId, asking.pin)
    yield* Sight.demand(asking, redemptions, record)
    return RedemptionView.of(record, asking.pin.judgedAt, asking.pin.offset)
  })
})

export const queries = [list, get] as const
