/** Tables for spreadsheets: every text in quotes, none of them run, none of them cut. */
import { Export, Read } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Csv from "#core/reads/Csv.ts"
import { read } from "./csv-reader.ts"
import { tables } from "./tables.ts"
import { bearer, json, open, send, slugOf, type Venue } from "./venue.ts"

const Row = Schema.Struct({
  name: Schema.String,
  note: Schema.NullOr(Schema.String),
  amount: Decimal.schema,
  restricted: Schema.Boolean,
  since: Instant.schema
})
type Row = typeof Row.Type

const Value = Schema.Struct({ rows: Schema.Array(Row) })
const table = Export.of({ row: Row, rows: ({ rows }: typeof Value.Type) => rows })

const hostile = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '"', '","', "a\r\nb", "'=1", "é,ü"]
const texts = fc.oneof(fc.constantFrom(...hostile), fc.string({ maxLength: 20 }))
const rows = fc.array(
  fc.record({
    name: texts,
    note: fc.option(texts),
    amount: fc
      .bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
      .map((atoms) => Decimal.fromAtoms(atoms)),
    restricted: fc.boolean(),
    since: fc.integer({ min: 0, max: 4e12 }).map(Instant.fromEpochMillis)
  }),
  { maxLength: 20 }
)

describe("a table", () => {
  it("reads back as what it is made of, with every text quoted and none that begins a formula", () => {
    fc.assert(
      fc.property(rows, (given) => {
        const [head, ...lines] = read([...Csv.text(table, { rows: given })].join(""))
        expect(head).toEqual(
          ["name", "note", "amount", "restricted", "since"].map((text) => ({ text, quoted: true }))
        )
        expect(lines.length).toBe(given.length)
        for (const [index, line] of lines.entries()) {
          const row = given[index] as Row
          const harmless = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)
          expect(line).toEqual([
            { text: harmless(row.name), quoted: true },
            row.note === null
              ? { text: "", quoted: false }
              : { text: harmless(row.note), quoted: true },
            { text: Decimal.format(row.amount), quoted: false },
            { text: String(row.restricted), quoted: false },
            { text: Instant.format(row.since), quoted: true }
          ])
          // A negative figure is a number and stays one.
          expect(line.some(({ text, quoted }) => quoted && /^[=+\-@\t\r]/.test(text))).toBe(false)
        }
      })
    )
  })

  it("of a value that is not flat is a bug, not a cell of [object Object]", () => {
    const deep = Export.of({
      row: Schema.Struct({ inner: Schema.Struct({ a: Schema.String }) }),
      rows: (value: ReadonlyArray<{ readonly inner: { readonly a: string } }>) => value
    })
    expect(() => [...Csv.text(deep, [{ inner: { a: "x" } }])]).toThrow(/not flat/)
  })
})

const many = 20_000
const exported = Read.one({
  name: "holders.statements",
  doc: "Answers a table.",
  route: "GET /v1/holders/{holderId}/statements",
  audience: { operator: "all" },
  pinned: true,
  params: Schema.Struct({ holderId: Schema.String, ...Export.parameters }),
  value: Value,
  csv: table,
  refuses: [],
  run: ({ holderId }) =>
    Effect.succeed({
      rows: Array.from(
        { length: many },
        (_, index): Row => ({
          name: `=${holderId}`,
          note: index === 0 ? null : "a,b",
          amount: Decimal.fromAtoms(BigInt(index)),
          restricted: false,
          since: Instant.fromEpochMillis(0)
        })
      )
    })
})

describe("an export over HTTP", () => {
  let venue: Venue
  let operator: string
  beforeAll(async () => {
    operator = await bearer(["operator"])
    venue = await open({ tables: { ...tables, queries: [...tables.queries, exported] } })
  })
  afterAll(() => venue.close())
  const path = "/v1/holders/h-1/statements"
  const ask = (query: string, accept?: string) =>
    send(venue, {
      path: `${path}${query}`,
      as: operator,
      ...(accept === undefined ? {} : { headers: { accept } })
    })

  it("is whole, says what it is, and is not kept", async () => {
    const answer = await ask("?format=csv")
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8")
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff")
    const lines = read(await answer.text())
    expect(lines.length).toBe(many + 1)
    expect(lines.at(-1)?.map(({ text }) => text)).toEqual([
      "'=h-1",
      "a,b",
      "0.0000019999",
      "false",
      "1970-01-01T00:00:00.000000Z"
    ])
  })

  it("is JSON by default, and any other form is refused by name", async () => {
    for (const query of ["", "?format=json"]) {
      const answer = await ask(query)
      expect(answer.headers.get("content-type")).toBe("application/json")
      expect((await json<{ value: { rows: Array<unknown> } }>(answer)).value.rows.length).toBe(many)
    }
    for (const query of ["?format=CSV", "?format=xlsx", "?format=", "?format=csv&format=csv"]) {
      const answer = await ask(query)
      expect([query, answer.status]).toEqual([query, 400])
      const { errors } = await json<{ errors: ReadonlyArray<{ pointer: string }> }>(answer)
      expect(errors.map(({ pointer }) => pointer)).toEqual(["/query/format"])
    }
    const elsewhere = await send(venue, { path: "/v1/holders?format=csv", as: operator })
    expect(elsewhere.status).toBe(400)
  })

  it("answers 406 when the form asked for is excluded, whichever of the two it is", async () => {
    for (const [query, accept, status] of [
      ["?format=csv", "text/csv", 200],
      ["?format=csv", "text/*", 200],
      ["?format=csv", "*/*", 200],
      ["?format=csv", "application/json", 406],
      ["?format=csv", "text/csv;q=0, application/json", 406],
      ["?format=csv", "text/html", 406],
      ["", "text/csv", 406],
      ["?format=json", "text/csv", 406],
      ["", "application/json", 200]
    ] as const) {
      const answer = await ask(query, accept)
      expect([query, accept, answer.status]).toEqual([query, accept, status])
      if (status === 406) expect(await slugOf(answer)).toBe("not-acceptable")
      else await answer.text()
    }
  })
})
