/** Reads of redemptions: all of them, or one. */
import { Effect, Schema } from "effect"
import { HolderId } from "../../holders/holder/Holder.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { RedemptionId, redemptions } from "./Redemption.ts"
import { RedemptionMachine } from "./RedemptionMachine.ts"
import * as RedemptionView from "./RedemptionView.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all",
  app: "all",
  investor: "own",
  registrar: "near"
} as const satisfies Read.Audience

export const list = Read.list({
  name: "redemptions.list",
  doc: "Lists redemptions.",
  route: "GET /v1/redemptions",
  audience,
  pinned: true,
  collection: redemptions,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(RedemptionMachine.schema)),
    instrumentId: Schema.optionalKey(InstrumentId),
    holderId: Schema.optionalKey(HolderId)
  }),
  item: RedemptionView.RedemptionView,
  direction: "asc",
  order: "by the instant they were recorded, then by id",
  changes: true,
  where: ({ state, instrumentId, holderId }) => ({
    ...(state === undefined ? {} : { state }),
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
    ...(holderId === undefined ? {} : { holderId: [holderId] })
  }),
  scope: (asking, { holderId }) =>
    Sight.scopeNaming(asking, holderId === undefined ? undefined : [holderId]),
  view: (records, { pin }) =>
    Effect.succeed(records.map((record) => RedemptionView.of(record, pin.judgedAt, pin.offset)))
})

export const get = Read.one({
  name: "redemptions.get",
  doc: "A redemption.",
  route: "GET /v1/redemptions/{redemptionId}",
  audience,
  pinned: true,
  params: Schema.Struct({ redemptionId: RedemptionId }),
  value: RedemptionView.RedemptionView,
  refuses: ["not-found"],
  run: Effect.fn("redemptions.get")(function* ({ redemptionId }, asking) {
    const records = yield* Records
    const record = yield* records.get(redemptions, redemptionId, asking.pin)
    yield* Sight.demand(asking, redemptions, record)
    return RedemptionView.of(record, asking.pin.judgedAt, asking.pin.offset)
  })
})

export const reads = [list, get] as const
