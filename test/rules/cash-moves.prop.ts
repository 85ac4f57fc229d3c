/**
 * Cash of a corrected statement: the lines to which the cash that orders took moves; properties,
 * then a table of cases.
 */
import { Date, Decimal } from "@bursar/engine-core/kernel"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Entry, moved, type EntryTaking } from "#core/orders/order/CashMoveRules.ts"

const [first, second] = [Date.of("2026-07-30"), Date.of("2026-07-31")]

const entryOf = (
  line: number,
  members: Partial<Omit<Entry, "amount" | "line">> & { amount: string }
) => ({
  line,
  direction: "credit" as const,
  currency: "USD",
  bookingDate: first,
  bankReference: null,
  reference: null,
  ...members,
  amount: Decimal.of(members.amount)
})

const entries = fc
  .array(
    fc.record({
      amount: fc.integer({ min: 1, max: 5 }).map(String),
      bankReference: fc.constantFrom(null, "A", "B"),
      reference: fc.constantFrom(null, "r"),
      bookingDate: fc.constantFrom(first, second),
      direction: fc.constantFrom("credit" as const, "debit" as const)
    }),
    { maxLength: 8 }
  )
  .map((found) => found.map((members, index) => entryOf(index + 1, members)))

/** A statement, its correction, and what orders took of the statement's lines. */
const corrected = entries.chain((before) =>
  fc.record({
    before: fc.constant<ReadonlyArray<Entry>>(before),
    after: entries,
    takenEntries: fc
      .tuple(
        ...before.map(({ amount }) => fc.integer({ min: 0, max: Number(amount / 10n ** 10n) }))
      )
      .map((parts) =>
        before.flatMap((entry, index): ReadonlyArray<EntryTaking> => {
          const part = parts[index] ?? 0
          return part === 0 ? [] : [{ entry, amount: Decimal.of(String(part)) }]
        })
      ),
    missing: entries.map((lost) => lost.map((entry) => ({ entry, amount: entry.amount })))
  })
)

const sum = (amounts: ReadonlyArray<{ readonly amount: Decimal.Decimal }>) =>
  Decimal.sum(amounts.map(({ amount }) => amount))

const law = (name: string, holds: (options: Parameters<typeof moved>[0]) => void) =>
  it(name, () => fc.assert(fc.property(corrected, holds), { seed: 15, numRuns: 500 }))

