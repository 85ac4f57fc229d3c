/** Laws of the LRU cache of records: the bound, and which entry makes room for another. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { lru } from "#core/records/Versions.ts"

const limitMax = 4
const keys = ["a", "b", "c", "d", "e", "f"]

type Call = { readonly on: "get" | "set"; readonly key: string }

const call = fc.record({
  on: fc.constantFrom("get", "set"),
  key: fc.constantFrom(...keys)
}) satisfies fc.Arbitrary<Call>

/** The cache written naively: keys from the one asked for longest ago to the last. */
const naive = (limit: number) => {
  let lookups: ReadonlyArray<readonly [key: string, value: number]> = []
  return {
    get: (key: string) => {
      const found = lookups.find(([name]) => name === key)
      if (found !== undefined) lookups = [...lookups.filter(([name]) => name !== key), found]
      return found?.[1]
    },
    set: (key: string, value: number) => {
      lookups = [...lookups, [key, value] as const].slice(-limit)
    },
    has: (key: string) => lookups.some(([name]) => name === key)
  }
}

test("an entry is found until as many others as the limit were asked for since", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: limitMax }),
      fc.array(call, { minLength: 50, maxLength: 200 }),
      (limit, calls) => {
        const cache = lru<number>(limit)
        const model = naive(limit)
        for (const [nth, { on, key }] of calls.entries()) {
          // A value is set where none was found, as each caller of the cache does.
          if (on === "set" && !model.has(key)) {
            cache.set(key, nth)
            model.set(key, nth)
          } else expect(cache.get(key)).toBe(model.get(key))
        }
      }
    )
  )
})
