/** Queries of statements: all of them, one with its lines and the text of its file, or its lines in pages. */
import { Effect, Schema, Stream } from "effect"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Base64 from "../../kernel/Base64.ts"
import * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { Blobs } from "../../ports/storage/Blobs.ts"
import type { Bulk } from "../../ports/storage/Bulk.ts"
import * as Read from "../../reads/Read.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { ExternalSourceId } from "../../statements/external-source/ExternalSource.ts"
import {
  type ExternalStatement,
  ExternalStatementId,
  externalStatements,
  fileIdOf
} from "../../statements/external-statement/ExternalStatement.ts"
import * as LineRows from "../../statements/external-statement/LineRows.ts"
import { bytesOf } from "../../statements/external-statement/StageSteps.ts"
import * as StatementView from "../../statements/external-statement/StatementView.ts"
import * as sets from "../../vocabulary/sets.ts"
import * as Lines from "./StatementLineLookups.ts"
import { StatementLineView, statementLines } from "./StatementLineViews.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all"
} as const satisfies Read.Audience

const list = Read.list({
  name: "external-statements.list",
  doc: "Lists the statements that sources have sent, corrected ones among them. Its offset is 0, as that of one statement: no offset of the ledger dates them.",
  route: "GET /v1/external-statements",
  audience,
  pinned: true,
  dated: "never",
  collection: externalStatements,
  params: Schema.Struct({
    kind: Schema.optionalKey(Schema.Array(sets.StatementKind.schema)),
    externalSourceId: Schema.optionalKey(Schema.Array(ExternalSourceId)),
    instrumentId: Schema.optionalKey(Schema.Array(InstrumentId)),
    /** First business date. */
    from: Schema.optionalKey(Date.schema),
    /** Business date before which the list ends. */
    to: Schema.optionalKey(Date.schema)
  }),
  item: StatementView.StatementView,
  direction: "asc",
  order: "by business date, then by place in the day, then by receipt",
  changes: false,
  acted: "never",
  where: ({ externalSourceId, instrumentId, kind }) => ({
    ...(kind === undefined ? {} : { kind }),
    ...(externalSourceId === undefined ? {} : { externalSourceId }),
    ...(instrumentId === undefined ? {} : { instrumentId })
  }),
  ranges: ({ from, to }) =>
    from === undefined && to === undefined
      ? {}
      : {
          businessDate: {
            ...(from === undefined ? {} : { from }),
            ...(to === undefined ? {} : { to })
          }
        },
  view: (found) => Effect.succeed(found.map(StatementView.of))
})

/** Streams the bytes of a statement's file as text: as they are where they are UTF-8, else base64. */
const rawOf = (statement: Stored<ExternalStatement>) => {
  const bytes = bytesOf({ stageId: fileIdOf(statement), size: statement.rawBytes })
  return statement.rawEncoding === "utf-8" ? asText(bytes) : asBase64(bytes)
}

const asText = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
    return bytes.pipe(Stream.map((chunk) => decoder.decode(chunk, { stream: true })))
  })

/** Bytes of one group of base64. */
const groupBytes = 3

const asBase64 = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    let rest = new Uint8Array()
    const whole = bytes.pipe(
      Stream.map((chunk) => {
        const all = new Uint8Array(rest.length + chunk.length)
        all.set(rest)
        all.set(chunk, rest.length)
        const end = all.length - (all.length % groupBytes)
        rest = all.slice(end)
        return Base64.encode(all.subarray(0, end))
      })
    )
    return Stream.concat(
      whole,
      Stream.suspend(() => Stream.succeed(Base64.encode(rest)))
    )
  })

type Services = Records | Bulk | Blobs | Crypto

