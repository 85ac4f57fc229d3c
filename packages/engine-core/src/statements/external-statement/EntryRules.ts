/**
 * Pure identity of booked entries: which lines of the statements of one account are copies of one
 * entry, which entries a reversal took back, and which copies contradict each other
 * (docs/domain/statements.md#one-entry-in-several-statements).
 */
import * as Decimal from "../../kernel/Decimal.ts"
import type { CashEntry } from "./StatementLine.ts"

/** Place of a line among all statements. */
export interface LinePlace {
  readonly statementId: string
  readonly line: number
}

/** A line of a statement in force of an account. */
export interface BookedLine {
  readonly statementId: string
  /**
   * Source, instrument and business date of the statement. The statements of a day follow one another
   * by their balances, so that none repeats an entry of another: they count as one statement.
   */
  readonly dayKey: string
  /** Place of the statement in its day, from 1. */
  readonly placeInDay: number
  /** False: the statement was replaced by the one in force of its place, and is none of the day's. */
  readonly isInForce: boolean
  /** Text by which the account's statements are ordered: the first is that of the oldest date. */
  readonly statementOrder: string
  readonly entry: CashEntry
  /** The other party as one text; null: none. Compared where the bank gives no reference. */
  readonly counterparty: string | null
}

/** An entry of the bank's ledger, with the lines that state it. */
export interface BookedEntry {
  /** Lines of the entry, one of each statement that has it, the first statement's first. */
  readonly copies: readonly [BookedLine, ...ReadonlyArray<BookedLine>]
  /** True where one of the copies is marked as a reversal. */
  readonly isReversal: boolean
}

/** Name of a line among all statements. */
export const placeNameOf = ({ statementId, line }: LinePlace): string => `${statementId}:${line}`

export const placeOf = ({ statementId, entry }: BookedLine): LinePlace => ({
  statementId,
  line: entry.line
})

/** Identity of an entry but for the counterparty, which is sealed, and its number among equals. */
export const openIdentityOf = (entry: CashEntry): string => {
  const { bankReference, bookingDate, currency, direction, reference, valueDate } = entry
  const amount = Decimal.formatPlain(entry.amount)
  const common = [bankReference, bookingDate, direction, currency, amount]
  return JSON.stringify(bankReference === null ? [...common, valueDate, reference] : common)
}

const identityOf = ({ entry, counterparty }: BookedLine): string =>
  entry.bankReference === null
    ? JSON.stringify([openIdentityOf(entry), counterparty])
    : openIdentityOf(entry)

/** Order of lines: by their statement, then in file order. */
const compareLines = (a: BookedLine, b: BookedLine): number =>
  a.statementOrder === b.statementOrder
    ? a.entry.line - b.entry.line
    : a.statementOrder < b.statementOrder
      ? -1
      : 1

/**
 * Groups the lines of one account into the entries that they state. Of equal lines of one statement, and
 * of those that follow one another in a day, each is an entry of its own, since the balances count both:
 * the first of one statement is the first of another.
 */
export const entriesOf = (lines: ReadonlyArray<BookedLine>): ReadonlyArray<BookedEntry> => {
  const sorted = lines.toSorted(compareLines)
  return [...Map.groupBy(sorted, identityOf).values()].flatMap((equal) => {
    const byNumber: Array<Array<BookedLine>> = []
    const numbers = numbersOf(equal)
    for (const line of equal) (byNumber[numbers.get(line) ?? 0] ??= []).push(line)
    // A replaced statement may have more of a kind than what came before it in its day leaves room for.
    return byNumber.flatMap(
      (copies): ReadonlyArray<BookedEntry> =>
        copies === undefined
          ? []
          : [
              {
                copies: copies as unknown as BookedEntry["copies"],
                isReversal: copies.some(({ entry }) => entry.reversal === true)
              }
            ]
    )
  })
}

/**
 * Numbers equal lines within their days, from 0: those of the day's earlier statements in force come
 * first. So a statement that was replaced has the numbers of the one in force of its place.
 */
const numbersOf = (equal: ReadonlyArray<BookedLine>): ReadonlyMap<BookedLine, number> => {
  const numbers = new Map<BookedLine, number>()
  for (const day of Map.groupBy(equal, ({ dayKey }) => dayKey).values()) {
    const statements = [...Map.groupBy(day, ({ statementId }) => statementId).values()]
    for (const own of statements) {
      const place = own[0]?.placeInDay ?? 0
      const before = statements
        .filter(([first]) => first?.isInForce === true && first.placeInDay < place)
        .reduce((sum, { length }) => sum + length, 0)
      for (const [index, line] of own.entries()) numbers.set(line, before + index)
    }
  }
  return numbers
}

/** Group of lines that no line of the group is a copy of: a day in force, or a replaced statement. */
const groupOf = ({ dayKey, isInForce, statementId }: BookedLine): string =>
  isInForce ? dayKey : `${dayKey} ${statementId}`

const entryOf = ({ copies: [first] }: BookedEntry): CashEntry => first.entry

