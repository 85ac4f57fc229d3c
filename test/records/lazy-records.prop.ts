/**
 * Law of lazily decoded records: for every collection they have the members of the decoded record, and
 * every view of the catalogue prints them, as JSON and as cells, as it prints the decoded record.
 */
import { Result, Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Catalogue from "#core/catalogue.ts"
import type { Collection } from "#core/kernel/Collection.ts"
import * as CompiledCodec from "#core/kernel/CompiledCodec.ts"
import * as Instant from "#core/kernel/Instant.ts"
import * as JsonPrinter from "#core/kernel/JsonPrinter.ts"
import * as LazyStruct from "#core/kernel/LazyStruct.ts"
import * as PlainJson from "#core/kernel/PlainJson.ts"
import * as Codecs from "#core/records/Codecs.ts"
import * as Export from "#core/reads/Export.ts"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import * as LineView from "#core/distributions/distribution/LineView.ts"
import { dealingCycles } from "#core/orders/dealing-cycle/DealingCycle.ts"
import * as DealingCycleView from "#core/orders/dealing-cycle/DealingCycleView.ts"
import { movements } from "#core/instruments/register/Movement.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import * as RedemptionView from "#core/orders/redemption/RedemptionView.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as SubscriptionView from "#core/orders/subscription/SubscriptionView.ts"
import { mints } from "#core/reserves/reserve-order/Mint.ts"
import { reserveRedemptions } from "#core/reserves/reserve-order/ReserveRedemption.ts"
import * as ReserveOrderView from "#core/reserves/reserve-order/ReserveOrderView.ts"
import { samples } from "./samples.ts"

type AnySchema = Schema.Codec<unknown, unknown>
type Members = Readonly<Record<string, unknown>>

const kept = {
  createdAt: Instant.of("2026-07-30T03:00:00Z"),
  updatedAt: Instant.of("2026-07-30T03:00:00.123456789Z"),
  version: 7
}
const keptTexts = {
  createdAt: Instant.sortable(kept.createdAt),
  fromInstant: Instant.sortable(kept.updatedAt),
  version: kept.version
}

const collections = (Catalogue.collections as ReadonlyArray<Collection>).map(
  (collection) => [collection.name, collection] as const
)

const fieldsOf = (schema: object): Members => ("fields" in schema ? (schema.fields as Members) : {})

/** Records by either way; the invariants, which chance does not meet, are left out. */
const records = (collection: Collection) => {
  const codecs = Codecs.of({ ...collection, invariants: {} })
  return samples(`record ${collection.name}`, collection.record).flatMap((value) => {
    const text = Result.try(() => codecs.encodeRecord(value))
    // A text with a lone surrogate is not stored.
    if (Result.isFailure(text)) return []
    const decoded: Members = { ...(codecs.decodeRecord(text.success) as Members), ...kept }
    const lazily = () => codecs.decodeLazily(text.success, keptTexts) as unknown as Members
    // A text without an optional member is decoded whole.
    const isWhole = Object.keys(fieldsOf(collection.record)).some((name) => !(name in decoded))
    expect(lazily() === undefined).toBe(isWhole)
    return isWhole ? [] : [{ decoded, lazily }]
  })
}

describe("a lazily decoded record has the members of the decoded one", () => {
  it.each(collections)("of the collection %s", (_, collection) => {
    for (const { decoded, lazily } of records(collection)) {
      expect({ ...lazily() }).toStrictEqual(decoded)
      expect(Object.keys(lazily()).toSorted()).toEqual(Object.keys(decoded).toSorted())
      // Whichever is read first, and again.
      for (const member of Object.keys(decoded)) {
        const record = lazily()
        expect(record[member]).toStrictEqual(decoded[member])
        expect(record[member]).toStrictEqual(decoded[member])
        expect(member in record).toBe(true)
      }
      expect("toString" in lazily()).toBe(false)
      expect(lazily()["toString"]).toBeUndefined()
    }
  })
})

describe("a lazily decoded record", () => {
  const party = "holder::1220ab"
  const movement = {
    ...{ registrar: party, instrumentId: "fund-a", seq: 1, at: "2026-07-30T03:00:00.000000Z" },
    ...{ offset: 1, updateId: "u-1", kind: "mint", from: null, to: party },
    ...{ units: 5, balanceAfter: 5, reference: null },
    ...{ ledgerTime: "2026-07-30T03:00:00.000000Z", restricted: true, holdersAfter: 1 }
  }
  const { decodeLazily } = Codecs.of(movements)
  const read = (changes: object) =>
    decodeLazily(PlainJson.stringify({ ...movement, ...changes }), keptTexts)

  it("keeps the invariants of its collection", () => {
    expect(read({})).toMatchObject({ seq: 1, version: kept.version })
    expect(() => read({ units: 0 })).toThrow("movement breaks its invariant something moved")
    expect(() => read({ to: null })).toThrow("movement breaks its invariant")
  })

  it("throws when a member that does not decode is read, and for an invariant at once", () => {
    const record = read({ seq: "one" })
    expect(record?.instrumentId).toBe("fund-a")
    expect(() => record?.seq).toThrow("integer")
    expect(() => read({ units: "five" })).toThrow("Expected a JSON number")
  })
})

interface View {
  readonly schema: AnySchema
  readonly members: Members
}

/** Views of the catalogue, each cut to the members that a record has by the same names. */
const viewsOf = (record: Members): ReadonlyArray<View> =>
  Catalogue.queries.flatMap((read) => {
    const shown = fieldsOf("item" in read ? read.item : read.value)
    const common = Object.entries(shown).filter(([member]) => member in record)
    if (common.length <= Object.keys(kept).length) return []
    const fields = Object.fromEntries(common) as Readonly<Record<string, AnySchema>>
    return [{ schema: Schema.Struct(fields) as unknown as AnySchema, members: fields }]
  })

/** The outcome of a call: its value, or that it throws. */
const outcome = (run: () => unknown): unknown =>
  Result.match(Result.try(run), { onFailure: () => "throws", onSuccess: (value) => value })

describe("a view prints a lazily decoded record as it prints the decoded one", () => {
  it.each(collections)("of the collection %s", (_, collection) => {
    for (const { decoded, lazily } of records(collection)) {
      for (const { schema, members } of viewsOf(decoded)) {
        const encode = CompiledCodec.encoder(schema)
        const print = JsonPrinter.of(schema)
        const plain = LazyStruct.pick<Members, string>(decoded, members)
        const picked = () => LazyStruct.pick<Members, string>(lazily(), members)
        const bySchema = outcome(() => PlainJson.stringify(encode(plain) as PlainJson.Printable))
        expect(outcome(() => print(plain))).toBe(bySchema)
        expect(outcome(() => print(picked()))).toBe(bySchema)
        const [first = ""] = Object.keys(plain)
        const changed: Members = { [first]: decoded[first], version: 8 }
        expect(outcome(() => print(LazyStruct.extend(picked(), changed)))).toBe(
          outcome(() => print({ ...plain, ...changed }))
        )
        const table = Export.of({
          row: { ...schema, fields: members } as never,
          rows: (rows: ReadonlyArray<Members>) => rows,
          nested: Object.keys(members) as Array<never>
        })
        const cells = (row: () => Members) => outcome(() => [...table.lines([row()])])
        expect(cells(picked)).toEqual(cells(() => plain))
      }
    }
  })
})

const at = Instant.of("2026-07-30T04:00:00Z")
const extended: ReadonlyArray<readonly [string, Collection, AnySchema, (record: never) => object]> =
  [
    ...(["operator", "registrar", "investor", "app"] as const).map(
      (role) =>
        [
          `a line, for the role ${role}`,
          distributionLines as Collection,
          LineView.LineView as AnySchema,
          (record: never) => LineView.ofRole(record, role)
        ] as const
    ),
    [
      "a subscription",
      subscriptions as Collection,
      SubscriptionView.SubscriptionView as AnySchema,
      (record: never) => SubscriptionView.of(record, at)
    ],
    [
      "a redemption",
      redemptions as Collection,
      RedemptionView.RedemptionView as AnySchema,
      (record: never) => RedemptionView.of(record, at)
    ],
    [
      "a mint",
      mints as Collection,
      ReserveOrderView.MintView as AnySchema,
      (record: never) => ReserveOrderView.mint(record)
    ],
    [
      "a reserve redemption",
      reserveRedemptions as Collection,
      ReserveOrderView.ReserveRedemptionView as AnySchema,
      (record: never) => ReserveOrderView.redemption(record)
    ],
    [
      "a dealing cycle",
      dealingCycles as Collection,
      DealingCycleView.DealingCycleView as AnySchema,
      (record: never) => DealingCycleView.of(record)
    ]
  ]

describe("a view that adds members prints a lazily decoded record as it prints the decoded one", () => {
  it.each(extended)("of %s", (_, collection, schema, view) => {
    const print = JsonPrinter.of(schema)
    const printed = records(collection).map(({ decoded, lazily }) => {
      const plain = outcome(() => print(view(decoded as never)))
      expect(outcome(() => print(view(lazily() as never)))).toBe(plain)
      return plain
    })
    expect(printed.some((text) => text !== "throws")).toBe(true)
  })
})

const Any = Schema.Struct({
  'a name, in quotes "': Schema.String,
  texts: Schema.Array(Schema.Array(Schema.String)),
  flag: Schema.NullOr(Schema.Boolean),
  last: Schema.Struct({ text: Schema.String })
})
const read = LazyStruct.reader([Any])!
const printed = (value: typeof Any.Type) => PlainJson.stringify(value)

const anyText = fc.oneof(
  fc.string({
    unit: fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", "a", "é", "\n", "𝄞")
  }),
  fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0"))
)
const anyValue = fc.record(
  {
    'a name, in quotes "': anyText,
    texts: fc.array(fc.array(anyText)),
    flag: fc.option(fc.boolean()),
    last: fc.record({ text: anyText }, { noNullPrototype: true })
  },
  { noNullPrototype: true }
)

describe("a lazily decoded struct", () => {
  it("finds its members whatever their texts hold", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect({ ...read(printed(value)) }).toStrictEqual({ ...value })
        expect(JsonPrinter.of(Any)(read(printed(value)))).toBe(printed(value))
        const [{ text }] = [value.last]
        const table = Export.of({
          row: Schema.Struct({ text: Schema.String }),
          rows: (rows: ReadonlyArray<{ readonly text: string }>) => rows
        })
        const cells = [
          ...table.lines([
            LazyStruct.reader([Any.fields.last])!(`{"text":${PlainJson.stringify(text)}}`) as never
          ])
        ]
        expect(cells).toEqual([[text]])
      })
    )
  })

  it("is made of no text that is cut off, has spaces, or has other members", () => {
    fc.assert(
      fc.property(anyValue, fc.nat(), (value, at) => {
        const text = printed(value)
        expect(read(text.slice(0, at % text.length))).toBeUndefined()
        expect(read(`${text} `)).toBeUndefined()
        expect(read(text.replace("{", "{ "))).toBeUndefined()
        const { flag, ...rest } = value
        expect(read(PlainJson.stringify(rest))).toBeUndefined()
        expect(read(PlainJson.stringify({ flag, ...rest }))).toBeUndefined()
        expect(read(PlainJson.stringify({ ...value, more: 1 }))).toBeUndefined()
      })
    )
  })

  it("decodes no member that is printed as it is stored, and each of the others", () => {
    const stored = `{"a name, in quotes \\"":1,"texts":[ ],"flag":true,"last":{"text":""}}`
    expect(JsonPrinter.of(Any)(read(stored))).toBe(stored)
    const Other = Schema.Struct({ ...Any.fields, texts: Schema.Array(Schema.Array(Schema.String)) })
    expect(JsonPrinter.of(Other)(read(stored))).toBe(stored.replace("[ ]", "[]"))
    expect(() => ({ ...read(stored) })).toThrow("Expected string")
  })

  it("cannot be changed", () => {
    const struct = read(
      printed({ ...{ 'a name, in quotes "': "" }, texts: [], flag: null, last: { text: "" } })
    )
    expect(() => Object.assign(struct!, { flag: true })).toThrow(TypeError)
    expect(() => delete (struct as { flag?: unknown }).flag).toThrow(TypeError)
  })

  it("is not made of a schema that asks more of it than its members", () => {
    const isFlagged = Schema.makeFilter(({ flag }: typeof Any.Type) => flag === true)
    expect(LazyStruct.reader([Any.check(isFlagged)])).toBeUndefined()
    expect(LazyStruct.reader([Schema.Record(Schema.String, Schema.String)])).toBeUndefined()
    expect(LazyStruct.reader([Schema.Union([Any, Schema.Null])])).toBeUndefined()
  })
})

describe("a whole list", () => {
  const lists = Catalogue.queries.filter((read) => read.shape === "list")
  const mostly = (name: string): boolean => {
    const read = lists.find((list) => list.name === name)
    if (read === undefined) throw new Error(`there is no list ${name}`)
    return JsonPrinter.isMostly(read.item as AnySchema, read.collection.record as AnySchema)
  }
  it.each([
    ["instruments.movements", true],
    ["distributions.lines", true],
    ["subscriptions.list", true],
    ["instruments.list", false],
    ["open-orders.list", false]
  ])("%s is decoded lazily only if most of its view is stored as it is shown: %s", (name, is) => {
    expect(mostly(name)).toBe(is)
  })
})
