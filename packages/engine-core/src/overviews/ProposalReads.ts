/** Reads of proposals: ledger contracts that wait for a party's consent. */
import { Effect, Schema, Struct } from "effect"
import { HolderId } from "../holders/holder/Holder.ts"
import * as Sight from "../holders/holder/Sight.ts"
import { InstrumentId } from "../instruments/instrument/Instrument.ts"
import * as Read from "../reads/Read.ts"
import * as RecordView from "../records/RecordView.ts"
import { ProposalKind } from "../vocabulary/sets.ts"
import * as OpenOrder from "../orders/OpenOrder.ts"
import { Proposal, proposals } from "../orders/proposal/Proposal.ts"

const shown = Struct.pick(Proposal.fields, [
  "proposalId",
  "kind",
  "from",
  "awaiting",
  "cid",
  "at",
  "expiresAt",
  "resource",
  // The list is filtered by these two.
  "instrumentId",
  "holderId"
])

export const ProposalView = RecordView.schemaOf(shown, {
  identifier: "ProposalView",
  description: "A ledger contract that waits for a party's consent, and the party."
})
export type ProposalView = typeof ProposalView.Type

export const list = Read.list({
  name: "proposals.list",
  doc: "Lists the proposals on the ledger that wait for a party's consent.",
  route: "GET /v1/proposals",
  audience: {
    operator: "all",
    approver: "all",
    risk: "all",
    compliance: "all",
    auditor: "all",
    app: "all",
    investor: "own",
    registrar: "near"
  },
  pinned: true,
  collection: proposals,
  params: Schema.Struct({
    kind: Schema.optionalKey(Schema.Array(ProposalKind.schema)),
    instrumentId: Schema.optionalKey(InstrumentId),
    holderId: Schema.optionalKey(HolderId)
  }),
  item: ProposalView,
  direction: "asc",
  order: "by the instant they were made, then by id",
  changes: false,
  where: ({ kind = ProposalKind.members, instrumentId, holderId }) => ({
    live: kind,
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
    ...(holderId === undefined ? {} : { holderId: [holderId] })
  }),
  judged: (judgedAt) => ({ until: OpenOrder.stillOpenAt(judgedAt) }),
  scope: (asking, { holderId }) =>
    Sight.scopeNaming(asking, holderId === undefined ? undefined : [holderId]),
  view: (records) =>
    Effect.succeed(records.map((record) => RecordView.of(proposals, shown, record)))
})

export const reads = [list] as const
