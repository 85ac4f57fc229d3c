/** Queries of reserves: the list, and one, also at supposed prices. */
import { Effect, Schema } from "effect"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Counterfactual from "../../instruments/policy/Counterfactual.ts"
import { versionAsked } from "../../orders/order/SuppositionLookups.ts"
import * as Read from "../../reads/Read.ts"
import { ReserveId, reserves, ReserveMachine } from "./Reserve.ts"
import { loadedOf, loadedOfAll } from "./ReserveLookups.ts"
import { audience, reserveOf } from "./ReserveSightLookups.ts"
import * as ReserveView from "./ReserveView.ts"
import * as SupposedPrices from "./SupposedPrices.ts"

const list = Read.list({
  name: "reserves.list",
  doc: "Lists reserves with their figures at the point of the read.",
  route: "GET /v1/reserves",
  audience,
  pinned: true,
  collection: reserves,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(ReserveMachine.schema)),
    instrumentId: Schema.optionalKey(InstrumentId)
  }),
  item: ReserveView.ReserveView,
  direction: "asc",
  order: "by id",
  changes: false,
  where: ({ state, instrumentId }) => ({
    ...(state === undefined ? {} : { state }),
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] })
  }),
  scope: (who) => Sight.scope(who),
  view: Effect.fnUntraced(function* (records, { pin }) {
    const loaded = yield* loadedOfAll(records, { at: pin.judgedAt, pin })
    return records.map((record, index) => {
      const figures = loaded[index]
      if (figures === undefined) throw new Error("a reserve has figures")
      return ReserveView.of(record, figures, pin.offset)
    })
  })
})

export const get = Read.one({
  name: "reserves.get",
  doc: "A reserve with its figures and the basis of each; with prices of its assets, what they would be under those.",
  route: "GET /v1/reserves/{reserveId}",
  audience,
  pinned: true,
  params: Schema.Struct({
    reserveId: ReserveId,
    policyVersion: Counterfactual.fields.policyVersion,
    price: Schema.optionalKey(SupposedPrices.schema)
  }),
  value: ReserveView.ReserveView,
  refuses: ["not-found", "invalid-request"],
  run: Effect.fn("reserves.get")(function* ({ policyVersion, price = [], reserveId }, asking) {
    const { pin } = asking
    const record = yield* reserveOf(reserveId, asking)
    // No term of a policy moves a figure of a reserve, whose own terms are on the ledger.
    if (policyVersion !== undefined) {
      yield* versionAsked(Schema.decodeSync(InstrumentId)(record.instrumentId), policyVersion)
    }
    const loaded = yield* loadedOf(record, { at: pin.judgedAt, pin })
    const supposed = yield* Effect.fromResult(SupposedPrices.supposing(loaded, price))
    return ReserveView.of(record, supposed, pin.offset)
  })
})

export const queries = [list, get] as const
