/** Checks of the index of waiting records: what is listed and counted at any pin, against a model. */
import {
  Atomically,
  Documents,
  everyWait,
  type FilledWait,
  type StoredPin,
  type StoredWait,
  type VersionRow,
  type WaitQuery,
  type WaitRow,
  waitSortKey
} from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Check, check, fresh, instant, same } from "../Check.ts"
import { version } from "./rows.ts"

const PORT = "Documents"

/** A row with defaults: a check names only the members that it tests. */
const wait = (fields: Partial<WaitRow>): WaitRow => ({
  role: "operator",
  action: "settle",
  resourceKind: "order",
  state: "priced",
  instrumentId: "i1",
  holderId: null,
  by: null,
  tie: "/orders/r",
  from: null,
  until: null,
  since: null,
  condition: null,
  hiddenFrom: [],
  body: '{"price":1.0000000001,"name":"Zoë \\\\"}',
  ...fields
})

/** A version with these waits. */
const waiting = (fields: Partial<VersionRow>, rows: ReadonlyArray<WaitRow>): VersionRow => ({
  ...version(fields),
  waits: { keptBy: "engine", follow: false, rows }
})

const pinned = (pin: StoredPin): WaitQuery["pins"] => ({ ledger: pin, engine: pin, own: pin })
const latest: StoredPin = { by: "latest" }

/** A query of all kinds of a check's rows, whose resource kinds are of its own. */
const query = (kind: string, fields: Partial<WaitQuery> = {}): WaitQuery => ({
  pins: pinned(latest),
  judgedAt: instant(1_000),
  audience: ["operator", "risk"].map((role) => ({ role, resourceKind: kind })),
  where: [],
  subject: "nobody",
  conditions: [],
  ...fields
})

/** A pseudo-random history of versions and their waits, which share offsets and instants. */
const history = (collection: string): ReadonlyArray<VersionRow> => {
  let seed = 11
  const next = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const some = <A>(...values: ReadonlyArray<A>): A => values[next(values.length)]!
  let offset = 0
  let micros = 0
  const versions = new Map<string, number>()
  const waited = new Set<string>()
  return Array.from({ length: 90 }, () => {
    offset += next(3)
    micros += next(3)
    const recordId = `r${next(5)}`
    const number = (versions.get(recordId) ?? 0) + 1
    versions.set(recordId, number)
    const rows = Array.from({ length: next(3) }, (_, nth) =>
      wait({
        role: some("operator", "risk"),
        action: nth === 0 ? "settle" : "release",
        resourceKind: collection,
        state: some(null, "priced", "held"),
        instrumentId: some(null, "i1", "i2"),
        by: some(null, instant(20), instant(60)),
        tie: `/orders/${recordId} ${nth}`,
        from: some(null, null, instant(40)),
        until: some(null, null, instant(70)),
        since: some(null, null, null, instant(5)),
        condition: some(null, null, { key: "stopped", holds: next(2) === 0 }),
        hiddenFrom: some([], [], ["ann"], ["ann", 'o"\\l,g{a}'])
      })
    )
    const follow = waited.has(recordId) || next(4) === 0
    if (rows.length > 0) waited.add(recordId)
    else waited.delete(recordId)
    return {
      ...version({ collection, recordId, version: number }),
      fromOffset: offset,
      fromInstant: instant(micros),
      waits: { keptBy: some("ledger", "engine", "own"), follow, rows }
    }
  })
}

/** The waits of a history, and between which points each counts. */
const modelOf = (
  rows: ReadonlyArray<VersionRow>
): ReadonlyArray<FilledWait & { keptBy: string }> => {
  type Open = FilledWait & { keptBy: string; text: string }
  const ended: Array<Open> = []
  const open = new Map<string, ReadonlyArray<Open>>()
  for (const { fromInstant, fromOffset, recordId, waits } of rows) {
    const before = open.get(recordId) ?? []
    const texts = waits!.rows.map(({ since: _, ...row }) => JSON.stringify(row))
    for (const row of before) {
      if (texts.includes(row.text)) continue
      ended.push({ ...row, toOffset: fromOffset, toInstant: fromInstant })
    }
    const now = waits!.rows.map((row, index) => {
      const same = before.find(({ text }) => text === texts[index])
      if (same !== undefined) return same
      const earlier = before.filter(
        ({ action, role, since }) =>
          role === row.role && action === row.action && since <= fromInstant
      )
      const since =
        row.since ??
        earlier
          .map((each) => each.since)
          .toSorted()
          .at(-1) ??
        fromInstant
      const points = { fromOffset, fromInstant, toOffset: null, toInstant: null }
      return { ...row, ...points, recordId, since, keptBy: waits!.keptBy, text: texts[index]! }
    })
    open.set(recordId, now)
  }
  return [...ended, ...[...open.values()].flat()].map(({ text: _, ...row }) => row)
}

