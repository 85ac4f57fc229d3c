import { createHash } from "node:crypto"
import { PlainJson } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const { canonical, leastPlain, limits, parse, parseTrusted, PlainNumber, stringify } = PlainJson
type Plain = PlainJson.Plain

const digits = (max: number) => fc.bigInt({ min: 0n, max: 10n ** BigInt(max) - 1n }).map(String)
const numberText = fc
  .tuple(fc.constantFrom("", "-"), digits(20), fc.option(fc.stringMatching(/^[0-9]{1,15}$/)))
  .map(([sign, whole, fraction]) => `${sign}${whole}${fraction === null ? "" : `.${fraction}`}`)
const text = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom("\n", '"', "\\", "/", "é", "€", "𝄞", "\u001f", "\u2028"),
      fc.string({ minLength: 1, maxLength: 1 })
    )
  })
  .filter((s) => !s.includes("\0") && s.isWellFormed())
const name = text.filter((s) => s !== "__proto__" && s !== "constructor" && s !== "prototype")
const plainNamedBy = (names: fc.Arbitrary<string>): fc.Arbitrary<Plain> =>
  fc.letrec<{
    plain: Plain
    list: ReadonlyArray<Plain>
    record: { readonly [k: string]: Plain }
  }>((tie) => ({
    plain: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom<Plain>(null, true, false),
      text,
      numberText.map((t) => new PlainNumber(t)),
      tie("list"),
      tie("record")
    ),
    list: fc.array(tie("plain"), { maxLength: 6 }),
    record: fc.dictionary(names, tie("plain"), { maxKeys: 6, noNullPrototype: true })
  })).plain
const plain = plainNamedBy(name)
/**
 * Values whose member names are printed without an escape. Node 24's `JSON.parse` takes an escaped
 * name for the name that stood there in an earlier object where both begin with the same bytes of
 * source (`"\\ "` was read as two backslashes), so it is no judge of such names.
 */
const plainForPlatform = plainNamedBy(name.filter((text) => JSON.stringify(text) === `"${text}"`))

/** The same value as another client would write it: spaces everywhere, every unit escaped. */
const loose = (value: Plain): string => {
  if (value instanceof PlainNumber)
    return value.text.includes(".") ? `${value.text}0` : `${value.text}.0`
  if (typeof value === "string") {
    const units = Array.from({ length: value.length }, (_, i) =>
      value.charCodeAt(i).toString(16).padStart(4, "0")
    )
    return `"${units.map((unit) => `\\u${unit}`).join("")}"`
  }
  if (typeof value !== "object" || value === null) return ` ${String(value)}\n`
  if (Array.isArray(value)) return `[ ${value.map(loose).join(" ,\t")} ]`
  return `{ ${Object.entries(value)
    .map(([k, v]) => `${loose(k)} : ${loose(v)}`)
    .join(" ,\r\n")} }`
}

const refusal = (input: string | Uint8Array, within?: PlainJson.JsonLimits) => {
  const result = parse(input, within)
  return Result.isFailure(result) ? result.failure : undefined
}
const taken = (input: string | Uint8Array, within?: PlainJson.JsonLimits) =>
  Result.isSuccess(parse(input, within))
const read = (input: string | Uint8Array) => Result.getOrThrow(parse(input))

