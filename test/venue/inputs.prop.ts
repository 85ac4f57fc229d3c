/**
 * Bodies of every kind and parameters of every read: what a program gives arrives as the JSON that a
 * request would have, whichever of its forms each number has.
 */
import { Catalogue, type Read } from "@bursar/engine-core"
import { Decimal, Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { convert } from "#core/kernel/ProgramInput.ts"
import { inputsOf, some } from "../vocabulary/inputs.ts"

/** The encoded input with each number as text. */
const inTexts = (encoded: unknown): unknown => {
  if (PlainJson.isPlainNumber(encoded)) return encoded.text
  if (Array.isArray(encoded)) return encoded.map(inTexts)
  return typeof encoded === "object" && encoded !== null
    ? Object.fromEntries(Object.entries(encoded).map(([name, value]) => [name, inTexts(value)]))
    : encoded
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** The encoded input with each decimal, instant and integer as the value that it is in memory. */
const inValues = (decoded: unknown, encoded: unknown): unknown => {
  if (typeof decoded === "bigint" || typeof decoded === "number") return decoded
  if (!isObject(decoded) || !isObject(encoded) || PlainJson.isPlainNumber(encoded)) return encoded
  if (Array.isArray(encoded)) {
    return encoded.map((item, nth) => inValues(Reflect.get(decoded, nth), item))
  }
  return Object.fromEntries(
    Object.entries(encoded).map(([name, value]) => [name, inValues(decoded[name], value)])
  )
}

const arrives = (schema: Schema.Codec<unknown, unknown>, inputs: ReadonlyArray<unknown>) => {
  const decode = Schema.decodeUnknownSync(schema)
  expect(inputs.length).toBeGreaterThan(0)
  for (const input of inputs) {
    const encoded = Schema.encodeUnknownSync(schema)(input)
    for (const form of [encoded, inTexts(encoded), inValues(input, encoded)]) {
      const { faults, plain } = convert(schema, form)
      expect(faults).toEqual([])
      expect(decode(plain)).toEqual(input)
    }
  }
}

describe("the body of every write", () => {
  it.each(Catalogue.operations.map((operation) => [operation.kind, operation] as const))(
    "%s arrives in each of its forms",
    (_, operation) => arrives(operation.input, inputsOf(operation))
  )
})

/** Parameters of reads whose own schemas draw none. */
const agreeingParams: Readonly<Record<string, object>> = {
  "reserves.get": {
    reserveId: "r-1",
    policyVersion: "2",
    price: ["bank/USD=1.5", "bank/BILL=0.99"]
  }
}
const paramsOf = ({ name, params }: Read.Read): ReadonlyArray<unknown> => {
  const one = agreeingParams[name]
  return one === undefined ? some(params, name) : [Schema.decodeUnknownSync(params)(one)]
}

describe("the parameters of every read", () => {
  it.each(Catalogue.queries.map((read) => [read.name, read] as const))(
    "%s arrive in each of their forms",
    (_, read) => arrives(read.params, paramsOf(read))
  )
})

describe("a number", () => {
  const Figures = Schema.Struct({
    amount: Decimal.schema,
    until: Schema.NullOr(Instant.schema),
    all: Schema.optionalKey(Schema.Union([Schema.Literal("all"), Decimal.schema]))
  })
  const decoded = (input: unknown) => {
    const { faults, plain } = convert(Figures, input)
    return faults.length > 0 ? faults : Schema.decodeUnknownSync(Figures)(plain)
  }
  const amount = Decimal.of("0.1")

  it("is a decimal as text, as a Decimal, and as a whole number", () => {
    expect(decoded({ amount: "0.1", until: null })).toEqual({ amount, until: null })
    expect(decoded({ amount, until: null })).toEqual({ amount, until: null })
    expect(decoded({ amount: 5, until: null })).toEqual({ amount: Decimal.of("5"), until: null })
  })

  it("is never taken from a double, which keeps 15 to 17 digits", () => {
    expect(decoded({ amount: 0.1, until: null })).toEqual([
      { pointer: "/amount", detail: expect.stringContaining("text or as a Decimal") }
    ])
  })

  it("stays a word where the word is one of those of its member", () => {
    expect(decoded({ amount, until: null, all: "all" })).toEqual({
      amount,
      until: null,
      all: "all"
    })
    expect(decoded({ amount, until: null, all: "0.1" })).toEqual({
      amount,
      until: null,
      all: amount
    })
  })

  it("of an instant is text or an Instant, and an undefined member is an absent one", () => {
    const until = Instant.of("2026-11-29T15:00:00Z")
    expect(decoded({ amount, until, all: undefined })).toEqual({ amount, until })
    expect(decoded({ amount, until: "2026-11-29T15:00:00Z" })).toEqual({ amount, until })
  })
})
