/** Queries of movements of units: of an instrument, and of a holder. */
import { Effect, Option, Schema } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { holders } from "../../holders/holder/Holder.ts"
import { audience as ofHolders } from "../../holders/holder/HolderQueries.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import type { Collection } from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Export from "../../reads/Export.ts"
import * as Read from "../../reads/Read.ts"
import * as RecordView from "../../records/RecordView.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { MovementKind } from "../../vocabulary/sets.ts"
import { InstrumentId, instruments } from "../../instruments/instrument/Instrument.ts"
import { instrumentInSight } from "../../instruments/instrument/InstrumentLookups.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { movements, partyMovements, View } from "../../instruments/register/Movement.ts"
import { ofRegister } from "./RegisterQueries.ts"

export const MovementView = RecordView.schemaOf(View.fields, {
  identifier: "MovementView",
  description:
    "A movement of units. balanceAfter is the instrument's supply among its instrument's movements, and what the holder has of the instrument among a holder's. The units of a rebasing instrument are base units, which no new index moves."
})

/** Table of movements: a cell for each member, that of the reference its JSON text. */
const table = Export.of({
  row: MovementView,
  rows: (found: ReadonlyArray<typeof MovementView.Type>) => found,
  nested: ["reference", "waitingOn"]
})

const filterParams = {
  kind: Schema.optionalKey(Schema.Array(MovementKind.schema)),
  /** At this instant or later, by the ledger's time. */
  from: Schema.optionalKey(Instant.schema),
  /** Before this instant. */
  to: Schema.optionalKey(Instant.schema),
  ...Export.parameters
} as const

interface TimeRange {
  readonly from?: Instant.Instant
  readonly to?: Instant.Instant
}

const between = ({ from, to }: TimeRange): Read.Ranges =>
  from === undefined && to === undefined
    ? {}
    : {
        at: {
          ...(from === undefined ? {} : { from: Instant.sortable(from) }),
          ...(to === undefined ? {} : { to: Instant.sortable(to) })
        }
      }

const viewOf =
  <R extends typeof View.Type, F>(collection: Collection<R, F>) =>
  (movement: Stored<R>): typeof MovementView.Type =>
    RecordView.of(collection, View.fields, movement)

export const ofInstrument = Read.list({
  name: "instruments.movements",
  doc: "Lists the movements of an instrument's units, each with the supply it left.",
  route: "GET /v1/instruments/{instrumentId}/movements",
  audience: ofRegister,
  audited: { resourceKind: "instrument", named: "instrumentId", only: "csv" },
  pinned: true,
  collection: movements,
  params: Schema.Struct({ instrumentId: InstrumentId, ...filterParams }),
  item: MovementView,
  csv: table,
  direction: "asc",
  order: "by offset",
  changes: false,
  acted: "never",
  parent: ({ instrumentId }, asking) => Effect.asVoid(instrumentInSight(instrumentId, asking)),
  where: ({ instrumentId, kind }) => ({
    instrumentId: [instrumentId],
    ...(kind === undefined ? {} : { kind })
  }),
  ranges: (params) => between(params),
  // Instruments of other registrars with the same id are left out.
  narrow: Effect.fnUntraced(function* ({ instrumentId }, { pin }) {
    const records = yield* Records
    const instrument = yield* records.find(instruments, instrumentId, pin)
    return { asset: Option.isNone(instrument) ? [] : [assetKeyOf(instrument.value)] }
  }),
  view: (found) => Effect.succeed(found.map(viewOf(movements)))
})

export const ofHolder = Read.list({
  name: "holders.movements",
  doc: "Lists the movements of a holder's units, each with what it left the holder of the instrument.",
  route: "GET /v1/holders/{holderId}/movements",
  audience: ofHolders,
  audited: { resourceKind: "holder", named: "holderId", only: "csv" },
  pinned: true,
  collection: partyMovements,
  params: Schema.Struct({
    holderId: HolderId,
    instrumentId: Schema.optionalKey(InstrumentId),
    ...filterParams
  }),
  item: MovementView,
  csv: table,
  direction: "asc",
  order: "by offset",
  changes: false,
  acted: "never",
  parent: Effect.fnUntraced(function* ({ holderId }, asking) {
    const records = yield* Records
    yield* Sight.demand(asking, holders, { holderId })
    yield* records.get(holders, holderId, asking.pin)
  }),
  where: ({ instrumentId, kind }) => ({
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
    ...(kind === undefined ? {} : { kind })
  }),
  ranges: (params) => between(params),
  // Movements are stored by party; `parent` has checked the caller's scope.
  scope: Effect.fnUntraced(function* (_, { holderId }) {
    const records = yield* Records
    const holder = yield* records.find(holders, holderId)
    return { party: Option.isNone(holder) ? [] : [holder.value.party] }
  }),
  view: (found) => Effect.succeed(found.map(viewOf(partyMovements)))
})

export const queries = [ofInstrument, ofHolder] as const
