/** Checks of Terms: found by every prefix of their text, in the order of their places, until deleted. */
import { Atomically, everyTerm, type TermRow, Terms } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Check, check, ends, fresh, same } from "../Check.ts"

const term = (row: Pick<TermRow, "collection" | "text"> & Partial<TermRow>): TermRow => ({
  rank: "whole",
  recordId: "r-1",
  shown: null,
  ...row
})

/** Places of terms in short: rank, text, collection and record. */
const placesOf = (rows: ReadonlyArray<TermRow>) =>
  rows.map(({ collection, rank, recordId, text }) => [rank, text, collection, recordId].join(" "))

/** Characters whose order by UTF-16 differs from that by code point, and wildcards of databases. */
const texts = [
  "%",
  "%a",
  "_",
  "\\",
  "a",
  "a b",
  "ab",
  "é",
  "e\u0301",
  "\ud7ff",
  "\ue000x",
  "\uffff",
  "\u{1f600}",
  "\u{1f600}a",
  "\u{10ffff}",
  "\u{10ffff}\u{10ffff}"
]

/** Every page of a query, a few terms at a time. */
const allPages = Effect.fnUntraced(function* (
  query: Omit<Parameters<Terms["Service"]["page"]>[0], "after" | "limit">,
  limit: number
) {
  const { page } = yield* Terms
  const found: Array<TermRow> = []
  for (;;) {
    const after = found.at(-1)
    const rows = yield* page({ ...query, limit, ...(after === undefined ? {} : { after }) })
    found.push(...rows)
    if (rows.length < limit) return found
  }
})

