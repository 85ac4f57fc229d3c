/** Queries of external accounts, with masked numbers. */
import { Effect, Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Read from "../../reads/Read.ts"
import { HolderId } from "../holder/HolderId.ts"
import { externalAccounts, ExternalAccountView, AccountKind, view } from "./ExternalAccount.ts"

const list = Read.list({
  name: "external-accounts.list",
  doc: "Lists the accounts at banks and custodians that the venue has mapped.",
  route: "GET /v1/external-accounts",
  audience: { operator: "all", approver: "all", auditor: "all" },
  pinned: true,
  collection: externalAccounts,
  params: Schema.Struct({
    kind: Schema.optionalKey(Schema.Array(AccountKind)),
    holderId: Schema.optionalKey(Schema.Array(HolderId)),
    instrumentId: Schema.optionalKey(Schema.Array(InstrumentId))
  }),
  item: ExternalAccountView,
  direction: "asc",
  order: "by external account id",
  changes: false,
  where: ({ kind, holderId, instrumentId }) => ({
    ...(kind === undefined ? {} : { kind }),
    ...(holderId === undefined ? {} : { holderId }),
    ...(instrumentId === undefined ? {} : { instrumentId })
  }),
  view: (found) => Effect.succeed(found.map(view))
})

export const queries = [list] as const