/** Checks whether a reversal may take the other entry back: it has the amount, goes the other way, and is no earlier. */
const isTakenBack = (reversal: CashEntry, other: CashEntry): boolean =>
  other.direction !== reversal.direction &&
  other.currency === reversal.currency &&
  Decimal.equals(other.amount, reversal.amount) &&
  other.bookingDate <= reversal.bookingDate

const isSame = (one: string | null, other: string | null): boolean => one !== null && one === other

/**
 * Entries that a reversal may take back: those of the bank's reference, else of the payer's. An entry
 * is never a reversal itself.
 */
export const reversibleBy = (
  reversal: BookedEntry,
  entries: ReadonlyArray<BookedEntry>
): { readonly by: "bankReference" | "reference"; readonly entries: ReadonlyArray<BookedEntry> } => {
  const own = entryOf(reversal)
  const possible = entries.filter((other) => !other.isReversal && isTakenBack(own, entryOf(other)))
  const ofBank = possible.filter((other) => isSame(own.bankReference, entryOf(other).bankReference))
  if (ofBank.length > 0) return { by: "bankReference", entries: ofBank }
  return {
    by: "reference",
    entries: possible.filter((other) => isSame(own.reference, entryOf(other).reference))
  }
}

const compareEntries = (a: BookedEntry, b: BookedEntry): number => {
  const [first, second] = [entryOf(a), entryOf(b)]
  if (first.bookingDate !== second.bookingDate) {
    return first.bookingDate < second.bookingDate ? -1 : 1
  }
  return compareLines(a.copies[0], b.copies[0])
}

/**
 * Pairs each reversal with the entry that it took back, the oldest reversal first: of several possible
 * entries with the last one booked before it. Returns the reversal of each entry that has one.
 */
export const reversalsOf = (
  entries: ReadonlyArray<BookedEntry>
): ReadonlyMap<BookedEntry, BookedEntry> => {
  const reversed = new Map<BookedEntry, BookedEntry>()
  const reversals = entries.filter(({ isReversal }) => isReversal).toSorted(compareEntries)
  for (const reversal of reversals) {
    const free = reversibleBy(reversal, entries).entries.filter((other) => !reversed.has(other))
    const last = free.toSorted(compareEntries).at(-1)
    if (last !== undefined) reversed.set(last, reversal)
  }
  return reversed
}

/** Key of the lines that have one reference of the bank on one booking date; null without a reference. */
const sharedKeyOf = ({ bankReference, bookingDate }: CashEntry): string | null =>
  bankReference === null ? null : JSON.stringify([bankReference, bookingDate])

/** Checks whether one list has each of the other's lines, equal ones as often. */
const hasAll = (all: ReadonlyArray<BookedLine>, some: ReadonlyArray<BookedLine>): boolean => {
  const counts = new Map<string, number>()
  for (const line of all) counts.set(identityOf(line), (counts.get(identityOf(line)) ?? 0) + 1)
  return some.every((line) => {
    const left = (counts.get(identityOf(line)) ?? 0) - 1
    counts.set(identityOf(line), left)
    return left >= 0
  })
}

/** Lines of a reference on a date, by statement, of which none is a copy of a line of the first. */
interface Contradiction {
  readonly bankReference: string
  readonly bookingDate: string
  readonly stated: ReadonlyArray<BookedLine>
  readonly otherwise: ReadonlyArray<BookedLine>
}

/**
 * Finds statements that contradict each other about a reference of the bank on a booking date: each
 * has a line of it that the other has not, in amount, currency or direction.
 */
export const contradictionsOf = (lines: ReadonlyArray<BookedLine>): ReadonlyArray<Contradiction> =>
  [...Map.groupBy(lines.toSorted(compareLines), ({ entry }) => sharedKeyOf(entry))].flatMap(
    ([key, shared]) => {
      const [line] = shared
      if (key === null || line === undefined) return []
      const { bankReference, bookingDate } = line.entry
      let statedLines: ReadonlyArray<BookedLine> = []
      return [...Map.groupBy(shared, groupOf).values()].flatMap((group) => {
        if (hasAll(group, statedLines)) {
          statedLines = group
          return []
        }
        if (hasAll(statedLines, group)) return []
        return [
          { bankReference: bankReference ?? "", bookingDate, stated: statedLines, otherwise: group }
        ]
      })
    }
  )

/**
 * Lines that state the entry of a line otherwise: lines of its reference and date in statements that
 * contradict its own, which its own statement has not.
 */
export const contradicting = (
  self: BookedLine,
  lines: ReadonlyArray<BookedLine>
): ReadonlyArray<BookedLine> => {
  const key = sharedKeyOf(self.entry)
  if (key === null) return []
  const shared = lines.filter(({ entry }) => sharedKeyOf(entry) === key)
  // Of a replaced statement the others of its day, which stay in force, are its own as well.
  const own = shared.filter(
    (line) =>
      groupOf(line) === groupOf(self) ||
      (line.isInForce && line.dayKey === self.dayKey && line.placeInDay !== self.placeInDay)
  )
  const identities = new Set(own.map(identityOf))
  return [...Map.groupBy(shared, groupOf).values()].flatMap((other) =>
    hasAll(own, other) || hasAll(other, own)
      ? []
      : other.filter((line) => !identities.has(identityOf(line)))
  )
}