const covers = (row: FilledWait, pin: StoredPin | undefined): boolean => {
  if (pin === undefined) return false
  if (pin.by === "latest") return row.toInstant === null
  if (pin.by === "offset") {
    return row.fromOffset <= pin.offset && (row.toOffset === null || pin.offset < row.toOffset)
  }
  return row.fromInstant <= pin.instant && (row.toInstant === null || pin.instant < row.toInstant)
}

const expected = (
  model: ReturnType<typeof modelOf>,
  { conditions, judgedAt, overdue, pins, subject, where }: WaitQuery
): ReadonlyArray<StoredWait> =>
  model
    .filter(
      (row) =>
        covers(row, pins[row.keptBy as keyof WaitQuery["pins"]]) &&
        (row.from === null || row.from <= judgedAt) &&
        (row.until === null || judgedAt < row.until) &&
        !row.hiddenFrom.includes(subject) &&
        (row.condition === null ||
          conditions.includes(row.condition.key) === row.condition.holds) &&
        (overdue === undefined || (row.by !== null && row.by <= judgedAt) === overdue) &&
        where.every(({ anyOf, column }) => anyOf.includes(row[column] ?? ""))
    )
    .map(({ role, action, resourceKind, state, instrumentId, holderId, by, body, since, tie }) => ({
      ...{ role, action, resourceKind, state, instrumentId, holderId, by, body, since },
      sortKey: waitSortKey({ by, since, tie })
    }))
    .toSorted((a, b) => (a.sortKey < b.sortKey ? -1 : 1))

/** Queries of every kind of pin and filter. */
const queries = (kind: string): ReadonlyArray<WaitQuery> => {
  const filters: ReadonlyArray<Partial<WaitQuery>> = [
    {},
    { overdue: true },
    { overdue: false },
    { subject: 'o"\\l,g{a}' },
    { subject: "ann", conditions: ["stopped"] },
    { where: [{ column: "state", anyOf: ["held", "priced"] }] },
    {
      where: [
        { column: "instrumentId", anyOf: ["i2"] },
        { column: "action", anyOf: ["settle"] }
      ]
    }
  ]
  const pins: ReadonlyArray<WaitQuery["pins"]> = [
    pinned(latest),
    ...[0, 30, 60, 88].map((offset) => ({
      ledger: { by: "offset", offset } as const,
      engine: { by: "offset", offset } as const
    })),
    ...[2, 33, 61, 90].map((micros) => pinned({ by: "instant", instant: instant(micros) })),
    {
      ledger: { by: "offset", offset: 45 },
      engine: { by: "instant", instant: instant(44) },
      own: { by: "instant", instant: instant(44) }
    }
  ]
  return pins.flatMap((pins, nth) =>
    filters.map((fields) =>
      query(kind, { ...fields, pins, judgedAt: instant([10, 40, 55, 70, 90][nth % 5]!) })
    )
  )
}

/** The filled rows of a history, as an engine computes them of the versions. */
const filled = (model: ReturnType<typeof modelOf>, keptBy: string): ReadonlyArray<FilledWait> =>
  model.filter((row) => row.keptBy === keptBy).map(({ keptBy: _, ...row }) => row)

const checkAll = Effect.fnUntraced(function* (kind: string, model: ReturnType<typeof modelOf>) {
  const { countWaits, waitConditions, waits } = yield* Documents
  for (const each of queries(kind)) {
    const rows = expected(model, each)
    yield* same(`the waits of ${JSON.stringify(each)}`, yield* waits({ ...each, limit: 100 }), rows)
    let after: string | undefined
    const pages: Array<StoredWait> = []
    for (;;) {
      const page = yield* waits({ ...each, limit: 3, ...(after === undefined ? {} : { after }) })
      pages.push(...page)
      if (page.length < 3) break
      after = page.at(-1)?.sortKey
    }
    yield* same("the same, by pages of 3", pages, rows)
    const counted = yield* countWaits({ ...each, most: 2 })
    const groups = Map.groupBy(rows, ({ role }) => role)
    yield* same(
      "their counts",
      counted.toSorted((a, b) => (a.role < b.role ? -1 : 1)),
      [...groups.keys()].toSorted().map((role) => {
        const some = groups.get(role)!.slice(0, 2)
        const overdue = some.filter(({ by }) => by !== null && by <= each.judgedAt).length
        return { role, resourceKind: kind, waiting: some.length, overdue, by: some[0]!.by }
      })
    )
    const keys = yield* waitConditions(each)
    const isListed = model.some(
      (row) =>
        row.condition !== null && covers(row, each.pins[row.keptBy as keyof WaitQuery["pins"]])
    )
    yield* same("whether a condition is listed", keys.includes("stopped") || !isListed, true)
  }
})

