/** Queries of holds: all of them, or one. */
import { Effect, Schema } from "effect"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { HoldSource } from "../../vocabulary/sets.ts"
import { HoldId, holds, HoldMachine } from "./Hold.ts"
import * as HoldView from "./HoldView.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all",
  app: "all",
  registrar: "near"
} as const satisfies Read.Audience

export const list = Read.list({
  name: "holds.list",
  doc: "Lists holds on instruments, open and released.",
  route: "GET /v1/holds",
  audience,
  pinned: true,
  collection: holds,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(HoldMachine.schema)),
    instrumentId: Schema.optionalKey(InstrumentId),
    source: Schema.optionalKey(Schema.Array(HoldSource.schema))
  }),
  item: HoldView.HoldView,
  direction: "asc",
  order: "by the instant they were recorded, then by id",
  changes: true,
  where: ({ state, instrumentId, source }) => ({
    ...(state === undefined ? {} : { state }),
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
    ...(source === undefined ? {} : { source })
  }),
  scope: Sight.scope,
  view: (found, { role }) => Effect.succeed(found.map((hold) => HoldView.ofRole(hold, role)))
})

const get = Read.one({
  name: "holds.get",
  doc: "A hold on an instrument.",
  route: "GET /v1/holds/{holdId}",
  audience,
  pinned: true,
  params: Schema.Struct({ holdId: HoldId }),
  value: HoldView.HoldView,
  refuses: ["not-found"],
  run: Effect.fn("holds.get")(function* ({ holdId }, asking) {
    const records = yield* Records
    const hold = yield* records.get(holds, holdId, asking.pin)
    // A hold on an instrument outside a registrar's scope is answered exactly as one that does not
    // exist.
    if (asking.sight === "near" && asking.caller.party !== hold.registrar) {
      return yield* Effect.fail(refused("not-found", { detail: `There is no such ${holds.name}.` }))
    }
    return HoldView.ofRole(hold, asking.role)
  })
})

export const queries = [list, get] as const
