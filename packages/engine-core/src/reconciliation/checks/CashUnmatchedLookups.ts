/**
 * Look-ups of the booked bank lines that orders have not taken whole, by an index of them: parts of
 * statements that orders took whole are not read.
 */
import { Effect, Stream } from "effect"
import {
  type ExternalAccount,
  externalAccounts
} from "../../holders/external-account/ExternalAccount.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { nameOf } from "../../orders/order/CashLine.ts"
import type * as Part from "../../orders/order/CashLinePart.ts"
import { cashLines } from "../../orders/order/CashTaking.ts"
import * as OpenLines from "../../orders/order/OpenLineLookups.ts"
import { Records } from "../../records/Records.ts"
import type { ExternalSource } from "../../statements/external-source/ExternalSource.ts"
import type { ExternalStatement } from "../../statements/external-statement/ExternalStatement.ts"
import * as EntryLookups from "../../statements/external-statement/EntryLookups.ts"
import * as EntryRules from "../../statements/external-statement/EntryRules.ts"
import { cashInForce } from "../../statements/external-statement/StatementLookups.ts"
import type { CashEntry } from "../../statements/external-statement/StatementLine.ts"
import type { Facts, Point } from "./Check.ts"
import { externalSourcesAt } from "./StatementsInForceLookups.ts"
import * as UnmatchedSums from "./UnmatchedSums.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** Number of statements whose parts are looked up together. */
const statementsMax = 100

/** A statement whose lines may be judged, and the currency of its account. */
interface JudgedStatement {
  readonly statement: ExternalStatement
  readonly accountCurrency: string
}

/**
 * Checks whether lines of an account's statement are judged under this instrument. Lines of a segregated
 * account are not: its balance is compared as a whole. A file that was handed in for two
 * instruments has its lines twice: they are judged under the one that the account is mapped to.
 */
const isJudged = (
  { segregated, instrumentId: mappedTo }: Pick<ExternalAccount, "segregated" | "instrumentId">,
  { instrumentId, instruments }: InstrumentIdentity & Pick<ExternalSource, "instruments">
): boolean =>
  !segregated && (mappedTo === null || mappedTo === instrumentId || !instruments.includes(mappedTo))

/** Selects the statements that are judged. */
const judgedOf = Effect.fnUntraced(function* (
  statements: ReadonlyArray<ExternalStatement>,
  { instrumentId }: InstrumentIdentity,
  { pin, sources = externalSourcesAt(pin) }: Point
) {
  const records = yield* Records
  const instrumentsOf = new Map<string, ExternalSource["instruments"]>(
    (yield* sources).map(({ externalSourceId, instruments }) => [externalSourceId, instruments])
  )
  const ids = new Set(statements.flatMap(({ externalAccountId }) => externalAccountId ?? []))
  const accounts = new Map<string, ExternalAccount>(
    (yield* records.many(externalAccounts, [...ids], pin)).map((account) => [
      account.externalAccountId,
      account
    ])
  )
  return statements.flatMap((statement): ReadonlyArray<JudgedStatement> => {
    const account = accounts.get(statement.externalAccountId ?? "")
    const instruments = instrumentsOf.get(statement.externalSourceId) ?? []
    if (account !== undefined && !isJudged(account, { instrumentId, instruments })) return []
    return [{ statement, accountCurrency: account?.currency ?? statement.currency }]
  })
})

/** Sums of a run, and what it judged already: an entry lies in several statements. */
interface RunSums {
  readonly sums: UnmatchedSums.Sums
  /** First lines of entries that were added. */
  readonly added: Set<string>
}

/**
 * Adds entries of open lines to the sums, each once, however many statements state it. An entry that
 * the bank took back and its reversal come to nothing where no order took of it. Of statements that
 * contradict each other about a reference only the first counts, and the others are a contradiction.
 */
