/** Checks of Bulk: rows are seen once sealed, each once, and summed and compared exactly. */
import {
  Atomically,
  Bulk,
  type BulkRecords,
  type BulkRow,
  Documents,
  Feed,
  type StoredPin
} from "@bursar/engine-core/ports"
import { Effect, Option, Stream } from "effect"
import { type Check, check, ends, fresh, instant, same } from "../Check.ts"

const PORT = "Bulk"

const rowOf = (n: number, fields: Partial<BulkRow> = {}): BulkRow => ({
  key: String(n).padStart(9, "0"),
  match: `account-${n}`,
  group: n % 2 === 0 ? "even" : "odd",
  amounts: [`${n}.5`, "-0.0000000001"],
  body: `{"line":${n}}`,
  ...fields
})

const rowsOf = (count: number, fieldsOf: (n: number) => Partial<BulkRow> = () => ({})) =>
  Array.from({ length: count }, (_, n) => rowOf(n, fieldsOf(n)))

/** A sealed owner of these rows, appended in parts. */
const sealed = Effect.fnUntraced(function* (rows: ReadonlyArray<BulkRow>) {
  const { append, seal } = yield* Bulk
  const owner = yield* fresh("owner")
  for (let from = 0; from < rows.length; from += 100) {
    yield* append(owner, rows.slice(from, from + 100))
  }
  yield* seal({ owner, rows: rows.length })
  return owner
})

const everything = Effect.fnUntraced(function* (owner: string) {
  const bulk = yield* Bulk
  const side = { owner, amount: 0 }
  const differences = bulk.differences({ left: side, right: side, tolerance: "0" })
  return {
    count: yield* bulk.count(owner),
    rows: yield* bulk.read({ owner, limit: 10 }),
    found: yield* bulk.find({ owner, keys: rowsOf(3).map(({ key }) => key) }),
    sums: yield* bulk.sum(owner),
    differences: yield* Stream.runCollect(differences)
  }
})

const nothing = { count: Option.none(), rows: [], found: [], sums: [], differences: [] }

