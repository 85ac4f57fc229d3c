/** Property check of Documents: lists, streams and counts of queries by chance, against a model. */
import {
  type Alternatives,
  Atomically,
  type Clause,
  Documents,
  type ListQuery,
  type StoredPin,
  type VersionRow
} from "@bursar/engine-core/ports"
import { Effect, Stream } from "effect"
import { type Check, check, fresh, instant, same } from "../Check.ts"
import { version } from "./rows.ts"

/**
 * Histories of records and the later versions that are spread over them by chance: enough of either
 * for stores that read few matches in one way and many in another.
 */
const histories = [
  { records: 1_300, later: 433, queries: 150 },
  { records: 300, later: 1_800, queries: 60 },
  { records: 40, later: 2_000, queries: 60 }
]
/** Queries of one reading scope besides the first. */
const together = 4

/** Pseudo-random numbers below a bound: the same sequence in every run. */
const dice = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

type Die = ReturnType<typeof dice>

const pick = <A>(die: Die, from: ReadonlyArray<A>): A => from[die(from.length)]!

/** Values of filter columns, all of which are null or absent at times. */
const values: Readonly<Record<string, ReadonlyArray<string>>> = {
  asset: ["common", "other", "q\"uo'te%", "é"],
  instrumentId: ["common", "other"],
  state: ["open", "shut"],
  "state:1": ["open", "shut"],
  "state:2": ["open", "shut"],
  actor: Array.from({ length: 60 }, (_, n) => `actor ${n}`),
  label: ["x", "y"]
}

/** Moments of clock moves. */
const moments = Array.from({ length: 8 }, (_, n) => instant(n))

const filtersOf = (die: Die): VersionRow["filters"] => {
  const filters: Record<string, string | null> = {}
  for (const [column, all] of Object.entries(values)) {
    if (die(6) > 0) filters[column] = die(200) === 0 ? "rare" : pick(die, all)
    else if (die(2) === 0) filters[column] = null
  }
  for (const column of ["clock:1", "clock:2"]) {
    if (die(3) > 0) filters[column] = die(9) === 0 ? null : pick(die, moments)
  }
  return filters
}

/** Moments in the order of versions: now and then several versions begin at one. */
const momentOf = (nth: number): number => nth - (nth % 5 === 3 ? 1 : 0)

/** First versions of all records, in no order of their keys, and then later versions. */
const history = (
  collection: string,
  { die, records, later }: { readonly die: Die; readonly records: number; readonly later: number }
): ReadonlyArray<VersionRow> => {
  const latest = new Map<number, number>()
  return Array.from({ length: records + later }, (_, nth) => {
    const record = nth < records ? nth : die(records)
    const place = String((record * 7_919) % records).padStart(4, "0")
    const closes = latest.get(record) ?? 0
    // Versions are numbered by facts, several of which may have made one version.
    const number = closes + (closes === 0 ? 1 : 1 + die(3))
    latest.set(record, number)
    return version({
      collection,
      recordId: `r${record}`,
      version: number,
      closes,
      sortKey: `${pick(dice(record + 1), ["a", "B", "é", "_"])}${place}`,
      filters: filtersOf(die),
      fromOffset: momentOf(nth),
      fromInstant: instant(momentOf(nth))
    })
  })
}

const anyOf = (die: Die, column: string): Extract<Clause, { readonly anyOf: unknown }> => {
  const all = values[column] ?? []
  const count = pick(die, [0, 1, 1, 2, 3, 20, 33, 70])
  const some = Array.from({ length: count }, () => (die(8) === 0 ? "rare" : pick(die, all)))
  return { column, anyOf: some }
}

const compared = (die: Die): Clause => ({
  column: pick(die, ["clock:1", "clock:2"]),
  is: pick(die, ["before", "at-most", "from", "after"]),
  than: pick(die, moments),
  nulls: pick(die, ["fail", "pass"])
})