describe("what is printed", () => {
  it("never is read back as something else", () => {
    fc.assert(
      fc.property(plain, (value) => {
        const printed = stringify(value)
        expect(read(printed)).toEqual(value)
        expect(read(new TextEncoder().encode(printed))).toEqual(value)
        expect(parseTrusted(printed)).toEqual(value)
        expect(stringify(read(printed))).toBe(printed)
      }),
      { numRuns: 500 }
    )
  })

  it("never is no JSON to the platform, or means another thing there", () => {
    const asDouble = (value: Plain): unknown =>
      value instanceof PlainNumber
        ? Number(value.text)
        : Array.isArray(value)
          ? value.map(asDouble)
          : typeof value === "object" && value !== null
            ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, asDouble(v)]))
            : value
    fc.assert(
      fc.property(plainForPlatform, (value) => {
        expect(JSON.parse(stringify(value))).toEqual(asDouble(value))
        expect(JSON.parse(canonical(value))).toEqual(
          JSON.parse(JSON.stringify(asDouble(value)), (_, v) => v)
        )
      })
    )
  })

  it("never carries an exponent, loses a digit, or lets through what JSON cannot carry", () => {
    expect(
      stringify({
        a: new PlainNumber("1.0000000000"),
        b: 12345678901234567890n,
        c: -0,
        d: [1, undefined as never].slice(0, 1),
        e: undefined
      })
    ).toBe('{"a":1.0000000000,"b":12345678901234567890,"c":0,"d":[1]}')
    expect(stringify(new PlainNumber("1.25e3"))).toBe("1250")
    expect(() => stringify(new PlainNumber("1e999999999"))).toThrow(TypeError)
    for (const bad of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      expect(() => stringify(bad)).toThrow(TypeError)
    for (const bad of ["\0", "\ud800", "a\udc00"])
      expect(() => stringify({ a: bad })).toThrow(TypeError)
    expect(() => stringify([undefined as never])).toThrow(TypeError)
    expect(() => stringify((() => 1) as never)).toThrow(TypeError)
  })
})

describe("the canonical form", () => {
  const sha256 = (s: string) => createHash("sha256").update(s).digest("hex")

  it("never gives another fingerprint than the vectors of the contract", () => {
    const body = canonical(read(' { "b" : 1.00, "a":"x" } '))
    expect(body).toBe('{"a":"x","b":1}')
    expect(sha256(`POST\n/v1/reserves\n\n${body}`)).toBe(
      "496e363f0d27836d260e95446bd072893f60506a65f7aee73771875a054da8a4"
    )
    expect(sha256("POST\n/v1/instruments/inst-1:pause\n\n")).toBe(
      "979930dfdc532279ad476853ebd0ec09ebfc254ca2b3abf84f9466d4fee7b114"
    )
  })

  it("never depends on the order of members, on spaces, or on how text was escaped", () => {
    expect(
      canonical(read('{"\\u0061":"\\u00e9\\/","\\ud834\\udd1e":1,"\\ufb33":2,"10":3,"9":4}'))
    ).toBe('{"10":3,"9":4,"a":"é/","𝄞":1,"\ufb33":2}')
    expect(
      canonical(read('["\\u0008\\u0009\\u000a\\u000c\\u000d\\u0022\\u005c\\u001f\\u007f"]'))
    ).toBe('["\\b\\t\\n\\f\\r\\"\\\\\\u001f\u007f"]')
    fc.assert(
      fc.property(plain, (value) => {
        const reversed = (v: Plain): Plain =>
          v instanceof PlainNumber || typeof v !== "object" || v === null
            ? v
            : Array.isArray(v)
              ? v.map(reversed)
              : Object.fromEntries(
                  Object.entries(v)
                    .reverse()
                    .map(([k, w]) => [k, reversed(w)])
                )
        expect(canonical(reversed(value))).toBe(canonical(value))
        expect(canonical(read(loose(value)))).toBe(canonical(value))
      })
    )
  })

  it("never tells null from absent as little as the fingerprint must not", () => {
    expect(canonical(read('{"a":null}'))).not.toBe(canonical(read("{}")))
  })

  it.each([
    ["1", "1"],
    ["1.0", "1"],
    ["1.00", "1"],
    ["10", "10"],
    ["100.10", "100.1"],
    ["0.0", "0"],
    ["-0", "0"],
    ["-0.00", "0"],
    ["-1.50", "-1.5"],
    ["1e2", "100"],
    ["1E+2", "100"],
    ["1.5e1", "15"],
    ["12e-1", "1.2"],
    ["5e-3", "0.005"],
    ["-5.0e-3", "-0.005"],
    ["0e999999999", "0"],
    ["10e-1", "1"],
    ["0.001e3", "1"],
    ["1e400", `1${"0".repeat(400)}`],
    ["1e401", "1e401"],
    ["10e400", "1e401"],
    ["0.1e402", "1e401"],
    ["-1e-99999999999999999999", "-1e-99999999999999999999"]
  ])("writes %s otherwise than its value", (given, expected) => {
    expect(leastPlain(given)).toBe(expected)
  })

  it("never makes numbers of one value differ, or of two values alike", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 0, max: 6 }),
        (n, shift, zeros) => {
          const plainText = leastPlain(`${n}e-${shift}`)
          expect(leastPlain(`${n}${"0".repeat(zeros)}e-${shift + zeros}`)).toBe(plainText)
          const [whole = "", fraction = ""] = plainText.split(".")
          const sign = plainText.startsWith("-") ? -1n : 1n
          const atoms = BigInt(whole.replace("-", "")) * 10n ** 6n + BigInt(fraction.padEnd(6, "0"))
          expect(sign * atoms).toBe(n * 10n ** BigInt(6 - shift))
        }
      )
    )
  })
})

