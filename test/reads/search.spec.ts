/** Search: what was written is found by those who list it, by every beginning of its texts, and by nobody else. */
import { type Caller, Catalogue, Queries, Records } from "@bursar/engine-core"
import { SearchText } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Schema, Stream } from "effect"
import * as SearchQueries from "#core/overviews/search/SearchQueries.ts"
import { searchRoles } from "#core/overviews/search/SearchKinds.ts"
import * as SearchTerms from "#core/records/SearchTerms.ts"
import type * as Read from "#core/reads/Read.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Restricting from "../operations/restricting.ts"
import { ordered } from "../operations/worklist.ts"

const engine = () => Effect.provide(world())

const callers = searchRoles.map((role) => Calls.person(`sub-${role}`, role))
const operator = Calls.person("olga", "operator")

const page = (
  q: string,
  {
    after,
    caller = operator,
    kind,
    limit = 1_000
  }: {
    readonly caller?: Caller.Caller
    readonly kind?: (typeof SearchQueries.list.params)["Type"]["kind"]
    readonly limit?: number
    readonly after?: string
  } = {}
) =>
  Effect.flatMap(Queries, (queries) =>
    queries.page(SearchQueries.list, {
      caller,
      params: { q, ...(kind === undefined ? {} : { kind }) },
      point: {},
      page: { limit, ...(after === undefined ? {} : { after }) }
    })
  )

const hrefs = (found: { readonly value: ReadonlyArray<SearchQueries.FoundView> }) =>
  found.value.map(({ resource }) => resource.href)

/** All rows of a search in pages of a size, whose cursors are followed. */
const inPages = Effect.fnUntraced(function* (q: string, limit: number) {
  const rows: Array<SearchQueries.FoundView> = []
  for (let after: string | undefined; ; ) {
    const found = yield* page(q, { limit, ...(after === undefined ? {} : { after }) })
    rows.push(...found.value)
    if (found.next === null) return rows
    after = found.next
  }
})

/** Beginnings of a text, of 2 to 100 characters: the shortest, the longest and some between. */
const beginningsOf = (text: string): ReadonlyArray<string> => {
  const characters = [...text].slice(0, 100)
  const lengths = [
    2,
    3,
    Math.floor(characters.length / 2),
    characters.length - 1,
    characters.length
  ]
  return [...new Set(lengths)]
    .filter((length) => length >= 2 && length <= characters.length)
    .map((length) => characters.slice(0, length).join(""))
    .filter((begin) => begin.trim() === begin)
}

const named = { displayName: "Grün & Söhne Fonds", symbol: "GRÜN%_1" }

/** A venue with orders, a cycle, holders, a restriction, a hold and an action that awaits. */
const played = Effect.gen(function* () {
  const { stage } = yield* ordered
  yield* Cycles.changes(1, { display: named })
  yield* Calls.write(
    "holder.register",
    {},
    {
      holderId: "named",
      party: "treuhand::1220abcd",
      legalName: "Müller STRASSE Holding GmbH",
      lei: "5493001KJTIIGC8Y1R12"
    }
  )
  yield* Restricting.restricts("h1", "rs-1")
  yield* Calls.write(
    "instrument.pause",
    { instrumentId: "fund-a" },
    { holdId: "hold-1", reason: "to see" }
  )
  yield* Calls.openAction("instrument.record", {}, { ...bodyOf(), instrumentId: "other" })
  return stage
})

const kindsOf = Effect.map(Records, ({ search }) => [...search.kinds.values()])

const recordsOf = (kind: SearchTerms.SearchedKind) =>
  Effect.flatMap(Records, (records) =>
    Stream.runCollect(
      Stream.map(records.stream(kind.collection, {}), ({ record }) => record as unknown)
    )
  )

const admits = (kind: SearchTerms.SearchedKind, { roles }: Caller.Caller) =>
  roles.some((role) => kind.roles.has(role))