const alternatives = (die: Die): Alternatives =>
  Array.from({ length: pick(die, [0, 1, 2, 3, 3]) }, () =>
    Array.from({ length: pick(die, [0, 1, 1, 2, 2, 3]) }, () =>
      die(2) === 0 ? compared(die) : anyOf(die, pick(die, Object.keys(values)))
    )
  )

/** As lists ask for a state that clock moves change, but alternatives may hold of one row together. */
const moved = (die: Die): Alternatives =>
  [0, 1, 2].map((move) => {
    const than = pick(die, moments.slice(0, 3))
    const due = { column: `clock:${move}`, is: "at-most", than, nulls: "fail" } as const
    const column = move === 0 ? "state" : `state:${move}`
    const state = { column, anyOf: pick(die, [["open"], ["rare"], ["shut", "rare"]]) }
    const more = die(2) === 0 ? [compared(die)] : []
    return [...(move === 0 ? [] : [due]), state, ...more]
  })

const pinOf = (die: Die, end: number): StoredPin => {
  const at = die(end)
  return pick<StoredPin>(die, [
    { by: "latest" },
    { by: "offset", offset: at },
    { by: "instant", instant: instant(at) }
  ])
}

const queryOf = (
  die: Die,
  rows: ReadonlyArray<VersionRow>
): ListQuery & { readonly limit: number } => {
  const end = Math.floor(1.1 * rows.length)
  const filters = pick(die, [0, 0, 1, 2, 3])
  const columns = new Set(Array.from({ length: filters }, () => pick(die, Object.keys(values))))
  const meets = Array.from({ length: die(3) }, () => pick(die, [alternatives, moved, moved])(die))
  return {
    collection: rows[0]!.collection,
    pin: pinOf(die, end),
    where: [...columns].map((column) => anyOf(die, column)),
    ...(meets.length === 0 ? {} : { meets }),
    ...(die(3) === 0 ? { updatedFrom: instant(die(end)) } : {}),
    ...(die(3) === 0 ? { updatedTo: instant(die(end)) } : {}),
    ...(die(3) === 0 ? { after: pick(die, rows).sortKey } : {}),
    direction: pick(die, ["asc", "desc"]),
    limit: pick(die, [1, 2, 3, 7, 64, 5_000])
  }
}

/** Model: what a query selects, in its order. */
const expected = (rows: ReadonlyArray<VersionRow>, query: ListQuery): ReadonlyArray<VersionRow> => {
  const { pin, direction, after, updatedFrom = "", updatedTo } = query
  const selected = new Map<string, VersionRow>()
  for (const row of rows) {
    const begun =
      pin.by === "latest" ||
      (pin.by === "offset" ? row.fromOffset <= pin.offset : row.fromInstant <= pin.instant)
    if (begun) selected.set(row.recordId, row)
  }
  const sign = direction === "asc" ? 1 : -1
  return [...selected.values()]
    .filter(
      (row) =>
        query.where.every((filter) => holds(row, filter)) &&
        (query.meets ?? []).every((group) =>
          group.some((clauses) => clauses.every((clause) => holds(row, clause)))
        ) &&
        row.fromInstant >= updatedFrom &&
        (updatedTo === undefined || row.fromInstant < updatedTo) &&
        (after === undefined || inOrder(row.sortKey, after) * sign > 0)
    )
    .toSorted((a, b) => inOrder(a.sortKey, b.sortKey) * sign)
}

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const holds = (row: VersionRow, clause: Clause): boolean => {
  const value = row.filters[clause.column] ?? null
  if ("anyOf" in clause) return value !== null && clause.anyOf.includes(value)
  if (value === null) return clause.nulls === "pass"
  const order = inOrder(value, clause.than)
  return { before: order < 0, "at-most": order <= 0, from: order >= 0, after: order > 0 }[clause.is]
}

