/**
 * Laws of the plain client over the whole catalogue: the body of every write arrives as its declaration
 * takes it, whatever the platform's JSON can do, and every answer keeps the digits of its decimals.
 *
 * Seen red: without `tolerances.*` in the table, without the name of the member above in `isAmong`, and
 * with marks that are not told from texts.
 */
import { ApprovalView, Catalogue, type Operation, WriteAnswer } from "@bursar/engine-core"
import { Decimal, Integer, PlainJson } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as ClientTable from "#host/api/ClientTable.ts"
import * as Verb from "#host/api/Verb.ts"
import * as JsonNumbers from "#host/plain-client/JsonNumbers.ts"
import { callTable } from "#host/plain-client/table.ts"
import { inputsOf, some } from "../vocabulary/inputs.ts"
import { scripted } from "./scripted.ts"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A value as its type in JSON says: a decimal by its text, a whole number as a number. */
const inJson = (decoded: unknown, encoded: unknown): unknown => {
  if (PlainJson.isPlainNumber(encoded)) {
    return typeof decoded === "number" ? Number(encoded.text) : encoded.text
  }
  if (Array.isArray(encoded)) {
    return encoded.map((item, nth) => inJson(Array.isArray(decoded) ? decoded[nth] : item, item))
  }
  if (!isObject(encoded)) return encoded
  return Object.fromEntries(
    Object.entries(encoded).map(([name, value]) => [
      name,
      inJson(isObject(decoded) ? decoded[name] : value, value)
    ])
  )
}

/** Codecs of every platform there is: with and without source access, with and without raw JSON. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown }
const codecs = [true, false].flatMap((hasSource) =>
  [rawJSON, undefined].map((raw) => JsonNumbers.make(callTable, { hasSource, raw }))
)

const printed = (encoded: unknown) => PlainJson.stringify(encoded as PlainJson.Printable)
const parsed = (text: string) => PlainJson.parseTrusted(text)

/** The call of a write as the client made it, put together again to the input that it carries. */
const carried = (
  operation: Operation.Operation,
  { body, headers, url }: ReturnType<typeof scripted>["calls"][number]
) => {
  const path = Verb.parse(operation.route)
  const pattern = path.template.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&")
  const found = new RegExp(`^/base${pattern.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+?)")}$`, "u").exec(
    url.pathname
  )
  expect(found).not.toBeNull()
  const params = Object.fromEntries(
    path.names.map((name) => [name, decodeURIComponent(found?.groups?.[name] ?? "")])
  )
  const tag = headers.get("if-match")
  const matched =
    operation.ifMatch === undefined || tag === null ? {} : { [operation.ifMatch]: tag.slice(1, -1) }
  return { ...(body === "" ? {} : (parsed(body) as object)), ...params, ...matched }
}

describe("the body of every write", () => {
  it.each(Catalogue.operations.map((operation) => [operation.kind, operation] as const))(
    "%s arrives as its declaration takes it",
    async (kind, operation) => {
      const decode = Schema.decodeUnknownSync(operation.input as Schema.Codec<unknown, unknown>)
      for (const input of inputsOf(operation)) {
        const encoded = Schema.encodeUnknownSync(operation.input)(input)
        const { calls, client } = scripted([{ status: 202 }])
        await client.write(kind as "holder.close", inJson(input, encoded) as never)
        expect(calls[0]?.method).toBe(Verb.parse(operation.route).method)
        expect(decode(carried(operation, calls[0]!))).toEqual(input)
        for (const codec of codecs) {
          const text = codec.print(inJson(input, encoded))
          expect(decode(parsed(text))).toEqual(input)
        }
      }
    }
  )
})

