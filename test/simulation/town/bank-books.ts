/**
 * Books of the town's bank: its ledger of each fund's account, the statements that it sent of it, and
 * what follows from them by the rules alone (docs/domain/statements.md#one-entry-in-several-statements,
 * docs/domain/reconciliation.md#continuity-of-balances).
 */
import { Date } from "@bursar/engine-core/kernel"

/** An entry of the bank's ledger. Payments of orders count up from 1, entries that pay no order down from -1. */
export interface Booked {
  readonly id: number
  readonly date: Date.Date
  readonly direction: "credit" | "debit"
  readonly cents: bigint
  /** The bank's reference, and the payer's; null: none. */
  readonly reference: string | null
  readonly payer: string | null
  /** Id of the entry that this one takes back; null: it is no reversal. */
  readonly takesBack: number | null
}

/** Sources of an account: two feeds with balances of different forms, and a table without. */
export const sourceNames = ["bank", "feed", "table"] as const
export type SourceName = (typeof sourceNames)[number]

export interface Line {
  readonly entry: Booked
  /** Amount that the line states; a line that contradicts the bank's ledger states another. */
  readonly cents: bigint
}

/** A statement in force. */
export interface Stated {
  readonly id: string
  readonly source: SourceName
  readonly date: Date.Date
  /** Place in its day, from 1. */
  readonly place: number
  /** The bank's number of a statement of the first feed. */
  readonly sequence: number
  /** Moment of its figures. */
  readonly asOf: string
  /** Milliseconds of the receipt. */
  readonly receivedAt: number
  /** Null: its source states no balances. */
  readonly balances: { readonly opening: bigint; readonly closing: bigint } | null
  readonly lines: ReadonlyArray<Line>
}

/** Cash that an order took, or may have reserved, of an entry. */
export interface Use {
  readonly line: number
  readonly by: string
  readonly cents: bigint
}

/** An account of the bank, of one fund. */
export interface Account {
  readonly instrumentId: string
  readonly externalAccountId: string
  /** Weekdays of whose dates the second feed owes a statement. */
  readonly calendar: ReadonlyArray<string>
  /** Milliseconds after the end of a date from which its statement of the second feed is overdue. */
  readonly overdueAfter: number
  /** Entries in the order of their booking. */
  readonly ledger: Array<Booked>
  readonly inForce: Map<string, Stated>
  /** Steps from which a statement in force says that an entry was taken back, by the entry's id. */
  readonly takenBack: Map<number, number>
  /** Number of entries that the first feed has stated, and the last number of its statements. */
  stated: number
  sequence: number
  /** Last business date of the second feed, sent or left out, and the entries booked up to its end. */
  feedDate: Date.Date | null
  feedStated: number
}

export const signed = ({ cents, direction }: Pick<Booked, "cents" | "direction">): bigint =>
  direction === "credit" ? cents : -cents

const sumOf = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((a, b) => a + b, 0n)

/** Balance of the account after so many entries. */
export const balanceAfter = ({ ledger }: Account, count: number): bigint =>
  sumOf(ledger.slice(0, count).map(signed))

// ---- identity

/** A line of a statement, named by its place. */
export interface Placed extends Line {
  readonly statement: Stated
  /** From 1. */
  readonly line: number
}

/** An entry as the statements say it: the lines that are copies of it, the first of the oldest date first. */
export interface Entry {
  readonly copies: readonly [Placed, ...ReadonlyArray<Placed>]
}

export const nameOf = ({ line, statement }: Placed): string => `${statement.id}:${line}`

const inOrder = (a: Stated, b: Stated): number =>
  Date.isBefore(a.date, b.date)
    ? -1
    : Date.isBefore(b.date, a.date)
      ? 1
      : a.place - b.place || a.receivedAt - b.receivedAt || (a.id < b.id ? -1 : 1)

const placedOf = ({ inForce }: Account): ReadonlyArray<Placed> =>
  [...inForce.values()]
    .toSorted(inOrder)
    .flatMap((statement) =>
      statement.lines.map((line, index) => ({ ...line, statement, line: index + 1 }))
    )

/** Members by which equal lines are told from others; every line is in one currency, of no counterparty. */
const likenessOf = ({ cents, entry }: Line): string => {
  const { date, direction, payer, reference } = entry
  return JSON.stringify([
    ...[reference, date, direction, String(cents)],
    ...(reference === null ? [date, payer] : [])
  ])
}

/** Statements of a source and a date, which follow one another: none repeats an entry of another. */
const dayOf = ({ date, source }: Stated): string => `${source} ${date}`

