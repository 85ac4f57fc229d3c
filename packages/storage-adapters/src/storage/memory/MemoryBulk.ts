/** Bulk rows in memory: a map of rows for each owner, sealed by a transaction. */
import { Decimal, PlainJson } from "@bursar/engine-core/kernel"
import type {
  Bulk,
  BulkEntries,
  BulkNames,
  BulkRow,
  BulkSide,
  ListQuery,
  OwnedRow,
  VersionRow
} from "@bursar/engine-core/ports"
import { Effect, Option, Stream } from "effect"
import { type Transactions, unlessSealing } from "./Transactions.ts"

interface Owner {
  readonly rows: Map<string, BulkRow>
  sealed: boolean
}

/** Versions of records that a query matches, in the order of the list. */
type VersionLookup = (query: ListQuery) => Iterable<VersionRow>

export const make = ({
  transactions,
  matching
}: {
  readonly transactions: Transactions
  readonly matching: VersionLookup
}): Bulk["Service"] => {
  const owners = new Map<string, Owner>()
  const sealedRows = (owner: string): ReadonlyArray<BulkRow> => {
    const found = owners.get(owner)
    if (found?.sealed !== true) return []
    return [...found.rows.values()].toSorted((a, b) => compareTexts(a.key, b.key))
  }

  const found = (query: Omit<ListQuery, "direction">) => matching({ ...query, direction: "asc" })

  /** Names by matched text. */
  const namesOf = (source: BulkNames): ReadonlyMap<string, string> => {
    const names = new Map<string, string>()
    for (const version of found({ collection: source.collection, pin: source.pin, where: [] })) {
      const match =
        source.column === null ? version.recordId : (version.filters[source.column] ?? null)
      const name = memberOf(version, source.member)
      if (match === null || name === null) continue
      const first = names.get(match)
      if (first === undefined || compareTexts(name, first) < 0) names.set(match, name)
    }
    if (source.then === undefined) return names
    const others = namesOf(source.then)
    return new Map(
      [...names].flatMap(([match, name]) => {
        const other = others.get(name)
        return other === undefined ? [] : [[match, other] as const]
      })
    )
  }

  const amountsOf = (side: BulkSide): ReadonlyArray<Amount> => {
    if ("owner" in side) {
      return sealedRows(side.owner)
        .filter(({ group }) => side.groups?.includes(group) ?? true)
        .map(({ match, amounts }) => ({ match, amount: Decimal.of(amounts[side.amount] ?? "0") }))
    }
    const { collection, pin, where, match, member, times } = side
    const versions = found({
      collection,
      pin,
      where: [{ column: where.column, anyOf: [where.is] }]
    })
    return [...versions].flatMap((version) => {
      const value = version.filters[match] ?? null
      if (value === null) return []
      const amount = Decimal.of(memberOf(version, member) ?? "0")
      const shown =
        times === undefined
          ? amount
          : Decimal.multiplyRounded(amount, Decimal.of(times.factor), {
              places: times.places,
              rounding: "half-up"
            })
      return [{ match: value, amount: shown }]
    })
  }

  /** Sums of a side by match, or by its name where it has one. */
  const sumsOf = (side: BulkSide): Sums => {
    const names = side.names === undefined ? undefined : namesOf(side.names)
    const sums = { unnamed: new Map<string, Decimal.Decimal>(), named: new Map() }
    for (const { match, amount } of amountsOf(side)) {
      const name = names?.get(match)
      const into = name === undefined ? sums.unnamed : sums.named
      const key = name ?? match
      into.set(key, Decimal.add(into.get(key) ?? Decimal.zero, amount))
    }
    return sums
  }

  const isWanted = (row: OwnedRow, wanted: BulkEntries): boolean => {
    const [amount] = row.amounts
    if ("match" in wanted) {
      const { match, amount: wantedAmount = amount, day } = wanted
      const isOfDay = day === undefined || memberOf(row, "bookingDate") === day
      return row.match === match && amount === wantedAmount && isOfDay
    }
    if ("reversalOf" in wanted) return REVERSAL.test(row.group) && amount === wanted.reversalOf
    if ("reversalsIn" in wanted) {
      return REVERSAL.test(row.group) && row.owner === wanted.reversalsIn
    }
    const isIn = wanted.owners.includes(row.owner) && amount === wanted.amount
    return isIn && memberOf(row, "reference") === wanted.reference
  }

  return {
    store: transactions.store,
    append: (name, rows) =>
      unlessSealing(
        transactions,
        () => owners.get(name),
        () => {
          const owner = owners.get(name) ?? { rows: new Map(), sealed: false }
          if (owner.sealed) throw new Error(`Bulk.append: ${name} is sealed`)
          owners.set(name, owner)
          for (const row of rows) if (!owner.rows.has(row.key)) owner.rows.set(row.key, row)
        }
      ),
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
    find: ({ owner: name, keys }) =>
      transactions.read(() => {
        const owner = owners.get(name)
        if (owner?.sealed !== true) return []
        return [...new Set(keys)].toSorted(compareTexts).flatMap((key) => owner.rows.get(key) ?? [])
      }),
    entries: (wanted) =>
      transactions.read(() =>
        [...owners]
          .filter(([, { sealed }]) => sealed)
          .flatMap(([owner, { rows }]) =>
            [...rows.values()]
              .filter(({ group }) => ENTRY.test(group))
              .map((row) => ({ ...row, owner }))
              .filter((row) => wanted.some((each) => isWanted(row, each)))
          )
          .toSorted((a, b) => compareTexts(a.owner, b.owner) || compareTexts(a.key, b.key))
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
    differences: ({ left, right, tolerance, always = [] }) =>
      Stream.unwrap(
        transactions.read(() => {
          const sums = { left: sumsOf(left), right: sumsOf(right) }
          const differing = (["unnamed", "named"] as const).flatMap((kind) => {
            const [lefts, rights] = [sums.left[kind], sums.right[kind]]
            const keys = [...new Set([...lefts.keys(), ...rights.keys()])].toSorted(compareTexts)
            return keys.flatMap((match) => {
              const [a, b] = [lefts.get(match) ?? null, rights.get(match) ?? null]
              const difference = Decimal.subtract(b ?? Decimal.zero, a ?? Decimal.zero)
              const within = Decimal.atMost(Decimal.abs(difference), Decimal.of(tolerance))
              const isAsked = kind === "named" && always.includes(match)
              if (a !== null && b !== null && within && !isAsked) return []
              return [
                {
                  match,
                  isNamed: kind === "named",
                  left: a === null ? null : Decimal.formatPlain(a),
                  right: b === null ? null : Decimal.formatPlain(b),
                  difference: Decimal.formatPlain(difference)
                }
              ]
            })
          })
          return Stream.fromIterable(differing)
        })
      ),
    discard: ({ owner: name, limit, sparesSealed = false }) =>
      Effect.sync(() => {
        const owner = owners.get(name)
        if (sparesSealed && owner?.sealed === true) return 0
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

interface Amount {
  readonly match: string
  readonly amount: Decimal.Decimal
}

/** Sums by match of what has no name, and by name. */
interface Sums {
  readonly unnamed: ReadonlyMap<string, Decimal.Decimal>
  readonly named: ReadonlyMap<string, Decimal.Decimal>
}

/** Groups of rows of booked entries, and of those that are reversals. */
const ENTRY = /^(?:credit|debit)(?:-reversal)?\//u
const REVERSAL = /^(?:credit|debit)-reversal\//u

/** Member of a record's body as text; null: the body has none. */
const memberOf = ({ body }: Pick<VersionRow, "body">, member: string): string | null => {
  const record = PlainJson.parseTrusted(body) as Readonly<Record<string, unknown>>
  const value = record[member] ?? null
  if (PlainJson.isPlainNumber(value)) return value.text
  return value === null ? null : String(value)
}
