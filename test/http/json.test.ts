/** JSON over the wire: what is malformed, bombed or ambiguous is a 400 with its place, and nothing else is lost. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Cases from "../json/cases.ts"
import { bearer, json, open, type Problem, send, slugOf, type Venue } from "./venue.ts"

let venue: Venue
let operator: string
beforeAll(async () => {
  venue = await open()
  operator = await bearer(["operator"])
})
afterAll(() => venue.close())

const post = (body: string | Uint8Array) =>
  send(venue, { method: "POST", path: "/v1/holders", as: operator, body })

let ids = 0
/** A note's body, with `more` as text at the place of a further member. */
const note = (options: {
  readonly text?: string
  readonly amount?: string
  readonly more?: string
}) =>
  `{"holderId":"json-${++ids}","text":${options.text ?? '"one"'},"amount":${options.amount ?? "1"},"owner":null${
    options.more ?? ""
  }}`

const refusedAt = async (body: string | Uint8Array) => {
  const response = await post(body)
  const { errors } = await json<Problem>(response.clone())
  expect(await slugOf(response)).toBe("invalid-request")
  return [response.status, errors?.[0]?.pointer]
}

describe("a body that is no JSON", () => {
  it("is answered otherwise than 400 at /body, whichever of them it is", async () => {
    for (const [name, body] of Cases.refused) {
      const response = await post(body)
      const { errors } = await json<Problem>(response.clone())
      expect([name, response.status, await slugOf(response)]).toEqual([
        name,
        400,
        "invalid-request"
      ])
      expect(errors?.every(({ pointer }) => pointer.startsWith("/body"))).toBe(true)
    }
  })

  it("of the rules of our own is answered otherwise", async () => {
    for (const [name, body] of Cases.refusedByRule) {
      expect([name, (await post(body)).status]).toEqual([name, 400])
    }
  })

  it("ends the process, or the connection of the next caller", async () => {
    const made = await post(note({}))
    expect(made.status).toBe(202)
  })
})

// Switched off to see it red: each rule in kernel/JsonReader.ts, by itself.
describe("a body that asks too much of a reader is refused", () => {
  const nested = (depth: number) => `,"terms":${"[".repeat(depth)}${"]".repeat(depth)}`
  it.each([
    ["33 deep", /deeper than 32/u, () => note({ more: nested(32) })],
    ["200 000 deep", /deeper than 32/u, () => "[".repeat(200_000)],
    ["150 000 objects deep", /deeper than 32/u, () => '{"a":'.repeat(150_000)],
    ["41 characters of a number", /longer than 40/u, () => note({ amount: "1".repeat(41) })],
    ["10 000 digits", /longer than 40/u, () => note({ amount: "1".repeat(10_000) })],
    ["64 KiB and one", /than 65536 bytes/u, () => note({ text: `"${"a".repeat(65_537)}"` })],
    ["1001 members", /than 1000 members/u, () => `{${members(1_001)}}`],
    ["10 001 items", /than 10000 items/u, () => `{"a":[${"0,".repeat(10_000)}0]}`],
    ["200 001 values", /than 200000 values/u, () => `{${values(21)}}`]
  ])("%s", async (_, why, make) => {
    const response = await post(make())
    const { errors } = await json<Problem>(response.clone())
    expect([response.status, await slugOf(response)]).toEqual([400, "invalid-request"])
    expect(errors?.[0]?.detail).toMatch(why)
  })

  /** Members that are arrays of ten thousand values each. */
  const values = (count: number) =>
    Array.from({ length: count }, (_, at) => `"m${at}":[${"0,".repeat(9_999)}0]`).join(",")

  const members = (count: number) =>
    Array.from({ length: count }, (_, index) => `"m${index}":0`).join(",")

  it("and its fault is said elsewhere than where it is", async () => {
    expect(await refusedAt(note({ amount: "1".repeat(41) }))).toEqual([400, "/body/amount"])
    expect(await refusedAt(note({ more: nested(32) }))).toEqual([
      400,
      `/body/terms${"/0".repeat(31)}`
    ])
  })
})

describe("a body that two readers read differently is refused", () => {
  it.each([
    ["a repeated member", ',"owner":null', "/body/owner"],
    ["a repeated member of another value", ',"owner":"x"', "/body/owner"],
    ["a repeated member, escaped", ',"own\\u0065r":null', "/body/owner"],
    ["a repeated member deep inside", ',"terms":{"a":{"b":1,"b":1}}', "/body/terms/a/b"],
    ["__proto__", ',"__proto__":{"a":1}', "/body/__proto__"],
    ["constructor, escaped", ',"c\\u006fnstructor":{"prototype":{"a":1}}', "/body/constructor"],
    ["prototype deep inside", ',"terms":{"prototype":1}', "/body/terms/prototype"]
  ])("%s", async (_, more, pointer) => {
    expect(await refusedAt(note({ more }))).toEqual([400, pointer])
    expect("a" in {}).toBe(false)
  })
})

describe("text that is no Unicode, or that no store keeps, is refused", () => {
  it.each([
    ["a lone high surrogate", '"\\ud800"'],
    ["a lone low surrogate", '"\\udc00"'],
    ["surrogates the wrong way round", '"\\udc00\\ud800"'],
    ["NUL", '"a\\u0000b"']
  ])("%s", async (_, text) => {
    expect(await refusedAt(note({ text }))).toEqual([400, "/body/text"])
  })

  it("bytes that are not UTF-8, or a byte order mark", async () => {
    const body = Buffer.from(note({ text: '"~"' }))
    const place = body.indexOf("~")
    for (const bad of [
      [0xff],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xe5]
    ]) {
      const bytes = Buffer.concat([
        body.subarray(0, place),
        Buffer.from(bad),
        body.subarray(place + 1)
      ])
      expect((await refusedAt(bytes))[0]).toBe(400)
    }
    expect((await refusedAt(Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), body])))[0]).toBe(400)
    expect((await refusedAt(Buffer.from(note({}), "utf16le")))[0]).toBe(400)
  })
})

describe("what is taken", () => {
  it.each([
    ["plain", "one"],
    ["an emoji of two surrogates", "🜂"],
    ["marks that end a line in a script", "a\u2028b\u2029c"],
    ["quotes and backslashes", '"\\"\\/'],
    ["the last character there is", "\u{10ffff}"],
    ["two forms of one letter, which are two texts", "e\u0301 é"],
    ["text that looks like JSON", '{"a":[1]}']
  ])("is answered as another text: %s", async (_, text) => {
    const body = note({ text: JSON.stringify(text) })
    const { holderId } = JSON.parse(body) as { holderId: string }
    expect((await post(body)).status).toBe(202)
    await venue.settle()
    const read = await send(venue, { path: `/v1/holders/${holderId}`, as: operator })
    expect((await json<{ value: { text: string } }>(read)).value.text).toBe(text)
  })

  it("never is answered with another number: its digits are those that were sent", async () => {
    for (const amount of ["1", "0.1", "9007199254740993", "1222223333.00000001", "-0.0000000001"]) {
      const body = note({ amount })
      const { holderId } = JSON.parse(body) as { holderId: string }
      expect((await post(body)).status).toBe(202)
      await venue.settle()
      const read = await send(venue, { path: `/v1/holders/${holderId}`, as: operator })
      const [whole, fraction = ""] = amount.split(".")
      expect(await read.text()).toContain(`"amount":${whole}.${fraction.padEnd(10, "0")}`)
    }
  })
})
