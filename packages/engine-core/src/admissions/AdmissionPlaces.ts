/** Reservations under the holder cap by offers that are not on the ledger yet. */
import { Schema } from "effect"
import * as Collection from "../kernel/Collection.ts"

/** A place, and the operation that would fill it. */
const Place = Schema.Struct({ admissionId: Schema.String, operationId: Schema.String })
export type Place = typeof Place.Type

export const AdmissionPlaces = Schema.Struct({
  instrumentId: Schema.String,
  reserved: Schema.Array(Place)
})
export type AdmissionPlaces = typeof AdmissionPlaces.Type

const Reserve = Schema.Struct({
  on: Schema.Literal("reserve"),
  /** All remaining reservations, without those that were used or failed. */
  reserved: Schema.Array(Place)
})

/** Largest number of offers of one instrument that are under way at a time. */
export const placesMax = 500

/**
 * An offer counts from the moment it is planned, not from the moment the ledger shows it: two offers
 * that are judged at the same time never share the last place. There is one record an instrument, so
 * that whoever plans second sees what the first reserved, or is judged anew.
 */
export const admissionPlaces = Collection.define<AdmissionPlaces, typeof Reserve.Type>(
  "admission-places",
  {
    doc: "Places under an instrument's holder cap that offers under way have taken.",
    id: ({ instrumentId }) => instrumentId,
    record: AdmissionPlaces,
    fact: Reserve,
    evolve: (self, { reserved }) => ({ ...self, reserved }),
    keptBy: "engine",
    invariants: {
      "a place is reserved once": ({ reserved }) =>
        new Set(reserved.map(({ admissionId }) => admissionId)).size === reserved.length
    }
  }
)
