/** Queries of the mints and the redemptions of a reserve: all of them, or one. */
import { Effect, Schema } from "effect"
import * as Sight from "../../holders/holder/Sight.ts"
import type { Collection } from "../../kernel/Collection.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { ReserveId } from "../reserve/Reserve.ts"
import * as ReserveSight from "../reserve/ReserveSightLookups.ts"
import { releasesFor } from "./HeldOrderLookups.ts"
import { MintId, mints } from "./Mint.ts"
import { type Members, ReserveOrderMachine, settlementActs } from "./ReserveOrder.ts"
import * as ReserveOrderView from "./ReserveOrderView.ts"
import { ReserveRedemptionId, reserveRedemptions } from "./ReserveRedemption.ts"

const redeems = settlementActs["reserve-redemption"]

const params = Schema.Struct({
  reserveId: ReserveId,
  state: Schema.optionalKey(Schema.Array(ReserveOrderMachine.schema))
})
type Params = typeof params.Type

/** Members that the lists of both kinds share. */
const listed = {
  audience: ReserveSight.audience,
  pinned: true,
  params,
  direction: "asc",
  order: "by the instant they were recorded, then by id",
  changes: false,
  parent: ({ reserveId }: Params, asking: Read.ReadContext) =>
    Effect.asVoid(ReserveSight.reserveOf(reserveId, asking)),
  where: ({ reserveId, state }: Params) => ({
    reserveId: [reserveId],
    ...(state === undefined ? {} : { state })
  })
} as const

/** Loads an order; refuses `not-found` where it is of another reserve or the caller may not read it. */
const orderOf = Effect.fnUntraced(function* <R extends Members, F>(
  orders: Collection<R, F>,
  { reserveId, id }: { readonly reserveId: string; readonly id: string },
  asking: Read.ReadContext
) {
  const records = yield* Records
  const found = yield* records.get(orders, id, asking.pin)
  if (found.reserveId !== reserveId) {
    return yield* Effect.fail(refused("not-found", { detail: `There is no such ${orders.name}.` }))
  }
  yield* Sight.demand(asking, orders, found)
  return found
})

export const listMints = Read.list({
  ...listed,
  name: "reserves.mints",
  doc: "Lists the mints against a reserve.",
  route: "GET /v1/reserves/{reserveId}/mints",
  collection: mints,
  item: ReserveOrderView.MintView,
  view: (found, { pin }) =>
    Effect.map(releasesFor(found, { act: settlementActs.mint, pin }), (releaseOf) =>
      found.map((record) =>
        ReserveOrderView.mint(record, { offset: pin.offset, waitingOn: releaseOf(record) })
      )
    )
})

export const getMint = Read.one({
  name: "reserves.mint",
  doc: "A mint against a reserve.",
  route: "GET /v1/reserves/{reserveId}/mints/{mintId}",
  audience: ReserveSight.audience,
  pinned: true,
  params: Schema.Struct({ reserveId: ReserveId, mintId: MintId }),
  value: ReserveOrderView.MintView,
  refuses: ["not-found"],
  run: Effect.fn("reserves.mint")(function* ({ reserveId, mintId: id }, asking) {
    const found = yield* orderOf(mints, { reserveId, id }, asking)
    const { pin } = asking
    const releaseOf = yield* releasesFor([found], { act: settlementActs.mint, pin })
    return ReserveOrderView.mint(found, { offset: pin.offset, waitingOn: releaseOf(found) })
  })
})

export const listRedemptions = Read.list({
  ...listed,
  name: "reserves.redemptions",
  doc: "Lists the redemptions from a reserve.",
  route: "GET /v1/reserves/{reserveId}/redemptions",
  collection: reserveRedemptions,
  item: ReserveOrderView.ReserveRedemptionView,
  view: (found, { pin }) =>
    Effect.map(releasesFor(found, { act: redeems, pin }), (releaseOf) =>
      found.map((record) =>
        ReserveOrderView.redemption(record, { offset: pin.offset, waitingOn: releaseOf(record) })
      )
    )
})

const getRedemption = Read.one({
  name: "reserves.redemption",
  doc: "A redemption from a reserve.",
  route: "GET /v1/reserves/{reserveId}/redemptions/{reserveRedemptionId}",
  audience: ReserveSight.audience,
  pinned: true,
  params: Schema.Struct({ reserveId: ReserveId, reserveRedemptionId: ReserveRedemptionId }),
  value: ReserveOrderView.ReserveRedemptionView,
  refuses: ["not-found"],
  run: Effect.fn("reserves.redemption")(function* ({ reserveId, reserveRedemptionId: id }, asking) {
    const found = yield* orderOf(reserveRedemptions, { reserveId, id }, asking)
    const { pin } = asking
    const releaseOf = yield* releasesFor([found], { act: redeems, pin })
    return ReserveOrderView.redemption(found, { offset: pin.offset, waitingOn: releaseOf(found) })
  })
})

export const queries = [listMints, getMint, listRedemptions, getRedemption] as const
