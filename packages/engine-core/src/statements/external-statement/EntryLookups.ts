/**
 * Look-ups of booked entries over the statements in force of their account, by the index of entries:
 * the copies of a line, its reversal, and lines that contradict it
 * (docs/domain/statements.md#one-entry-in-several-statements).
 */
import { Effect, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Bulk, type BulkEntries, type OwnedRow } from "../../ports/storage/Bulk.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import * as Counterparties from "./Counterparties.ts"
import * as Rules from "./EntryRules.ts"
import {
  dayKeyOf,
  type ExternalStatement,
  externalStatements,
  isInForce,
  orderOf,
  ownerOf,
  placeInDayOf,
  statementIdOf
} from "./ExternalStatement.ts"
import * as LineRows from "./LineRows.ts"
import type { CashEntry } from "./StatementLine.ts"

/** A line of a statement of cash. */
export interface LineOfStatement {
  readonly statement: ExternalStatement
  readonly entry: CashEntry
}

/** Copies and reversal of a line's entry, over the statements of its account. */
export interface EntryFacts {
  /** Lines that state the entry, the line itself among them; the first is that of the oldest date. */
  readonly copies: ReadonlyArray<Rules.LinePlace>
  /** True where the entry takes back another one: it pays nothing. */
  readonly isReversal: boolean
  /** The first line of the reversal that took the entry back; null: none did. */
  readonly reversedBy: Rules.LinePlace | null
}

/** A row of an entry, decoded. */
type FoundLine = LineOfStatement

const rowKeyOf = ({ owner, key }: OwnedRow): string => `${owner}/${key}`

/** Accumulates rows of several look-ups, each row once. */
const collecting = Effect.gen(function* () {
  const bulk = yield* Bulk
  const rows = new Map<string, OwnedRow>()
  const queriedKeys = new Set<string>()
  return {
    rows,
    add: Effect.fnUntraced(function* (wanted: ReadonlyArray<BulkEntries>) {
      const fresh = [...new Map(wanted.map((each) => [JSON.stringify(each), each]))].flatMap(
        ([key, each]) => (queriedKeys.has(key) ? [] : [each])
      )
      for (const each of fresh) queriedKeys.add(JSON.stringify(each))
      if (fresh.length === 0) return
      for (const row of yield* orUnavailable(bulk.entries(fresh))) rows.set(rowKeyOf(row), row)
    })
  }
})

/** Look-up of the lines with the identity of an entry, or with more: the counterparty is sealed. */
const equalsOf = (entry: CashEntry): BulkEntries => {
  const [match, amount] = [LineRows.matchOf(entry), LineRows.amountOf(entry)]
  return entry.bankReference === null
    ? { match, amount, day: entry.bookingDate }
    : { match, amount }
}

/** The accounts of lines, and the statements of the lines, which count as in force. */
interface LineScope {
  readonly accounts: ReadonlySet<string>
  readonly statementIds: ReadonlySet<string>
}

const aroundOf = (lines: ReadonlyArray<LineOfStatement>): LineScope => ({
  accounts: new Set(lines.map(({ statement }) => statement.externalAccountId ?? "")),
  statementIds: new Set(lines.map(({ statement }) => statement.externalStatementId))
})

/** Decodes rows, and keeps those of statements in force of accounts whose lines are stored. */
const inForceOf = Effect.fnUntraced(function* (
  rows: Iterable<OwnedRow>,
  { accounts, statementIds }: LineScope,
  pin: Pin.ResolvedPin | undefined
) {
  const records = yield* Records
  const byStatement = Map.groupBy(rows, ({ owner }) => statementIdOf(owner) ?? "")
  byStatement.delete("")
  const statements = yield* records.many(externalStatements, [...byStatement.keys()], pin)
  return statements
    .filter(
      (statement) =>
        (isInForce(statement) || statementIds.has(statement.externalStatementId)) &&
        statement.prunedAt === undefined &&
        accounts.has(statement.externalAccountId ?? "")
    )
    .flatMap((statement) =>
      (byStatement.get(statement.externalStatementId) ?? []).flatMap(
        (row): ReadonlyArray<FoundLine> => {
          const entry = LineRows.lineOf(row)
          return entry.kind === "cash" ? [{ statement, entry }] : []
        }
      )
    )
})

/** Rows that one look-up finds. */
const foundAtOnce = 500