export const waits: ReadonlyArray<Check> = [
  check(PORT, "lists and counts the waits of records at every pin", function* () {
    const { put } = yield* Documents
    const kind = yield* fresh("waits")
    const rows = history(kind)
    for (const row of rows) yield* put([row])
    yield* checkAll(kind, modelOf(rows))
  }),
  check(
    PORT,
    "lists waits that were written in one call, and drops those of a rollback",
    function* () {
      const { put } = yield* Documents
      const { run } = yield* Atomically
      const kind = yield* fresh("waits")
      const rows = history(kind)
      yield* run(put(rows.slice(0, 60)))
      yield* Effect.exit(run(Effect.andThen(put(rows.slice(60)), Effect.die("rolled back"))))
      yield* checkAll(kind, modelOf(rows.slice(0, 60)))
    }
  ),
  check(PORT, "lists the waits of many records that were written in one call", function* () {
    const { put } = yield* Documents
    const kind = yield* fresh("waits")
    const rows = history(kind)
    // Calls hold versions of several records, and several of one.
    for (let from = 0; from < rows.length; from += 9) yield* put(rows.slice(from, from + 9))
    yield* checkAll(kind, modelOf(rows))
  }),
  check(PORT, "lets the waits of a version go on where the next one states none", function* () {
    const { put, waits } = yield* Documents
    const kind = yield* fresh("waits")
    const row = wait({ resourceKind: kind })
    yield* put([waiting({ collection: kind, fromInstant: instant(3) }, [row])])
    const before = yield* waits({ ...query(kind), limit: 9 })
    yield* put([version({ collection: kind, version: 2, fromOffset: 1, fromInstant: instant(5) })])
    yield* same("the waits", yield* waits({ ...query(kind), limit: 9 }), before)
    const past = { ...query(kind), pins: pinned({ by: "instant", instant: instant(4) }) }
    yield* same("those of before", yield* waits({ ...past, limit: 9 }), before)
    yield* same("their number", before.length, 1)
  }),
  check(PORT, "forgets the waits of records that retention deletes", function* () {
    const { forget, put, waits } = yield* Documents
    const kind = yield* fresh("waits")
    for (const recordId of ["a", "b"]) {
      const row = wait({ resourceKind: kind, tie: recordId })
      yield* put([waiting({ collection: kind, recordId }, [row])])
    }
    yield* forget({ collection: kind, recordIds: ["a"] })
    const found = yield* waits({ ...query(kind), limit: 9 })
    yield* same(
      "the waits",
      found.map(({ sortKey }) => sortKey.slice(-1)),
      ["b"]
    )
  }),
  check(PORT, "shows no pin after the pruned offset other waits than before", function* () {
    const { prune, put } = yield* Documents
    const kind = yield* fresh("waits")
    const rows = history(kind)
    for (const row of rows) yield* put([row])
    // No query of the check is of an earlier point: the first versions have no offset before 0.
    yield* prune({ collection: kind, through: 0, limit: 100 })
    yield* checkAll(kind, modelOf(rows))
  }),
  check(PORT, "fills the index with what versions of before waited for", function* () {
    const { fillWaits, history: versionsOf, put } = yield* Documents
    const { run } = yield* Atomically
    const kind = yield* fresh("waits")
    const rows = history(kind).map((row) => ({
      ...row,
      waits: { ...row.waits!, keptBy: "engine" as const }
    }))
    for (const { waits: _, ...row } of rows) yield* put([row])
    const model = modelOf(rows)
    const seen: Array<string> = []
    for (let after: string | undefined = ""; after !== undefined; ) {
      const page: ReadonlyArray<{ readonly recordId: string; readonly version: number }> =
        yield* versionsOf({ collection: kind, after, limit: 2 })
      seen.push(...page.map(({ recordId, version }) => `${recordId} ${version}`))
      const recordIds = [...new Set(page.map(({ recordId }) => recordId))]
      const found = filled(model, "engine").filter((row) => recordIds.includes(row.recordId))
      // Twice: a fill that was cut off is repeated.
      for (let time = 0; time < 2; time++) {
        yield* run(fillWaits({ collection: kind, keptBy: "engine", recordIds, rows: found }))
      }
      after = recordIds.length < 2 ? undefined : recordIds.at(-1)
    }
    yield* same(
      "every version of the collection, record by record",
      seen,
      rows
        .map(({ recordId, version }) => `${recordId} ${String(version).padStart(3, "0")}`)
        .toSorted()
        .map((text) => text.replace(/ 0+/u, " "))
    )
    yield* checkAll(kind, model)
  }),
  check(PORT, "remembers with what the index was filled", function* () {
    const { markWaits, waitMarks } = yield* Documents
    const mark = yield* fresh("mark")
    yield* markWaits(mark)
    yield* markWaits(mark)
    const marks = yield* waitMarks
    yield* same(
      "the marks",
      marks.filter((each) => each === mark || each === everyWait),
      [everyWait, mark]
    )
  })
]