const counted = (rows: ReadonlyArray<VersionRow>, column: string) => {
  const counts = new Map<string, number>()
  for (const { filters } of rows) {
    const value = filters[column] ?? null
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts].toSorted()
}

const names = (rows: ReadonlyArray<{ readonly recordId: string; readonly version: number }>) =>
  rows.map((row) => `${row.recordId}@${row.version}`).join(" ")

export const listQueries: ReadonlyArray<Check> = [
  check(
    "Documents",
    "lists, streams and counts exactly what a query by chance selects, in its order",
    function* () {
      for (const sample of histories) yield* agrees(sample)
    }
  ),
  check("Documents", "lists by alternatives of which nothing meets one", function* () {
    const { list, put } = yield* Documents
    const collection = yield* fresh("documents")
    const filters = { "clock:1": instant(1), state: "open" }
    yield* put([
      version({ collection, recordId: "due", filters }),
      version({ collection, recordId: "not due", filters: { ...filters, "clock:1": instant(3) } })
    ])
    const due = { column: "clock:1", is: "at-most", than: instant(2), nulls: "fail" } as const
    const never = { column: "state", anyOf: [] }
    for (const meets of [
      [[due], [never]],
      [[never], [due]],
      [[due], [never, due], [due]]
    ]) {
      const pin = { by: "latest" } as const
      const found = yield* list({
        collection,
        pin,
        where: [],
        meets: [meets],
        direction: "asc",
        limit: 9
      })
      yield* same(`the list by ${JSON.stringify(meets)}`, names(found), "due@1")
    }
  }),
  check(
    "Documents",
    "lists in one reading scope what each query lists alone, at the same pin and at different ones",
    function* () {
      const { list, put } = yield* Documents
      const { reading } = yield* Atomically
      const die = dice(12)
      const rows = history(yield* fresh("documents"), { records: 300, later: 1_800, die })
      for (let n = 0; n < rows.length; n += 500) yield* put(rows.slice(n, n + 500))
      for (let n = 0; n < 40; n++) {
        const first = queryOf(die, rows)
        const { direction, pin } = first
        const others = Array.from({ length: together }, () => queryOf(die, rows))
        const queries = [first, ...others.map((other) => ({ ...other, direction, pin }))]
        if (n % 4 === 0) queries.push(queryOf(die, rows))
        const found = yield* reading(Effect.forEach(queries, list, { concurrency: "unbounded" }))
        for (const [index, query] of queries.entries()) {
          const wanted = names(expected(rows, query).slice(0, query.limit))
          yield* same(`the list of ${JSON.stringify(query)}`, names(found[index] ?? []), wanted)
        }
      }
    }
  )
]

/** Compares lists, streams and counts over a history with the model. */
const agrees = Effect.fnUntraced(function* ({ queries, ...sizes }: (typeof histories)[number]) {
  const { countBy, list, put, stream } = yield* Documents
  const die = dice(11)
  const rows = history(yield* fresh("documents"), { ...sizes, die })
  for (let n = 0; n < rows.length; n += 500) yield* put(rows.slice(n, n + 500))
  for (let n = 0; n < queries; n++) {
    const { limit, ...query } = queryOf(die, rows)
    const wanted = expected(rows, query)
    const what = JSON.stringify({ ...query, limit })
    yield* same(
      `the list of ${what}`,
      names(yield* list({ ...query, limit })),
      names(wanted.slice(0, limit))
    )
    if (n % 3 === 0) {
      const streamed = yield* Stream.runCollect(stream(query))
      yield* same(`the stream of ${what}`, names(streamed), names(wanted))
    }
    if (n % 3 === 1) {
      const { after: _, direction: __, ...uncut } = query
      const counts = yield* countBy({ ...uncut, column: "state" })
      const all = expected(rows, { ...uncut, direction: "asc" })
      yield* same(`the counts of ${what}`, [...counts].toSorted(), counted(all, "state"))
    }
  }
})
