/** Queries of statements: all of them, or one with its lines and the text of its file. */
import { Effect, Schema, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { accountNumbers } from "../../holders/external-account/AccountNumber.ts"
import { externalAccounts } from "../../holders/external-account/ExternalAccount.ts"
import { holderParties } from "../../holders/holder/Holder.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Base64 from "../../kernel/Base64.ts"
import * as Date from "../../kernel/Date.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { nameOf } from "../../orders/order/CashLine.ts"
import { takenOfAll, takenOfLines } from "../../orders/order/CashSteps.ts"
import { Crypto } from "../../ports/Crypto.ts"
import type { Blobs } from "../../ports/storage/Blobs.ts"
import type { Bulk } from "../../ports/storage/Bulk.ts"
import * as Read from "../../reads/Read.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  ExternalSourceId,
  externalSources
} from "../../statements/external-source/ExternalSource.ts"
import {
  type ExternalStatement,
  ExternalStatementId,
  externalStatements,
  fileIdOf,
  isInForce
} from "../../statements/external-statement/ExternalStatement.ts"
import * as EntryLookups from "../../statements/external-statement/EntryLookups.ts"
import { placeNameOf } from "../../statements/external-statement/EntryRules.ts"
import * as Counterparties from "../../statements/external-statement/Counterparties.ts"
import type { StatementLine } from "../../statements/external-statement/StatementLine.ts"
import { linesOf } from "../../statements/external-statement/StatementLookups.ts"
import { bytesOf } from "../../statements/external-statement/StageSteps.ts"
import * as StatementView from "../../statements/external-statement/StatementView.ts"
import { type AccountIs, StatementKind } from "../../vocabulary/sets.ts"
import { type PageFacts, StatementLineView, viewOf } from "./StatementLineViews.ts"

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
    kind: Schema.optionalKey(Schema.Array(StatementKind.schema)),
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

/** Lines that are shown together. */
const pageMax = 500

/** Holders of a statement's accounts, by the kind of accounts that the source names. */
const holdersOf = Effect.fnUntraced(function* (
  accounts: ReadonlyArray<string>,
  accountIs: AccountIs | null
) {
  const records = yield* Records
  if (accountIs === "holder") return new Map(accounts.map((account) => [account, account]))
  if (accountIs === "party") {
    const found = yield* records.many(holderParties, accounts)
    return new Map<string, string>(found.map(({ holderId, party }) => [party, holderId]))
  }
  const numbers = yield* records
    .stream(accountNumbers, { where: { hash: accounts } })
    .pipe(Stream.runCollect)
  const ids = numbers.map(({ record }) => record.externalAccountId)
  const mapped = yield* records.many(externalAccounts, ids)
  const holderOf = new Map(mapped.map((account) => [account.externalAccountId as string, account]))
  return new Map<string, string>(
    numbers.flatMap(({ record }) => {
      const holderId = holderOf.get(record.externalAccountId)?.holderId ?? null
      return holderId === null ? [] : [[record.hash, holderId] as const]
    })
  )
})

const accountsIn = (lines: ReadonlyArray<StatementLine>): ReadonlyArray<string> => [
  ...new Set(lines.flatMap((line) => (line.kind === "holdings" ? [line.account] : [])))
]

/** Makes the views of a page of lines, with one look-up for each kind of record. */
const viewsOf = Effect.fnUntraced(function* (
  statement: Stored<ExternalStatement>,
  {
    lines,
    counterpartyOf
  }: Pick<PageFacts, "counterpartyOf"> & {
    readonly lines: ReadonlyArray<StatementLine>
  }
) {
  const records = yield* Records
  const { externalAccountId, externalStatementId: statementId } = statement
  const accounts = accountsIn(lines)
  const source =
    accounts.length === 0
      ? undefined
      : yield* records.get(externalSources, statement.externalSourceId)
  const entries = lines.flatMap((line) => (line.kind === "cash" ? [line] : []))
  // A statement that was corrected states nothing any more: its lines are nobody's copies.
  const facts = isInForce(statement)
    ? yield* EntryLookups.factsOf(entries.map((entry) => ({ statement, entry })))
    : new Map<string, EntryLookups.EntryFacts>()
  const factsOf = new Map(
    entries.flatMap(({ line }) => {
      const found = facts.get(nameOf({ statementId, line }))
      return found === undefined ? [] : [[line, found] as const]
    })
  )
  const copiesOf = (line: number): ReadonlyArray<string> =>
    (factsOf.get(line)?.copies ?? [{ statementId, line }]).map(placeNameOf)
  const taken = yield* takenOfLines(entries.flatMap(({ line }) => copiesOf(line)))
  const around: PageFacts = {
    externalAccountId,
    statementId,
    holderOf:
      source === undefined
        ? new Map<string, string>()
        : yield* holdersOf(accounts, source.accountIs),
    takenOf: new Map(entries.map(({ line }) => [line, takenOfAll(taken, copiesOf(line))])),
    factsOf,
    counterpartyOf
  }
  return lines.map((line) => viewOf(line, around))
})

type Services = Records | Bulk | Blobs | Crypto

/** Streams the views of a statement's lines, a page at a time. */
const rowsOf = (
  statement: Stored<ExternalStatement>
): Stream.Stream<StatementLineView, Unavailable, Services> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { sealingKeys: keys } = yield* Settings
      const counterpartyOf = Counterparties.reader({ keys }, yield* Crypto)
      return linesOf(statement).pipe(
        Stream.grouped(pageMax),
        Stream.mapEffect((lines) =>
          Effect.catchTag(viewsOf(statement, { lines, counterpartyOf }), "Refused", Effect.die)
        ),
        Stream.flatMap((views) => Stream.fromIterable(views))
      )
    })
  )

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
      rows: Stream.provideContext(rowsOf(statement), context),
      text: Stream.provideContext(rawOf(statement), context)
    }
  })
})

export const queries = [list, get] as const