/** Opens the counterparties of lines; a block's seal lies in its first line. */
export const counterpartiesOf = Effect.fnUntraced(function* (
  lines: ReadonlyArray<LineOfStatement>
) {
  const bulk = yield* Bulk
  const crypto = yield* Crypto
  const { sealingKeys: keys } = yield* Settings
  const found = new Map<LineOfStatement, Counterparties.Counterparty | null>()
  const byStatement = Map.groupBy(
    lines.filter(({ entry }) => entry.counterparty !== null),
    ({ statement }) => statement
  )
  for (const [statement, statementLines] of byStatement) {
    const wanted = new Set(
      statementLines.flatMap(({ entry: { line } }) =>
        Array.from({ length: Math.min(line, Counterparties.blockLines) }, (_, back) => line - back)
      )
    )
    const numbers = [...wanted].toSorted((a, b) => a - b)
    const entries: Array<CashEntry> = []
    for (let from = 0; from < numbers.length; from += foundAtOnce) {
      const some = numbers.slice(from, from + foundAtOnce).map(LineRows.keyOf)
      const rows = yield* orUnavailable(bulk.find({ owner: ownerOf(statement), keys: some }))
      for (const row of rows) {
        const line = LineRows.lineOf(row)
        if (line.kind === "cash") entries.push(line)
      }
    }
    const own = new Map(statementLines.map((line) => [line.entry.line, line]))
    const read = Counterparties.reader({ keys }, crypto)
    for (const entry of entries) {
      const line = own.get(entry.line)
      if (line === undefined) {
        // Opens the block that a wanted line of it needs.
        if (entry.counterparties !== undefined) read({ ...entry, counterparty: null })
        continue
      }
      found.set(line, read(entry))
    }
  }
  return found
})

/** Makes lines of found ones: the counterparty only where it decides what is a copy of what. */
const bookedOf = Effect.fnUntraced(function* (lines: ReadonlyArray<FoundLine>) {
  const unreferenced = lines.filter(({ entry }) => entry.bankReference === null)
  const equal = [
    ...Map.groupBy(
      unreferenced,
      ({ statement, entry }) => `${statement.externalAccountId} ${Rules.openIdentityOf(entry)}`
    ).values()
  ].filter(({ length }) => length > 1)
  const counterparties = yield* counterpartiesOf(equal.flat())
  return lines.map((line): Rules.BookedLine => {
    const counterparty = counterparties.get(line) ?? null
    return {
      ...asUnnamed(line),
      counterparty: counterparty === null ? null : Counterparties.plainOf(counterparty)
    }
  })
})

/** Owners of the statements in force of these accounts. */
const ownersOf = (accounts: ReadonlySet<string>, pin: Pin.ResolvedPin | undefined) =>
  Effect.flatMap(Records, (records) =>
    records
      .stream(externalStatements, {
        where: { kind: ["cash"] },
        ...(pin === undefined ? {} : { pin })
      })
      .pipe(
        Stream.map(({ record }) => record),
        Stream.filter((self) => isInForce(self) && accounts.has(self.externalAccountId ?? "")),
        Stream.map(ownerOf),
        Stream.runCollect
      )
  )

/** Lines of the account of each of these, by account. */
const byAccount = (lines: ReadonlyArray<FoundLine>) =>
  Map.groupBy(lines, ({ statement }) => statement.externalAccountId ?? "")

/**
 * Entries, by account, of which these lines are, with those that decide about their reversals. A
 * statement that was replaced counts as in force where a line of it is asked for.
 */
export const entriesAround = Effect.fnUntraced(function* (
  lines: ReadonlyArray<LineOfStatement>,
  pin?: Pin.ResolvedPin
) {
  const around = aroundOf(lines)
  const collected = yield* collecting
  const referenced = lines.filter(({ entry }) => entry.reference !== null)
  yield* collected.add([
    ...lines.map(({ entry }) => equalsOf(entry)),
    ...referenced.map(({ entry }) => ({ reversalOf: LineRows.amountOf(entry) }))
  ])
  const references = new Set(lines.map(({ entry }) => entry.reference))
  const isReversal = ({ entry }: FoundLine): boolean => entry.reversal === true
  const reversals = (yield* inForceOf(collected.rows.values(), around, pin)).filter(isReversal)
  // A reversal of the payer's reference takes back only what none of the bank's reference does.
  const ofPayer = reversals.filter(({ entry }) => references.has(entry.reference))
  yield* collected.add(ofPayer.map(({ entry }) => equalsOf(entry)))
  const found = yield* inForceOf(collected.rows.values(), around, pin)
  const unresolved = [...byAccount(found).values()].flatMap((accountLines) => {
    const entries = Rules.entriesOf(accountLines.map(asUnnamed))
    return entries
      .filter((entry) => entry.isReversal && Rules.reversibleBy(entry, entries).by === "reference")
      .flatMap(({ copies: [{ entry }] }) => (entry.reference === null ? [] : [entry]))
  })
  if (unresolved.length > 0) {
    const owners = yield* ownersOf(around.accounts, pin)
    yield* collected.add(
      unresolved.map((entry) => ({
        owners,
        amount: LineRows.amountOf(entry),
        reference: entry.reference ?? ""
      }))
    )
    const rivals = yield* inForceOf(collected.rows.values(), around, pin)
    yield* collected.add(rivals.map(({ entry }) => equalsOf(entry)))
  }
  const all = yield* inForceOf(collected.rows.values(), around, pin)
  return yield* Effect.forEach([...byAccount(all)], ([account, accountLines]) =>
    Effect.map(bookedOf(accountLines), (booked) => [account, Rules.entriesOf(booked)] as const)
  ).pipe(Effect.map((entries) => new Map(entries)))
})