export const terms: ReadonlyArray<Check> = [
  check("Terms", "finds a term by every prefix of its text, and by no other text", function* () {
    const { page, put } = yield* Terms
    const collection = yield* fresh("terms")
    yield* put(texts.map((text, n) => term({ collection, text, recordId: `r-${n}` })))
    const ranges = [{ rank: "whole" as const, collection }]
    for (const text of texts) {
      const characters = [...text]
      for (let length = 1; length <= characters.length; length++) {
        const prefix = characters.slice(0, length).join("")
        const found = (yield* page({ ranges, prefix, limit: 99 })).map((row) => row.text)
        const expected = texts.filter((other) => other.startsWith(prefix))
        yield* same(`by ${JSON.stringify(prefix)}`, new Set(found), new Set(expected))
      }
      const unlike = yield* page({ ranges, prefix: `${text}z`, limit: 99 })
      yield* same(`by more than ${JSON.stringify(text)}`, unlike, [])
    }
  }),
  check("Terms", "gives back terms by rank, text, collection and record", function* () {
    const { page, put } = yield* Terms
    const name = yield* fresh("terms")
    const [a, b] = [`${name}-a`, `${name}-b`]
    const rows = [
      term({ collection: b, text: "q", recordId: "r-1" }),
      term({ collection: a, text: "q", recordId: "r-2" }),
      term({ collection: a, text: "q", recordId: "r-10" }),
      term({ collection: a, text: "qa" }),
      term({ collection: b, text: "q\uffff" }),
      term({ collection: a, text: "q\u{1f600}" }),
      term({ rank: "word", collection: a, text: "q" }),
      term({ rank: "word", collection: b, text: "q", shown: "Q" })
    ]
    yield* put(rows.toReversed())
    const ranges = [a, b].flatMap((collection) => [
      { rank: "word" as const, collection },
      { rank: "whole" as const, collection }
    ])
    const ordered = [
      `whole q ${a} r-10`,
      `whole q ${a} r-2`,
      `whole q ${b} r-1`,
      `whole qa ${a} r-1`,
      `whole q\uffff ${b} r-1`,
      `whole q\u{1f600} ${a} r-1`,
      `word q ${a} r-1`,
      `word q ${b} r-1`
    ]
    const whole = yield* page({ ranges, prefix: "q", limit: 99 })
    yield* same("the order", placesOf(whole), ordered)
    yield* same("the shown text", whole.at(-1)?.shown, "Q")
    for (const limit of [1, 2, 3, 99]) {
      const paged = yield* allPages({ ranges, prefix: "q" }, limit)
      yield* same(`in pages of ${limit}`, placesOf(paged), ordered)
    }
    const words = ranges.filter(({ rank }) => rank === "word")
    yield* same(
      "of some ranges, one of them twice",
      placesOf(yield* page({ ranges: [...words, words[0]!], prefix: "q", limit: 99 })),
      ordered.slice(-2)
    )
    yield* same("of no range", yield* page({ ranges: [], prefix: "q", limit: 99 }), [])
    yield* same("none at all", yield* page({ ranges, prefix: "q", limit: 0 }), [])
  }),
  check(
    "Terms",
    "finds a term no longer once it is deleted, and its neighbours still",
    function* () {
      const { delete: remove, page, put } = yield* Terms
      const collection = yield* fresh("terms")
      const ranges = [{ rank: "whole" as const, collection }]
      const found = Effect.map(page({ ranges, prefix: "q", limit: 99 }), placesOf)
      const rows = ["q", "qa", "qb"].flatMap((text) =>
        ["r-1", "r-2"].map((recordId) => term({ collection, text, recordId }))
      )
      yield* put(rows)
      yield* put(rows.map((row) => ({ ...row, shown: "again" })))
      yield* same("put twice", (yield* page({ ranges, prefix: "q", limit: 1 }))[0]?.shown, null)
      yield* remove([term({ collection, text: "qa" }), term({ collection, text: "none" })])
      yield* remove([{ ...term({ collection, text: "qb" }), rank: "word" }])
      yield* same(
        "the rest",
        yield* found,
        placesOf(rows.filter(({ recordId, text }) => text !== "qa" || recordId !== "r-1"))
      )
      yield* put([term({ collection, text: "qa" })])
      yield* same("put again", yield* found, placesOf(rows))
      yield* remove(rows)
      yield* same("all deleted", yield* found, [])
    }
  ),
  check("Terms", "forgets the terms of a record that have a shown text, in parts", function* () {
    const { forget, page, put } = yield* Terms
    const collection = yield* fresh("terms")
    const ranges = [{ rank: "whole" as const, collection }]
    const found = Effect.map(page({ ranges, prefix: "q", limit: 99 }), placesOf)
    const shown = ["q1", "q2", "q3"].map((text) => term({ collection, text, shown: text }))
    const others = [
      term({ collection, text: "q4" }),
      term({ collection, text: "q5", recordId: "r-2", shown: "q5" })
    ]
    yield* put([...shown, ...others])
    yield* same("the first part", yield* forget({ collection, recordId: "r-1", limit: 2 }), 2)
    yield* same("what is left", (yield* found).length, 3)
    yield* same("the rest", yield* forget({ collection, recordId: "r-1", limit: 2 }), 1)
    yield* same("no more", yield* forget({ collection, recordId: "r-1", limit: 2 }), 0)
    const elsewhere = { collection: `${collection}-x`, recordId: "r-2", limit: 9 }
    yield* same("of another collection", yield* forget(elsewhere), 0)
    yield* same("the others", yield* found, placesOf(others))
  }),
  check("Terms", "puts, deletes and marks with its transaction", function* () {
    const { delete: remove, mark, marks, page, put } = yield* Terms
    const { run } = yield* Atomically
    const collection = yield* fresh("terms")
    const ranges = [{ rank: "whole" as const, collection }]
    const [first, second] = [term({ collection, text: "qa" }), term({ collection, text: "qb" })]
    const found = Effect.map(page({ ranges, prefix: "q", limit: 9 }), placesOf)
    yield* put([first])
    const change = Effect.gen(function* () {
      yield* put([second])
      yield* remove([first])
      yield* mark(collection)
      return { found: yield* found, isMarked: (yield* marks).includes(collection) }
    })
    yield* ends("the run", run(Effect.andThen(change, Effect.fail("no"))), "no")
    yield* same("taken back", yield* found, placesOf([first]))
    yield* same("the mark taken back", (yield* marks).includes(collection), false)
    const inside = yield* run(change)
    yield* same("inside", inside, { found: placesOf([second]), isMarked: true })
    yield* same("committed", yield* found, placesOf([second]))
    yield* mark(collection)
    const all = yield* marks
    yield* same("the mark, once", all.filter((each) => each === collection).length, 1)
    yield* same("the mark of a new store", all.includes(everyTerm), true)
  })
]