export const get = Read.streamed({
  name: "external-statements.get",
  doc: "A statement with its lines, and its file as it came. Its offset is 0: no offset of the ledger dates it.",
  route: "GET /v1/external-statements/{externalStatementId}",
  audience,
  audited: { resourceKind: "external-statement", named: "externalStatementId" },
  pinned: false,
  params: Schema.Struct({ externalStatementId: ExternalStatementId }),
  value: Schema.Struct({
    statement: StatementView.StatementView,
    /** Null: retention has deleted them; a statement without lines has an empty array. */
    lines: Schema.NullOr(Schema.Array(StatementLineView)),
    /**
     * The bytes as text: themselves where they are UTF-8, else in base64 (`rawEncoding`); null:
     * retention has deleted them.
     */
    raw: Schema.NullOr(Schema.String)
  }).annotate({
    identifier: "ExternalStatementFile",
    description: "A statement with its lines, and its file as it came."
  }),
  refuses: ["not-found"],
  recordIn: "statement",
  record: StatementView.StatementView,
  rowsIn: "lines",
  row: StatementLineView,
  textIn: "raw",
  run: Effect.fn("external-statements.get")(function* ({ externalStatementId }) {
    const records = yield* Records
    const context = yield* Effect.context<Services>()
    const statement = yield* records.get(externalStatements, externalStatementId)
    const record = StatementView.of(statement)
    if (statement.prunedAt !== undefined) return { record, rows: null, text: null }
    return {
      record,
      rows: Stream.provideContext(Lines.rowsOf(statement), context),
      text: Stream.provideContext(rawOf(statement), context)
    }
  })
})

const LineParams = Schema.Struct({
  externalStatementId: ExternalStatementId,
  match: Schema.optionalKey(Schema.Array(sets.CashMatch.schema)),
  direction: Schema.optionalKey(sets.CashDirection.schema),
  /** The whole reference of the bank, or of the payer. */
  reference: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1)))
})

export const lines = Read.list({
  name: "external-statements.lines",
  doc: "Lists the lines of a statement, page by page, without its file. The filters name what booked entries alone have: lines of another kind pass none of them. Its offset is 0: no offset of the ledger dates a statement.",
  route: "GET /v1/external-statements/{externalStatementId}/lines",
  audience,
  audited: { resourceKind: "external-statement", named: "externalStatementId" },
  pinned: true,
  dated: "never",
  collection: statementLines,
  params: LineParams,
  item: StatementLineView,
  direction: "asc",
  order: "by number, which is the order of the file",
  changes: false,
  acted: "never",
  parent: Effect.fnUntraced(function* ({ externalStatementId }, { pin }) {
    const records = yield* Records
    yield* records.get(externalStatements, externalStatementId, pin)
    // Deleted rows are no answer for any pin, also for one at which they were there.
    const { prunedAt } = yield* records.get(externalStatements, externalStatementId)
    if (prunedAt === undefined) return
    return yield* Effect.fail(
      refused("not-found", {
        detail: `The lines of ${externalStatementId} were deleted at ${Instant.format(prunedAt)}; its record shows prunedAt.`
      })
    )
  }),
  // They bind the cursor alone.
  where: ({ externalStatementId, direction, match, reference }) => ({
    externalStatementId: [externalStatementId],
    ...(match === undefined ? {} : { match }),
    ...(direction === undefined ? {} : { direction: [direction] }),
    ...(reference === undefined ? {} : { reference: [reference] })
  }),
  rows: Effect.fnUntraced(function* (
    { after, limit },
    { pin },
    { externalStatementId, ...filter }
  ) {
    const records = yield* Records
    const statement = yield* Effect.catchTag(
      records.get(externalStatements, externalStatementId, pin),
      "Refused",
      Effect.die
    )
    const place = { after: after === undefined ? 0 : Number(after), limit }
    const found = yield* Effect.catchTag(
      Lines.pageOf(statement, { ...place, ...filter }, pin),
      "Refused",
      Effect.die
    )
    return found.map((row) => ({ sortKey: LineRows.keyOf(row.line), row }))
  }),
  view: (found) =>
    Effect.succeed(found.map(({ version: _, createdAt: _1, updatedAt: _2, ...line }) => line))
})

export const queries = [list, get, lines] as const