describe("a text that is no JSON", () => {
  it.each([
    "",
    " ",
    "nul",
    "truex",
    "True",
    "NaN",
    "Infinity",
    "-Infinity",
    "undefined",
    "'a'",
    "a",
    "[",
    "]",
    "{",
    "}",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1,,2]",
    "{,}",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a" 1}',
    "{a:1}",
    "{'a':1}",
    "{1:1}",
    '{"a":1 "b":2}',
    '{"a":1}}',
    "[1]]",
    "1 2",
    "//\n1",
    "/**/1",
    "[1]//",
    "-",
    "+1",
    "01",
    "-01",
    "1.",
    ".1",
    "-.1",
    "1.e1",
    "1e",
    "1e+",
    "1E-",
    "1.2.3",
    "0x1",
    "1_0",
    "--1",
    "1a",
    "１",
    '"',
    '"a',
    '"\\',
    '"\\"',
    '"\\x41"',
    '"\\u12"',
    '"\\u12g4"',
    '"\\u 123"',
    '"\\U0041"',
    '"\t"',
    '"\n"',
    '"\u0000"',
    '"a\u001f"',
    "\u00a01",
    "\u000b1",
    "\u000c1",
    "1\u0000",
    "[1\u00a0]",
    '["a\u0000b"]',
    "\u2060[]",
    "\u2028[]",
    '{"a":"b"}#',
    '{"a":1,"b"}'
  ])("is taken: %j", (input) => {
    expect(taken(input)).toBe(false)
    expect(() => JSON.parse(input)).toThrow()
  })

  it("never is taken, or one that is JSON refused, after any one change", () => {
    const seed = '{"a":[1,-2.50,3e-1,"x\\u00e9\\n"],"b":{"c":null,"d":true},"e":false}'
    fc.assert(
      fc.property(
        fc.nat(seed.length - 1),
        fc.constantFrom(
          "",
          '"',
          "\\",
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          "0",
          "-",
          ".",
          "e",
          " ",
          "t",
          "\u0001"
        ),
        (at, c) => {
          const mutated = seed.slice(0, at) + c + seed.slice(at + 1)
          let expected = true
          try {
            JSON.parse(mutated)
          } catch {
            expected = false
          }
          // JSON.parse lets members repeat; we do not.
          if (refusal(mutated)?.detail.includes("repeated") === true) return
          expect(taken(mutated)).toBe(expected)
        }
      ),
      { numRuns: 3000 }
    )
  })

  it("never is refused though every strict reader takes it", () => {
    for (const input of [
      "0",
      "-0",
      "-0.0",
      "1e5",
      "1E+5",
      "123.456e-7",
      '""',
      '"\\u0041\\/"',
      '"\u007f"',
      "[]",
      "{}",
      " [ ] ",
      "\t\r\n null \n",
      '{"":0}',
      '"\uffff"',
      '"\\ud834\\udd1e"',
      '"🜂"'
    ]) {
      expect([input, taken(input)]).toEqual([input, true])
    }
  })
})

