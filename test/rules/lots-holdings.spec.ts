/** The check lots-holdings: which positions it reports, and the finding that a run makes of one. */
import { createHash } from "node:crypto"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { type LotPosition, lotsHoldings } from "#core/reconciliation/checks/LotChecks.ts"
import { FindingId, findings, first, blocks } from "#core/findings/Finding.ts"
import { type Difference, idTextOf } from "#core/findings/FindingRules.ts"
import * as PolicyTerms from "#core/instruments/policy/PolicyTerms.ts"

const d = Decimal.of
const position = (units: string, ...lots: ReadonlyArray<string>): LotPosition => ({
  instrumentId: "fund",
  party: "alice::1220ab",
  holderId: "hol-1",
  units: d(units),
  remaining: Decimal.sum(lots.map(d))
})
const found = (positions: ReadonlyArray<LotPosition>, tolerance = "0") =>
  positions.flatMap((each) => lotsHoldings.differences(each, d(tolerance)))

const findingOf = ({ check, instrumentId, subject, holderId, ...seen }: Difference) => {
  const same = { check, instrumentId, subject }
  const id = idTextOf(same, (text) => createHash("sha256").update(text).digest("hex"))
  const instant = Instant.of("2026-07-31T12:00:00Z")
  return first(
    { ...same, findingId: Schema.decodeSync(FindingId)(id), holderId },
    { ...seen, runId: "run-1", asOf: { offset: Offset.of(7), instant } }
  )
}

describe("lots-holdings", () => {
  it.each<[string, LotPosition, string, ReadonlyArray<string>]>([
    ["reports nothing where the lots add up", position("7.5", "5", "2.5"), "0", []],
    ["reports nothing of a party with neither", position("0"), "0", []],
    ["reports units that no lot holds", position("7.5", "5"), "0", ["2.5"]],
    ["reports the last atom", position("5", "5.0000000001"), "0", ["-0.0000000001"]],
    ["reports lots of a party that is not on the register", position("0", "5"), "0", ["-5"]],
    ["reports a party on the register without a lot", position("5"), "0", ["5"]],
    ["reports nothing at the tolerance", position("5", "5.5"), "0.5", []],
    ["reports what is an atom beyond it", position("5", "5.5"), "0.4999999999", ["-0.5"]]
  ])("%s", (_, lotPosition, tolerance, differences) => {
    expect(
      found([lotPosition], tolerance).map(({ difference }) =>
        Decimal.formatPlain(difference ?? d("0"))
      )
    ).toEqual(differences)
  })

  it("makes a blocking finding of the holder, the lots expected and the register actual", () => {
    const [difference] = found([position("7.5", "5")])
    if (difference === undefined) throw new Error("nothing was found")
    const finding = findingOf(difference)
    expect(finding).toMatchObject({
      check: lotsHoldings.name,
      instrumentId: "fund",
      subject: { resourceKind: "holder", id: "hol-1" },
      holderId: "hol-1",
      ...{ expected: d("5"), actual: d("7.5"), difference: d("2.5"), unexplained: d("2.5") },
      ...{ unit: "units", explained: { amount: d("0"), by: [] }, statementId: null }
    })
    expect(blocks(finding)).toBe(true)
    expect(PolicyTerms.checks).toContain(finding.check)
    for (const holds of Object.values(findings.invariants)) expect(holds(finding)).toBe(true)
  })

  it("never makes one finding of two parties without a holder, or sets one off against the other", () => {
    const stranger = (party: string, units: string, lot: string) => ({
      ...position(units, lot),
      ...{ party, holderId: null }
    })
    const two = found([stranger("alice::1220ab", "6", "5"), stranger("bob::1220ab", "4", "5")])
    expect(two.map(findingOf).map(({ holderId }) => holderId)).toEqual([null, null])
    expect(new Set(two.map(findingOf).map(({ findingId }) => findingId)).size).toBe(2)
  })
})
