/** Checks of Documents: versions that cover all of time without gap, and lists at any pin. */
import {
  Atomically,
  type Alternatives,
  Documents,
  type ListQuery,
  type StoredPin,
  type VersionRow
} from "@bursar/engine-core/ports"
import { Effect, Fiber, Stream } from "effect"
import { createHash } from "node:crypto"
import { type Check, check, ends, fresh, instant, same } from "../Check.ts"
import { version } from "./rows.ts"

const PORT = "Documents"
const latest: StoredPin = { by: "latest" }
const byOffset = (offset: number): StoredPin => ({ by: "offset", offset })
const byInstant = (micros: number): StoredPin => ({ by: "instant", instant: instant(micros) })

const all = (
  collection: string,
  query: Partial<ListQuery> = {}
): ListQuery & { limit: number } => ({
  collection,
  pin: latest,
  where: [],
  direction: "asc",
  limit: 1000,
  ...query
})

const ids = (found: ReadonlyArray<{ readonly recordId: string }>): string =>
  found.map((row) => row.recordId).join(" ")

/** A pseudo-random history of versions that share offsets and instants; the same on every run. */
const history = (collection: string): ReadonlyArray<VersionRow> => {
  let seed = 7
  const next = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  let offset = 0
  let micros = 0
  const versions = new Map<string, number>()
  return Array.from({ length: 120 }, () => {
    offset += next(3)
    micros += next(3)
    const recordId = `r${next(6)}`
    const number = (versions.get(recordId) ?? 0) + 1
    versions.set(recordId, number)
    return version({
      collection,
      recordId,
      version: number,
      body: `{"n":${number}}`,
      filters: { state: `s${next(3)}`, kind: next(2) === 0 ? null : "k" },
      fromOffset: offset,
      fromInstant: instant(micros)
    })
  })
}

/** Model: the version of each record that a query must return. */
const expected = (
  rows: ReadonlyArray<VersionRow>,
  begun: (row: VersionRow) => boolean
): ReadonlyMap<string, VersionRow> => {
  const found = new Map<string, VersionRow>()
  for (const row of rows) if (begun(row)) found.set(row.recordId, row)
  return found
}