/** A line without its counterparty, which no reversal is found by. */
const asUnnamed = ({ statement, entry }: FoundLine): Rules.BookedLine => ({
  statementId: statement.externalStatementId,
  dayKey: dayKeyOf(statement),
  placeInDay: placeInDayOf(statement),
  isInForce: isInForce(statement),
  statementOrder: orderOf(statement),
  entry,
  counterparty: null
})

/** Finds the facts of lines of statements in force, by the name of the line. */
export const factsOf = Effect.fnUntraced(function* (
  lines: ReadonlyArray<LineOfStatement>,
  pin?: Pin.ResolvedPin
) {
  const facts = new Map<string, EntryFacts>()
  if (lines.length === 0) return facts
  for (const entries of (yield* entriesAround(lines, pin)).values()) {
    const reversals = Rules.reversalsOf(entries)
    for (const entry of entries) {
      const copies = entry.copies.map(Rules.placeOf)
      const reversal = reversals.get(entry)
      const reversedBy = reversal === undefined ? null : Rules.placeOf(reversal.copies[0])
      for (const copy of copies) {
        facts.set(Rules.placeNameOf(copy), { copies, isReversal: entry.isReversal, reversedBy })
      }
    }
  }
  return facts
})

/**
 * Finds the lines of the bank's references of these lines, on their booking dates, in all statements in
 * force of their accounts, by account.
 */
export const sharingReference = Effect.fnUntraced(function* (
  lines: ReadonlyArray<LineOfStatement>,
  pin?: Pin.ResolvedPin
) {
  const around = aroundOf(lines)
  const referenced = lines.flatMap(({ entry }) =>
    entry.bankReference === null ? [] : [{ match: entry.bankReference }]
  )
  const collected = yield* collecting
  yield* collected.add(referenced)
  const found = yield* inForceOf(collected.rows.values(), around, pin)
  return new Map(
    [...byAccount(found)].map(
      ([account, accountLines]) => [account, accountLines.map(asUnnamed)] as const
    )
  )
})

/** Statements that one page of a list has. */
const prunedAtOnce = 100

/** Lists what retention deleted of an account, of business dates from this one. */
const prunedFrom = Effect.fnUntraced(function* (
  { account, from }: { readonly account: string; readonly from: Date.Date },
  pin: Pin.ResolvedPin | undefined
) {
  const records = yield* Records
  const found: Array<ExternalStatement> = []
  for (let after: string | undefined; ; ) {
    const rows = yield* records.list(externalStatements, {
      where: { pruned: [account] },
      direction: "desc",
      limit: prunedAtOnce,
      ...(pin === undefined ? {} : { pin }),
      ...(after === undefined ? {} : { after })
    })
    for (const { record } of rows) {
      if (Date.isBefore(record.businessDate, from)) return found
      found.push(record)
    }
    after = rows.at(-1)?.sortKey
    if (rows.length < prunedAtOnce) return found
  }
})

/**
 * Names the lines whose entry may have been stated by lines that retention deleted before their own
 * statement came: whether orders took of it is not known
 * (docs/domain/statements.md#one-entry-in-several-statements).
 */
export const namesOfDeleted = Effect.fnUntraced(function* (
  lines: ReadonlyArray<LineOfStatement>,
  pin?: Pin.ResolvedPin
) {
  const names = new Set<string>()
  const byAccount = Map.groupBy(lines, ({ statement }) => statement.externalAccountId ?? "")
  for (const [account, ofAccount] of byAccount) {
    const [first = ""] = ofAccount.map(({ entry }): string => entry.bookingDate).toSorted()
    const pruned = yield* prunedFrom({ account, from: first as Date.Date }, pin)
    for (const { statement, entry } of ofAccount) {
      const isDeleted = pruned.some(
        ({ businessDate, prunedAt }) =>
          prunedAt !== undefined &&
          !Date.isAfter(entry.bookingDate, businessDate) &&
          Instant.atOrAfter(statement.receivedAt, prunedAt)
      )
      const place = { statementId: statement.externalStatementId, line: entry.line }
      if (isDeleted) names.add(Rules.placeNameOf(place))
    }
  }
  return names
})
