/** Basis of a finding: whoever has the finding alone computes its figures again, and no other ones. */
import { verify } from "@bursar/engine-core"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { basisOf, type MeasuredFinding } from "#core/findings/FindingBasis.ts"
import { compare, withoutAmounts } from "#core/findings/FindingRules.ts"
import { changed } from "./changed-basis.ts"

const moment = (offset: number) => ({
  offset: Offset.of(offset),
  instant: Instant.of("2026-07-31T12:00:00Z")
})

const amount = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }).map(Decimal.fromAtoms)
const item = fc.record({
  resourceKind: fc.constantFrom("subscription" as const, "redemption" as const),
  id: fc.constantFrom("o1", "o2", "o3"),
  amount,
  since: fc.constant(moment(1).instant)
})

const subject = {
  check: "register-line",
  instrumentId: "fund-a",
  subject: { resourceKind: "holder", id: "h1" },
  holderId: "h1",
  severity: "blocking",
  unit: "units",
  tolerance: Decimal.zero
} as const

const seen = { findingId: "fnd_1" as MeasuredFinding["findingId"], asOf: moment(9) }

const measured = fc
  .record({
    expected: amount,
    actual: amount,
    items: fc.array(item, { maxLength: 4 }),
    statementId: fc.constantFrom(null, "sta-1")
  })
  .map(({ items, ...compared }) =>
    compare({ ...subject, ...compared, comparedAt: moment(5), items: { must: items, may: [] } })
  )
  .filter((found) => found.length === 1)
  .map(([found]) => ({ ...found!, ...seen }))

describe("the basis of a finding", () => {
  it("gives its difference and both parts of it again, from the basis alone", () => {
    fc.assert(
      fc.property(measured, (finding) => {
        const figures = Object.fromEntries(
          basisOf(finding).map((basis) => [
            basis.field,
            Decimal.of(Result.getOrThrow(verify(basis)))
          ])
        )
        expect(figures).toEqual({
          difference: finding.difference,
          "explained.amount": finding.explained.amount,
          unexplained: finding.unexplained
        })
      }),
      { seed: 20_261_128, numRuns: 200 }
    )
  })

  it("fails once an input, a place or a rounding is another", () => {
    fc.assert(
      fc.property(measured, (finding) => {
        for (const basis of basisOf(finding)) {
          for (const [what, other] of changed(basis)) {
            expect(Result.isFailure(verify(other)), what).toBe(true)
          }
        }
      }),
      { seed: 20_261_128, numRuns: 50 }
    )
  })

  it("names the statement for what it states, and the subject for what was expected of it", () => {
    const [found] = compare({
      ...subject,
      ...{ expected: Decimal.of("5"), actual: Decimal.of("3") },
      ...{ comparedAt: moment(5), statementId: "sta-1" }
    })
    const [difference] = basisOf({ ...found!, ...seen })
    expect(difference?.inputs).toEqual([
      { name: "actual", value: "3", resourceKind: "external-statement", id: "sta-1", offset: 5 },
      { name: "expected", value: "5", resourceKind: "holder", id: "h1", offset: 5 }
    ])
  })

  it("is empty where a finding has no amounts", () => {
    const { tolerance: _, ...named } = subject
    expect(basisOf({ ...withoutAmounts(named), ...seen })).toEqual([])
  })
})
