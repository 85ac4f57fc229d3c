/** Queries of holders: all of them, or one. */
import { Effect, Schema } from "effect"
import { isConcealedFrom } from "../../writes/Concealment.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Read from "../../reads/Read.ts"
import { type Holder, holders, HolderMachine } from "./Holder.ts"
import { HolderId } from "./HolderId.ts"
import * as HolderView from "./HolderView.ts"
import * as Sight from "./Sight.ts"

/** Roles that read holders and their admissions, movements and portfolios. */
export const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all",
  app: "all",
  investor: "own"
} as const satisfies Read.Audience

/** View by role: screening is concealed from apps and investors. */
const shown = (holder: Stored<Holder>, { role }: Read.ReadContext) =>
  isConcealedFrom(role) ? HolderView.ofOwn(holder) : HolderView.of(holder)

export const list = Read.list({
  name: "holders.list",
  doc: "Lists the holders of this venue.",
  route: "GET /v1/holders",
  audience,
  pinned: true,
  collection: holders,
  params: Schema.Struct({ state: Schema.optionalKey(Schema.Array(HolderMachine.schema)) }),
  item: HolderView.HolderView,
  direction: "asc",
  order: "by holder id",
  changes: false,
  where: ({ state }) => (state === undefined ? {} : { state }),
  scope: Sight.scope,
  view: (records, asking) => Effect.succeed(records.map((record) => shown(record, asking)))
})

export const get = Read.one({
  name: "holders.get",
  doc: "A holder of this venue.",
  route: "GET /v1/holders/{holderId}",
  audience,
  pinned: true,
  params: Schema.Struct({ holderId: HolderId }),
  value: HolderView.HolderView,
  refuses: ["not-found"],
  run: Effect.fn("holders.get")(function* ({ holderId }, asking) {
    const records = yield* Records
    // A holder outside the caller's scope is answered as one that does not exist.
    yield* Sight.demand(asking, holders, { holderId })
    return shown(yield* records.get(holders, holderId, asking.pin), asking)
  })
})

export const queries = [list, get] as const
