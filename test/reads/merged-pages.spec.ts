/** Several collections as one list: every record once and in order, however large and however paged. */
import { Collection, Instant } from "@bursar/engine-core/kernel"
import type { Records } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import * as fc from "fast-check"
import * as MergedPages from "#core/reads/MergedPages.ts"

interface Item {
  readonly key: string
}

const named = (name: string) =>
  Collection.define<Item, never>(name, {
    doc: "",
    id: (self) => self.key,
    record: Schema.Struct({ key: Schema.String }),
    fact: Schema.Never,
    evolve: (self) => self,
    keptBy: "ledger"
  })
const collections = [named("one"), named("two"), named("three")]
const kept = { version: 1, createdAt: Instant.fromNanos(0n), updatedAt: Instant.fromNanos(0n) }

/** Keys shared out among the collections, and a store that lists one of them as the real one does. */
const storeOf = (keys: ReadonlyArray<string>) => {
  let largestLimit = 0
  const list: Records["Service"]["list"] = (collection, query) =>
    Effect.sync(() => {
      largestLimit = Math.max(largestLimit, query.limit)
      const turn = collections.findIndex(({ name }) => name === collection.name)
      const forwards = query.direction !== "desc"
      const own = keys.filter((_, index) => index % collections.length === turn)
      return own
        .toSorted((a, b) => (a < b === forwards ? -1 : 1))
        .filter((key) => {
          if (query.after === undefined) return true
          return forwards ? key > query.after : key < query.after
        })
        .slice(0, query.limit)
        .map((sortKey) => ({ sortKey, record: { key: sortKey, ...kept } as never }))
    })
  return { records: { list }, limitSeen: () => largestLimit }
}

const ordered = (keys: ReadonlyArray<string>, direction: "asc" | "desc") =>
  keys.toSorted((a, b) => (a < b === (direction === "asc") ? -1 : 1))

describe("records of several collections", () => {
  it("never come twice, not at all or out of order in pages of any size", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom("asc", "desc"),
        async (keys, limit, direction) => {
          const { records } = storeOf(keys)
          const pagedKeys: Array<string> = []
          for (let page = 0; page <= keys.length; page++) {
            const after = pagedKeys.at(-1)
            const rows = await Effect.runPromise(
              MergedPages.page(records, collections, {
                direction,
                limit,
                ...(after === undefined ? {} : { after })
              })
            )
            pagedKeys.push(...rows.map(({ sortKey }) => sortKey))
            if (rows.length < limit) break
          }
          assert.deepStrictEqual(pagedKeys, ordered(keys, direction))
        }
      ),
      { numRuns: 200 }
    )
  })

  it("never come twice, not at all or all at once in a stream of any length", async () => {
    for (const length of [0, 1, 499, 500, 501, 1_000, 1_203]) {
      const keys = Array.from({ length }, (_, n) => String(n).padStart(5, "0"))
      const { records, limitSeen } = storeOf(keys)
      const rows = await Effect.runPromise(
        Stream.runCollect(MergedPages.stream(records, collections, { direction: "asc" }))
      )
      assert.deepStrictEqual(
        rows.map(({ sortKey }) => sortKey),
        keys
      )
      assert.isAtMost(limitSeen(), 500)
    }
  })
})
