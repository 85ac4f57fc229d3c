/** Queries of restrictions: the list, and one by id. */
import { Effect, Schema } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import * as sets from "../../vocabulary/sets.ts"
import { RestrictionId, restrictions, RestrictionMachine } from "./Restriction.ts"
import * as RestrictionView from "./RestrictionView.ts"

/** Roles that read restrictions (docs/domain/restraints.md#readers-of-restrictions). */
const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all"
} as const

const list = Read.list({
  name: "restrictions.list",
  doc: "Lists restrictions of holders; by an instrument, those that name it.",
  route: "GET /v1/restrictions",
  audience,
  pinned: true,
  collection: restrictions,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(RestrictionMachine.schema)),
    holderId: Schema.optionalKey(HolderId),
    instrumentId: Schema.optionalKey(InstrumentId),
    mode: Schema.optionalKey(Schema.Array(sets.RestrictionMode.schema)),
    reason: Schema.optionalKey(Schema.Array(sets.RestrictionReason.schema))
  }),
  item: RestrictionView.RestrictionView,
  direction: "asc",
  order: "by the instant they were recorded, then by id",
  changes: true,
  where: ({ state, holderId, instrumentId, mode, reason }) => ({
    ...(state === undefined ? {} : { state }),
    ...(holderId === undefined ? {} : { holderId: [holderId] }),
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
    ...(mode === undefined ? {} : { mode }),
    ...(reason === undefined ? {} : { reason })
  }),
  view: (records) => Effect.succeed(records.map((record) => RestrictionView.of(record)))
})

const get = Read.one({
  name: "restrictions.get",
  doc: "A restriction of a holder.",
  route: "GET /v1/restrictions/{restrictionId}",
  audience,
  pinned: true,
  params: Schema.Struct({ restrictionId: RestrictionId }),
  value: RestrictionView.RestrictionView,
  refuses: ["not-found"],
  run: Effect.fn("restrictions.get")(function* ({ restrictionId }, { pin }) {
    const records = yield* Records
    return RestrictionView.of(yield* records.get(restrictions, restrictionId, pin))
  })
})

export const queries = [list, get] as const
