/** JSON that people write: a fault is found at its line and column, and shows no value. */
import { JsonText } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"

const faultOf = (text: string): string =>
  Result.match(JsonText.parse(text), {
    onSuccess: () => "",
    onFailure: ({ message }) => message
  })

it("reads what the platform reads, but a member that is there twice", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: true }), (value) => {
      const text = JSON.stringify(value, null, 2)
      expect(JsonText.parse(text)).toEqual(Result.succeed(JSON.parse(text)))
    }),
    { seed: 33, numRuns: 100 }
  )
  expect(faultOf('{"a": 1,\n "a": 2}')).toMatch(/^it is not JSON at line 2, column \d+: /)
})

it("never names another line and column than that of a character that nothing may have", () => {
  const blank = fc.array(fc.constantFrom(" ", "\n"), { maxLength: 12 })
  fc.assert(
    fc.property(blank, (blanks) => {
      const before = `{"a": [1,${blanks.join("")}`
      const lines = before.split("\n")
      const place = `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`
      expect(faultOf(`${before}planted]}`)).toContain(`at ${place}: `)
      expect(faultOf(`${before}planted]}`)).not.toContain("planted")
    }),
    { seed: 33, numRuns: 100 }
  )
})
