/** Bulk rows in memory: a map of rows for each owner, sealed by a transaction. */
import { Decimal } from "@bursar/engine-core/kernel"
import type { Bulk, BulkRow, BulkSide } from "@bursar/engine-core/ports"
import { Effect, Option, Stream } from "effect"
import type { Transactions } from "./Transactions.ts"

interface Owner {
  readonly rows: Map<string, BulkRow>
  sealed: boolean
}

export const make = (transactions: Transactions): Bulk["Service"] => {
  const owners = new Map<string, Owner>()
  const sealedRows = (owner: string): ReadonlyArray<BulkRow> => {
    const found = owners.get(owner)
    if (found?.sealed !== true) return []
    return [...found.rows.values()].toSorted((a, b) => compareTexts(a.key, b.key))
  }

  return {
    append: (name, rows) =>
      Effect.sync(() => {
        const owner = owners.get(name) ?? { rows: new Map(), sealed: false }
        if (owner.sealed) throw new Error(`Bulk.append: ${name} is sealed`)
        owners.set(name, owner)
        for (const row of rows) if (!owner.rows.has(row.key)) owner.rows.set(row.key, row)
      }),
    seal: ({ owner: name, rows }) =>
      transactions.write((transaction) => {
        const owner = owners.get(name) ?? { rows: new Map(), sealed: false }
        if (owner.sealed || owner.rows.size !== rows) {
          throw new Error(`Bulk.seal: ${name} is sealed, or has not ${rows} rows`)
        }
        owners.set(name, owner)
        owner.sealed = true
        transaction.undo.push(() => {
          owner.sealed = false
        })
      }),
    count: (name) =>
      transactions.read(() => {
        const owner = owners.get(name)
        return owner?.sealed === true ? Option.some(owner.rows.size) : Option.none()
      }),
    read: ({ owner, after, limit }) =>
      transactions.read(() =>
        sealedRows(owner)
          .filter(({ key }) => after === undefined || compareTexts(key, after) > 0)
          .slice(0, Math.max(0, limit))
      ),
    sum: (owner) =>
      transactions.read(() =>
        [...Map.groupBy(sealedRows(owner), ({ group }) => group)]
          .toSorted(([a], [b]) => compareTexts(a, b))
          .map(([group, rows]) => ({
            group,
            rows: rows.length,
            amounts: (rows[0]?.amounts ?? []).map((_, index) => total(rows, index))
          }))
      ),
    differences: ({ left, right, tolerance }) =>
      Stream.unwrap(
        transactions.read(() => {
          const sums = {
            left: matched(sealedRows(left.owner), left),
            right: matched(sealedRows(right.owner), right)
          }
          const matches = [...new Set([...sums.left.keys(), ...sums.right.keys()])]
          const found = matches.toSorted(compareTexts).flatMap((match) => {
            const [a, b] = [sums.left.get(match) ?? null, sums.right.get(match) ?? null]
            const difference = Decimal.subtract(Decimal.of(b ?? "0"), Decimal.of(a ?? "0"))
            const within = Decimal.atMost(Decimal.abs(difference), Decimal.of(tolerance))
            if (a !== null && b !== null && within) return []
            return [{ match, left: a, right: b, difference: Decimal.formatPlain(difference) }]
          })
          return Stream.fromIterable(found)
        })
      ),
    discard: ({ owner: name, limit }) =>
      Effect.sync(() => {
        const owner = owners.get(name)
        if (owner !== undefined) owner.sealed = false
        const keys = [...(owner?.rows.keys() ?? [])].slice(0, Math.max(0, limit))
        for (const key of keys) owner?.rows.delete(key)
        if (owner?.rows.size === 0) owners.delete(name)
        return keys.length
      })
  }
}

/** By code unit. */
const compareTexts = (a: string, b: string): -1 | 0 | 1 => (a < b ? -1 : a > b ? 1 : 0)

const total = (rows: ReadonlyArray<BulkRow>, amount: number): string =>
  Decimal.formatPlain(Decimal.sum(rows.map((row) => Decimal.of(row.amounts[amount] ?? "0"))))

const matched = (rows: ReadonlyArray<BulkRow>, side: BulkSide): ReadonlyMap<string, string> => {
  const asked = rows.filter(({ group }) => side.groups?.includes(group) ?? true)
  return new Map(
    [...Map.groupBy(asked, ({ match }) => match)].map(([match, of]) => [
      match,
      total(of, side.amount)
    ])
  )
}
