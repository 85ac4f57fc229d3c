/** View of an admission, in its list and in the results of its operations. */
import { Struct } from "effect"
import * as RecordView from "../records/RecordView.ts"
import type { Stored } from "../records/Records.ts"
import { Admission, admissions } from "./Admission.ts"

const shown = Struct.pick(Admission.fields, [
  // A holder may be admitted to an instrument several times: only this id is unique.
  "admissionId",
  "holderId",
  "instrumentId",
  "state",
  "offeredAt",
  // Public because the caller who offers an admission names these two.
  "expiresAt",
  "validFrom",
  "admittedAt",
  "validUntil",
  "offerCid",
  "credentialCid",
  "endedBy"
])

export const AdmissionView = RecordView.schemaOf(shown, {
  identifier: "AdmissionView",
  description: "One holder's admission to one instrument."
})
export type AdmissionView = typeof AdmissionView.Type

export const of = (admission: Stored<Admission>): AdmissionView =>
  RecordView.of(admissions, shown, admission)
