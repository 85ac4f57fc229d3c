/** The log of facts in memory: one list for each record, the records in the order they came. */
import { Result } from "effect"
import { type FactLog, type FactRow, VersionMoved } from "@bursar/engine-core/ports"
import type { Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"

interface Collection {
  readonly facts: Map<string, Array<FactRow>>
  readonly orderedIds: Array<string | undefined>
  readonly place: Map<string, number>
}

export const make = (transactions: Transactions): FactLog["Service"] => {
  const collections = new Map<string, Collection>()
  const collection = (name: string): Collection => {
    const existing = collections.get(name)
    if (existing !== undefined) return existing
    const made: Collection = { facts: new Map(), orderedIds: [], place: new Map() }
    collections.set(name, made)
    return made
  }

  return {
    store: transactions.store,
    append: (rows) =>
      transactions.attempt((transaction) => {
        const moved = firstMoved(
          rows,
          (row) => collections.get(row.collection)?.facts.get(row.recordId)?.length ?? 0
        )
        if (moved !== undefined) return Result.fail(moved)
        for (const row of rows) {
          const { facts, orderedIds, place } = collection(row.collection)
          const log = facts.get(row.recordId)
          if (log !== undefined) {
            Undo.push(transaction, log, row)
            continue
          }
          Undo.set(transaction, facts, row.recordId, [row])
          Undo.set(transaction, place, row.recordId, orderedIds.length)
          Undo.push(transaction, orderedIds, row.recordId)
        }
        return Result.void
      }),
    read: ({ collection: name, recordId, through }) =>
      transactions.read(() => (collections.get(name)?.facts.get(recordId) ?? []).slice(0, through)),
    forget: ({ collection: name, recordIds }) =>
      transactions.write((transaction) => {
        const { facts, orderedIds, place } = collection(name)
        for (const recordId of recordIds) {
          const at = place.get(recordId)
          if (at === undefined) continue
          // The slot stays empty, so that the positions of later records do not change.
          Undo.put(transaction, orderedIds, at, undefined)
          Undo.remove(transaction, place, recordId)
          Undo.remove(transaction, facts, recordId)
        }
      }),
    scan: ({ collection: name, after, limit }) =>
      transactions.read(() => {
        const collection = collections.get(name)
        if (collection === undefined) return []
        const found: Array<FactRow> = []
        let index =
          after === undefined
            ? 0
            : (collection.place.get(after.recordId) ?? collection.orderedIds.length)
        let skip = after?.version ?? 0
        for (; index < collection.orderedIds.length && found.length < limit; index++, skip = 0) {
          const recordId = collection.orderedIds[index]
          const log = recordId === undefined ? [] : (collection.facts.get(recordId) ?? [])
          found.push(...log.slice(skip, skip + limit - found.length))
        }
        return found
      })
  }
}

/** Finds the first row whose version is not one more than the record's latest. */
const firstMoved = (
  rows: ReadonlyArray<FactRow>,
  lastVersion: (row: FactRow) => number
): VersionMoved | undefined => {
  const last = new Map<string, number>()
  for (const row of rows) {
    const key = `${row.collection}\u0000${row.recordId}`
    const before = last.get(key) ?? lastVersion(row)
    if (row.version !== before + 1) {
      const { collection, recordId, version } = row
      return new VersionMoved({ collection, recordId, expected: version })
    }
    last.set(key, row.version)
  }
  return undefined
}