export const bulk: ReadonlyArray<Check> = [
  check(PORT, "shows nothing of an owner before it is sealed", function* () {
    const { append, seal } = yield* Bulk
    const owner = yield* fresh("owner")
    yield* same("of an owner without rows", yield* everything(owner), nothing)
    yield* append(owner, rowsOf(3))
    yield* same("before the seal", yield* everything(owner), nothing)
    yield* seal({ owner, rows: 3 })
    const { count, rows } = yield* everything(owner)
    yield* same("the count", count, Option.some(3))
    yield* same("the rows", rows, rowsOf(3))
  }),
  check(PORT, "seals an owner with its transaction, or not at all", function* () {
    const { append, seal } = yield* Bulk
    const { run } = yield* Atomically
    const owner = yield* fresh("owner")
    yield* append(owner, rowsOf(2))
    const sealing = seal({ owner, rows: 2 })
    yield* ends("the run", run(Effect.andThen(sealing, Effect.fail("no"))), "no")
    yield* same("after it", yield* everything(owner), nothing)
    yield* run(sealing)
    yield* same("the count", (yield* everything(owner)).count, Option.some(2))
  }),
  check(PORT, "seals no owner of another number of rows, and none twice", function* () {
    const { append, seal } = yield* Bulk
    const owner = yield* fresh("owner")
    yield* append(owner, rowsOf(2))
    for (const rows of [0, 1, 3]) yield* ends(`${rows} rows`, seal({ owner, rows }), "defect")
    yield* seal({ owner, rows: 2 })
    yield* ends("a second seal", seal({ owner, rows: 2 }), "defect")
    const empty = yield* fresh("owner")
    yield* seal({ owner: empty, rows: 0 })
    yield* same("an empty owner", (yield* everything(empty)).count, Option.some(0))
  }),
  check(PORT, "leaves rows that are there as they are when an append is repeated", function* () {
    const { append, seal } = yield* Bulk
    const owner = yield* fresh("owner")
    yield* append(owner, rowsOf(2))
    yield* append(
      owner,
      rowsOf(4, () => ({ body: "{}" }))
    )
    yield* seal({ owner, rows: 4 })
    const { rows } = yield* everything(owner)
    yield* same("the rows", rows, [...rowsOf(2), ...rowsOf(4, () => ({ body: "{}" })).slice(2)])
  }),
  check(PORT, "finds entries over all sealed owners", function* () {
    const { append, entries } = yield* Bulk
    const mark = yield* fresh("entry")
    const entry = (
      n: number,
      fields: Partial<BulkRow> & { day?: string; reference?: string } = {}
    ) => {
      const { day = "2026-01-05", reference = mark, ...row } = fields
      const body = JSON.stringify({ kind: "cash", line: n, bookingDate: day, reference })
      return rowOf(n, { match: mark, group: "credit/USD", amounts: ["100"], body, ...row })
    }
    const first = yield* sealed([
      entry(0),
      entry(1, { amounts: ["100.5"] }),
      entry(2, { day: "2026-01-06" }),
      entry(3, { group: "even" }),
      entry(4, { match: `${mark}${"x".repeat(5_000)}` })
    ])
    const second = yield* sealed([
      entry(0),
      entry(1, { group: "debit-reversal/USD", amounts: ["7331.25"] }),
      entry(2, { reference: `${mark}"` })
    ])
    yield* append(yield* fresh("owner"), [entry(0)])
    const keysOf = (wanted: Parameters<typeof entries>[0]) =>
      Effect.map(entries(wanted), (rows) =>
        rows
          .filter(({ owner }) => [first, second].includes(owner))
          .map(({ owner, key }) => `${owner === first ? "first" : "second"} ${Number(key)}`)
      )
    const found = {
      match: yield* keysOf([{ match: mark }]),
      amount: yield* keysOf([{ match: mark, amount: "100" }]),
      day: yield* keysOf([{ match: mark, amount: "100", day: "2026-01-06" }]),
      long: yield* keysOf([
        { match: `${mark}${"x".repeat(5_000)}` },
        { match: `${mark}${"x".repeat(4_999)}` }
      ]),
      reversalOf: yield* keysOf([{ reversalOf: "7331.25" }, { reversalOf: "100" }]),
      reversalsIn: yield* keysOf([{ reversalsIn: first }, { reversalsIn: second }]),
      reference: yield* keysOf([{ owners: [second], amount: "100", reference: `${mark}"` }]),
      twice: yield* keysOf([
        { match: mark, amount: "100.5" },
        { match: mark, amount: "100.5", day: "2026-01-05" }
      ])
    }
    yield* same("the entries", found, {
      match: ["first 0", "first 1", "first 2", "second 0", "second 1", "second 2"],
      amount: ["first 0", "first 2", "second 0", "second 2"],
      day: ["first 2"],
      long: ["first 4"],
      reversalOf: ["second 1"],
      reversalsIn: ["second 1"],
      reference: ["second 2"],
      twice: ["first 1"]
    })
  }),
  check(PORT, "appends nothing to a sealed owner", function* () {
    const { append } = yield* Bulk
    const owner = yield* sealed(rowsOf(2))
    yield* ends("the append", append(owner, rowsOf(3)), "defect")
    yield* same("the rows", (yield* everything(owner)).rows, rowsOf(2))
  }),
  check(PORT, "appends apart from an open transaction", function* () {
    const { append, seal } = yield* Bulk
    const { run } = yield* Atomically
    const owner = yield* fresh("owner")
    yield* ends("the run", run(Effect.andThen(append(owner, rowsOf(2)), Effect.fail("no"))), "no")
    yield* seal({ owner, rows: 2 })
    yield* same("the rows", (yield* everything(owner)).rows, rowsOf(2))
  }),
  check(PORT, "works while another transaction has the feed's head", function* () {
    const { append, sum } = yield* Bulk
    const { run } = yield* Atomically
    const feed = yield* Feed
    const owner = yield* sealed(rowsOf(2))
    const other = yield* fresh("owner")
    yield* run(
      Effect.gen(function* () {
        yield* feed.take(instant(0))
        yield* append(other, rowsOf(2))
        yield* sum(owner)
      })
    )
  }),
  check(PORT, "reads rows by pages in the order of their keys, each once", function* () {
    const { read } = yield* Bulk
    const keys = ["a", "B", "é", "z", "Z", "10", "9", " ", "~"]
    const owner = yield* sealed(keys.map((key, n) => rowOf(n, { key })))
    const found: Array<string> = []
    for (;;) {
      const after = found.at(-1)
      const page = yield* read({ owner, limit: 2, ...(after === undefined ? {} : { after }) })
      if (page.length === 0) break
      found.push(...page.map(({ key }) => key))
    }
    yield* same("the keys", found, keys.toSorted())
  }),
  check(PORT, "finds the rows of keys, each once, and none of another owner", function* () {
    const { find } = yield* Bulk
    const keys = ["a", "B", "é", "z", "10", "9", " ", "~"]
    const owner = yield* sealed(keys.map((key, n) => rowOf(n, { key })))
    yield* sealed([rowOf(0, { key: "of another owner" })])
    const wantedKeys = ["z", "of another owner", "é", "none", "z", "10"]
    const found = yield* find({ owner, keys: wantedKeys })
    yield* same(
      "the rows",
      found,
      ["10", "z", "é"].map((key) => rowOf(keys.indexOf(key), { key }))
    )
    yield* same("of no key", yield* find({ owner, keys: [] }), [])
  }),
  check(PORT, "sums each group exactly, and counts its rows", function* () {
    const { sum } = yield* Bulk
    const large = "9".repeat(20)
    const owner = yield* sealed([
      ...rowsOf(250),
      rowOf(900, { group: "large", amounts: [large, "0.0000000001"] }),
      rowOf(901, { group: "large", amounts: ["0.0000000001", "-0.0000000001"] })
    ])
    yield* same("the sums", yield* sum(owner), [
      { group: "even", rows: 125, amounts: ["15562.5", "-0.0000000125"] },
      { group: "large", rows: 2, amounts: [`${large}.0000000001`, "0"] },
      { group: "odd", rows: 125, amounts: ["15687.5", "-0.0000000125"] }
    ])
  }),
  check(
    PORT,
    "finds what differs by more than the tolerance, and what one side lacks",
    function* () {
      const { differences } = yield* Bulk
      const left = yield* sealed(rowsOf(300))
      const moved: Readonly<Record<number, string>> = { 7: "7.51", 8: "8.52", 9: "9" }
      const right = yield* sealed([
        ...rowsOf(301, (n) => ({ amounts: [moved[n] ?? `${n}.5`, "0"] })).filter((_, n) => n !== 5)
      ])
      const found = yield* Stream.runCollect(
        differences({
          left: { owner: left, amount: 0 },
          right: { owner: right, amount: 0 },
          tolerance: "0.01"
        })
      )
      yield* same(
        "the differences",
        [...found],
        [
          { match: "account-300", isNamed: false, left: null, right: "300.5", difference: "300.5" },
          { match: "account-5", isNamed: false, left: "5.5", right: null, difference: "-5.5" },
          { match: "account-8", isNamed: false, left: "8.5", right: "8.52", difference: "0.02" },
          { match: "account-9", isNamed: false, left: "9.5", right: "9", difference: "-0.5" }
        ]
      )
    }
  ),
  check(PORT, "compares the sums of rows that share what they are compared by", function* () {
    const { differences } = yield* Bulk
    const shared = (n: number) => ({ match: n < 3 ? "a" : "b", amounts: ["0.1", "1"] })
    const left = yield* sealed(rowsOf(6, shared))
    const right = yield* sealed(rowsOf(4, (n) => ({ match: n < 3 ? "a" : "b", amounts: ["0.1"] })))
    const all = differences({
      left: { owner: left, amount: 0 },
      right: { owner: right, amount: 0 },
      tolerance: "0"
    })
    yield* same(
      "all",
      [...(yield* Stream.runCollect(all))],
      [{ match: "b", isNamed: false, left: "0.3", right: "0.1", difference: "-0.2" }]
    )
    const even = differences({
      left: { owner: left, amount: 1, groups: ["even"] },
      right: { owner: right, amount: 0, groups: [] },
      tolerance: "100"
    })
    yield* same(
      "of one group",
      [...(yield* Stream.runCollect(even))],
      [
        { match: "a", isNamed: false, left: "2", right: null, difference: "-2" },
        { match: "b", isNamed: false, left: "1", right: null, difference: "-1" }
      ]
    )
  }),
  check(
    PORT,
    "compares records at a pin with rows, by the names of what both are matched by",
    function* () {
      const { differences } = yield* Bulk
      const { put } = yield* Documents
      const { run } = yield* Atomically
      const collections = { entries: yield* fresh("entries"), names: yield* fresh("names") }
      const asset = yield* fresh("asset")
      const version = (row: {
        readonly collection: string
        readonly recordId: string
        readonly version: number
        readonly body: object
        readonly filters: Readonly<Record<string, string | null>>
      }) => ({
        ...row,
        closes: row.version - 1,
        body: JSON.stringify(row.body),
        sortKey: row.recordId,
        createdAt: instant(0),
        fromOffset: row.version * 10,
        fromInstant: instant(row.version * 10)
      })
      const entry = (
        party: string,
        units: string,
        filters: Readonly<Record<string, string>> = {}
      ) =>
        version({
          collection: collections.entries,
          recordId: party,
          version: Number(filters["version"] ?? 1),
          body: { party, units },
          filters: { asset: filters["asset"] ?? asset, party }
        })
      const named = (account: string, holder: string) =>
        version({
          collection: collections.names,
          recordId: account,
          version: 1,
          body: { holder, account },
          filters: { hash: `#${account}` }
        })
      yield* run(
        put([
          entry("p1", "10"),
          entry("p2", "20"),
          entry("p3", "1.5"),
          entry("p4", "4"),
          entry("p5", "5", { asset: "another" }),
          ...[
            ["p1", "h1"],
            ["p2", "h2"],
            ["p3", "h3"],
            ["a1", "h1"],
            ["a2", "h1"],
            ["a3", "h2"],
            ["a4", "h4"]
          ].map(([account = "", holder = ""]) => named(account, holder))
        ])
      )
      yield* run(put([entry("p1", "11", { version: "2" })]))
      const rows = [
        ["#a1", "4"],
        ["#a2", "6"],
        ["#a3", "20.5"],
        ["#a4", "7"],
        ["#a9", "9"]
      ] as const
      const owner = yield* sealed(
        rows.map(([match, amount], n) => rowOf(n, { match, amounts: [amount] }))
      )
      const compared = ({
        pin,
        tolerance,
        always,
        times
      }: {
        readonly pin: StoredPin
        readonly tolerance: string
        readonly always?: ReadonlyArray<string>
        readonly times?: BulkRecords["times"]
      }) => {
        const names = {
          collection: collections.names,
          pin: { by: "latest" },
          member: "holder"
        } as const
        return differences({
          left: {
            collection: collections.entries,
            pin,
            where: { column: "asset", is: asset },
            match: "party",
            member: "units",
            names: { ...names, column: null },
            ...(times === undefined ? {} : { times })
          },
          right: {
            owner,
            amount: 0,
            names: { ...names, column: "hash", member: "account", then: { ...names, column: null } }
          },
          tolerance,
          ...(always === undefined ? {} : { always })
        }).pipe(
          Stream.map(
            ({ match, isNamed, left, right, difference }) =>
              `${isNamed ? "=" : ""}${match} ${left} ${right} ${difference}`
          ),
          Stream.runCollect
        )
      }
      const missing = ["#a9 null 9 9", "p4 4 null -4"]
      yield* same(
        "at the first offset",
        yield* compared({ pin: { by: "offset", offset: 10 }, tolerance: "0" }),
        [...missing, "=h2 20 20.5 0.5", "=h3 1.5 null -1.5", "=h4 null 7 7"]
      )
      for (const pin of [
        { by: "latest" },
        { by: "offset", offset: 20 },
        { by: "instant", instant: instant(20) }
      ] as const) {
        yield* same(`at ${pin.by}`, yield* compared({ pin, tolerance: "0.5" }), [
          ...missing,
          "=h1 11 10 -1",
          "=h3 1.5 null -1.5",
          "=h4 null 7 7"
        ])
      }
      yield* same(
        "with a name that is always answered",
        yield* compared({
          pin: { by: "offset", offset: 10 },
          tolerance: "1",
          always: ["h1", "p4", "nobody"]
        }),
        [...missing, "=h1 10 10 0", "=h3 1.5 null -1.5", "=h4 null 7 7"]
      )
      yield* same(
        "times a factor",
        yield* compared({
          pin: { by: "latest" },
          tolerance: "10",
          times: { factor: "2.5", places: 1 }
        }),
        [
          "#a9 null 9 9",
          "p4 10 null -10",
          "=h1 27.5 10 -17.5",
          "=h2 50 20.5 -29.5",
          "=h3 3.8 null -3.8",
          "=h4 null 7 7"
        ]
      )
    }
  ),
  check(PORT, "gives back 2,500 differences in order, one page after the other", function* () {
    const { differences } = yield* Bulk
    const left = yield* sealed(rowsOf(2_500, (n) => ({ match: String(n).padStart(9, "0") })))
    const found = yield* Stream.runCollect(
      differences({
        left: { owner: left, amount: 0 },
        right: { owner: yield* fresh("owner"), amount: 0 },
        tolerance: "0"
      })
    )
    yield* same(
      "the matches",
      found.map(({ match }) => match),
      rowsOf(2_500).map(({ key }) => key)
    )
  }),
  check(PORT, "discards an owner in parts, hidden from the first on", function* () {
    const { discard } = yield* Bulk
    const owner = yield* sealed(rowsOf(5))
    const other = yield* sealed(rowsOf(5))
    yield* same("the first part", yield* discard({ owner, limit: 3 }), 3)
    yield* same("of a part of an owner", yield* everything(owner), nothing)
    yield* same("the second part", yield* discard({ owner, limit: 3 }), 2)
    yield* same("of an owner that is gone", yield* discard({ owner, limit: 3 }), 0)
    yield* same("another owner", (yield* everything(other)).count, Option.some(5))
  }),
  check(PORT, "spares a sealed owner from a discard that is to spare it", function* () {
    const { append, discard } = yield* Bulk
    const owner = yield* sealed(rowsOf(5))
    const sparing = { owner, limit: 3, sparesSealed: true }
    yield* same("of a sealed owner", yield* discard(sparing), 0)
    yield* same("its rows", (yield* everything(owner)).count, Option.some(5))
    const open = yield* fresh("owner")
    yield* append(open, rowsOf(2))
    yield* same("of an owner that is not sealed", yield* discard({ ...sparing, owner: open }), 2)
  })
]
