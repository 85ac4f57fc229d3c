/**
 * Look-ups of the lines of a statement as they are shown: all of them as a stream, or keyset pages that
 * filters narrow (docs/domain/statements.md#reading-a-statement).
 */
import { Effect, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { accountNumbers } from "../../holders/external-account/AccountNumber.ts"
import { externalAccounts } from "../../holders/external-account/ExternalAccount.ts"
import { holderParties } from "../../holders/holder/Holder.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { nameOf } from "../../orders/order/CashLine.ts"
import { matchOf, type Span } from "../../orders/order/CashLinePart.ts"
import { takenOfAll, takenOfLines } from "../../orders/order/CashSteps.ts"
import * as OpenLines from "../../orders/order/OpenLineLookups.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { externalSources } from "../../statements/external-source/ExternalSource.ts"
import * as Counterparties from "../../statements/external-statement/Counterparties.ts"
import * as EntryLookups from "../../statements/external-statement/EntryLookups.ts"
import { placeNameOf } from "../../statements/external-statement/EntryRules.ts"
import {
  type ExternalStatement,
  isInForce,
  ownerOf
} from "../../statements/external-statement/ExternalStatement.ts"
import * as LineRows from "../../statements/external-statement/LineRows.ts"
import type { CashEntry, StatementLine } from "../../statements/external-statement/StatementLine.ts"
import { linesOf } from "../../statements/external-statement/StatementLookups.ts"
import type { AccountIs, CashDirection, CashMatch } from "../../vocabulary/sets.ts"
import { type PageFacts, type StatementLineView, viewOf } from "./StatementLineViews.ts"

/** Lines that are shown together. */
const shownMax = 500

/** Rows that are read together where filters pass over some of them. */
const readMax = 1_000

/** Holders of a statement's accounts, by the kind of accounts that the source names. */
const holdersOf = Effect.fnUntraced(function* (
  accounts: ReadonlyArray<string>,
  {
    accountIs,
    pin
  }: { readonly accountIs: AccountIs | null; readonly pin: Pin.ResolvedPin | undefined }
) {
  const records = yield* Records
  if (accountIs === "holder") return new Map(accounts.map((account) => [account, account]))
  if (accountIs === "party") {
    const found = yield* records.many(holderParties, accounts, pin)
    return new Map<string, string>(found.map(({ holderId, party }) => [party, holderId]))
  }
  const numbers = yield* records
    .stream(accountNumbers, {
      where: { hash: accounts },
      ...(pin === undefined ? {} : { pin })
    })
    .pipe(Stream.runCollect)
  const ids = numbers.map(({ record }) => record.externalAccountId)
  const mapped = yield* records.many(externalAccounts, ids, pin)
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

const entriesIn = (lines: ReadonlyArray<StatementLine>): ReadonlyArray<CashEntry> =>
  lines.flatMap((line) => (line.kind === "cash" ? [line] : []))

/** Loads the facts beside a page of lines, with one look-up for each kind of record; no pin: as they are now. */
const factsOf = Effect.fnUntraced(function* (
  statement: Stored<ExternalStatement>,
  lines: ReadonlyArray<StatementLine>,
  pin?: Pin.ResolvedPin
) {
  const records = yield* Records
  const { externalAccountId, externalStatementId: statementId } = statement
  const accounts = accountsIn(lines)
  const source =
    accounts.length === 0
      ? undefined
      : yield* records.get(externalSources, statement.externalSourceId, pin)
  const entries = entriesIn(lines)
  // A statement that was corrected states nothing any more: its lines are nobody's copies.
  const facts = isInForce(statement)
    ? yield* EntryLookups.factsOf(
        entries.map((entry) => ({ statement, entry })),
        pin
      )
    : new Map<string, EntryLookups.EntryFacts>()
  const entryFacts = new Map(
    entries.flatMap(({ line }) => {
      const found = facts.get(nameOf({ statementId, line }))
      return found === undefined ? [] : [[line, found] as const]
    })
  )
  const copiesOf = (line: number): ReadonlyArray<string> =>
    (entryFacts.get(line)?.copies ?? [{ statementId, line }]).map(placeNameOf)
  const taken = yield* takenOfLines(
    entries.flatMap(({ line }) => copiesOf(line)),
    pin
  )
  return {
    externalAccountId,
    statementId,
    holderOf:
      source === undefined
        ? new Map<string, string>()
        : yield* holdersOf(accounts, { accountIs: source.accountIs, pin }),
    takenOf: new Map(entries.map(({ line }) => [line, takenOfAll(taken, copiesOf(line))])),
    factsOf: entryFacts
  } satisfies Omit<PageFacts, "counterpartyOf">
})

/** Streams the views of a statement's lines as they are now, a page at a time. */
export const rowsOf = (
  statement: Stored<ExternalStatement>
): Stream.Stream<StatementLineView, Unavailable, Records | Bulk | Crypto> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { sealingKeys: keys } = yield* Settings
      const counterpartyOf = Counterparties.reader({ keys }, yield* Crypto)
      return linesOf(statement).pipe(
        Stream.grouped(shownMax),
        Stream.mapEffect((lines) =>
          Effect.catchTag(factsOf(statement, lines), "Refused", Effect.die).pipe(
            Effect.map((facts) => lines.map((line) => viewOf(line, { ...facts, counterpartyOf })))
          )
        ),
        Stream.flatMap((views) => Stream.fromIterable(views))
      )
    })
  )

/** Narrows the lines of a statement; only booked entries have what these name. */
interface LineFilter {
  readonly match?: ReadonlyArray<CashMatch>
  readonly direction?: CashDirection
  /** The whole reference of the bank, or of the payer. */
  readonly reference?: string
}