/** Groups lines into the entries that they state: the n-th equal line of a day is the n-th of another. */
export const entriesOf = (account: Account): ReadonlyArray<Entry> => {
  const counts = new Map<string, number>()
  const entries = new Map<string, Array<Placed>>()
  for (const line of placedOf(account)) {
    const inDay = `${dayOf(line.statement)} ${likenessOf(line)}`
    const nth = (counts.get(inDay) ?? 0) + 1
    counts.set(inDay, nth)
    const key = `${likenessOf(line)} ${nth}`
    const copies = entries.get(key)
    if (copies === undefined) entries.set(key, [line])
    else copies.push(line)
  }
  return [...entries.values()].map((copies) => ({ copies: copies as unknown as Entry["copies"] }))
}

const bookedOf = ({ copies: [{ entry }] }: Entry): Booked => entry
const isReversal = (entry: Entry): boolean => bookedOf(entry).takesBack !== null

/** Entries that the bank took back, each with its reversal: of several the last booked one. */
export const reversalsOf = (entries: ReadonlyArray<Entry>): ReadonlyMap<Entry, Entry> => {
  const found = new Map<Entry, Entry>()
  const byDate = (a: Entry, b: Entry) =>
    bookedOf(a).date < bookedOf(b).date ? -1 : bookedOf(a).date > bookedOf(b).date ? 1 : 0
  for (const reversal of entries.filter(isReversal).toSorted(byDate)) {
    const own = bookedOf(reversal)
    const possible = entries.filter((other) => {
      const { date, direction } = bookedOf(other)
      return (
        !isReversal(other) &&
        other.copies[0].cents === reversal.copies[0].cents &&
        direction !== own.direction &&
        date <= own.date
      )
    })
    const ofBank = possible.filter(
      (other) => own.reference !== null && bookedOf(other).reference === own.reference
    )
    const ofPayer = possible.filter(
      (other) => own.payer !== null && bookedOf(other).payer === own.payer
    )
    const last = (ofBank.length > 0 ? ofBank : ofPayer)
      .filter((other) => !found.has(other))
      .toSorted(byDate)
      .at(-1)
    if (last !== undefined) found.set(last, reversal)
  }
  return found
}

// ---- contradictions

interface Contradiction {
  readonly stated: bigint
  readonly otherwise: bigint
  /** Names of the lines of the other statement. */
  readonly otherLines: ReadonlyArray<string>
}

const hasAll = (all: ReadonlyArray<Placed>, some: ReadonlyArray<Placed>): boolean => {
  const left = all.map(likenessOf)
  return some.every((line) => {
    const at = left.indexOf(likenessOf(line))
    if (at < 0) return false
    left.splice(at, 1)
    return true
  })
}

/** Contradictions of statements about a reference on a booking date, by the reference. */
export const contradictionsOf = (account: Account): ReadonlyMap<string, Contradiction> => {
  const found = new Map<string, Contradiction>()
  const referenced = placedOf(account).filter(({ entry }) => entry.reference !== null)
  const byReference = Map.groupBy(referenced, ({ entry }) => `${entry.reference} ${entry.date}`)
  for (const lines of byReference.values()) {
    const days = [...Map.groupBy(lines, ({ statement }) => dayOf(statement)).values()]
    let [first = []] = days
    for (const other of days) {
      if (hasAll(other, first)) first = other
      else if (!hasAll(first, other)) {
        const worth = (some: ReadonlyArray<Placed>) =>
          sumOf(some.map(({ cents, entry: { direction } }) => signed({ cents, direction })))
        const reference = lines[0]?.entry.reference ?? ""
        const otherLines = other.map(nameOf)
        found.set(reference, { stated: worth(first), otherwise: worth(other), otherLines })
      }
    }
  }
  return found
}

// ---- findings

/** A finding that is to be open: its subject, whether it blocks, and the amount in cents that it is off by. */
export interface Expected {
  readonly subject: string
  readonly severity: "blocking" | "warning"
  readonly unexplained: bigint
}

/** Cents that orders took of an entry, over all of its copies. */
const takenOf = (uses: ReadonlyArray<Use>, entry: Entry): bigint => {
  const { id } = bookedOf(entry)
  return uses.reduce((sum, use) => (use.line === id ? sum + use.cents : sum), 0n)
}