const addEntries = Effect.fnUntraced(function* (
  { sums, added }: RunSums,
  { statement, accountCurrency }: JudgedStatement,
  { open, at }: { readonly open: ReadonlyArray<CashEntry>; readonly at: Point }
) {
  const records = yield* Records
  const { externalStatementId: statementId, externalAccountId } = statement
  if (externalAccountId === null || open.length === 0) return
  const lines = open.map((entry) => ({ statement, entry }))
  const { pin } = at
  const entries = (yield* EntryLookups.entriesAround(lines, pin)).get(externalAccountId) ?? []
  const sharing = (yield* EntryLookups.sharingReference(lines, pin)).get(externalAccountId) ?? []
  const nameOfCopy = (line: EntryRules.BookedLine) =>
    EntryRules.placeNameOf(EntryRules.placeOf(line))
  const reversals = EntryRules.reversalsOf(entries)
  const reversed = new Map([...reversals].map(([entry, reversal]) => [reversal, entry]))
  const names = [...new Set(entries.flatMap(({ copies }) => copies.map(nameOfCopy)))]
  const found = yield* OpenLines.chunked(names, (ids) => records.many(cashLines, ids, pin))
  const takenOf = new Map(found.map((line) => [nameOf(line), line.taken]))
  const takenOfEntry = ({ copies }: EntryRules.BookedEntry): Decimal.Decimal =>
    Decimal.sum(copies.map((copy) => takenOf.get(nameOfCopy(copy)) ?? Decimal.zero))
  const contradictions = EntryRules.contradictionsOf(sharing)
  const statedCopies = new Set(contradictions.flatMap((each) => each.stated.map(nameOfCopy)))
  const otherwise = new Set(contradictions.flatMap((each) => each.otherwise.map(nameOfCopy)))
  const byName = new Map(
    entries.flatMap((entry) => entry.copies.map((copy) => [nameOfCopy(copy), entry] as const))
  )
  for (const entry of open) {
    const booked = byName.get(nameOf({ statementId, line: entry.line }))
    if (booked === undefined) continue
    const [first] = booked.copies
    if (booked.copies.length > 1) {
      if (added.has(nameOfCopy(first))) continue
      added.add(nameOfCopy(first))
    }
    const takenAmount = takenOfEntry(booked)
    const pair = reversals.has(booked) ? booked : reversed.get(booked)
    const isUndone = pair !== undefined && Decimal.isZero(takenOfEntry(pair))
    const isOtherwise = booked.copies.every(
      (copy) => otherwise.has(nameOfCopy(copy)) && !statedCopies.has(nameOfCopy(copy))
    )
    if (isUndone || isOtherwise || Decimal.atLeast(takenAmount, entry.amount)) continue
    UnmatchedSums.addTo(sums, [
      { externalAccountId, accountCurrency, statementId, entry, takenAmount }
    ])
  }
  for (const each of contradictions) {
    const sumOf = (bookedLines: ReadonlyArray<EntryRules.BookedLine>) =>
      Decimal.sum(bookedLines.map((line) => UnmatchedSums.signedOf(line.entry)))
    const [sum, other] = [sumOf(each.stated), sumOf(each.otherwise)]
    const [line] = each.otherwise
    if (line === undefined || Decimal.equals(sum, other)) continue
    const named = {
      externalAccountId,
      accountCurrency,
      statementId: line.statementId,
      entry: line.entry
    }
    UnmatchedSums.contradict(sums, named, { stated: sum, otherwise: other })
  }
})

/** Adds the open lines of a statement to the sums. */
const addOpen = (
  judging: RunSums,
  judged: JudgedStatement,
  { parts, at }: { readonly parts: ReadonlyArray<Part.CashLinePart>; readonly at: Point }
) =>
  judged.statement.externalAccountId === null
    ? Effect.void
    : OpenLines.openEntriesOf(judged.statement, parts).pipe(
        Stream.runForEach((open) => addEntries(judging, judged, { open, at }))
      )

/**
 * Streams the rests that orders have not taken of the booked lines of an instrument's statements in
 * force, of inactive sources too, one fact for each reference of the bank, in memory that grows with
 * the number of references alone.
 */
export const unmatched = (
  instrument: InstrumentIdentity,
  at: Point
): Facts<UnmatchedSums.UnmatchedLines> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { instrumentId } = instrument
      const sums: UnmatchedSums.Sums = new Map()
      const judging: RunSums = { sums, added: new Set() }
      yield* cashInForce(instrument, at.pin).pipe(
        Stream.grouped(statementsMax),
        Stream.runForEach((statements) =>
          Effect.gen(function* () {
            const judged = yield* judgedOf(statements, instrument, at)
            const parts = yield* OpenLines.partsOf(
              judged.map(({ statement }) => statement),
              at.pin
            )
            yield* Effect.forEach(
              judged,
              (each) =>
                addOpen(judging, each, {
                  parts: parts.get(each.statement.externalStatementId) ?? [],
                  at
                }),
              { discard: true }
            )
          })
        )
      )
      return Stream.fromIterable(sums.values()).pipe(
        Stream.map((sum): UnmatchedSums.UnmatchedLines => ({ instrumentId, ...sum }))
      )
    })
  )
