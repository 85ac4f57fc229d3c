/** Laws of the query: it is read as a client wrote it, and an unreadable one is refused. */
import { Result } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as Query from "#host/wire/Query.ts"

const name = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 10 })
  .filter((s) => !s.includes("\0"))
const value = fc.string({ unit: "grapheme", maxLength: 20 }).filter((s) => !s.includes("\0"))

it("reads back whatever URLSearchParams writes, repeated names in their order", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 20 }), (pairs) => {
      const read = Query.parse(new URLSearchParams(pairs).toString())
      const expected = new Map<string, Array<string>>()
      for (const [name, value] of pairs) expected.set(name, [...(expected.get(name) ?? []), value])
      const got = Object.entries(Result.isSuccess(read) ? read.success : {})
      expect(new Map(got.map(([name, value]) => [name, [value].flat()]))).toEqual(expected)
    })
  )
})

it("never throws, never makes a prototype, and never lets NUL through", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (raw) => {
      const read = Query.parse(raw)
      if (Result.isFailure(read)) return
      expect(Object.getPrototypeOf(read.success)).toBeNull()
      expect(JSON.stringify(read.success)).not.toContain("\\u0000")
    })
  )
  for (const raw of ["a=%00", "a=x%00y", "%00=a", "a=\0"]) {
    expect([raw, Result.isFailure(Query.parse(raw))]).toEqual([raw, true])
  }
  const own = Query.parse("__proto__=1&constructor=2")
  expect(Object.keys(Result.isSuccess(own) ? own.success : {})).toEqual([
    "__proto__",
    "constructor"
  ])
})