/** Findings of `cash-unmatched`: what orders have not taken, by reference, and contradictions. */
export const unmatched = (account: Account, uses: ReadonlyArray<Use>): ReadonlyArray<Expected> => {
  const { externalAccountId } = account
  const entries = entriesOf(account)
  const contradictions = contradictionsOf(account)
  const otherLines = new Set([...contradictions.values()].flatMap((each) => each.otherLines))
  const reversals = reversalsOf(entries)
  const reversed = new Map([...reversals].map(([entry, reversal]) => [reversal, entry]))
  const rests = new Map<string, bigint>()
  for (const entry of entries) {
    const taken = takenOf(uses, entry)
    const pair = reversals.has(entry) ? entry : reversed.get(entry)
    if (pair !== undefined && takenOf(uses, pair) === 0n) continue
    if (entry.copies.every((copy) => otherLines.has(nameOf(copy)))) continue
    const { cents } = entry.copies[0]
    if (taken >= cents) continue
    const { date, direction, reference } = bookedOf(entry)
    const subject = `${externalAccountId}:${reference ?? `:${date}`}`
    rests.set(subject, (rests.get(subject) ?? 0n) + signed({ cents: cents - taken, direction }))
  }
  for (const [reference, { otherwise, stated }] of contradictions) {
    if (stated !== otherwise) rests.delete(`${externalAccountId}:${reference}`)
  }
  return [
    ...[...rests].flatMap(
      ([subject, unexplained]): ReadonlyArray<Expected> =>
        unexplained === 0n ? [] : [{ subject, severity: "warning", unexplained }]
    ),
    ...[...contradictions].flatMap(
      ([reference, { otherwise, stated }]): ReadonlyArray<Expected> =>
        stated === otherwise
          ? []
          : [
              {
                subject: `${externalAccountId}:${reference}`,
                severity: "blocking",
                unexplained: otherwise - stated
              }
            ]
    )
  ]
}

const datesBetween = (after: Date.Date, before: Date.Date): ReadonlyArray<Date.Date> => {
  const dates: Array<Date.Date> = []
  for (let date = Date.next(after); Date.isBefore(date, before); date = Date.next(date)) {
    dates.push(date)
  }
  return dates
}

/** Whether the statement of a date is overdue by an instant, in milliseconds. */
const isOverdue = ({ overdueAfter }: Account, date: Date.Date, now: number): boolean =>
  now > (Date.epochDay(date) + 1) * 86_400_000 + overdueAfter

/** The statement that precedes another one of the account. */
const precedingOf = (account: Account, self: Stated): Stated | null => {
  const balanced = [...account.inForce.values()]
    .filter(({ balances }) => balances !== null)
    .toSorted(inOrder)
  const inDay = balanced.find(
    (other) => dayOf(other) === dayOf(self) && other.place === self.place - 1
  )
  if (inDay !== undefined) return inDay
  const date = balanced.findLast((other) => Date.isBefore(other.date, self.date))?.date
  const last = new Map(
    balanced.filter((other) => other.date === date).map((other) => [other.source, other])
  )
  const own = last.get(self.source)
  const agreed = [...last.values()].find(
    ({ balances }) => balances?.closing === self.balances?.opening
  )
  const [first = null] = [...last.values()].toSorted((a, b) => (a.source < b.source ? -1 : 1))
  return own ?? agreed ?? first
}

/** Findings of `cash-balance`: openings that do not continue the closing before, by account and date. */
export const discontinued = (account: Account, now: number): ReadonlyArray<Expected> => {
  const found = new Map<string, Expected>()
  const size = ({ unexplained }: Expected) => (unexplained < 0n ? -unexplained : unexplained)
  for (const self of [...account.inForce.values()].toSorted(inOrder)) {
    const before = self.balances === null ? null : precedingOf(account, self)
    if (self.balances === null || before?.balances === undefined || before.balances === null) {
      continue
    }
    const unexplained = self.balances.opening - before.balances.closing
    if (unexplained === 0n) continue
    const missing =
      self.source === "feed"
        ? datesBetween(before.date, self.date).filter((date) =>
            account.calendar.includes(Date.weekday(date))
          )
        : []
    const last = missing.at(-1)
    const waits = last !== undefined && !isOverdue(account, last, now)
    const subject = `${account.externalAccountId}:${self.date}`
    const severity = waits ? ("warning" as const) : ("blocking" as const)
    const own: Expected = { subject, severity, unexplained }
    const other = found.get(subject)
    const isWorse =
      other === undefined ||
      (own.severity === other.severity ? size(own) > size(other) : own.severity === "blocking")
    if (isWorse) found.set(subject, own)
  }
  return [...found.values()]
}

/** Number of dates of the second feed between its first and its last statement that no statement is of. */
export const gapsOf = ({ calendar, inForce }: Account): number => {
  const dates = [...inForce.values()]
    .filter(({ source }) => source === "feed")
    .map(({ date }) => date)
    .toSorted()
  const [first, last] = [dates[0], dates.at(-1)]
  if (first === undefined || last === undefined) return 0
  return datesBetween(first, last).filter(
    (date) => calendar.includes(Date.weekday(date)) && !dates.includes(date)
  ).length
}

/** Orders that took of an entry which the bank took back. */
export const ordersTakenBack = (
  account: Account,
  uses: ReadonlyArray<Use>
): ReadonlySet<string> => {
  const ids = new Set(
    [...reversalsOf(entriesOf(account)).keys()].map((entry) => bookedOf(entry).id)
  )
  return new Set(uses.flatMap(({ by, line }) => (ids.has(line) ? [by] : [])))
}
