/** Tables of facts and findings of the checks of bank lines, and laws of the index of lines with something left. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Part from "#core/orders/order/CashLinePart.ts"
import { cashUnmatched } from "#core/reconciliation/checks/CashChecks.ts"
import { suspendedLines } from "#core/reconciliation/checks/DistributionChecks.ts"
import {
  type AccountStatement,
  together
} from "#core/reconciliation/checks/SuspendedLineLookups.ts"
import * as UnmatchedSums from "#core/reconciliation/checks/UnmatchedSums.ts"

const d = Decimal.of
const plain = (amount: Decimal.Decimal | null) =>
  amount === null ? "-" : Decimal.formatPlain(amount)

type Line = readonly [
  amount: string,
  taken: string,
  changes?: Partial<UnmatchedSums.OpenLine["entry"]> & { readonly statementId?: string }
]

const openLine = ([amount, taken, { statementId = "st-1", ...entry } = {}]: Line) => ({
  externalAccountId: "acc",
  accountCurrency: "USD",
  statementId,
  entry: {
    amount: d(amount),
    bankReference: "B1",
    bookingDate: Date.of("2026-07-31"),
    currency: "USD",
    direction: "credit" as const,
    ...entry
  },
  takenAmount: d(taken)
})

const sumsOf = (lines: ReadonlyArray<UnmatchedSums.OpenLine>) => {
  const sums: UnmatchedSums.Sums = new Map()
  UnmatchedSums.addTo(sums, lines)
  return [...sums.values()].map((sum) => ({ ...sum, instrumentId: "f" }))
}

/** Findings of lines, as `severity kind:id expected actual unit statement`. */
const found = (lines: ReadonlyArray<Line>, tolerance = "0") =>
  sumsOf(lines.map(openLine))
    .flatMap((fact) => cashUnmatched.differences(fact, d(tolerance)))
    .map(({ severity, subject, expected, actual, unit, statementId }) =>
      [
        severity,
        `${subject.resourceKind}:${subject.id}`,
        ...[plain(expected), plain(actual), unit, statementId]
      ].join(" ")
    )

describe("a bank line", () => {
  const debit = { direction: "debit" } as const
  const unnamed = { bankReference: null }
  it.each<readonly [string, ReadonlyArray<Line>, ReadonlyArray<string>]>([
    [
      "that nobody took is a warning",
      [["100", "0"]],
      ["warning external-account:acc:B1 0 100 USD st-1"]
    ],
    ["is one for its rest", [["100", "60"]], ["warning external-account:acc:B1 60 100 USD st-1"]],
    [
      "that went out is below zero",
      [["100", "60", debit]],
      ["warning external-account:acc:B1 -60 -100 USD st-1"]
    ],
    [
      "is added to the others of its reference, of whichever statement, which the newest names",
      [
        ["100", "0"],
        ["50", "20", { statementId: "st-2" }]
      ],
      ["warning external-account:acc:B1 20 150 USD st-2"]
    ],
    [
      "and its return under one reference come to nothing",
      [
        ["100", "0"],
        ["100", "0", debit]
      ],
      []
    ],
    [
      "of another reference is another finding",
      [
        ["100", "0"],
        ["50", "0", { bankReference: "B2" }]
      ],
      [
        "warning external-account:acc:B1 0 100 USD st-1",
        "warning external-account:acc:B2 0 50 USD st-1"
      ]
    ],
    [
      "without a reference is one with those of its booking date",
      [
        ["100", "0", unnamed],
        ["50", "0", unnamed],
        ["7", "0", { ...unnamed, bookingDate: Date.of("2026-08-03") }]
      ],
      [
        "warning external-account:acc::2026-07-31 0 150 USD st-1",
        "warning external-account:acc::2026-08-03 0 7 USD st-1"
      ]
    ],
    [
      "in another currency than its account is never added to the account's own",
      [
        ["100", "0"],
        ["50", "0", { currency: "EUR" }]
      ],
      [
        "warning external-account:acc:B1 0 100 USD st-1",
        "warning external-account:acc/EUR:B1 0 50 EUR st-1"
      ]
    ]
  ])("%s", (_, lines, expected) => {
    expect(found(lines)).toEqual(expected)
  })

  it("is none where its rest is within the tolerance, the edge included", () => {
    expect(found([["100", "99.99"]], "0.01")).toEqual([])
    expect(found([["100", "99.98"]], "0.01")).toHaveLength(1)
  })

  it("is found the same in whatever order lines come", () => {
    const line = fc.tuple(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 0, max: 50 }),
      fc.constantFrom("B1", "B2", null),
      fc.constantFrom("credit" as const, "debit" as const),
      fc.constantFrom("USD", "EUR")
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const entries = lines.map(
          ([amount, taken, bankReference, direction, currency]): Line => [
            String(amount),
            String(Math.min(taken, amount)),
            { bankReference, direction, currency }
          ]
        )
        expect(found(entries.toReversed()).toSorted()).toEqual(found(entries).toSorted())
        // Each subject is one finding: no identity is found twice.
        const subjects = sumsOf(entries.map(openLine)).map(({ subjectId }) => subjectId)
        expect(new Set(subjects).size).toBe(subjects.length)
      })
    )
  })
})

