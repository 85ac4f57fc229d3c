/** Queries of the amendments of a reserve: all of them, or one. */
import { Effect, Schema } from "effect"
import * as Sight from "../../holders/holder/Sight.ts"
import * as Read from "../../reads/Read.ts"
import { ReserveId } from "../reserve/Reserve.ts"
import * as ReserveSight from "../reserve/ReserveSightLookups.ts"
import { AmendmentId, amendments, AmendmentMachine } from "./Amendment.ts"
import * as AmendmentView from "./AmendmentView.ts"

export const list = Read.list({
  name: "reserves.amendments",
  doc: "Lists the amendments of a reserve's terms, newest first.",
  route: "GET /v1/reserves/{reserveId}/amendments",
  audience: ReserveSight.audience,
  pinned: true,
  collection: amendments,
  params: Schema.Struct({
    reserveId: ReserveId,
    state: Schema.optionalKey(Schema.Array(AmendmentMachine.schema))
  }),
  item: AmendmentView.AmendmentView,
  direction: "desc",
  order: "newest first",
  changes: false,
  parent: ({ reserveId }, asking) => Effect.asVoid(ReserveSight.reserveOf(reserveId, asking)),
  where: ({ reserveId, state }) => ({
    reserveId: [reserveId],
    ...(state === undefined ? {} : { state })
  }),
  scope: Sight.scope,
  view: (found) => Effect.succeed(found.map(AmendmentView.of))
})

export const get = Read.one({
  name: "reserves.amendment",
  doc: "An amendment of a reserve's terms.",
  route: "GET /v1/reserves/{reserveId}/amendments/{amendmentId}",
  audience: ReserveSight.audience,
  pinned: true,
  params: Schema.Struct({ reserveId: ReserveId, amendmentId: AmendmentId }),
  value: AmendmentView.AmendmentView,
  refuses: ["not-found"],
  run: Effect.fn("reserves.amendment")(function* ({ reserveId, amendmentId }, asking) {
    const ids = { reserveId, id: amendmentId }
    return AmendmentView.of(yield* ReserveSight.ofReserve(amendments, ids, asking))
  })
})

export const queries = [list, get] as const