/** Checks a line against the filters that need no other record. */
const passes = (line: StatementLine, { direction, match, reference }: LineFilter): boolean => {
  if (direction === undefined && match === undefined && reference === undefined) return true
  if (line.kind !== "cash") return false
  const isOfReference =
    reference === undefined || line.bankReference === reference || line.reference === reference
  return isOfReference && (direction === undefined || line.direction === direction)
}

/**
 * Spans of lines that may pass. A line that orders took whole is matched, however many copies it has:
 * whoever asks for lines with something left passes over parts that have none.
 */
const spansOf = Effect.fnUntraced(function* (
  statement: Stored<ExternalStatement>,
  { match }: LineFilter,
  pin: Pin.ResolvedPin
) {
  const { externalStatementId, lineCount } = statement
  const all: ReadonlyArray<Span> = lineCount === 0 ? [] : [{ from: 1, through: lineCount }]
  const isByIndex = match !== undefined && !match.includes("matched") && isInForce(statement)
  if (statement.kind !== "cash" || !isByIndex) return all
  const parts = yield* OpenLines.partsOf([statement], pin)
  return OpenLines.spansOf(parts.get(externalStatementId) ?? [], statement)
})

/** Lines of a chunk that pass, each with the row that has the counterparties of its block. */
interface PassingLine {
  readonly line: StatementLine
  /** Undefined: the block begins before the chunk. */
  readonly block: CashEntry | undefined
}

const passingIn = (
  lines: ReadonlyArray<StatementLine>,
  filter: LineFilter
): ReadonlyArray<PassingLine> => {
  let block: CashEntry | undefined
  return lines.flatMap((line) => {
    if (line.kind === "cash" && line.counterparties !== undefined) block = line
    return passes(line, filter) ? [{ line, block }] : []
  })
}

/** Finds the row with the counterparties of the block that a line lies in and an earlier line begins. */
const blockBefore = Effect.fnUntraced(function* (
  statement: Stored<ExternalStatement>,
  line: number
) {
  const bulk = yield* Bulk
  const first = Math.max(1, line - Counterparties.blockLines + 1)
  const rows = yield* orUnavailable(
    bulk.read({
      owner: ownerOf(statement),
      after: LineRows.keyOf(first - 1),
      limit: line - first
    })
  )
  return entriesIn(rows.map((row) => LineRows.lineOf(row))).findLast(
    ({ counterparties }) => counterparties !== undefined
  )
})

/** Opens the counterparties of lines of one chunk, each block once. */
const counterpartiesOf = Effect.fnUntraced(function* (
  statement: Stored<ExternalStatement>,
  lines: ReadonlyArray<PassingLine>
) {
  const { sealingKeys: keys } = yield* Settings
  const read = Counterparties.reader({ keys }, yield* Crypto)
  const found = new Map<number, Counterparties.Counterparty | null>()
  let opened: CashEntry | undefined
  for (const { line, block } of lines) {
    if (line.kind !== "cash" || line.counterparty === null) continue
    if (typeof line.counterparty === "number") {
      const own = block ?? opened ?? (yield* blockBefore(statement, line.line))
      if (own !== undefined && own !== opened) read({ ...own, counterparty: null })
      opened = own
    }
    found.set(line.line, read(line))
  }
  return found
})

/** Place and size of a page of lines. */
interface Page {
  /** Number of the line after which the page begins; 0: at the first. */
  readonly after: number
  readonly limit: number
}

/**
 * Loads at most `limit` views of lines after a line's number, in file order, at a pin: reads the rows
 * that filters pass over, a chunk at a time, and never the whole statement.
 */
export const pageOf = Effect.fnUntraced(function* (
  statement: Stored<ExternalStatement>,
  { after, limit, ...filter }: Page & LineFilter,
  pin: Pin.ResolvedPin
) {
  const bulk = yield* Bulk
  const views: Array<StatementLineView> = []
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const owner = ownerOf(statement)
  for (const { from, through } of yield* spansOf(statement, filter, pin)) {
    let next = Math.max(from, after + 1)
    while (next <= through && views.length < limit) {
      const most = isFiltered ? readMax : limit - views.length
      const rows = yield* orUnavailable(
        bulk.read({
          owner,
          after: LineRows.keyOf(next - 1),
          limit: Math.min(most, through - next + 1)
        })
      )
      // Retention deletes the rows meanwhile.
      if (rows.length === 0) return views
      const passing = passingIn(
        rows.map((row) => LineRows.lineOf(row)),
        filter
      )
      for (let at = 0; at < passing.length && views.length < limit; at += shownMax) {
        views.push(
          ...(yield* shownOf(statement, { passing: passing.slice(at, at + shownMax), filter, pin }))
        )
      }
      next += rows.length
    }
  }
  return views.slice(0, limit)
})

/** Views of lines of one chunk, those that the filter of matches leaves. */
const shownOf = Effect.fnUntraced(function* (
  statement: Stored<ExternalStatement>,
  {
    passing,
    filter: { match },
    pin
  }: {
    readonly passing: ReadonlyArray<PassingLine>
    readonly filter: LineFilter
    readonly pin: Pin.ResolvedPin
  }
) {
  const facts = yield* factsOf(
    statement,
    passing.map(({ line }) => line),
    pin
  )
  const shown = passing.filter(({ line }) => {
    const taken = facts.takenOf.get(line.line)
    if (match === undefined) return true
    return (
      line.kind === "cash" &&
      taken !== undefined &&
      match.includes(matchOf({ amount: line.amount, taken }))
    )
  })
  const counterparties = yield* counterpartiesOf(statement, shown)
  const counterpartyOf = ({ line }: CashEntry) => counterparties.get(line) ?? null
  return shown.map(({ line }) => viewOf(line, { ...facts, counterpartyOf }))
})