describe("a guard", () => {
  it("never lets a repeated member through, equal, different or escaped", () => {
    for (const input of [
      '{"a":1,"a":1}',
      '{"a":1,"a":2}',
      '{"a":1,"\\u0061":2}',
      '{"b":{"a":1,"a":1}}',
      '{"toString":1,"toString":1}'
    ]) {
      expect(refusal(input)?.detail).toContain("repeated")
    }
    expect(refusal('[{"b":{"a/~":1,"a\\u002f~":1}}]')?.pointer).toBe("/0/b/a~1~0")
    expect(read('{"toString":1,"valueOf":2,"hasOwnProperty":3}')).toEqual({
      toString: new PlainNumber("1"),
      valueOf: new PlainNumber("2"),
      hasOwnProperty: new PlainNumber("3")
    })
  })

  it("never lets a member reach a prototype", () => {
    for (const name of [
      "__proto__",
      "constructor",
      "prototype",
      "\\u005f_proto__",
      "constr\\u0075ctor"
    ]) {
      expect(refusal(`{"${name}":{"polluted":1}}`)?.detail).toContain("forbidden")
      expect(refusal(`{"a":[{"${name}":1}]}`)?.pointer).toMatch(
        /^\/a\/0\/(__proto__|constructor|prototype)$/
      )
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(taken('{"__proto":1,"proto":1,"Constructor":1}')).toBe(true)
  })

  it("never lets a lone surrogate, NUL, a byte order mark or bytes that are not UTF-8 through", () => {
    for (const input of [
      '"\\ud800"',
      '"\\udc00"',
      '"\\udc00\\ud800"',
      '"\\ud800a"',
      '"\\ud800\\u0041"',
      '{"\\ud800":1}',
      '"\ud800"',
      '"\\ud800',
      '"\\u0000"',
      '{"a\\u0000":1}',
      "\ufeff1"
    ]) {
      expect([input, taken(input)]).toEqual([input, false])
    }
    expect(refusal("\ufeff1")?.detail).toContain("byte order mark")
    const bytes = (...codes: ReadonlyArray<number>) => new Uint8Array([0x22, ...codes, 0x22])
    expect(taken(bytes(0xc3, 0xa9))).toBe(true)
    for (const bad of [
      bytes(0xff),
      bytes(0xc3),
      bytes(0xc0, 0xaf),
      bytes(0xed, 0xa0, 0x80),
      bytes(0xf4, 0x90, 0x80, 0x80),
      new Uint8Array([0xef, 0xbb, 0xbf, 0x31]),
      new Uint8Array([0xff, 0xfe, 0x31, 0x00])
    ]) {
      expect([bad, taken(bad)]).toEqual([bad, false])
    }
  })

  it("never stops short of its figure or lets one more through", () => {
    const nested = (n: number) => "[".repeat(n) + "]".repeat(n)
    const objects = (n: number) => '{"a":'.repeat(n) + "1" + "}".repeat(n)
    const members = (n: number) => `{${Array.from({ length: n }, (_, i) => `"m${i}":0`).join(",")}}`
    const items = (n: number) => `[${Array.from({ length: n }, () => "0").join(",")}]`
    // One array of 20 arrays: the outer one, 19 of 10 000 values each, and the last with its items.
    const tokens = (n: number) =>
      `[${Array.from({ length: 19 }, () => items(9_999)).join(",")},${items(n - 190_002)}]`
    const cases: ReadonlyArray<readonly [string, (n: number) => string, number]> = [
      ["deeper than 32", nested, 32],
      ["deeper than 32", objects, 32],
      ["more than 1000 members", members, 1_000],
      ["more than 10000 items", items, 10_000],
      ["more than 200000 values", tokens, 200_000],
      ["longer than 40 characters", (n) => "1".repeat(n), 40],
      ["longer than 40 characters", (n) => `-0.${"1".repeat(n - 3)}`, 40],
      ["longer than 65536 bytes", (n) => `"${"a".repeat(n)}"`, 65_536],
      [
        "longer than 65536 bytes",
        (n) => `"${"é".repeat(32_768 - 1)}${"a".repeat(n - 65_534)}"`,
        65_536
      ],
      [
        "longer than 65536 bytes",
        (n) => `"${"\\u20ac".repeat(21_845)}${"a".repeat(n - 65_535)}"`,
        65_536
      ],
      [
        "longer than 65536 bytes",
        (n) => `"${"𝄞".repeat(16_384 - 1)}${"a".repeat(n - 65_532)}"`,
        65_536
      ],
      ["longer than 65536 bytes", (n) => `{"${"a".repeat(n)}":1}`, 65_536]
    ]
    for (const [why, make, figure] of cases) {
      expect([why, refusal(make(figure))]).toEqual([why, undefined])
      expect(refusal(make(figure + 1))?.detail).toContain(why)
    }
    const named = (n: number) =>
      `[${Array.from({ length: 20 }, (_, i) => `[${Array.from({ length: 3333 }, () => '{"a":0}').join(",")}${i < 19 ? "" : ",0".repeat(n - 200_001)}]`).join(",")}]`
    // 21 arrays and 20 times 3333 objects of three: one object, one name, one value each.
    expect(refusal(named(200_001))?.detail).toContain("more than 200000 values")
    expect(taken(named(200_001), { ...limits, tokens: 200_001 })).toBe(true)
    expect(taken(`[${Array.from({ length: 100 }, () => '[{"a":{}}]').join(",")}]`)).toBe(true)
    expect(taken(items(20_000), { ...limits, items: 20_000 })).toBe(true)
  })

  it("refuses a bomb by the limit that it passes, and never overflows the stack", () => {
    expect(refusal("[".repeat(33) + "]".repeat(33))?.detail).toContain("deeper")
    expect(refusal("[".repeat(200_000))?.detail).toContain("deeper")
    expect(refusal('{"a":'.repeat(200_000))?.detail).toContain("deeper")
    expect(
      refusal(`{${Array.from({ length: 1_000_000 }, (_, i) => `"m${i}":0`).join(",")}}`)?.detail
    ).toContain("members")
    expect(refusal("1".repeat(10_000))?.detail).toContain("40 characters")
    expect(refusal(`"${"\\u0061".repeat(1_000_000)}"`)?.detail).toContain("bytes")
    expect(() => parseTrusted("[".repeat(200_000))).toThrow(/corrupt/)
  })
})

describe("a fault", () => {
  it("points to the value at fault", () => {
    const at = (input: string) => refusal(input)?.pointer
    expect(at('{"a":{"b":[1,2,x]}}')).toBe("/a/b/2")
    expect(at('{"a":{"b~/c":tru}}')).toBe("/a/b~0~1c")
    expect(at("[[[],[1,01]]]")).toBe("/0/1/1")
    expect(at("x")).toBe("")
    expect(at('{"":[x]}')).toBe("//0")
  })

  it("never is as large as the caller makes it", () => {
    const fault = refusal(`{"${"k".repeat(60_000)}":{"${"k".repeat(60_000)}":x}}`)
    expect(fault?.pointer.length).toBeLessThanOrEqual(512)
    expect(fault?.detail.length).toBeLessThan(200)
  })

  it("in stored text is a defect", () => {
    expect(() => parseTrusted('{"a":1,"a":2}')).toThrow(/corrupt at "\/a"/)
  })
})
