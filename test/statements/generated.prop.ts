/** Files of every form that the generators write: read back whole, however they arrive. */
import { Date, Decimal, Duration } from "@bursar/engine-core/kernel"
import type { StatementSource } from "@bursar/engine-core/ports"
import * as fc from "fast-check"
import { XmlDocument, XsdValidator } from "libxml2-wasm"
import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { runsOf } from "../long-run.ts"
import * as generate from "./generate.ts"
import { inSlices, whole } from "./reading.ts"

const runs = { seed: 20_260_302, numRuns: runsOf(50) }
/** Places of ISO 20022 schemas: amounts have 5, and all of their figures 18 digits. */
const figure = (places: number) =>
  fc
    .bigInt({ min: -999_999_999_999n, max: 999_999_999_999n })
    .map((count) => Decimal.fromAtoms(count * 10n ** BigInt(Decimal.places - places)))
const magnitude = (places: number) => figure(places).map(Decimal.abs)
const nullable = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: null })
const day = fc.integer({ min: 0, max: 40_000 }).map(Date.fromEpochDay)

/** Signs that a form writes in its own way: separators, quotes, markup, escapes, signs beyond ASCII. */
const units = [..."abz09 -=+@;,|\"'<>&\\/{}[]:.é€ŠΩ中😀\t"]
const cell = (most: number) =>
  fc
    .array(fc.constantFrom(...units), { minLength: 1, maxLength: most })
    .map((signs) => signs.join(""))
/** A text that XML carries: no white space at an end, none that stands for no reference. */
const name = (most: number) => cell(most).map((text) => `x${text.replaceAll("\t", "t")}x`)
const label = name(10)

const holdings = fc.uniqueArray(label, { maxLength: 30 }).chain((accounts) =>
  fc.tuple(
    ...accounts.map((account) =>
      fc.record({
        kind: fc.constant("holdings" as const),
        account: fc.constant(account),
        quantity: figure(6),
        locked: nullable(magnitude(6))
      })
    )
  )
)
const custody = fc
  .uniqueArray(label, { maxLength: 10 })
  .chain((accounts) =>
    fc.tuple(
      ...accounts.map((account) =>
        fc
          .uniqueArray(fc.constantFrom("XS0000000017", "XS0000000025", "US0000000001"), {
            minLength: 1
          })
          .chain((assets) =>
            fc.tuple(
              ...assets.map((asset) =>
                fc.record({
                  kind: fc.constant("custody" as const),
                  asset: fc.constant(asset),
                  account: fc.constant(account),
                  quantity: figure(6)
                })
              )
            )
          )
      )
    )
  )
  .map((accounts) => accounts.flat())
const entry = fc.record({
  kind: fc.constant("cash" as const),
  bookingDate: day,
  valueDate: nullable(day),
  amount: magnitude(2),
  currency: fc.constantFrom("CHF", "EUR"),
  direction: fc.constantFrom("credit" as const, "debit" as const),
  bankReference: nullable(label),
  reference: nullable(label),
  counterparty: nullable(
    fc
      .record({ name: nullable(label), account: nullable(label) })
      .filter(({ account, name: named }) => account !== null || named !== null)
  )
})

const isin = "LU0000000017"
const own = { number: "CH9300762011623852957", currency: "CHF" }

const positions = <L extends generate.HoldingsLine | generate.CustodyLine>(
  kind: L["kind"],
  lines: fc.Arbitrary<ReadonlyArray<L>>
): fc.Arbitrary<generate.Statement<L>> =>
  fc.record({ businessDate: day, lines }).map(({ businessDate, ...given }) => ({
    kind,
    header: generate.headerOf({ businessDate, currency: "USD", basis: "settled" }),
    lines: given.lines,
    account: null,
    isin
  }))
const cash: fc.Arbitrary<generate.Statement<generate.CashEntry>> = fc
  .record({
    businessDate: day,
    opening: nullable(figure(2)),
    closing: figure(2),
    lines: fc.array(entry, { maxLength: 30 })
  })
  .map(({ lines, ...given }) => ({
    kind: "cash",
    header: generate.headerOf({ ...given, currency: "CHF" }),
    lines,
    account: own,
    isin: null
  }))
const validFor = Duration.of("P3D")
const nav: fc.Arbitrary<generate.Statement> = fc
  .record({
    businessDate: day,
    official: magnitude(10),
    indicative: nullable(magnitude(10)),
    ripcord: fc.boolean(),
    totalAmount: nullable(magnitude(2)),
    totalQuantity: nullable(magnitude(6))
  })
  .map(({ official, indicative, ripcord, ...given }) => ({
    kind: "nav",
    header: generate.navHeaderOf({
      ...given,
      currency: "USD",
      nav: { official, indicative, ripcord },
      validFor
    }),
    lines: [],
    account: null,
    isin
  }))

