/** Terms of a record through its changes: what they add and take away leaves the terms of its last version. */
import { Collection } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { Schema } from "effect"
import { expect, it } from "vitest"
import * as SearchTerms from "#core/records/SearchTerms.ts"

interface Named {
  readonly id: string
  readonly code: string
  readonly name: string
}

const collection = Collection.define<Named, never>("named", {
  doc: "A record with a code and a name.",
  id: ({ id }) => id,
  record: Schema.Struct({ id: Schema.String, code: Schema.String, name: Schema.String }),
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "engine"
})

const kind: SearchTerms.SearchedKind = {
  collection,
  kind: "named",
  roles: new Set(),
  hasNames: true,
  ripens: false,
  fieldsOf: (record) => {
    const { code, id, name } = record as Named
    return [
      { field: "id", text: id, by: "whole" },
      { field: "code", text: code, by: "whole" },
      { field: "name", text: name, by: "word" }
    ]
  },
  isListed: () => true,
  subjectOf: () => {
    throw new Error("no row is shown")
  }
}

const word = fc.constantFrom("a", "A", "b", "ä", "")
const version = fc.record({
  code: word,
  name: fc.array(word, { maxLength: 3 }).map((words) => words.join(" "))
})

/** Versions of two records, in transactions of several changes. */
const history = fc.array(
  fc.array(fc.record({ id: fc.constantFrom("r1", "r2"), version }), { minLength: 1, maxLength: 4 }),
  { maxLength: 5 }
)

const textOf = ({
  collection: _,
  rank,
  recordId,
  text
}: ReturnType<typeof SearchTerms.rowsOf>[0]) => `${recordId} ${rank} ${text}`

it("changes of a record leave the terms of its last version, and no others", () => {
  fc.assert(
    fc.property(history, (transactions) => {
      const latest = new Map<string, Named>()
      const stored = new Set<string>()
      for (const changes of transactions) {
        const { added, removed } = SearchTerms.differenceOf(
          changes.map(({ id, version: next }) => {
            const before = latest.get(id)
            const after = { id, ...next }
            latest.set(id, after)
            return { kind, before, after }
          })
        )
        for (const place of removed) stored.delete(textOf({ ...place, shown: null }))
        for (const row of added) stored.add(textOf(row))
        const expected = [...latest.values()].flatMap((each) =>
          SearchTerms.rowsOf(kind, each).map(textOf)
        )
        expect([...stored].toSorted()).toEqual(expected.toSorted())
      }
    }),
    { numRuns: 1_000 }
  )
})
