import {
  Base32,
  Integer,
  Offset,
  Party,
  PlainJson,
  RecordId,
  RequestId
} from "@bursar/engine-core/kernel"
import { Arbitrary, Effect, Result, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const HolderId = RecordId.make("HolderId")
const succeeds = <A, E>(result: Result.Result<A, E>) => Result.isSuccess(result)
const decodes = (schema: Schema.Codec<unknown, unknown>, value: unknown) =>
  succeeds(Schema.decodeUnknownResult(schema)(value))
const json = (text: string) => Result.getOrThrow(PlainJson.parse(text))

describe("a record id", () => {
  it.each(["a", "A.b_c~d-9", "0", "a".repeat(RecordId.lengthMax)])("refuses %j", (id) => {
    expect(decodes(HolderId, id)).toBe(true)
    expect(succeeds(RecordId.parse(id))).toBe(true)
  })
  it.each([
    "",
    ".a",
    "-a",
    "_a",
    "~a",
    "a:pause",
    "a/b",
    "a b",
    "a\n",
    "é",
    "a%41",
    "a".repeat(RecordId.lengthMax + 1),
    "a\0"
  ])("takes %j", (id) => {
    expect(decodes(HolderId, id)).toBe(false)
    expect(succeeds(RecordId.parse(id))).toBe(false)
  })
  it("never is no path segment that decodes to itself", () => {
    for (const id of Effect.runSync(
      Arbitrary.sampleEffect(Arbitrary.schema(HolderId), { count: 100, seed: 1 })
    )) {
      expect(encodeURIComponent(id)).toBe(id)
    }
  })
})

describe("a party", () => {
  const venue = `venue::1220${"ab".repeat(32)}`
  it("never is not its hint and its fingerprint", () => {
    const party = Party.of(venue)
    expect(Party.make({ hint: Party.hint(party), fingerprint: Party.fingerprint(party) })).toBe(
      party
    )
    expect([Party.hint(party), Party.fingerprint(party)]).toEqual([
      "venue",
      `1220${"ab".repeat(32)}`
    ])
    expect(decodes(Party.schema, `${"h".repeat(185)}::${"a".repeat(68)}`)).toBe(true)
  })
  it.each([
    "",
    "venue",
    "venue::",
    "::ab",
    "venue:ab",
    "venue::AB",
    "venue::xy",
    "ven ue::ab",
    "a::b::c",
    "venue::ab\n",
    `${"h".repeat(186)}::ab`,
    `v::${"a".repeat(69)}`
  ])("takes %j", (text) => {
    expect(succeeds(Party.parse(text))).toBe(false)
    expect(decodes(Party.schema, text)).toBe(false)
  })
})

describe("a request id", () => {
  it("never takes a space, a control character or one too many", () => {
    expect(succeeds(RequestId.parse("!~".repeat(64)))).toBe(true)
    for (const bad of ["", " ", "a b", "a\r\nb", "a\0", "é", "a".repeat(129)])
      expect([bad, succeeds(RequestId.parse(bad)), decodes(RequestId.schema, bad)]).toEqual([
        bad,
        false,
        false
      ])
  })
})

describe("an integer", () => {
  it.each(["0", "1", "-1", "9007199254740991", "-9007199254740991"])(
    "refuses %s, or prints it otherwise",
    (text) => {
      const value = Schema.decodeUnknownSync(Integer.schema)(json(text))
      expect(value).toBe(Number(text))
      expect(PlainJson.stringify(Schema.encodeSync(Integer.schema)(value))).toBe(text)
    }
  )
  it.each([
    "1.0",
    "1e2",
    "9007199254740992",
    "-9007199254740992",
    "99999999999999999",
    '"1"',
    "null"
  ])("takes %s", (text) => {
    expect(decodes(Integer.schema, json(text))).toBe(false)
    expect(succeeds(Integer.parse(text))).toBe(false)
  })
  it("never tells -0 from 0, or leaves its bounds", () => {
    expect(Object.is(Schema.decodeUnknownSync(Integer.schema)(json("-0")), 0)).toBe(true)
    const places = Integer.between({ minimum: 0, maximum: 10 })
    expect(["-1", "0", "10", "11"].map((text) => decodes(places, json(text)))).toEqual([
      false,
      true,
      true,
      false
    ])
    expect(Schema.toJsonSchemaDocument(places).schema).toEqual({
      type: "integer",
      minimum: 0,
      maximum: 10
    })
    expect(() => Integer.format(0.5)).toThrow(RangeError)
  })
})

describe("an offset", () => {
  it("never is below zero, broken, or counts past what a double holds", () => {
    expect(Schema.decodeUnknownSync(Offset.schema)(json("41237"))).toBe(41_237)
    for (const bad of ["-1", "1.5", "9007199254740992", '"1"'])
      expect([bad, decodes(Offset.schema, json(bad))]).toEqual([bad, false])
    expect(Offset.next(Offset.zero)).toBe(1)
    expect(() => Offset.next(Offset.of(Number.MAX_SAFE_INTEGER))).toThrow(RangeError)
    expect(succeeds(Offset.parse("-1"))).toBe(false)
    for (const value of Effect.runSync(
      Arbitrary.sampleEffect(Arbitrary.schema(Offset.schema), { count: 50, seed: 2 })
    )) {
      expect(PlainJson.stringify(Schema.encodeSync(Offset.schema)(value))).toBe(String(value))
    }
  })
})

describe("an id the engine gives", () => {
  const bytes = fc.uint8Array({ minLength: 10, maxLength: 10 })
  const millis = fc.integer({ min: 0, max: 2 ** 48 - 1 })

  it("never forgets its bits or its millisecond", () => {
    const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    fc.assert(
      fc.property(millis, bytes, (time, random) => {
        const id = Base32.encode(time, random)
        expect(id).toMatch(Base32.pattern)
        expect(Base32.millis(id)).toBe(time)
        const value = [...id].reduce((n, c) => n * 32n + BigInt(alphabet.indexOf(c)), 0n)
        const expected = random.reduce((n, byte) => n * 256n + BigInt(byte), BigInt(time))
        expect(value).toBe(expected)
      })
    )
  })

  it("never sorts otherwise than by when it was made", () => {
    fc.assert(
      fc.property(millis, millis, bytes, bytes, (a, b, r, s) => {
        fc.pre(a < b)
        expect(Base32.encode(a, r) < Base32.encode(b, s)).toBe(true)
      })
    )
  })

  it("never is made of too little or too much", () => {
    for (const time of [-1, 2 ** 48, 0.5, Number.NaN])
      expect(() => Base32.encode(time, new Uint8Array(10))).toThrow(RangeError)
    for (const length of [0, 9, 11])
      expect(() => Base32.encode(0, new Uint8Array(length))).toThrow(RangeError)
    expect(Base32.millis("8ZZZZZZZZZZZZZZZZZZZZZZZZZ")).toBeUndefined()
    expect(Base32.millis("I0000000000000000000000000")).toBeUndefined()
  })
})
