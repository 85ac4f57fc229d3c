/** Search terms in memory: sorted rows for each collection and rank. */
import { everyTerm, type TermPlace, type TermRow, type Terms } from "@bursar/engine-core/ports"
import * as TermTexts from "../TermTexts.ts"
import * as SortedRows from "./SortedRows.ts"
import type { Transaction, Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"

const rangeOf = ({ collection, rank }: Pick<TermPlace, "collection" | "rank">): string =>
  `${rank} ${collection}`
const keyOf = (place: TermPlace): string =>
  JSON.stringify([place.rank, place.collection, place.text, place.recordId])

export const make = (transactions: Transactions): Terms["Service"] => {
  const rows = new Map<string, TermRow>()
  const sorted = new Map<string, SortedRows.SortedRows<TermRow>>()
  const marks: Array<string> = [everyTerm]

  const sortedOf = (place: TermPlace): SortedRows.SortedRows<TermRow> => {
    const found = sorted.get(rangeOf(place))
    if (found !== undefined) return found
    const made = SortedRows.make<TermRow>(TermTexts.compare)
    sorted.set(rangeOf(place), made)
    return made
  }
  const add = (transaction: Transaction, row: TermRow): void => {
    if (rows.has(keyOf(row))) return
    Undo.set(transaction, rows, keyOf(row), row)
    sortedOf(row).add(row)
    transaction.undo.push(() => sortedOf(row).remove(row))
  }
  const remove = (transaction: Transaction, place: TermPlace): void => {
    const row = rows.get(keyOf(place))
    if (row === undefined) return
    Undo.remove(transaction, rows, keyOf(place))
    sortedOf(row).remove(row)
    transaction.undo.push(() => sortedOf(row).add(row))
  }

  return {
    store: transactions.store,
    put: (added) =>
      transactions.write((transaction) => {
        for (const { collection, rank, recordId, shown, text } of added) {
          add(transaction, { collection, rank, recordId, shown, text })
        }
      }),
    delete: (places) =>
      transactions.write((transaction) => {
        for (const place of places) remove(transaction, place)
      }),
    forget: ({ collection, limit, recordId }) =>
      transactions.write((transaction) => {
        const found: Array<TermRow> = []
        for (const row of rows.values()) {
          const isOf = row.collection === collection && row.recordId === recordId
          if (isOf && row.shown !== null && found.length < limit) found.push(row)
        }
        for (const row of found) remove(transaction, row)
        return found.length
      }),
    page: ({ limit, ...query }) =>
      transactions.read(() => {
        const found: Array<TermRow> = []
        for (const start of TermTexts.startsOf(query)) {
          const walk = sorted
            .get(rangeOf(start))
            ?.walk({ direction: "asc", from: (row) => TermTexts.compare(row, start) })
          let taken = 0
          for (const row of walk ?? []) {
            if (taken >= limit || !row.text.startsWith(query.prefix)) break
            if (TermTexts.compare(row, start) === 0) continue
            found.push(row)
            taken += 1
          }
        }
        return found.toSorted(TermTexts.compare).slice(0, Math.max(0, limit))
      }),
    marks: transactions.read(() => [...marks]),
    mark: (mark) =>
      transactions.write((transaction) => {
        if (!marks.includes(mark)) Undo.push(transaction, marks, mark)
      })
  }
}
