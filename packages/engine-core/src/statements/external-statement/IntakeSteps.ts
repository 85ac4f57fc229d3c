/**
 * Steps of the intake of a statement: find its source and instrument, read the file into rows, and
 * judge the statement (docs/domain/statements.md#intake).
 */
import { Effect, Option, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { currentHasher } from "../../holders/external-account/AccountNumberLookups.ts"
import { externalAccounts, masking } from "../../holders/external-account/ExternalAccount.ts"
import { type Instrument, instruments } from "../../instruments/instrument/Instrument.ts"
import * as Date from "../../kernel/Date.ts"
import { condition, failed, judge } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import { type Refused, refused } from "../../kernel/Refusal.ts"
import * as Zone from "../../kernel/Zone.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Ids } from "../../ports/Ids.ts"
import * as Port from "../../ports/StatementSource.ts"
import { Bulk, type BulkRow } from "../../ports/storage/Bulk.ts"
import type { TermRow } from "../../ports/storage/Terms.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Secrets from "../../writes/Secrets.ts"
import { type ExternalSource, externalSources } from "../external-source/ExternalSource.ts"
import * as Counterparties from "./Counterparties.ts"
import * as DayRules from "./DayRules.ts"
import {
  type ExternalStatement,
  type ExternalStatementId,
  externalStatements,
  fileIdOf,
  ownerOf
} from "./ExternalStatement.ts"
import type { MediaType, StatementName, IntakeCall, StagedFile } from "./Intake.ts"
import * as EntryTerms from "./EntryTerms.ts"
import * as LineRows from "./LineRows.ts"
import * as StageSteps from "./StageSteps.ts"
import type { StatementLine } from "./StatementLine.ts"

/** Identity of a file as its sender names it: source and instrument. */
export interface FileAddress {
  readonly source: ExternalSource
  readonly instrument: Instrument
}

const invalidQuery = (name: string, detail: string) =>
  refused("invalid-request", { detail, errors: [{ pointer: `/query/${name}`, detail }] })

/** Finds the source and the instrument of a file by the ids that its sender names. */
export const address = Effect.fnUntraced(function* (named: StatementName) {
  const records = yield* Records
  const source = yield* records.get(externalSources, named.externalSourceId)
  const isActive = condition("source-active", source.state === "active")
  yield* Effect.fromResult(judge([isActive]))
  const [only, ...others] = source.instruments
  if (named.instrumentId === null && others.length > 0) {
    const detail = "The source has several instruments; the query names the instrument of the file."
    return yield* Effect.fail(invalidQuery("instrumentId", detail))
  }
  const instrumentId = named.instrumentId ?? only ?? ""
  const isOwn = condition("source-instrument", source.instruments.includes(instrumentId))
  yield* Effect.fromResult(judge([isOwn]))
  const instrument = yield* records.get(instruments, instrumentId)
  return { source, instrument } satisfies FileAddress
})

/**
 * Finds the statement that the same bytes made before, of the source and the instrument: of a file with
 * several the newest that it recorded. A sender that
 * names a business date means the statement of that date: a table without dates may be the same on
 * two days. One that names a statement to correct means its correction: the bytes of a statement that
 * was corrected wrongly may come again, to correct the correction.
 */
export const sameContent = Effect.fnUntraced(function* (
  { source, instrument }: FileAddress,
  { named, staged }: Pick<IntakeCall, "named" | "staged">
) {
  const records = yield* Records
  // A table without dates may be the same on any number of days.
  const found = records.stream(externalStatements, {
    where: {
      content: [`${source.externalSourceId}/${instrument.instrumentId}/${staged.contentHash}`]
    }
  })
  const isMeant = ({ businessDate, corrects, externalStatementId }: ExternalStatement) =>
    (named.businessDate === null || businessDate === named.businessDate) &&
    (named.corrects === null || [corrects, externalStatementId].includes(named.corrects))
  const firstOf = (isWanted: (record: ExternalStatement) => boolean) =>
    Stream.map(found, ({ record }) => record).pipe(Stream.filter(isWanted), Stream.runHead)
  const same = yield* firstOf(isMeant)
  if (Option.isNone(same)) return Option.none<Stored<ExternalStatement>>()
  const newest = yield* firstOf(
    (record) => record.fileStatements !== undefined && fileIdOf(record) === fileIdOf(same.value)
  )
  return Option.some(Option.getOrElse(newest, () => same.value))
})

/** Forms that each media type may hold. */
const formsOf: Readonly<Record<MediaType, ReadonlyArray<string>>> = {
  "application/xml": ["camt.053", "semt.002", "semt.003", "reda.001"],
  "text/xml": ["camt.053", "semt.002", "semt.003", "reda.001"],
  "text/csv": ["csv"],
  "application/json": ["json"]
}

/** Loads the account of a source of cash, with its number in full. */
const accountOf = Effect.fnUntraced(function* ({ account }: ExternalSource, currency: string) {
  if (account === null) return null
  const records = yield* Records
  const crypto = yield* Crypto
  const { sealingKeys: keys } = yield* Settings
  const found = Option.getOrUndefined(yield* records.find(externalAccounts, account))
  if (found === undefined) {
    return yield* Effect.fail(refused("rule-refused", failed("source-account")))
  }
  const number = Secrets.unseal(found.sealed, { keys }, crypto)
  return { number, currency: found.currency ?? currency }
})

/**
 * Makes the instructions for reading the file, from its source, its instrument and the sender's
 * query.
 */
export const readingOf = Effect.fnUntraced(function* (
  { source, instrument }: FileAddress,
  { charset, mediaType, named }: Pick<IntakeCall, "charset" | "mediaType" | "named">
) {
  const { statementLinesMax: linesMax } = yield* Settings
  if (!formsOf[mediaType].includes(source.adapter)) {
    const detail = `The source sends ${source.adapter}, which is not sent as ${mediaType}.`
    return yield* Effect.fail(refused("unsupported-media-type", { detail }))
  }
  const { manifest } = instrument
  if (manifest === null) {
    return yield* Effect.fail(refused("rule-refused", failed("in-manifest")))
  }
  const account = yield* accountOf(source, manifest.currency)
  const reading: Port.Reading = {
    adapter: source.adapter,
    kind: source.kind,
    charset,
    account,
    isin: manifest.identifiers.isin,
    currency: account?.currency ?? manifest.currency,
    zone: source.zone,
    validFor: source.validFor,
    basis: source.basis,
    csv: source.csv,
    businessDate: named.businessDate,
    corrects: named.corrects !== null,
    linesMax
  }
  return reading
})

const placeOf = ({
  line,
  column
}: {
  readonly line: number | null
  readonly column: number | null
}) => (line === null ? "" : ` (line ${line}${column === null ? "" : `, column ${column}`})`)

/** Maps a fault of a file to the refusal that its sender reads. */
const refusalOf = (
  fault: Port.StatementFault
): Refused<"invalid-request" | "rule-refused" | "body-too-large" | "unsupported-media-type"> => {
  switch (fault._tag) {
    case "StatementMalformed": {
      const detail = `${fault.detail}${placeOf(fault)}`
      const pointer = `/body${fault.pointer ?? ""}`
      return refused("invalid-request", { detail, errors: [{ pointer, detail }] })
    }
    case "StatementRefused": {
      const detail = `${fault.detail}${placeOf({ line: fault.line, column: null })}`
      const { pointer } = fault
      const errors =
        pointer === undefined ? {} : { errors: [{ pointer: `/body${pointer}`, detail }] }
      return refused("rule-refused", failed(fault.check, { detail, ...errors }))
    }
    case "StatementCharset":
      return refused("unsupported-media-type", { detail: fault.detail })
    case "StatementTooLong":
      return refused("body-too-large", {
        detail: `A statement has at most ${fault.linesMax} lines.`
      })
  }
}

/** Number of rows that are written at a time. */
const rowsAtOnce = 1_000

/** Number of parts of a file whose rows are made while earlier ones are written. */
const partsAhead = 4

/** Rows of a statement that is read. */
interface Rows {
  readonly owner: string
  readonly rows: ReadonlyArray<BulkRow>
  /** Terms by which the rows' statement is found once it is recorded. */
  readonly terms: ReadonlyArray<TermRow>
  /** True: no row of the owner follows. */
  readonly isLast: boolean
}

/**
 * Write buffer of rows, one owner after another: writes `rowsAtOnce` of them by one call, however few
 * arrive together, since each call is a transaction that waits for the disk.
 */
const appending = Effect.gen(function* () {
  const bulk = yield* Bulk
  const { search } = yield* Records
  let waiting: Array<BulkRow> = []
  let waitingTerms: Array<TermRow> = []
  const flush = (owner: string) =>
    Effect.suspend(() => {
      const full = waiting
      const terms = waitingTerms
      waiting = []
      waitingTerms = []
      return Effect.all([orUnavailable(bulk.append(owner, full)), search.put(terms)], {
        concurrency: 2,
        discard: true
      })
    })
  return Effect.fnUntraced(function* ({ isLast, owner, rows, terms }: Rows) {
    for (const term of terms) waitingTerms.push(term)
    for (const row of rows) {
      waiting.push(row)
      if (waiting.length >= rowsAtOnce) yield* flush(owner)
    }
    if (isLast) yield* flush(owner)
  })
})

/** A statement of a file that was read, whose rows wait to be sealed. */
export interface ReadStatement {
  readonly externalStatementId: ExternalStatementId
  readonly header: Port.Header
  readonly lines: number
  /** Number among the statements of the file that are read, from 0, in the order of the file. */
  readonly index: number
  /** Null: a file of the form has one statement. */
  readonly place: Port.StatementPlace | null
}

/**
 * Largest number of statements of one file, about those of a year of days: all of them are recorded in one
 * transaction, which others wait for.
 */
export const statementsMax = 400

/** Makes stored lines of the lines of a file: accounts as hashes, counterparties sealed. */
const storing = Effect.fnUntraced(function* ({ accountIs, kind }: ExternalSource) {
  const crypto = yield* Crypto
  const ids = yield* Ids
  const { sealingKeys: keys } = yield* Settings
  const isHashed = kind !== "cash" && (accountIs === null || accountIs === "external-account")
  const hash = isHashed ? yield* currentHasher : (account: string) => account
  const blockOf = Effect.fnUntraced(function* (lines: ReadonlyArray<Port.Line>, from: number) {
    const counterparties: Array<Counterparties.Counterparty> = []
    const stored = lines.map((line, index): StatementLine => {
      const number = from + index
      if (line.kind !== "cash") return { ...line, line: number, account: hash(line.account) }
      if (line.counterparty === null) return { ...line, line: number, counterparty: null }
      const counterparty = counterparties.push(line.counterparty) - 1
      return { ...line, line: number, counterparty }
    })
    const [first, ...others] = stored
    if (counterparties.length === 0 || first?.kind !== "cash") return stored
    const nonce = yield* ids.bytes(Counterparties.chanceBytes)
    const sealed = Counterparties.seal(counterparties, { keys, nonce }, crypto)
    return [{ ...first, counterparties: sealed }, ...others]
  })
  return Effect.fnUntraced(function* (lines: ReadonlyArray<Port.Line>, from: number) {
    const stored: Array<StatementLine> = []
    for (let at = 0; at < lines.length; at += Counterparties.blockLines) {
      const block = lines.slice(at, at + Counterparties.blockLines)
      stored.push(...(yield* blockOf(block, from + at)))
    }
    return stored
  })
})

/**
 * Reads a staged file through the source's reader, in constant memory, and writes the lines of each of its
 * statements as rows that are invisible until the statement is recorded. Answers the statements by business
 * date and the bank's number. Refuses the reader's refusals, more lines than the deployment takes, and
 * more than `statementsMax` statements. Stages of further statements are dropped with the scope.
 */
export const readFile = Effect.fnUntraced(function* (
  { source }: FileAddress,
  { reading, staged }: { readonly reading: Port.Reading; readonly staged: StagedFile }
) {
  const reader = yield* Port.StatementSource
  const { linesMax } = reading
  const store = yield* storing(source)
  const append = yield* appending
  const openStage = yield* StageSteps.furtherStages
  const read: Array<ReadStatement> = []
  // The text of a bank may have the number of the account, which is shown to nobody in full.
  const number = reading.account?.number ?? null
  const masked = (header: Port.Header): Port.Header => ({
    ...header,
    reference: header.reference === null ? null : masking(header.reference, number)
  })
  let current:
    | (Pick<ReadStatement, "externalStatementId"> & {
        readonly owner: string
        lines: number
      })
    | null = null
  let linesOfFile = 0
  /** The statement that is read; the first one has the id of the stage. */
  const reached = Effect.gen(function* () {
    if (current !== null) return current
    if (read.length === statementsMax) {
      const detail = `A file has at most ${statementsMax} statements of its account.`
      return yield* Effect.fail(refused("body-too-large", { detail }))
    }
    const stageId = read.length === 0 ? staged.stageId : yield* openStage
    const externalStatementId = StageSteps.toId(stageId)
    current = { externalStatementId, owner: ownerOf({ externalStatementId }), lines: 0 }
    return current
  })
  const rowsOf = Effect.fnUntraced(function* (part: Port.Part) {
    const statement = yield* reached
    const { externalStatementId, lines, owner } = statement
    if (part.part === "header") {
      const header = masked(part.header)
      const { place = null } = part
      read.push({ externalStatementId, lines, header, index: read.length, place })
      current = null
      return { owner, rows: [], terms: [], isLast: true } satisfies Rows
    }
    const from = lines + 1
    statement.lines += part.lines.length
    linesOfFile += part.lines.length
    if (linesOfFile > linesMax) return yield* new Port.StatementTooLong({ linesMax })
    const stored = yield* store(part.lines, from)
    const terms = EntryTerms.termsOf(externalStatementId, stored)
    return { owner, rows: stored.map(LineRows.rowOf), terms, isLast: false } satisfies Rows
  })
  // A fiber reads on and makes rows while the store writes those that were made before.
  const parts = reader
    .read(reading, StageSteps.bytesOf(staged))
    .pipe(Stream.mapEffect(rowsOf), Stream.buffer({ capacity: partsAhead }))
  yield* Stream.runForEach(parts, append).pipe(
    Effect.catchTags({
      StatementMalformed: (fault) => Effect.fail(refusalOf(fault)),
      StatementRefused: (fault) => Effect.fail(refusalOf(fault)),
      StatementCharset: (fault) => Effect.fail(refusalOf(fault)),
      StatementTooLong: (fault) => Effect.fail(refusalOf(fault))
    })
  )
  if (read.length === 0 || current !== null) {
    return yield* Effect.die(new Error(`the reader of ${source.adapter} answered no header`))
  }
  return read.toSorted((a, b) => DayRules.order(a.header, b.header))
})

/** Refuses a statement of a future moment, and one of another date than the sender names. */
export const demandDates = Effect.fnUntraced(function* (
  { source }: FileAddress,
  {
    header,
    named,
    place
  }: Pick<ReadStatement, "header" | "place"> & { readonly named: StatementName }
) {
  const detail = `The statement is of ${header.businessDate}.`
  const details = place === null ? {} : DayRules.at(place, detail)
  const now = yield* Instant.now
  const today = Zone.dateAt(Zone.of(source.zone), now)
  const isPast = Instant.atOrBefore(header.asOf, now) && !Date.isAfter(header.businessDate, today)
  yield* Effect.fromResult(
    judge([
      condition("as-of-ahead", isPast, details),
      condition(
        "business-date",
        named.businessDate === null || named.businessDate === header.businessDate,
        details
      )
    ])
  )
})

/**
 * Finds the statement of a file that corrects the one which the sender names, and refuses, condition
 * `statement-of-date`, a file of several where none or more than one may; undefined: nothing is corrected.
 */
export const correctingIn = Effect.fnUntraced(function* (
  read: ReadonlyArray<ReadStatement>,
  { corrects }: Pick<StatementName, "corrects">
) {
  if (corrects === null) return undefined
  const [only, ...others] = read
  if (others.length === 0) return only
  const records = yield* Records
  const corrected = yield* records.find(externalStatements, corrects)
  const found = Option.isNone(corrected) ? undefined : DayRules.correcting(read, corrected.value)
  if (found === undefined) {
    const detail = `No one statement of the file is of the date and number of ${corrects}.`
    return yield* Effect.fail(refused("rule-refused", failed("statement-of-date", { detail })))
  }
  return found
})