export const documents: ReadonlyArray<Check> = [
  check(PORT, "answers every version that was in force in a range of offsets", function* () {
    const { put, versions } = yield* Documents
    const collection = yield* fresh("documents")
    const rows = history(collection)
    for (const row of rows) yield* put([row])
    const recordIds = ["r3", "r0", "r1", "r3", "missing"]
    const ends = rows.map((row, index) => {
      const next = rows.slice(index + 1).find(({ recordId }) => recordId === row.recordId)
      return { row, to: next?.fromOffset ?? Infinity }
    })
    const model = (from: number, through: number) =>
      [...new Set(recordIds)].flatMap((id) =>
        ends
          .filter(({ row, to }) => row.recordId === id && to > row.fromOffset)
          .filter(({ row, to }) => row.fromOffset <= through && to > from)
          .map(({ row }) => `${row.recordId} ${row.version} ${row.fromOffset}`)
      )
    for (const [from, through] of [
      [0, 200],
      [10, 40],
      [41, 41],
      [60, 61],
      [90, 95],
      [300, 400]
    ]) {
      const found = yield* versions({ collection, recordIds, from: from!, through: through! })
      yield* same(
        `the versions from ${from} to ${through}`,
        found.map((row) => `${row.recordId} ${row.version} ${row.fromOffset}`),
        model(from!, through!)
      )
    }
    const none = yield* versions({ collection, recordIds: [], from: 0, through: 400 })
    yield* same("the versions of no record", none, [])
  }),
  check(PORT, "gives back a version as it was written", function* () {
    const { get, put } = yield* Documents
    const collection = yield* fresh("documents")
    const row = version({ collection, fromOffset: 4, fromInstant: instant(5) })
    yield* put([row])
    yield* same("the version", yield* get({ collection, recordIds: ["r", "x"], pin: latest }), [
      {
        recordId: row.recordId,
        version: row.version,
        body: row.body,
        sortKey: row.sortKey,
        createdAt: row.createdAt,
        fromOffset: row.fromOffset,
        fromInstant: row.fromInstant
      }
    ])
  }),
  check(PORT, "answers each of the calls that a transaction makes at once", function* () {
    const { run } = yield* Atomically
    const { get, put } = yield* Documents
    const collection = yield* fresh("documents")
    const other = yield* fresh("documents")
    yield* put([
      version({ collection, recordId: "a" }),
      version({ collection, recordId: "b" }),
      version({ collection: other, recordId: "a", body: '{"n":2}' })
    ])
    yield* put([version({ collection, recordId: "a", version: 2, fromOffset: 1 })])
    const queries = [
      { collection, recordIds: ["a", "x", "b", "a"], pin: latest },
      { collection: other, recordIds: ["a", "b"], pin: latest },
      { collection, recordIds: [], pin: latest },
      { collection, recordIds: ["x"], pin: latest },
      { collection, recordIds: ["a"], pin: byOffset(0) },
      { collection, recordIds: ["a"], pin: latest }
    ]
    const found = yield* run(Effect.forEach(queries, get, { concurrency: "unbounded" }))
    yield* same("what each call found", found, yield* Effect.forEach(queries, get))
    yield* same(
      "the versions",
      found.map((rows) => rows.map(({ recordId, version }) => `${recordId}${version}`).join(" ")),
      ["a2 b1", "a1", "", "", "a1", "a2"]
    )
  }),
  check(PORT, "selects exactly one version of a record at every offset and instant", function* () {
    const { get, list, put } = yield* Documents
    const collection = yield* fresh("documents")
    const rows = history(collection)
    for (let n = 0; n < rows.length; n += 5) yield* put(rows.slice(n, n + 5))
    const recordIds = Array.from({ length: 6 }, (_, n) => `r${n}`)
    const lastOf = (which: "fromOffset" | "fromInstant") => rows[rows.length - 1]?.[which]
    const pins: Array<readonly [StoredPin, (row: VersionRow) => boolean]> = [[latest, () => true]]
    for (let n = -1; n <= Number(lastOf("fromOffset")) + 1; n++) {
      pins.push([byOffset(n), (row) => row.fromOffset <= n])
    }
    for (let n = 0; instant(n) <= String(lastOf("fromInstant")); n++) {
      pins.push([byInstant(n), (row) => row.fromInstant <= instant(n)])
    }
    for (const [pin, begun] of pins) {
      const wanted = expected(rows, begun)
      const names = [...wanted.values()].map((row) => `${row.recordId}@${row.version}`).toSorted()
      const got = yield* get({ collection, recordIds, pin })
      yield* same(
        `get at ${JSON.stringify(pin)}`,
        got.map((row) => `${row.recordId}@${row.version}`).toSorted(),
        names
      )
      const listed = yield* list(all(collection, { pin }))
      yield* same(
        `list at ${JSON.stringify(pin)}`,
        listed.map((row) => `${row.recordId}@${row.version}`).toSorted(),
        names
      )
      const chosen = yield* list(
        all(collection, { pin, where: [{ column: "state", anyOf: ["s1"] }] })
      )
      yield* same(
        `filtered list at ${JSON.stringify(pin)}`,
        ids(chosen),
        ids([...wanted.values()].filter((row) => row.filters["state"] === "s1").toSorted(bySortKey))
      )
    }
  }),
  check(PORT, "reads the same at an offset and an instant after later writes", function* () {
    const { list, put } = yield* Documents
    const collection = yield* fresh("documents")
    yield* put([version({ collection, fromOffset: 1, fromInstant: instant(1) })])
    const before = [
      yield* list(all(collection, { pin: byOffset(1) })),
      yield* list(all(collection, { pin: byInstant(1) }))
    ]
    yield* put([
      version({ collection, version: 2, fromOffset: 2, fromInstant: instant(2) }),
      version({ collection, recordId: "s", fromOffset: 2, fromInstant: instant(2) })
    ])
    const after = [
      yield* list(all(collection, { pin: byOffset(1) })),
      yield* list(all(collection, { pin: byInstant(1) }))
    ]
    yield* same("the pinned lists", after, before)
  }),
  check(PORT, "takes several versions of one record in one call, also at one offset", function* () {
    const { get, put } = yield* Documents
    const collection = yield* fresh("documents")
    const at = (n: number, offset: number) =>
      version({ collection, version: n, fromOffset: offset, fromInstant: instant(offset) })
    yield* put([at(1, 1)])
    yield* put([at(2, 2), at(3, 2), at(4, 3)])
    const seen: Array<number | undefined> = []
    for (const offset of [0, 1, 2, 3, 4]) {
      seen.push((yield* get({ collection, recordIds: ["r"], pin: byOffset(offset) }))[0]?.version)
    }
    yield* same("by offset", seen, [undefined, 1, 3, 4, 4])
  }),
  check(PORT, "takes numbers with gaps, each row naming the version that it closes", function* () {
    const { get, put } = yield* Documents
    const collection = yield* fresh("documents")
    const at = (n: number, closes: number) =>
      version({ collection, version: n, closes, fromOffset: n, fromInstant: instant(n) })
    yield* put([at(3, 0)])
    yield* put([at(5, 3)])
    yield* put([at(6, 5), at(9, 6)])
    const seen: Array<number | undefined> = []
    for (const offset of [2, 3, 4, 5, 6, 8, 9]) {
      seen.push((yield* get({ collection, recordIds: ["r"], pin: byOffset(offset) }))[0]?.version)
    }
    yield* same("by offset", seen, [undefined, 3, 3, 5, 6, 6, 9])
  }),
  check(PORT, "treats a version that does not follow the last one as a defect", function* () {
    const { get, put } = yield* Documents
    const collection = yield* fresh("documents")
    yield* put([version({ collection })])
    for (const [what, rows] of [
      ["a repeated version", [1]],
      ["a gap", [3]],
      ["a gap inside a call", [2, 4]],
      ["a version twice in a call", [2, 2]]
    ] as const) {
      const versions = rows.map((n) => version({ collection, version: n }))
      yield* ends(what, put(versions), "defect")
    }
    yield* ends(
      "a first version 2",
      put([version({ collection, recordId: "s", version: 2 })]),
      "defect"
    )
    const second = version({ collection, version: 2, closes: 0, sortKey: "other" })
    const another = version({ collection, recordId: "s" })
    yield* ends("a second first version", put([second]), "defect")
    yield* ends("a second first version beside another", put([second, another]), "defect")
    const moved = version({ collection, version: 2, sortKey: "other" })
    for (const more of [[], [another]]) {
      const same = version({ collection, version: 1, closes: 1 })
      yield* ends("a number that is not greater", put([same, ...more]), "defect")
      yield* ends("another sort key", put([moved, ...more]), "defect")
    }
    const next = version({ collection, version: 2 })
    yield* ends(
      "another sort key inside a call",
      put([next, { ...moved, version: 3, closes: 2 }]),
      "defect"
    )
    const found = yield* get({ collection, recordIds: ["r", "s"], pin: latest })
    yield* same(
      "what is there",
      found.map((row) => row.version),
      [1]
    )
  }),
  check(PORT, "treats a version that begins before the last one did as a defect", function* () {
    const { put } = yield* Documents
    const collection = yield* fresh("documents")
    yield* put([version({ collection, fromOffset: 5, fromInstant: instant(5) })])
    const earlier = { collection, version: 2 }
    yield* ends(
      "an earlier offset",
      put([version({ ...earlier, fromOffset: 4, fromInstant: instant(6) })]),
      "defect"
    )
    yield* ends(
      "an earlier instant",
      put([version({ ...earlier, fromOffset: 6, fromInstant: instant(4) })]),
      "defect"
    )
  }),
  check(PORT, "lists what matches all filters, and any value inside one", function* () {
    const { countBy, list, put } = yield* Documents
    const collection = yield* fresh("documents")
    const versionOf = (recordId: string, filters: Record<string, string | null>) =>
      version({ collection, recordId, filters })
    yield* put([
      versionOf("a", { state: "open", kind: "x", end: null }),
      versionOf("b", { state: "open", kind: null, end: instant(5) }),
      versionOf("c", { state: "shut", kind: "x", end: instant(9) }),
      versionOf("d", { state: 'o"p%en', kind: "y" })
    ])
    const found = (query: Partial<ListQuery>) => Effect.map(list(all(collection, query)), ids)
    const where = (column: string, ...anyOf: ReadonlyArray<string>) => ({ column, anyOf })
    yield* same("one", yield* found({ where: [where("state", "open")] }), "a b")
    yield* same("any", yield* found({ where: [where("state", "shut", "open")] }), "a b c")
    yield* same(
      "both",
      yield* found({ where: [where("state", "open"), where("kind", "x", "y")] }),
      "a"
    )
    yield* same("none", yield* found({ where: [where("state")] }), "")
    yield* same("a null", yield* found({ where: [where("kind", "null", "")] }), "")
    yield* same("no column", yield* found({ where: [where("nowhere", "x")] }), "")
    yield* same("quotes and signs", yield* found({ where: [where("state", 'o"p%en')] }), "d")
    yield* same("a pattern", yield* found({ where: [where("state", "o%")] }), "")
    const counts = yield* countBy({ collection, pin: latest, where: [], column: "kind" })
    yield* same("counted", [...counts].toSorted(), [
      ["x", 2],
      ["y", 1]
    ])
    const some = yield* countBy({
      collection,
      pin: latest,
      where: [where("kind", "x")],
      column: "state"
    })
    yield* same("counted among some", [...some].toSorted(), [
      ["open", 1],
      ["shut", 1]
    ])
  }),
  check(
    PORT,
    "lists what meets one alternative of each, in lists, streams and counts",
    function* () {
      const { countBy, list, put, stream } = yield* Documents
      const collection = yield* fresh("documents")
      const versionOf = (recordId: string, state: string | null, at: string | null) =>
        version({ collection, recordId, filters: { state, at } })
      yield* put([
        versionOf("a", "open", "1"),
        versionOf("b", "open", "2"),
        versionOf("c", "open", null),
        versionOf("d", "shut", "2"),
        versionOf("e", null, "3"),
        versionOf("f", "shut", "10")
      ])
      const meeting = Effect.fnUntraced(function* (meets: ReadonlyArray<Alternatives>) {
        const listed = ids(yield* list(all(collection, { meets })))
        const streamed = ids(yield* Stream.runCollect(stream(all(collection, { meets }))))
        yield* same("the stream", streamed, listed)
        const counts = yield* countBy({
          collection,
          pin: latest,
          where: [],
          meets,
          column: "state"
        })
        const counted = [...counts.values()].reduce((sum, count) => sum + count, 0)
        const stateless = listed.split(" ").filter((id) => id === "e").length
        yield* same("the counts", counted + stateless, listed === "" ? 0 : listed.split(" ").length)
        return listed
      })
      const at = (is: "before" | "at-most" | "from" | "after", nulls: "fail" | "pass" = "fail") => [
        [{ column: "at", is, than: "2", nulls }]
      ]
      const state = (value: string) => ({ column: "state", anyOf: [value] })
      for (const [what, meets, wanted] of [
        // Texts are ordered by code unit: "10" is before "2".
        ["before", [at("before")], "a f"],
        ["at most", [at("at-most")], "a b d f"],
        ["from", [at("from")], "b d e"],
        ["after", [at("after")], "e"],
        ["before, or without", [at("before", "pass")], "a c f"],
        ["after, or without", [at("after", "pass")], "c e"],
        [
          "a range",
          [at("from"), [[{ column: "at", is: "before", than: "3", nulls: "fail" }]]],
          "b d"
        ],
        ["either", [[[state("open"), ...at("from").flat()], [state("shut")]]], "b d f"],
        [
          "either of several values",
          [[[{ column: "state", anyOf: ["open", "shut"] }]]],
          "a b c d f"
        ],
        ["no alternative", [[]], ""],
        ["an alternative that asks nothing", [[[]]], "a b c d e f"],
        ["a column nobody has", [[[{ column: "x", is: "from", than: "", nulls: "fail" }]]], ""],
        [
          "or without that column",
          [[[{ column: "x", is: "from", than: "", nulls: "pass" }]]],
          "a b c d e f"
        ]
      ] as ReadonlyArray<readonly [string, ReadonlyArray<Alternatives>, string]>) {
        yield* same(what, yield* meeting(meets), wanted)
      }
    }
  ),
  check(PORT, "takes the longest keys that names on the ledger make", function* () {
    const { get, list, put } = yield* Documents
    const collection = yield* fresh("documents")
    // An asset is a party of 255 characters and a name of 256 of three bytes each; a party has a line in it.
    const digests = Array.from({ length: 20 }, (_, n) =>
      createHash("sha512").update(`${n}`).digest("base64")
    )
    const asset = digests.join("").slice(0, 255 + 1 + 3 * 256)
    const key = `${asset}/${"p".repeat(255)}`
    yield* put([version({ collection, recordId: key, sortKey: key, filters: { asset } })])
    const found = yield* get({ collection, recordIds: [key], pin: latest })
    yield* same("by its id", found.length, 1)
    const where = [{ column: "asset", anyOf: [asset] }]
    yield* same("by its filter", (yield* list(all(collection, { where }))).length, 1)
  }),
  check(PORT, "forgets the filters of a version that was closed", function* () {
    const { list, put } = yield* Documents
    const collection = yield* fresh("documents")
    yield* put([version({ collection, filters: { state: "open" } })])
    yield* put([version({ collection, version: 2, filters: { state: "shut" }, fromOffset: 1 })])
    const open = [{ column: "state", anyOf: ["open"] }]
    yield* same("at latest", ids(yield* list(all(collection, { where: open }))), "")
    const then = all(collection, { where: open, pin: byOffset(0) })
    yield* same("as it was", ids(yield* list(then)), "r")
  }),
  check(PORT, "lists from updatedFrom on and before updatedTo", function* () {
    const { list, put } = yield* Documents
    const collection = yield* fresh("documents")
    yield* put(
      [1, 2, 3].map((n) => version({ collection, recordId: `r${n}`, fromInstant: instant(n) }))
    )
    const found = (query: Partial<ListQuery>) => Effect.map(list(all(collection, query)), ids)
    yield* same("from", yield* found({ updatedFrom: instant(2) }), "r2 r3")
    yield* same("to", yield* found({ updatedTo: instant(2) }), "r1")
    yield* same("between", yield* found({ updatedFrom: instant(2), updatedTo: instant(3) }), "r2")
  }),
  check(
    PORT,
    "pages through a list both ways, each record once, in the order of its key",
    function* () {
      const { list, put } = yield* Documents
      const collection = yield* fresh("documents")
      // Order of code units, not of a language: digits, upper case, lower case.
      const keys = ["Z", "a", "0", "b", "B", "_", "10", "9", "é", "aa"]
      yield* put(keys.map((sortKey) => version({ collection, recordId: `r${sortKey}`, sortKey })))
      const inOrder = keys.toSorted((a, b) => (a < b ? -1 : 1))
      for (const direction of ["asc", "desc"] as const) {
        for (const limit of [1, 3, 100]) {
          const found: Array<string> = []
          for (let page = 0; page < 12; page++) {
            const after = found[found.length - 1]
            const query = all(collection, { direction, ...(after === undefined ? {} : { after }) })
            const rows = yield* list({ ...query, limit })
            found.push(...rows.map((row) => row.sortKey))
          }
          const wanted = direction === "asc" ? inOrder : inOrder.toReversed()
          yield* same(`${direction} by ${limit}`, found, wanted)
        }
      }
      const after = (key: string) => list(all(collection, { after: key }))
      yield* same("after a key that is not there", (yield* after("a0")).length, 3)
    }
  ),
  check(
    PORT,
    "forgets every version of some records, with its transaction, and no other",
    function* () {
      const { countBy, forget, get, list, put } = yield* Documents
      const { run } = yield* Atomically
      const collection = yield* fresh("documents")
      const putTwo = (recordId: string, name = collection) => {
        const row = { collection: name, recordId, filters: { state: "s" } }
        const next = { ...row, version: 2, fromOffset: 1, fromInstant: instant(1) }
        return put([version(row), version(next)])
      }
      for (const recordId of ["a", "b", "c"]) yield* putTwo(recordId)
      yield* putTwo("b", `${collection}x`)
      const pins = [latest, byOffset(0), byInstant(0)]
      const where = [{ column: "state", anyOf: ["s"] }]
      const seen = Effect.gen(function* () {
        const lists = yield* Effect.forEach(pins, (pin) => list(all(collection, { pin, where })))
        const gets = yield* Effect.forEach(pins, (pin) =>
          get({ collection, recordIds: ["a", "b", "c"], pin })
        )
        const counts = yield* Effect.forEach(pins, (pin) =>
          countBy({ collection, pin, where: [], column: "state" })
        )
        return [...lists.map(ids), ...gets.map(ids), ...counts.map((n) => n.get("s") ?? 0)]
      })
      const both = forget({ collection, recordIds: ["a", "b", "x"] })
      yield* ends("a run that fails", run(Effect.andThen(both, Effect.fail("no"))), "no")
      const whole = [...Array(6).fill("a b c"), 3, 3, 3]
      yield* same("after a failed run", yield* seen, whole)
      yield* forget({ collection, recordIds: [] })
      yield* same("after none were named", yield* seen, whole)
      yield* run(both)
      yield* same("what is left", yield* seen, [...Array(6).fill("c"), 1, 1, 1])
      const others = yield* list(all(`${collection}x`, { pin: byOffset(0) }))
      yield* same("in another collection", ids(others), "b")
      yield* putTwo("a")
      yield* same("one that begins anew", (yield* seen)[0], "a c")
    }
  ),
  check(PORT, "prunes what ended by an offset, which no pin from there on misses", function* () {
    const { get, list, prune, put } = yield* Documents
    const collection = yield* fresh("documents")
    const rows = history(collection)
    for (let n = 0; n < rows.length; n += 5) yield* put(rows.slice(n, n + 5))
    yield* put(rows.slice(0, 40).map((row) => ({ ...row, collection: `${collection}x` })))
    const recordIds = Array.from({ length: 6 }, (_, n) => `r${n}`)
    const end = (rows[rows.length - 1]?.fromOffset ?? 0) + 1
    const at = (offset: number, name = collection) =>
      Effect.all([
        get({ collection: name, recordIds, pin: byOffset(offset) }),
        list(all(name, { pin: byOffset(offset), where: [{ column: "state", anyOf: ["s1"] }] })),
        list(all(name, { pin: byOffset(offset), direction: "desc" }))
      ])
    const read = (from: number, name = collection) =>
      Effect.forEach(
        Array.from({ length: end - from + 1 }, (_, n) => from + n),
        (offset) => at(offset, name)
      )
    const endsAt = (row: VersionRow) =>
      rows.find((next) => next.recordId === row.recordId && next.version === row.version + 1)
        ?.fromOffset ?? end + 1
    const others = yield* read(0, `${collection}x`)
    let gone = 0
    for (const through of [Math.floor(end / 3), Math.floor(end / 2), end]) {
      const before = yield* read(through)
      const due = rows.filter((row) => endsAt(row) <= through).length - gone
      yield* same("with a limit", yield* prune({ collection, through, limit: 3 }), Math.min(3, due))
      yield* same("with none", yield* prune({ collection, through, limit: 0 }), 0)
      const rest = yield* prune({ collection, through, limit: 1000 })
      yield* same("the rest", rest, Math.max(0, due - 3))
      yield* same("no more", yield* prune({ collection, through, limit: 9 }), 0)
      yield* same(`reads from ${through} on`, yield* read(through), before)
      gone += due
    }
    yield* same("what is gone", gone, rows.length - 6)
    yield* same("in another collection", yield* read(0, `${collection}x`), others)
    const last = rows.findLast((row) => row.recordId === "r0")
    const next = (last?.version ?? 0) + 1
    yield* put([
      version({
        ...last,
        version: next,
        closes: next - 1,
        fromOffset: end,
        fromInstant: instant(9_999)
      })
    ])
    const found = yield* get({ collection, recordIds: ["r0"], pin: latest })
    yield* same("the next version", found[0]?.version, next)
  }),
  check(PORT, "streams every match in order, from one snapshot", function* () {
    const { put, stream } = yield* Documents
    const collection = yield* fresh("documents")
    const name = (n: number) => `r${String(n).padStart(5, "0")}`
    const rows = Array.from({ length: 2_500 }, (_, n) => version({ collection, recordId: name(n) }))
    for (let n = 0; n < rows.length; n += 500) yield* put(rows.slice(n, n + 500))
    const found: Array<string> = []
    // While the first rows are consumed, a later record changes and another is added.
    yield* Stream.runForEach(stream(all(collection)), (row) =>
      Effect.gen(function* () {
        found.push(`${row.recordId}@${row.version}`)
        if (found.length !== 3) return
        const ahead = { collection, fromOffset: 9, fromInstant: instant(9) }
        yield* put([version({ ...ahead, recordId: name(2_000), version: 2 })])
        yield* put([version({ ...ahead, recordId: `${name(2_000)}x` })])
      })
    )
    yield* same(
      "the stream",
      found,
      rows.map((row) => `${row.recordId}@1`)
    )
    const some = yield* Stream.runCollect(
      stream({ ...all(collection), direction: "desc", after: name(3) })
    )
    yield* same("backwards after a key", ids(some), [2, 1, 0].map(name).join(" "))
  }),
  check(
    PORT,
    "streams in a transaction what it wrote, and nothing that it writes later",
    function* () {
      const { put, stream } = yield* Documents
      const { run } = yield* Atomically
      const collection = yield* fresh("documents")
      const name = (n: number) => `r${String(n).padStart(5, "0")}`
      const rows = Array.from({ length: 1_200 }, (_, n) =>
        version({ collection, recordId: name(n) })
      )
      const found: Array<string> = []
      const reading = Effect.gen(function* () {
        yield* put(rows)
        yield* Stream.runForEach(stream(all(collection)), ({ recordId }) =>
          found.push(recordId) === 3
            ? put([version({ collection, recordId: `${name(1_100)}x` })])
            : Effect.void
        )
      })
      yield* run(reading)
      yield* same(
        "the stream",
        found,
        rows.map(({ recordId }) => recordId)
      )
    }
  ),
  check(PORT, "ends a stream that nobody reads on, and serves others meanwhile", function* () {
    const { list, put, stream } = yield* Documents
    const collection = yield* fresh("documents")
    const rows = Array.from({ length: 1_200 }, (_, n) => version({ collection, recordId: `r${n}` }))
    yield* put(rows)
    const two = Stream.runCollect(Stream.take(stream(all(collection)), 2))
    const streams = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: 40 }), () => two, { concurrency: "unbounded" })
    )
    yield* same("a list", (yield* list({ ...all(collection), limit: 5 })).length, 5)
    const taken = yield* Effect.timeout(Fiber.join(streams), "20 seconds")
    yield* same(
      "the streams",
      taken.map((found) => found.length),
      Array(40).fill(2)
    )
  })
]

const bySortKey = (a: VersionRow, b: VersionRow): number => (a.sortKey < b.sortKey ? -1 : 1)
