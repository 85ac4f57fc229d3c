/** Queries of the admissions of a holder. */
import { Effect, Schema } from "effect"
import { HolderId } from "../holders/holder/HolderId.ts"
import { holders } from "../holders/holder/Holder.ts"
import { audience } from "../holders/holder/HolderQueries.ts"
import * as Sight from "../holders/holder/Sight.ts"
import * as Read from "../reads/Read.ts"
import { Records } from "../records/Records.ts"
import { admissions } from "./Admission.ts"
import * as AdmissionView from "./AdmissionView.ts"

export const list = Read.list({
  name: "holders.admissions",
  doc: "Lists the admissions of a holder, those that ended too.",
  route: "GET /v1/holders/{holderId}/admissions",
  audience,
  pinned: true,
  collection: admissions,
  params: Schema.Struct({ holderId: HolderId }),
  item: AdmissionView.AdmissionView,
  direction: "asc",
  order: "by the offset of the offer",
  changes: false,
  parent: Effect.fnUntraced(function* ({ holderId }, asking) {
    const records = yield* Records
    yield* Sight.demand(asking, holders, { holderId })
    yield* records.get(holders, holderId, asking.pin)
  }),
  where: ({ holderId }) => ({ holderId: [holderId] }),
  scope: Sight.scope,
  view: (found) => Effect.succeed(found.map(AdmissionView.of))
})

export const queries = [list] as const
