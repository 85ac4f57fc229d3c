/**
 * Pure matching of the entries of two statements of cash: finds the lines of a correction for the
 * cash that orders took of the replaced statement (docs/domain/statements.md#corrections).
 */
import * as Decimal from "../../kernel/Decimal.ts"
import type { CashEntry } from "../../statements/external-statement/StatementLine.ts"
import type { EntryPlace } from "./CashTaking.ts"

/** Match key of entries; the rest, such as the value date, may be corrected. */
export type Entry = Pick<
  CashEntry,
  "line" | "amount" | "direction" | "currency" | "bookingDate" | "bankReference" | "reference"
>

/** Cash that was taken of an entry. */
export interface EntryTaking {
  readonly entry: Entry
  readonly amount: Decimal.Decimal
}

interface MovedCash {
  readonly places: ReadonlyArray<EntryPlace>
  readonly lostAmount: Decimal.Decimal
}

/** Key of entries that are the same in all that counts. */
export const sameOf = (entry: Entry): string =>
  JSON.stringify([
    entry.bankReference,
    entry.direction,
    entry.currency,
    entry.bookingDate,
    Decimal.formatPlain(entry.amount),
    entry.reference
  ])

/** Key of the entries of one reference of the bank on one booking date; null without a reference. */
export const bankKeyOf = (entry: Entry): string | null =>
  entry.bankReference === null
    ? null
    : JSON.stringify([entry.bankReference, entry.direction, entry.currency, entry.bookingDate])

/** Queue of entries in file order: those before `next` are used up, and are not looked at again. */
interface Queue {
  readonly entries: ReadonlyArray<Entry>
  next: number
}

const queueOf = (entries: ReadonlyArray<Entry>): Queue => ({ entries, next: 0 })

const queuesBy = <K>(entries: ReadonlyArray<Entry>, keyOf: (entry: Entry) => K) =>
  new Map(
    Map.groupBy(entries, keyOf)
      .entries()
      .map(([key, found]) => [key, queueOf(found)] as const)
  )

/** Pairs the entries that are the same in both statements, the first with the first. */
const pairsOf = (before: ReadonlyArray<Entry>, after: ReadonlyArray<Entry>) => {
  const rest = queuesBy(after, sameOf)
  const pairs = new Map<number, Entry>()
  for (const entry of before) {
    const same = rest.get(sameOf(entry))
    const pair = same?.entries[same.next++]
    if (pair !== undefined) pairs.set(entry.line, pair)
  }
  return pairs
}

/**
 * Finds the lines of a correction for cash that was taken of the replaced statement's lines. Each
 * taking moves to the equal entry, the first to the first in file order; where there is none, to the
 * entries of its bank reference that are not paired with another one, in file order. No line gives
 * more than it has, and an amount without a line is lost. Cash that an earlier correction lost is
 * matched last, among the new entries. Results are in the order of `taken` and `missing`.
 */
export const moved = ({
  before,
  after,
  takenEntries,
  missing,
  elsewhere = new Map<number, Decimal.Decimal>()
}: {
  /** Entries of the replaced statement, and of its correction, in file order. */
  readonly before: ReadonlyArray<Entry>
  readonly after: ReadonlyArray<Entry>
  /** In file order; those of one entry sum to at most its amount. */
  readonly takenEntries: ReadonlyArray<EntryTaking>
  /** Cash that an earlier correction lost, by the entry that it was first taken of. */
  readonly missing: ReadonlyArray<EntryTaking>
  /** Cash that orders took of entries of the correction by lines of other statements, by number. */
  readonly elsewhere?: ReadonlyMap<number, Decimal.Decimal>
}): {
  readonly takenEntries: ReadonlyArray<MovedCash>
  readonly missing: ReadonlyArray<MovedCash>
} => {
  const pairs = pairsOf(before, after)
  const paired = new Set([...pairs.values()].map(({ line }) => line))
  const fresh = after.filter(({ line }) => !paired.has(line))
  const [same, ofBank] = [queuesBy(fresh, sameOf), queuesBy(fresh, bankKeyOf)]
  const bySame = (entry: Entry): Queue => same.get(sameOf(entry)) ?? queueOf([])
  const byBank = (entry: Entry): Queue => {
    const key = bankKeyOf(entry)
    return (key === null ? undefined : ofBank.get(key)) ?? queueOf([])
  }
  const fill = filling(after, elsewhere)
  return {
    takenEntries: takenEntries.map(({ entry, amount }) => {
      const pair = pairs.get(entry.line)
      return fill(amount, [pair === undefined ? byBank(entry) : queueOf([pair])])
    }),
    missing: missing.map(({ entry, amount }) => fill(amount, [bySame(entry), byBank(entry)]))
  }
}

/** Fills lines up to what their entries have left, call by call. */
const filling = (
  entries: ReadonlyArray<Entry>,
  elsewhere: ReadonlyMap<number, Decimal.Decimal>
) => {
  const room = new Map(
    entries.map(({ line, amount }) => {
      const left = Decimal.subtract(amount, elsewhere.get(line) ?? Decimal.zero)
      return [line, Decimal.max(Decimal.zero, left)]
    })
  )
  return (amount: Decimal.Decimal, into: ReadonlyArray<Queue>): MovedCash => {
    const places: Array<EntryPlace> = []
    let lostAmount = amount
    for (const queue of into) {
      for (; Decimal.isPositive(lostAmount) && queue.next < queue.entries.length; queue.next++) {
        const { line } = queue.entries[queue.next] as Entry
        const free = room.get(line) ?? Decimal.zero
        const part = Decimal.min(lostAmount, free)
        if (Decimal.isPositive(part)) {
          room.set(line, Decimal.subtract(free, part))
          places.push({ line, amount: part })
          lostAmount = Decimal.subtract(lostAmount, part)
        }
        if (Decimal.isPositive(free) && part < free) break
      }
    }
    return { places, lostAmount }
  }
}