describe("the index of the lines of a statement", () => {
  const total = Part.partLines + 20
  const mark = fc.record({
    line: fc.integer({ min: 1, max: total }),
    match: fc.constantFrom("unmatched" as const, "partial" as const, "matched" as const)
  })

  it("answers the last mark of each line, and spans that miss no line with something left", () => {
    fc.assert(
      fc.property(fc.array(mark, { maxLength: 60 }), fc.nat({ max: total }), (marks, matched) => {
        // Most lines are taken whole, so that spans have ends.
        const all = [
          ...Array.from({ length: matched }, (_, n) => ({
            line: n + 1,
            match: "matched" as const
          })),
          ...marks
        ]
        const books = new Map(all.map(({ line, match }) => [line, match]))
        for (let part = 0; part < Part.partsOf(total); part += 1) {
          const own = all.filter((line) => Part.partOf(line) === part)
          const self = own.reduce(
            (before, line) => Part.marked(before, [line]),
            Part.untaken({ statementId: "st-1", part })
          )
          const lines = Array.from({ length: Part.partLines }, (_, n) => n + 1).flatMap((n) => {
            const line = part * Part.partLines + n
            return line > total ? [] : [line]
          })
          expect(lines.map((line) => Part.matchIn(self, line))).toEqual(
            lines.map((line) => books.get(line) ?? "unmatched")
          )
          const open = lines.filter((line) => books.get(line) !== "matched")
          expect(Part.openSpanOf(self, { lineCount: total })).toEqual(
            open.length === 0 ? null : { from: open.at(0), through: open.at(-1) }
          )
        }
      })
    )
  })
})

describe("the cash that is kept apart", () => {
  const moment = (instant: string) => ({ offset: 7 as never, instant: Instant.of(instant) })
  const stated = (changes: Partial<AccountStatement> = {}): AccountStatement => ({
    externalAccountId: "acc-1",
    statementId: "st-1",
    businessDate: "2026-07-31",
    currency: "USD",
    closing: d("100"),
    comparedAt: moment("2026-07-31T18:00:00Z"),
    ...changes
  })

  it.each([
    ["100", "0", []],
    ["100.01", "0", ["warning external-account:acc-1 100.01 100 USD"]],
    ["0", "0", ["warning external-account:acc-1 0 100 USD"]],
    ["100.01", "0.01", []]
  ])("is found where %s is suspended, tolerance %s: %j", (suspended, tolerance, expected) => {
    const { comparedAt, ...account } = stated()
    const fact = { ...account, instrumentId: "f", closing: d("100"), suspended: d(suspended) }
    const differences = suspendedLines.differences({ ...fact, comparedAt }, d(tolerance))
    expect(
      differences.map(
        ({ severity, subject, expected: due, actual, unit }) =>
          `${severity} ${subject.resourceKind}:${subject.id} ${plain(due)} ${plain(actual)} ${unit}`
      )
    ).toEqual(expected)
    expect(differences.every((difference) => difference.comparedAt === comparedAt)).toBe(true)
  })

  const laterMoment = moment("2026-07-31T20:00:00Z")
  it.each<readonly [string, ReadonlyArray<Partial<AccountStatement>>, object]>([
    ["of one account is its balance", [{}], { externalAccountId: "acc-1", closing: d("100") }],
    [
      "of two is the sum of one date, at the later moment, under the first account",
      [
        { externalAccountId: "acc-2", statementId: "st-2", comparedAt: laterMoment },
        { closing: d("-1") }
      ],
      { externalAccountId: "acc-1", closing: d("99"), comparedAt: laterMoment, statementId: "st-2" }
    ]
  ])("%s", (_, statements, expected) => {
    const [first, ...others] = statements.map(stated)
    expect(together([first!, ...others])).toMatchObject({ success: expected })
  })

  it.each<readonly [string, ReadonlyArray<Partial<AccountStatement>>]>([
    ["closing-missing", [{ closing: null }]],
    ["closing-missing", [{}, { externalAccountId: "acc-2", closing: null }]],
    ["dates-differ", [{}, { externalAccountId: "acc-2", businessDate: "2026-07-30" }]]
  ])("is never compared where its balances are not those of one date: %s", (why, statements) => {
    const [first, ...others] = statements.map(stated)
    expect(together([first!, ...others])).toMatchObject({ failure: why })
  })
})