describe("cash that a correction moves", () => {
  law("is never more or less than was taken: what has no line is lost", (correction) => {
    const found = moved(correction)
    for (const side of ["takenEntries", "missing"] as const) {
      for (const [index, { places, lostAmount }] of found[side].entries()) {
        expect(Decimal.add(sum(places), lostAmount)).toBe(correction[side][index]?.amount)
        expect(Decimal.isNegative(lostAmount)).toBe(false)
      }
    }
  })

  law("never takes more of a line than the line has", (correction) => {
    const { takenEntries, missing } = moved(correction)
    const places = [...takenEntries, ...missing].flatMap((each) => each.places)
    for (const { line, amount } of correction.after) {
      const all = sum(places.filter((place) => place.line === line))
      expect(Decimal.atMost(all, amount)).toBe(true)
    }
  })

  law(
    "goes to lines of its own direction, booking date and reference of the bank",
    (correction) => {
      const found = moved(correction)
      for (const side of ["takenEntries", "missing"] as const) {
        for (const [index, { places }] of found[side].entries()) {
          const from = correction[side][index]?.entry
          for (const { line } of places) {
            const to = correction.after.find((entry) => entry.line === line)
            const { direction, bookingDate, bankReference } = to ?? {}
            expect({ direction, bookingDate, bankReference }).toEqual({
              direction: from?.direction,
              bookingDate: from?.bookingDate,
              bankReference: from?.bankReference
            })
            if (bankReference === null) {
              expect([to?.amount, to?.reference]).toEqual([from?.amount, from?.reference])
            }
          }
        }
      }
    }
  )

  law("stays whole, line by line, where the correction has the same lines", (correction) => {
    const { takenEntries } = moved({ ...correction, after: correction.before, missing: [] })
    expect(takenEntries.map(({ places }) => places)).toEqual(
      correction.takenEntries.map(({ entry, amount }) => [{ line: entry.line, amount }])
    )
  })

  it.each([
    ["of one batch of the bank, each with another payer's reference", "B-1"],
    ["that are all the same", null]
  ])("looks at each line of the correction a few times, for many lines %s", (_, bankReference) => {
    const count = 1_000
    let looks = 0
    const linesOf = (reference: string) =>
      Array.from({ length: count }, (__, n) => {
        const entry = entryOf(n + 1, {
          amount: "1",
          bankReference,
          reference: bankReference === null ? "r" : `${reference}-${n}`
        })
        return Object.defineProperty(entry, "line", {
          get: () => {
            looks++
            return n + 1
          }
        })
      })
    const before = linesOf("before")
    const takenEntries = before.map((entry) => ({ entry, amount: entry.amount }))
    const found = moved({ before, after: linesOf("after"), takenEntries, missing: takenEntries })
    expect(found.takenEntries.map(({ places }) => places.map(({ line }) => line))).toEqual(
      Array.from({ length: count }, (__, n) => [n + 1])
    )
    expect(sum(found.missing.map(({ lostAmount }) => ({ amount: lostAmount })))).toBe(
      Decimal.of(String(count))
    )
    expect(looks).toBeLessThan(20 * count)
  })

  const d = Decimal.of
  const bank = { bankReference: "A" }
  it.each<
    readonly [
      string,
      before: ReadonlyArray<Entry>,
      after: ReadonlyArray<Entry>,
      taken: ReadonlyArray<readonly [number, string]>,
      places: ReadonlyArray<ReadonlyArray<readonly [number, string]>>,
      lost: ReadonlyArray<string>
    ]
  >([
    [
      "follows the bank's reference to another line and another amount",
      [entryOf(1, { amount: "100", ...bank })],
      [entryOf(1, { amount: "7" }), entryOf(2, { amount: "120", ...bank })],
      [[1, "100"]],
      [[[2, "100"]]],
      ["0"]
    ],
    [
      "fills a smaller line and loses the rest",
      [entryOf(1, { amount: "100", ...bank })],
      [entryOf(1, { amount: "60", ...bank })],
      [[1, "100"]],
      [[[1, "60"]]],
      ["40"]
    ],
    [
      "fills two lines that the bank split one into, in file order",
      [entryOf(1, { amount: "100", ...bank })],
      [entryOf(1, { amount: "60", ...bank }), entryOf(2, { amount: "40", ...bank })],
      [[1, "70"]],
      [
        [
          [1, "60"],
          [2, "10"]
        ]
      ],
      ["0"]
    ],
    [
      "leaves the line of another payment of the batch alone",
      [entryOf(1, { amount: "100", ...bank }), entryOf(2, { amount: "50", ...bank })],
      [entryOf(1, { amount: "80", ...bank }), entryOf(2, { amount: "50", ...bank })],
      [[1, "100"]],
      [[[1, "80"]]],
      ["20"]
    ],
    [
      "pairs lines without a reference of the bank in file order",
      [entryOf(1, { amount: "5", reference: "r" }), entryOf(2, { amount: "5", reference: "r" })],
      [entryOf(3, { amount: "5", reference: "r" }), entryOf(4, { amount: "5", reference: "r" })],
      [[2, "5"]],
      [[[4, "5"]]],
      ["0"]
    ],
    [
      "is lost where a line without a reference of the bank has another amount",
      [entryOf(1, { amount: "5", reference: "r" })],
      [entryOf(1, { amount: "6", reference: "r" })],
      [[1, "5"]],
      [[]],
      ["5"]
    ],
    [
      "is lost where the booking date is another",
      [entryOf(1, { amount: "5", ...bank })],
      [entryOf(1, { amount: "5", ...bank, bookingDate: second })],
      [[1, "5"]],
      [[]],
      ["5"]
    ]
  ])("%s", (_, before, after, taken, places, lost) => {
    const takings = taken.flatMap(([line, amount]) =>
      before.flatMap((entry) => (entry.line === line ? [{ entry, amount: d(amount) }] : []))
    )
    const found = moved({ before, after, takenEntries: takings, missing: [] }).takenEntries
    expect(
      found.map((each) =>
        each.places.map(({ line, amount }) => [line, Decimal.formatPlain(amount)])
      )
    ).toEqual(places)
    expect(found.map((each) => Decimal.formatPlain(each.lostAmount))).toEqual(lost)
  })

  it("is found again where a later correction has the line that an earlier one lacked", () => {
    const lost = { entry: entryOf(9, { amount: "100", reference: "r" }), amount: d("70") }
    const after = [entryOf(1, { amount: "100", reference: "r" })]
    expect(moved({ before: [], after, takenEntries: [], missing: [lost] }).missing).toEqual([
      { places: [{ line: 1, amount: d("70") }], lostAmount: d("0") }
    ])
  })
})
