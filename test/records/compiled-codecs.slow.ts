/**
 * Law of the compiled codecs: for every record, fact, view, stored request and event of the
 * catalogue they give the values, bytes and errors that Schema's interpreter gives.
 */
import { Effect, Result, Schema, SchemaGetter } from "effect"
import { describe, expect, it } from "vitest"
import * as Catalogue from "#core/catalogue.ts"
import * as CompiledCodec from "#core/kernel/CompiledCodec.ts"
import { isPlainNumber, PlainNumber } from "#core/kernel/PlainNumber.ts"
import { isLong } from "../long-run.ts"
import { samples } from "./samples.ts"

type AnySchema = Schema.Codec<unknown, unknown>

const declared: ReadonlyArray<readonly [string, unknown]> = [
  ...Catalogue.collections.flatMap((collection) => [
    [`record ${collection.name}`, collection.record] as const,
    [`fact ${collection.name}`, collection.fact] as const
  ]),
  ...Catalogue.queries.map(
    (read) => [`answer ${read.name}`, "value" in read ? read.value : read.item] as const
  ),
  ...Catalogue.operations.flatMap((operation) => [
    [`request ${operation.kind}`, operation.input] as const,
    [`result ${operation.kind}`, operation.result] as const
  ]),
  ...Object.entries(Catalogue.events).map(
    ([type, { payload }]) => [`event ${type}`, payload] as const
  )
]
const schemas = declared.map(([name, schema]) => [name, schema as AnySchema] as const)

/** The outcome of a call: its value with the order of members, or the message of its error. */
const outcome = (run: () => unknown): string =>
  Result.match(Result.try({ try: run, catch: (error) => (error as Error).message }), {
    onFailure: (message) => `throws ${message}`,
    onSuccess: (value) => shown(value)
  })

const shown = (value: unknown): string =>
  typeof value === "object" && value !== null && !isPlainNumber(value)
    ? Array.isArray(value)
      ? `[${value.map(shown).join()}]`
      : `{${Object.entries(value)
          .map(([name, member]) => `${name}:${shown(member)}`)
          .join()}}`
    : `${typeof value} ${String(value)}`

const others: ReadonlyArray<unknown> = [
  null,
  undefined,
  "",
  true,
  [],
  {},
  1,
  new PlainNumber("1.5")
]

/** The same value with one member by turns left out, added, or replaced by something else. */
const damaged = function* (value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    yield [...value, null]
    for (const [index, item] of value.entries()) {
      for (const other of damaged(item)) yield value.with(index, other)
    }
  } else if (typeof value === "object" && value !== null && !isPlainNumber(value)) {
    for (const [name, member] of Object.entries(value)) {
      yield Object.fromEntries(Object.entries(value).filter(([key]) => key !== name))
      for (const other of others) yield { ...value, [name]: other }
      for (const other of damaged(member)) yield { ...value, [name]: other }
    }
    yield { another: 1, ...value }
  }
}

/** The same objects with their members in the opposite order. */
const turned = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(turned)
    : typeof value === "object" && value !== null && !isPlainNumber(value)
      ? Object.fromEntries(
          Object.entries(value)
            .toReversed()
            .map(([name, member]) => [name, turned(member)])
        )
      : value

const expectSame = (schema: AnySchema, values: ReadonlyArray<unknown>) => {
  const decode = CompiledCodec.decoder(schema)
  const encode = CompiledCodec.encoder(schema)
  const decodeBySchema = Schema.decodeUnknownSync(schema)
  const encodeBySchema = Schema.encodeUnknownSync(schema)
  for (const value of values) {
    expect(outcome(() => encode(value))).toBe(outcome(() => encodeBySchema(value)))
    expect(outcome(() => encode(turned(value)))).toBe(outcome(() => encodeBySchema(turned(value))))
    const encoded = encodeBySchema(value)
    const texts = [encoded, turned(encoded), ...damaged(encoded).take(isLong ? 200 : 50)]
    for (const text of texts) {
      expect(outcome(() => decode(text))).toBe(outcome(() => decodeBySchema(text)))
    }
    for (const other of damaged(value).take(isLong ? 100 : 25)) {
      expect(outcome(() => encode(other))).toBe(outcome(() => encodeBySchema(other)))
    }
  }
}

