/** Codec of statement lines: rows give the line back, and are matched, summed and sorted by what they should. */
import { Date, Decimal } from "@bursar/engine-core/kernel"
import { describe, expect, it } from "vitest"
import * as LineRows from "#core/statements/external-statement/LineRows.ts"
import type { StatementLine } from "#core/statements/external-statement/StatementLine.ts"

const entry = {
  kind: "cash",
  line: 1_000_000,
  bookingDate: Date.of("2026-03-02"),
  valueDate: null,
  amount: Decimal.of("12.50"),
  currency: "EUR",
  direction: "debit",
  bankReference: "B/1",
  reference: null,
  counterparty: null
} as const satisfies StatementLine

const lines: ReadonlyArray<readonly [string, StatementLine, object]> = [
  [
    "units of an account",
    {
      kind: "holdings",
      line: 2,
      account: "key:ab",
      quantity: Decimal.of("-0.0000000001"),
      locked: Decimal.of("3")
    },
    { key: "000000002", match: "key:ab", group: "", amounts: ["-0.0000000001"] }
  ],
  ["an entry", entry, { key: "001000000", match: "B/1", group: "debit/EUR", amounts: ["12.5"] }],
  [
    "an asset at a custodian",
    {
      kind: "custody",
      line: 10_000_000,
      account: "key:cd",
      asset: "XS1",
      quantity: Decimal.of("100")
    },
    { key: "010000000", match: "key:cd", group: "XS1", amounts: ["100"] }
  ]
]

describe("the row of a line", () => {
  it.each(lines)("gives back %s, under its number, match, group and amount", (_, line, columns) => {
    const row = LineRows.rowOf(line)
    expect(row).toMatchObject(columns)
    expect(LineRows.lineOf(row)).toEqual(line)
  })

  it("is of a group that tells direction and currency", () => {
    expect(LineRows.ofCashGroup(LineRows.cashGroupOf(entry))).toEqual({
      direction: "debit",
      currency: "EUR"
    })
  })
})
