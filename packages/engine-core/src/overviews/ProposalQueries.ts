/** Read of proposals: ledger contracts that wait for a party's consent. */
import { Effect, Schema, Struct } from "effect"
import * as OrderList from "../orders/order/OrderList.ts"
import * as Read from "../reads/Read.ts"
import * as RecordView from "../records/RecordView.ts"
import { ProposalKind } from "../vocabulary/sets.ts"
import * as OpenOrder from "../orders/order/OpenOrder.ts"
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
  // Public because the list is filtered by these two.
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
  audience: OrderList.audience,
  pinned: true,
  collection: proposals,
  params: Schema.Struct({
    kind: Schema.optionalKey(Schema.Array(ProposalKind.schema)),
    ...OrderList.params
  }),
  item: ProposalView,
  direction: "asc",
  order: "by the instant they were made, then by id",
  changes: false,
  where: ({ kind = ProposalKind.members, ...filters }) => ({
    live: kind,
    ...OrderList.columns(filters)
  }),
  judged: (judgedAt) => ({ until: OpenOrder.stillOpenAt(judgedAt) }),
  scope: OrderList.scope,
  view: (records) =>
    Effect.succeed(records.map((record) => RecordView.of(proposals, shown, record)))
})

export const queries = [list] as const
