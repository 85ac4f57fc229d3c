/** Rows of statement lines: what is read back is what was written, in file order. */
import { Date, Decimal } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as LineRows from "#core/statements/external-statement/LineRows.ts"
import type { StatementLine } from "#core/statements/external-statement/StatementLine.ts"

const line = fc.integer({ min: 1, max: 10_000_000 })
const decimal = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(Decimal.fromAtoms)
const amount = decimal.map(Decimal.abs)
const text = fc.string({ unit: "grapheme", minLength: 1 }).filter((t) => !t.includes("\0"))
const orNull = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: null })
const date = fc.integer({ min: 0, max: 40_000 }).map(Date.fromEpochDay)

/** Counterparties in the block of a line, sealed by themselves as before, or none. */
const sealed = fc.oneof(
  fc.record({ counterparty: orNull(fc.nat({ max: 63 })), counterparties: text }),
  fc.record({ counterparty: orNull(fc.oneof(fc.nat({ max: 63 }), text)) })
)

const anyLine: fc.Arbitrary<StatementLine> = fc.oneof(
  fc.record({
    kind: fc.constant("holdings" as const),
    line,
    account: text,
    quantity: decimal,
    locked: orNull(amount)
  }),
  fc
    .record({
      kind: fc.constant("cash" as const),
      line,
      bookingDate: date,
      valueDate: orNull(date),
      amount,
      currency: fc.constantFrom("EUR", "CHF"),
      direction: fc.constantFrom("credit" as const, "debit" as const),
      bankReference: orNull(text),
      reference: orNull(text)
    })
    .chain((entry) => sealed.map((counterparties) => ({ ...entry, ...counterparties }))),
  fc.record({
    kind: fc.constant("custody" as const),
    line,
    asset: text,
    account: text,
    quantity: decimal
  })
)

describe("the row of a line", () => {
  it("never reads back as another line", () => {
    fc.assert(
      fc.property(anyLine, (given) => {
        expect(LineRows.lineOf(LineRows.rowOf(given))).toEqual(given)
      })
    )
  })

  it("never sorts before the row of an earlier line", () => {
    fc.assert(
      fc.property(line, line, (a, b) => {
        expect(LineRows.keyOf(a) < LineRows.keyOf(b)).toBe(a < b)
      })
    )
  })

  it("has the amounts that checks sum: of a cash entry by direction and currency", () => {
    const entry = {
      kind: "cash" as const,
      line: 7,
      bookingDate: Date.of("2026-03-02"),
      valueDate: null,
      amount: Decimal.of("12.50"),
      currency: "EUR",
      direction: "debit" as const,
      bankReference: "B1",
      reference: null,
      counterparty: null
    }
    expect(LineRows.rowOf(entry)).toMatchObject({
      key: "000000007",
      group: "debit/EUR",
      amounts: ["12.5"]
    })
  })
})