describe("every answer", () => {
  type Row = readonly [string, string, Schema.Codec<unknown, unknown>]
  const answers: ReadonlyArray<Row> = [
    ...Catalogue.operations.map(
      ({ kind, result }): Row => [`the result of ${kind}`, "result", result]
    ),
    ...Catalogue.queries.map(
      (read): Row => [read.name, read.name, read.shape === "list" ? read.item : read.value]
    ),
    ["a write", "write", WriteAnswer],
    ["an action", "approvals.get", ApprovalView]
  ]

  it.each(answers)("of %s keeps its digits, and has numbers for whole ones", (_, root, schema) => {
    for (const value of some(schema, "plain")) {
      const encoded = Schema.encodeUnknownSync(schema)(value)
      // Chance names members of any JSON so as no answer of the service does.
      if (/\\u(?:0000|d[89a-f])/u.test(JSON.stringify(encoded))) continue
      const text = printed({ offset: 7n, value: encoded })
      for (const codec of codecs) {
        expect(codec.parse(text, root)).toEqual({ offset: 7, value: inJson(value, encoded) })
      }
    }
  })
})

describe("a number", () => {
  it("of the members of a table of decimals goes out as a number", () => {
    const tolerances = { "lots-holdings": "0.50", "supply-register": "2" }
    for (const codec of codecs) {
      expect(codec.print({ tolerances, grace: { "lots-holdings": "PT1H" } })).toBe(
        '{"tolerances":{"lots-holdings":0.50,"supply-register":2},"grace":{"lots-holdings":"PT1H"}}'
      )
    }
  })

  it("has the kind of its place, where one name is of a count and of a sum", () => {
    const text =
      '{"value":{"counts":{"carried":3,"suspended":0},"totals":{"carried":3,"suspended":0}}}'
    for (const codec of codecs) {
      expect(codec.parse(text, "distributions.get")).toEqual({
        value: {
          counts: { carried: 3, suspended: 0 },
          totals: { carried: "3", suspended: "0" }
        }
      })
      const required = '{"value":{"required":2,"result":{"required":2}}}'
      expect(codec.parse(required, "operations.get")).toEqual({
        value: { required: 2, result: { required: "2" } }
      })
      expect(codec.parse(required, "reserves.get")).toMatchObject({ value: { required: "2" } })
    }
  })

  it("within a text stays text, whatever stands around it", () => {
    const text = '{"seq":1,"a":"2","b":"\\"3","c":"4\\\\","5":[6,-7.50,8e2],"d":"\\u00e9 9"}'
    for (const codec of codecs) {
      expect(codec.parse(text, "x")).toEqual({
        seq: 1,
        a: "2",
        b: '"3',
        c: "4\\",
        5: ["6", "-7.50", "8e2"],
        d: "é 9"
      })
    }
  })

  it("beyond what a double holds is never made one", () => {
    for (const codec of codecs) {
      expect(codec.parse('{"seq":9007199254740993,"offset":9007199254740991}', "x")).toEqual({
        seq: "9007199254740993",
        offset: 9007199254740991
      })
    }
  })
})

describe("the call table", () => {
  it("is current with the catalogue; run `npm run docs` when it is not", () => {
    expect(callTable).toEqual(ClientTable.of(Catalogue))
  })

  it("is never made of two members that no client could tell apart", () => {
    const [operation] = Catalogue.operations
    const tableOf = (amount: Schema.Codec<unknown, unknown>) => () => {
      const fee = Schema.Struct({ x: Schema.Struct({ n: Decimal.schema }) })
      const tax = Schema.Struct({ x: Schema.Struct({ n: amount }) })
      const input = Schema.Struct({ fee, tax })
      return ClientTable.of({ operations: [{ ...operation!, input }], queries: [], events: {} })
    }
    expect(tableOf(Decimal.schema)().decimals).toEqual(["n"])
    const clash = "number in one place and something else in another"
    expect(tableOf(Integer.schema)).toThrow(`x.n is a whole ${clash}`)
    expect(tableOf(Schema.String)).toThrow(`x.n is a decimal ${clash}`)
  })
})