describe("search", () => {
  it.effect("finds each record by every beginning of its texts, for those who list it alone", () =>
    Effect.gen(function* () {
      yield* played
      const met = new Set<string>()
      for (const kind of yield* kindsOf) {
        for (const record of yield* recordsOf(kind)) {
          const { resource } = kind.subjectOf(record)
          met.add(resource.kind)
          for (const { folded } of SearchTerms.termsOf(kind, record)) {
            for (const q of beginningsOf(folded)) {
              for (const caller of callers) {
                const found = (yield* page(q, { caller })).value.filter(
                  (row) => row.resource.href === resource.href && row.resource.id === resource.id
                )
                const expected = admits(kind, caller) && kind.isListed(record) ? 1 : 0
                assert.strictEqual(
                  found.length,
                  expected,
                  `${caller.roles.join()} finds ${resource.href} by ${q}`
                )
              }
            }
          }
        }
      }
      for (const kind of ["holder", "instrument", "operation", "approval", "hold", "restriction"]) {
        assert.include([...met], kind)
      }
    }).pipe(engine())
  )

  it.effect("shows of each kind what the caller's list of it shows, and nothing else", () =>
    Effect.gen(function* () {
      yield* played
      const queries = yield* Queries
      const lists = Catalogue.queries.filter(
        (read): read is Extract<typeof read, { readonly shape: "list" }> =>
          read.shape === "list" && !read.route.includes("{") && !("rows" in read)
      ) as unknown as ReadonlyArray<Read.List>
      for (const caller of callers) {
        for (const kind of yield* kindsOf) {
          const list = lists.find(({ collection }) => collection.name === kind.collection.name)
          if (list === undefined) continue
          const isRead = caller.roles.some((role) => role in list.audience)
          assert.strictEqual(admits(kind, caller), isRead, `${kind.kind} by ${caller.sub}`)
          const listed = isRead
            ? (yield* queries.page(list, { caller, params: {}, point: {}, page: { limit: 1_000 } }))
                .value.length
            : 0
          const found = new Set<string>()
          for (const record of yield* recordsOf(kind)) {
            const id = kind.collection.id(record).slice(0, 100)
            const rows = (yield* page(id, { caller, kind: [kind.kind as never] })).value
            for (const { resource } of rows) found.add(`${resource.kind} ${resource.id}`)
          }
          assert.strictEqual(found.size, listed, `${kind.kind} by ${caller.sub}`)
        }
      }
    }).pipe(engine())
  )

  it.effect("answers alike whatever there is that a caller does not list", () =>
    Effect.gen(function* () {
      const texts = ["ho", "ho-", "ho-2", "hold", "zz", "zz-9", "fund-a"]
      const answersOf = (holdId: string, caller: Caller.Caller) =>
        Effect.gen(function* () {
          yield* Fund.opened()
          yield* Calls.write("holder.register", {}, { holderId: "ho-1", party: "hold::1220ab" })
          yield* Calls.write(
            "instrument.pause",
            { instrumentId: "fund-a" },
            { holdId, reason: "to see" }
          )
          return yield* Effect.forEach(texts, (q) =>
            Effect.forEach([1, 2, 1_000], (limit) =>
              Effect.map(page(q, { caller, limit }), ({ next, value }) => ({
                ...{ q, value },
                isMore: next !== null
              }))
            )
          )
        }).pipe(Effect.provide(Layer.fresh(world())))
      const compliance = Calls.person("clara", "compliance")
      const [one, other] = [answersOf("ho-2", compliance), answersOf("zz-9", compliance)]
      assert.deepStrictEqual(yield* one, yield* other)
      const read = [answersOf("ho-2", operator), answersOf("zz-9", operator)] as const
      assert.notDeepEqual(yield* read[0], yield* read[1])
    })
  )

  it.effect("finds exact ids first, then longer ones, then names, and each record once", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const register = (holderId: string, legalName: string) =>
        Calls.write(
          "holder.register",
          {},
          { holderId, legalName, party: `zz-${holderId}::1220${holderId.length}a` }
        )
      yield* register("acme-2", "Zeta")
      yield* register("xx", "The ACME acme Trust")
      yield* register("acme", "Acme Limited")
      yield* register("acme-10", "Acme")
      const found = yield* page("ACME", { kind: ["holder"] })
      assert.deepStrictEqual(
        found.value.map(({ resource, matched }) => [resource.id, matched.field]),
        [
          ["acme", "id"],
          ["acme-10", "id"],
          ["acme-2", "id"],
          ["xx", "legalName"]
        ]
      )
      assert.deepStrictEqual(found.value[3]?.matched.text, "The ACME acme Trust")
      for (const limit of [1, 2, 3]) {
        const paged = yield* inPages("acme", limit)
        const holders = paged.filter(({ resource }) => resource.kind === "holder")
        assert.deepStrictEqual(
          holders.map(({ resource }) => resource.id),
          found.value.map(({ resource }) => resource.id)
        )
      }
    }).pipe(engine())
  )

  it.effect("finds a name whatever its case, its form and its marks are written as", () =>
    Effect.gen(function* () {
      yield* played
      const holder = "/v1/holders/named"
      const found = [
        "MÜLLER",
        "mu\u0308ller",
        "ｍüller",
        "straße",
        "STRASSE h",
        "holding  gmbh",
        "5493001kjt",
        "TREUHAND::12",
        "1220abc"
      ]
      for (const q of found) assert.include(hrefs(yield* page(q)), holder, q)
      for (const q of ["üller", "ller", "muller", "gmbh holding"]) {
        assert.notInclude(hrefs(yield* page(q)), holder, q)
      }
      assert.include(hrefs(yield* page("grün%_")), "/v1/instruments/fund-a")
      for (const q of ["gr%", "gr_n", "%%", "__", "\\\\"]) {
        assert.deepStrictEqual(hrefs(yield* page(q)), [], q)
      }
    }).pipe(engine())
  )

  it.effect("finds a record by a text no longer once it has another", () =>
    Effect.gen(function* () {
      yield* ordered
      yield* Cycles.changes(1, { display: { displayName: "Alte Eiche", symbol: "EICHE" } })
      for (const q of ["eiche", "alte", "EICHE"]) {
        assert.include(hrefs(yield* page(q)), "/v1/instruments/fund-a", q)
      }
      yield* Cycles.changes(2, { display: { displayName: "Neue Buche", symbol: "BUCHE" } })
      for (const q of ["eiche", "alte"]) assert.deepStrictEqual(hrefs(yield* page(q)), [], q)
      assert.include(hrefs(yield* page("buche")), "/v1/instruments/fund-a")
      const stored = yield* Effect.flatMap(Records, ({ search }) =>
        search.page({
          ranges: [{ rank: "word", collection: "instrument" }],
          prefix: "e",
          limit: 9
        })
      )
      assert.deepStrictEqual(stored, [])
    }).pipe(engine())
  )

  it.effect("refuses a cursor of another text, of other kinds, and of another sight", () =>
    Effect.gen(function* () {
      yield* played
      const { next } = yield* page("op_", { limit: 1 })
      const after = next ?? ""
      assert.isNotEmpty(after)
      yield* page("OP_", { after })
      const others = [
        page("op", { after }),
        page("op_", { after, kind: ["operation"] }),
        page("op_", { after, caller: Calls.person("clara", "compliance") })
      ]
      for (const other of others) {
        const { slug, details } = (yield* Effect.flip(other)) as never as {
          readonly slug: string
          readonly details: { readonly errors?: ReadonlyArray<{ readonly pointer: string }> }
        }
        assert.deepStrictEqual(
          [slug, details.errors?.[0]?.pointer],
          ["invalid-request", "/query/after"]
        )
      }
    }).pipe(engine())
  )

  it.effect("takes 2 to 100 characters of any script, and no control character", () =>
    Effect.gen(function* () {
      const decode = Schema.decodeUnknownEffect(SearchQueries.list.params)
      const isTaken = (q: string) => Effect.map(Effect.exit(decode({ q })), Exit.isSuccess)
      const taken = ["ab", "%_", "a".repeat(100), "\u{1f600}".repeat(100), "\u0301\u0301", "東京"]
      for (const q of taken) assert.isTrue(yield* isTaken(q), q)
      const refused = [
        "",
        "a",
        "\u{1f600}",
        "  ",
        " a ",
        "a".repeat(101),
        "a\0b",
        "a\nb",
        "a\u0301"
      ]
      for (const q of refused) assert.isFalse(yield* isTaken(q), JSON.stringify(q))
      assert.strictEqual(SearchText.fold("ﬁ"), "fi")
    })
  )
})
