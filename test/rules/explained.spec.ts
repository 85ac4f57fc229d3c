/** The rule by which items in flight explain a difference: its laws, and its golden vectors. */
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { explain, type ExplainedItem } from "#core/findings/Explained.ts"
import { compare } from "#core/findings/FindingRules.ts"

const d = Decimal.of
const zero = Decimal.zero

const item = (id: string, amount: Decimal.Decimal, day = 0): ExplainedItem => ({
  resourceKind: "subscription",
  id,
  amount,
  since: Instant.fromEpochMillis(day * 86_400_000)
})

/** Items in order of age: the first is the oldest. */
const items = (...amounts: ReadonlyArray<string>): ReadonlyArray<ExplainedItem> =>
  amounts.map((amount, nth) => item(`sub-${nth}`, d(amount), nth))

const amounts = fc.integer({ min: -60, max: 60 }).map((integer) => Decimal.fromInteger(integer))
const anyItems = fc
  .array(fc.tuple(amounts, fc.integer({ min: 0, max: 3 })), { maxLength: 7 })
  .map((pairs) => pairs.map(([amount, day], nth) => item(`sub-${nth}`, amount, day)))
const anyCase = fc.record({
  difference: fc.integer({ min: -120, max: 120 }).map((integer) => Decimal.fromInteger(integer)),
  must: anyItems,
  may: anyItems.map((list) =>
    list.map((explainedItem) => ({ ...explainedItem, id: `may-${explainedItem.id}` }))
  ),
  tolerance: fc.integer({ min: 0, max: 5 }).map((integer) => Decimal.fromInteger(integer))
})
const sumOf = (list: ReadonlyArray<{ readonly amount: Decimal.Decimal }>) =>
  Decimal.sum(list.map(({ amount }) => amount))

describe("what explains a difference", () => {
  it("adds up: the rest is the difference less items that are taken whole, each at most once", () => {
    fc.assert(
      fc.property(anyCase, ({ difference, must, may, tolerance }) => {
        const { explained, unexplained } = explain(difference, { must, may, tolerance })
        expect(explained.amount).toBe(sumOf(explained.by))
        expect(unexplained).toBe(Decimal.subtract(difference, explained.amount))
        const amountOf = new Map([...must, ...may].map(({ id, amount }) => [id, amount]))
        for (const { id, amount } of explained.by) expect(amount).toBe(amountOf.get(id))
        const ids = explained.by.map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        for (const { id } of must) expect(ids).toContain(id)
      }),
      { numRuns: 500 }
    )
  })

  it("is the same in whatever order the items are found", () => {
    fc.assert(
      fc.property(
        anyCase.chain((items) =>
          fc.tuple(
            fc.constant(items),
            fc.shuffledSubarray([...items.must], { minLength: items.must.length }),
            fc.shuffledSubarray([...items.may], { minLength: items.may.length })
          )
        ),
        ([items, must, may]) => {
          expect(explain(items.difference, { ...items, must, may })).toEqual(
            explain(items.difference, items)
          )
        }
      ),
      { numRuns: 500 }
    )
  })

  it("never passes zero, and never leaves more than was left, where no choice fits wholly", () => {
    fc.assert(
      fc.property(anyCase, ({ difference, must, may, tolerance }) => {
        const rest = Decimal.subtract(difference, sumOf(must))
        const { unexplained } = explain(difference, { must, may, tolerance })
        if (Decimal.atMost(Decimal.abs(unexplained), tolerance)) return
        expect(Decimal.atMost(Decimal.abs(unexplained), Decimal.abs(rest))).toBe(true)
        expect(Decimal.isNegative(unexplained)).toBe(Decimal.isNegative(rest))
      }),
      { numRuns: 500 }
    )
  })

  it("takes nothing in flight of a rest within the tolerance, and the oldest alone that fits", () => {
    fc.assert(
      fc.property(anyCase, ({ difference, must, may, tolerance }) => {
        const rest = Decimal.subtract(difference, sumOf(must))
        const fits = (amount: Decimal.Decimal) =>
          Decimal.atMost(Decimal.abs(Decimal.subtract(rest, amount)), tolerance)
        const taken = explain(difference, { must, may, tolerance }).explained.by.slice(must.length)
        if (fits(zero)) {
          expect(taken).toEqual([])
          return
        }
        const alone = may.filter(({ amount }) => fits(amount))
        if (alone.length === 0) {
          if (fits(sumOf(may))) expect(taken.length).toBe(may.length)
          return
        }
        const oldest = Math.min(...alone.map(({ since }) => Number(since)))
        expect(taken.length).toBe(1)
        expect(alone.some(({ id, since }) => id === taken[0]?.id && Number(since) === oldest)).toBe(
          true
        )
      }),
      { numRuns: 500 }
    )
  })

  // G67, G68: docs/domain/reconciliation.md#explained
  it.each([
    ["100", ["60", "50"], [], "110", "-10", "blocking"],
    ["110", ["60", "50"], [], "110", "0", "info"],
    ["5", [], ["110"], "0", "5", "blocking"],
    ["100", [], ["60", "50"], "60", "40", "blocking"],
    ["50", [], ["60", "50"], "50", "0", "info"],
    ["110", [], ["60", "50"], "110", "0", "info"],
    ["-50", [], ["60", "-50"], "-50", "0", "info"],
    ["0", ["60"], [], "60", "-60", "blocking"],
    ["0", ["60"], ["-60"], "0", "0", null],
    ["0.01", [], ["0.01"], "0", "0.01", null]
  ] as const)(
    "of %s by must %j and may %j is %s, %s is left: %s",
    (difference, must, may, explained, unexplained, severity) => {
      const sides = { must: items(...must), may: items(...may), tolerance: d("0.01") }
      const split = explain(d(difference), sides)
      expect(Decimal.formatPlain(split.explained.amount)).toBe(explained)
      expect(Decimal.formatPlain(split.unexplained)).toBe(unexplained)
      const found = compare({
        instrumentId: "fund",
        subject: { resourceKind: "holder", id: "hol-1" },
        holderId: "hol-1",
        severity: "blocking",
        unit: "units",
        tolerance: d("0.01"),
        expected: d("1000"),
        actual: Decimal.add(d("1000"), d(difference)),
        items: sides,
        comparedAt: { offset: Offset.of(3), instant: Instant.of("2026-03-02T18:00:00Z") },
        statementId: "st-1"
      })
      expect(found.map(({ severity }) => severity)).toEqual(severity === null ? [] : [severity])
      for (const difference of found) {
        expect(difference).toMatchObject({
          ...split,
          comparedAt: { offset: 3 },
          statementId: "st-1"
        })
        expect(difference).not.toHaveProperty("items")
      }
    }
  )

  it("takes the smaller id of two items of one age", () => {
    const may = [item("sub-b", d("5")), item("sub-a", d("5"))]
    const { explained } = explain(d("5"), { must: [], may, tolerance: zero })
    expect(explained.by).toEqual([{ resourceKind: "subscription", id: "sub-a", amount: d("5") }])
  })
})