describe("a compiled codec gives what Schema's interpreter gives", () => {
  it.each(schemas)("%s", (name, schema) => {
    expectSame(schema, samples(name, schema))
  })
})

describe("a compiled codec leaves nothing of the catalogue to the interpreter", () => {
  it.each(schemas)("%s", (_, schema) => {
    expect(CompiledCodec.interpretedNodes(schema)).toEqual([])
  })
})

describe("a compiled codec of a schema that the catalogue does not hold gives what Schema gives", () => {
  const effectful = Schema.String.pipe(
    Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transformEffect((text: string) => Effect.sync(() => `${text}!`)),
      encode: SchemaGetter.transform((text: string) => text.slice(0, -1))
    })
  )
  const thrown = Schema.String.pipe(
    Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transform((text: string): string => {
        throw new Error(`no ${text}`)
      }),
      encode: SchemaGetter.transform((text: string) => text)
    })
  )
  const withDefault = Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("none")))
  const cases: ReadonlyArray<readonly [string, AnySchema, ReadonlyArray<unknown>]> = [
    [
      "an effect that has to run, before a member that takes anything",
      Schema.Union([effectful, Schema.String]),
      ["a", 1]
    ],
    [
      "a transformation that throws, before a member that takes anything",
      Schema.Union([thrown, Schema.String]),
      ["a", 1]
    ],
    [
      "one of several members only",
      Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })], {
        mode: "oneOf"
      }),
      [{ a: "" }, { a: "", b: "" }]
    ],
    [
      "names by a template",
      Schema.Record(Schema.TemplateLiteral(["x-", Schema.String]), Schema.Number),
      [{ "x-a": 1, b: 2 }, { "x-a": "" }]
    ],
    [
      "an optional element",
      Schema.Tuple([Schema.String, Schema.optionalKey(Schema.Number)]),
      [["a"], ["a", 1], ["a", "b"], []]
    ],
    [
      "a member named as the prototype",
      Schema.Record(Schema.String, Schema.Number),
      [JSON.parse('{"__proto__":1,"a":2}')]
    ],
    [
      "a member with a default",
      Schema.Struct({ a: withDefault }),
      [{}, { a: "b" }, { a: undefined }]
    ],
    [
      "an optional member",
      Schema.Struct({ a: Schema.optional(Schema.String) }),
      [{}, { a: undefined }, { a: "" }, { a: null }]
    ],
    ["a tree", Tree(), [{ children: [{ children: [] }] }, { children: [{}] }]],
    [
      "a required member that is null, or absent although its type has a default",
      Schema.Struct({ a: Schema.NullOr(withDefault) }),
      [{}, { a: null }, { a: undefined }, { a: "b" }]
    ],
    [
      "an element with a default, before a member that takes any array",
      Schema.Union([Schema.Tuple([withDefault]), Schema.Array(Schema.Unknown)]),
      [[], ["a"], [1]]
    ],
    [
      "a declared member that the index signature refuses",
      Schema.StructWithRest(Schema.Struct({ a: Schema.Number }), [
        Schema.Record(Schema.String, Schema.String)
      ]),
      [{ a: 1 }, { b: "c" }, { a: "d" }]
    ],
    [
      "a declared member that the index signature changes",
      Schema.StructWithRest(Schema.Struct({ a: Schema.String }), [
        Schema.Record(Schema.String, Schema.FiniteFromString)
      ]),
      [{ a: "1", b: "2" }]
    ]
  ]
  it.each(cases)("%s", (_, schema, values) => {
    const decode = CompiledCodec.decoder(schema)
    const bySchema = Schema.decodeUnknownSync(schema)
    for (const value of values) {
      expect(outcome(() => decode(value))).toBe(outcome(() => bySchema(value)))
    }
  })
})

interface Branch {
  readonly children: ReadonlyArray<Branch>
}
function Tree(): Schema.Codec<Branch> {
  const branch: Schema.Codec<Branch> = Schema.Struct({
    children: Schema.Array(Schema.suspend(() => branch))
  })
  return branch
}
