/** JSON against independent judges: JSONTestSuite's cases, and lossless-json as a second reader. */
import { PlainJson } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { isLosslessNumber, LosslessNumber, parse as losslessly, stringify } from "lossless-json"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as Cases from "./cases.ts"

type Plain = PlainJson.Plain

const isTaken = (text: string | Uint8Array) => Result.isSuccess(PlainJson.parse(text))

/** Converts the second reader's value of a text into the engine's own form. */
const ours = (read: unknown): Plain => {
  if (isLosslessNumber(read)) return new PlainJson.PlainNumber(read.value)
  if (Array.isArray(read)) return read.map(ours)
  if (typeof read === "object" && read !== null) {
    return Object.fromEntries(Object.entries(read).map(([name, value]) => [name, ours(value)]))
  }
  return read as null | boolean | string
}

/** A value of ours as the second reader writes it. */
const theirs = (value: Plain): unknown => {
  if (value instanceof PlainJson.PlainNumber) return new LosslessNumber(value.text)
  if (Array.isArray(value)) return value.map(theirs)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, theirs(one)]))
}

describe("a text that is no JSON is refused", () => {
  it.each(Cases.refused)("%s", (_, text) => {
    expect(isTaken(text)).toBe(false)
    expect(isTaken(typeof text === "string" ? Buffer.from(text) : text)).toBe(false)
  })
})

describe("a text that is JSON is read as what it says", () => {
  it.each(Cases.taken)("%s", (_, text) => {
    const read = Result.getOrThrow(PlainJson.parse(text))
    expect(read).toEqual(Result.getOrThrow(PlainJson.parse(Buffer.from(text))))
    expect(read).toEqual(ours(losslessly(String(text))))
  })
})

// Each of these is a switch of the reader; with its rule left out the text is taken.
describe("each rule of our own refuses, for its own reason", () => {
  it.each(Cases.refusedByRule)("%s", (_, text, why) => {
    const read = PlainJson.parse(text)
    expect(Result.isFailure(read) ? read.failure.detail : "taken").toMatch(why)
    expect(() => JSON.parse(text)).not.toThrow()
  })
})

/** A copy of https://github.com/nst/JSONTestSuite, where there is one. */
const suite = process.env["JSON_TEST_SUITE"] ?? ""
const files = existsSync(suite) ? readdirSync(suite).filter((name) => name.endsWith(".json")) : []

describe.skipIf(files.length === 0)("the whole of JSONTestSuite (JSON_TEST_SUITE names it)", () => {
  const read = (name: string) => PlainJson.parse(readFileSync(`${suite}/${name}`))
  it("has a file of n_ that is taken", () => {
    const named = files.filter((name) => name.startsWith("n_"))
    expect(named.length).toBe(188)
    expect(named.filter((name) => Result.isSuccess(read(name)))).toEqual([])
  })
  it("has a file of y_ that is refused, but by a rule of our own", () => {
    const named = files.filter((name) => name.startsWith("y_"))
    expect(named.length).toBe(95)
    const faults = named.flatMap((name) => {
      const result = read(name)
      return Result.isFailure(result) ? [result.failure.detail] : []
    })
    expect(faults.filter((one) => !/repeated|NUL|longer than 40/u.test(one))).toEqual([])
  })
  it("has a file of i_ that throws", () => {
    for (const name of files.filter((one) => one.startsWith("i_"))) read(name)
  })
})

// Texts that both readers accept.

const digits = (max: number) => fc.bigInt({ min: 0n, max: 10n ** BigInt(max) - 1n }).map(String)
const number = fc
  .tuple(
    fc.constantFrom("", "-"),
    digits(20),
    fc.option(fc.stringMatching(/^[0-9]{1,10}$/)),
    fc.option(fc.constantFrom("e1", "E+2", "e-3"))
  )
  .map(([sign, whole, fraction, exponent]) => {
    const point = fraction === null ? "" : `.${fraction}`
    return new PlainJson.PlainNumber(`${sign}${whole}${point}${exponent ?? ""}`)
  })
const text = fc.string({ unit: "grapheme" }).filter((one) => one.isWellFormed() && !/\0/.test(one))
const name = text.filter((one) => !["__proto__", "constructor", "prototype"].includes(one))
const { value } = fc.letrec<{ value: Plain }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Plain>(null, true, false),
    text,
    number,
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(name, tie("value"), { maxKeys: 5, noNullPrototype: true })
  )
}))

/** A number as it is printed: its own digits, an exponent written out. */
const plainly = (json: Plain): Plain =>
  Result.getOrThrow(PlainJson.parse(PlainJson.stringify(json as PlainJson.Printable)))

describe("the second reader", () => {
  it("reads another value from what is printed, or prints what is read as another", () => {
    fc.assert(
      fc.property(value, (one) => {
        const printed = PlainJson.stringify(one as PlainJson.Printable)
        expect(ours(losslessly(printed))).toEqual(plainly(one))
        const written = stringify(theirs(one)) ?? ""
        expect(Result.getOrThrow(PlainJson.parse(written))).toEqual(one)
      }),
      { numRuns: 500 }
    )
  })

  it("takes a text that was changed in one place and is refused here, but by a rule of our own", () => {
    fc.assert(
      fc.property(
        value,
        fc.nat(),
        fc.constantFrom("", '"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", " "),
        (one, place, put) => {
          const printed = PlainJson.stringify(one as PlainJson.Printable)
          const at = place % (printed.length + 1)
          const changed = `${printed.slice(0, at)}${put}${printed.slice(at + 1)}`
          const here = PlainJson.parse(changed)
          let there: Plain | undefined
          try {
            there = ours(losslessly(changed))
          } catch {
            there = undefined
          }
          if (Result.isSuccess(here)) expect(there).toEqual(here.success)
          else if (!/repeated|NUL|surrogate|longer|forbidden/u.test(here.failure.detail)) {
            expect([changed, there]).toEqual([changed, undefined])
          }
        }
      ),
      { numRuns: 2_000 }
    )
  })
})