type Message = readonly [name: string, texts: (given: generate.Statement) => generate.Texts]

/** Messages of ISO 20022 by the kind that they state: the schema, and the text of a statement. */
const messages: Readonly<Record<string, ReadonlyArray<Message>>> = {
  holdings: [["semt.002.001.11", generate.semt002]],
  custody: [["semt.002.001.11", generate.semt002]],
  cash: (["02", "08", "13"] as const).map(
    (version): Message => [`camt.053.001.${version}`, (given) => generate.camt053(given, version)]
  ),
  nav: [["reda.001.001.04", generate.reda001]]
}

const schemas = new URL("../../../shared/data/iso20022/xsd/", import.meta.url)

const statements: ReadonlyArray<readonly [string, fc.Arbitrary<generate.Statement>]> = [
  ["holdings", positions("holdings", holdings)],
  ["custody", positions("custody", custody)],
  ["cash", cash],
  ["nav", nav]
]

/** Members that the form of a file carries; the others are those that the source fills. */
const carried = (
  { header, lines }: generate.Statement,
  members: ReadonlyArray<keyof StatementSource.Header>
) => ({
  lines: [...lines],
  header: {
    ...header,
    ...Object.fromEntries(members.map((member) => [member, null]))
  }
})

describe.each(statements)("a file of %s", (kind, statement) => {
  it("in the statement's own form is read back as it was written, in slices of any size", async () => {
    await fc.assert(
      fc.asyncProperty(statement, fc.integer({ min: 1, max: 300 }), async (given, size) => {
        const bytes = generate.encoded(generate.text(generate.json(given)))
        const reading = generate.readingOf("json", given, { validFor })
        expect(await whole(reading, inSlices(bytes, size))).toEqual(carried(given, []))
      }),
      runs
    )
  })

  it("in CSV is read back as it was written, in every notation", async () => {
    const notation = fc
      .record({
        delimiter: fc.constantFrom(",", ";", "\t", "|"),
        decimal: fc.constantFrom("." as const, "," as const),
        group: fc.constantFrom(".", ",", " ", "'", null),
        dateFormat: fc.constantFrom("dd.MM.yyyy", "d/M/yyyy", "yyyyMMdd", "yyyy-MM-dd"),
        encoding: fc.constantFrom("utf-8" as const, "utf-16le" as const, "utf-16be" as const)
      })
      .filter(({ decimal, group }) => decimal !== group)
    await fc.assert(
      fc.asyncProperty(
        statement,
        notation,
        fc.integer({ min: 1, max: 300 }),
        async (given, written, size) => {
          const form = generate.csvForm(given.kind, written)
          const bytes = generate.encoded(generate.text(generate.csv(given, form)), written.encoding)
          const reading = generate.readingOf("csv", given, { csv: form, validFor })
          const missing = kind === "nav" ? [] : (["opening", "closing"] as const)
          expect(await whole(reading, inSlices(bytes, size))).toEqual(carried(given, missing))
        }
      ),
      runs
    )
  })

  it.each(messages[kind] ?? [])("in %s is read back as it was written", async (message, texts) => {
    const adapter = message.slice(0, 8) as StatementSource.Reading["adapter"]
    await fc.assert(
      fc.asyncProperty(statement, fc.integer({ min: 1, max: 300 }), async (given, size) => {
        const named = { ...given, header: { ...given.header, reference: "REF-1" } }
        const bytes = generate.encoded(generate.text(texts(named)))
        const reading = generate.readingOf(adapter, named, { validFor })
        expect(await whole(reading, inSlices(bytes, size))).toEqual(carried(named, []))
      }),
      runs
    )
  })

  it.skipIf(!existsSync(schemas)).each(messages[kind] ?? [])(
    "in %s is valid by its published schema (needs shared/data/iso20022)",
    (message, texts) => {
      const schema = XmlDocument.fromBuffer(readFileSync(new URL(`${message}.xsd`, schemas)))
      const validator = XsdValidator.fromDoc(schema)
      try {
        fc.assert(
          fc.property(statement, (given) => {
            const file = XmlDocument.fromString(generate.text(texts(given)))
            try {
              validator.validate(file)
            } finally {
              file.dispose()
            }
          }),
          runs
        )
      } finally {
        validator.dispose()
        schema.dispose()
      }
    }
  )
})
