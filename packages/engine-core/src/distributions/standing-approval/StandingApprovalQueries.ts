/** Queries of standing approvals: all of them, or one. */
import { Effect, Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { StandingApprovalId, standingApprovals, StandingApprovalState } from "./StandingApproval.ts"
import * as StandingApprovalView from "./StandingApprovalView.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all"
} as const satisfies Read.Audience

export const list = Read.list({
  name: "standing-approvals.list",
  doc: "Lists standing approvals of distributions, in force and ended.",
  route: "GET /v1/standing-approvals",
  audience,
  pinned: true,
  collection: standingApprovals,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(StandingApprovalState.schema)),
    instrumentId: Schema.optionalKey(InstrumentId)
  }),
  item: StandingApprovalView.StandingApprovalView,
  direction: "asc",
  order: "by id",
  changes: false,
  where: ({ state, instrumentId }) => ({
    ...(state === undefined ? {} : { state }),
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] })
  }),
  view: (found) => Effect.succeed(found.map(StandingApprovalView.of))
})

export const get = Read.one({
  name: "standing-approvals.get",
  doc: "A standing approval of distributions.",
  route: "GET /v1/standing-approvals/{standingApprovalId}",
  audience,
  pinned: true,
  params: Schema.Struct({ standingApprovalId: StandingApprovalId }),
  value: StandingApprovalView.StandingApprovalView,
  refuses: ["not-found"],
  run: Effect.fn("standing-approvals.get")(function* ({ standingApprovalId }, asking) {
    const records = yield* Records
    const self = yield* records.get(standingApprovals, standingApprovalId, asking.pin)
    return StandingApprovalView.of(self)
  })
})

export const queries = [list, get] as const
