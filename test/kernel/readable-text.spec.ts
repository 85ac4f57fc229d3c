/** Texts that people read, and countries by their codes. */
import { Catalogue } from "@bursar/engine-core"
import { ReadableText } from "@bursar/engine-core/kernel"
import { SchemaAST } from "effect"
import { describe, expect, it } from "vitest"
import { isCountry } from "#core/kernel/Country.ts"
import { Changed } from "#core/holders/attribute/Attribute.ts"
import { Details, statedDetails } from "#core/holders/holder/HolderDetails.ts"
import * as Schema from "effect/Schema"

const hidden: ReadonlyArray<readonly [string, string]> = [
  ["spaces alone", "   "],
  ["nothing", ""],
  ["a space before it", " Alpine Fund"],
  ["a space after it", "Alpine Fund "],
  ["a space that does not break after it", "Alpine Fund\u00a0"],
  ["a line end", "Alpine\nFund"],
  ["a line separator", "Alpine\u2028Fund"],
  ["a tab", "Alpine\tFund"],
  ["a mark of direction", "Alpine \u202eFund"],
  ["an isolate of direction", "\u2066Alpine\u2069"],
  ["a mark from right to left", "Alpine\u200f"],
  ["a space of no width", "Alpine\u200bFund"],
  ["a joiner between Latin letters", "Alp\u200dine"],
  ["a soft hyphen", "Al\u00adpine"],
  ["a byte order mark", "\ufeffAlpine"],
  ["a filler that is a letter", "\u3164"],
  ["a blank of Braille", "\u2800\u2800"],
  ["a terminal's escape", "\u001b[31mAlpine"],
  ["a tag of the last plane", "Alpine\u{e0041}"],
  ["a private character", "\ue000"],
  ["a combining mark alone", "\u0301"]
]
const readable = [
  "Alpine Fund (Luxembourg) S.à r.l.",
  "A",
  "3",
  "株式会社アルプス",
  "葛\u{e0100}城市",
  "شرکت می\u200cخواهم",
  "क्\u200dष",
  "שלום עולם",
  "Müller & Söhne – Nr. 5",
  "₿ 100%"
]

describe("a text of one line", () => {
  it.each(hidden)("never has %s", (_, text) => {
    expect(ReadableText.isLine(text)).toBe(false)
  })
  it.each(readable)("is what people write: %s", (text) => {
    expect([ReadableText.isLine(text), ReadableText.isProse(text)]).toEqual([true, true])
  })
  it("ends no line and begins no paragraph, which a reason may", () => {
    const text = "It is over.\n\tSee the order.\r\n"
    expect([ReadableText.isLine(text), ReadableText.isProse(text)]).toEqual([false, true])
    expect(ReadableText.isProse(" \n\t ")).toBe(false)
    expect(ReadableText.isProse("to see\u202e")).toBe(false)
  })
})

describe("a country", () => {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
  const all = letters.flatMap((first) => letters.map((second) => first + second))
  it("is one of the 249 codes that ISO 3166-1 assigns, each of which has a name", () => {
    const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" })
    const taken = all.filter(isCountry)
    expect(taken).toHaveLength(249)
    expect(taken.filter((code) => names.of(code) === undefined)).toEqual([])
  })
  it("is none that is reserved, deleted, or left to users", () => {
    const none = [
      "EU",
      "UK",
      "XK",
      "AN",
      "YU",
      "SU",
      "QO",
      "ZZ",
      "XX",
      "AA",
      "UN",
      "us",
      "U",
      "USA"
    ]
    expect(none.filter(isCountry)).toEqual([])
  })
})

describe("a holder's details", () => {
  const decode = Schema.decodeUnknownOption(Schema.Struct(statedDetails))
  const kept = Schema.decodeUnknownOption(Details)
  const queries = (details: object) => [decode(details)._tag, kept(details)._tag]
  it("of a request name a readable name and countries of the standard; what is stored is kept", () => {
    expect(queries({ legalName: "Alpine", taxResidences: [{ country: "CH" }] })).toEqual([
      "Some",
      "Some"
    ])
    expect(queries({ legalName: "  " })).toEqual(["None", "Some"])
    expect(queries({ legalName: "Al\u202epine" })).toEqual(["None", "Some"])
    expect(queries({ taxResidences: [{ country: "XX" }] })).toEqual(["None", "Some"])
    expect(queries({ taxResidences: [{ country: "CH", tinType: "\n" }] })).toEqual(["None", "Some"])
  })
})

describe("the value of an attribute that is set", () => {
  const takes = Schema.is(Changed)
  const attributeOf = (value: string, state: string) => ({
    ...{ name: "kyc", value, state, evidenceHash: "ee".repeat(32) },
    ...{ validFrom: null, validUntil: null }
  })
  it("can be read, unless one that cannot is rejected or revoked", () => {
    for (const state of ["pending", "valid", "rejected", "revoked"]) {
      expect([state, takes(attributeOf("passed", state))]).toEqual([state, true])
      const ends = state === "rejected" || state === "revoked"
      expect([state, takes(attributeOf("pass\u200bed", state))]).toEqual([state, ends])
    }
  })
})

/** Every text of an input's schema, by its path, with whether it takes this text. */
const textsOf = (
  ast: SchemaAST.AST,
  path: string,
  seen: ReadonlySet<SchemaAST.AST> = new Set()
): ReadonlyArray<readonly [string, SchemaAST.AST]> => {
  if (seen.has(ast)) return []
  const within = new Set([...seen, ast])
  if (SchemaAST.isString(ast)) return [[path, ast]]
  if (SchemaAST.isObjects(ast)) {
    return [
      ...ast.propertySignatures.flatMap(({ name, type }) =>
        textsOf(type, `${path}/${String(name)}`, within)
      ),
      ...ast.indexSignatures.flatMap(({ type }) => textsOf(type, `${path}/*`, within))
    ]
  }
  if (SchemaAST.isArrays(ast)) {
    return [...ast.elements, ...ast.rest].flatMap((type) => textsOf(type, `${path}/0`, within))
  }
  if (SchemaAST.isUnion(ast)) return ast.types.flatMap((type) => textsOf(type, path, within))
  return []
}

/** Texts of inputs that no person reads, or that must equal a text of others, with the reason. */
const exempt: Readonly<Record<string, string>> = {
  claims: "must equal what the registry's configuration requires, whatever it is",
  id: "must equal the id of an asset on the ledger",
  orderId: "must equal the id of an order that the holder signed on the ledger",
  value: "judged with the attribute's state: one stored in another form can still be revoked",
  replaces: "the version that If-Match names",
  secret: "shown to nobody",
  url: "judged by the rules of addresses",
  navFeed: "must equal the id of a configured source",
  number: "judged as an account number"
}

describe("every text of a write's input", () => {
  const unreadable = ["   ", "a\u202eb", "\u3164", "a\u200bb"]
  it.each(Catalogue.operations.map((operation) => [operation.kind, operation] as const))(
    "of %s that a person reads refuses what cannot be read",
    (_, { input, kind }) => {
      const takes = textsOf(Schema.toType(input).ast, kind)
        .filter(([path]) => !path.split("/").some((name) => Object.hasOwn(exempt, name)))
        .filter(([, ast]) => {
          const is = Schema.is(Schema.make(ast) as Schema.Schema<unknown>)
          return unreadable.some((text) => is(text))
        })
        .map(([path]) => path)
      expect(takes).toEqual([])
    }
  )
})
