/** Queries of the sources of statements: all of them, or one. */
import { Effect, Schema } from "effect"
import * as Read from "../../reads/Read.ts"
import * as RecordView from "../../records/RecordView.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { SourceState, StatementKind } from "../../vocabulary/sets.ts"
import { ExternalSource, ExternalSourceId, externalSources } from "./ExternalSource.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all"
} as const satisfies Read.Audience

const shown = {
  ...ExternalSource.fields,
  // Stored sources may lack the member; every view has it.
  balances: Schema.Literals(["stated", "none"])
} as const

const ExternalSourceView = RecordView.schemaOf(shown, {
  identifier: "ExternalSourceView",
  description: "A source of statements: who sends what, in which form, for which days, by when."
})

const viewOf = (source: Stored<ExternalSource>): typeof ExternalSourceView.Type =>
  RecordView.of(externalSources, shown, source)

const list = Read.list({
  name: "external-sources.list",
  doc: "Lists the sources of statements that the configuration names or has named.",
  route: "GET /v1/external-sources",
  audience,
  pinned: true,
  collection: externalSources,
  params: Schema.Struct({
    kind: Schema.optionalKey(Schema.Array(StatementKind.schema)),
    state: Schema.optionalKey(Schema.Array(SourceState.schema))
  }),
  item: ExternalSourceView,
  direction: "asc",
  order: "by external source id",
  changes: false,
  acted: "never",
  where: ({ kind, state }) => ({
    ...(kind === undefined ? {} : { kind }),
    ...(state === undefined ? {} : { state })
  }),
  view: (found) => Effect.succeed(found.map(viewOf))
})

const get = Read.one({
  name: "external-sources.get",
  doc: "A source of statements, with the newest business date that it has stated.",
  route: "GET /v1/external-sources/{externalSourceId}",
  audience,
  pinned: true,
  params: Schema.Struct({ externalSourceId: ExternalSourceId }),
  value: ExternalSourceView,
  refuses: ["not-found"],
  run: Effect.fn("external-sources.get")(function* ({ externalSourceId }, { pin }) {
    const records = yield* Records
    return viewOf(yield* records.get(externalSources, externalSourceId, pin))
  })
})

export const queries = [list, get] as const
