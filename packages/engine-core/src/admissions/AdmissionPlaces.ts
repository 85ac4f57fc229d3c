/** Record of the reservations under an instrument's holder cap, by offers not on the ledger yet. */
import { Schema } from "effect"
import * as Collection from "../kernel/Collection.ts"

/** One reservation: the admission to be offered, and its operation. */
const AdmissionPlace = Schema.Struct({ admissionId: Schema.String, operationId: Schema.String })
export type AdmissionPlace = typeof AdmissionPlace.Type

export const AdmissionPlaces = Schema.Struct({
  instrumentId: Schema.String,
  reserved: Schema.Array(AdmissionPlace)
})
export type AdmissionPlaces = typeof AdmissionPlaces.Type

const Reserve = Schema.Struct({
  on: Schema.Literal("reserve"),
  /** The whole list of reservations, without those used or failed. */
  reserved: Schema.Array(AdmissionPlace)
})

/** Largest number of reservations of one instrument at a time. */
export const placesMax = 500

/**
 * Lock by version: an offer counts from its planning on, not from its commit on the ledger, so that
 * two offers judged at the same time never share the last place. There is one record for each
 * instrument: the second to plan reads the first one's reservation, or conflicts with it and is
 * judged again.
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
