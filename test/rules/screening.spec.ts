/** States of a holder's screening: by its request, by each answer in each state, and by its age. */
import { Duration, Instant } from "@bursar/engine-core/kernel"
import type { ScreeningSource } from "@bursar/engine-core/ports"
import { describe, expect, it } from "vitest"
import type { Screening } from "#core/holders/holder/HolderDetails.ts"
import * as ScreeningRules from "#core/holders/screening/ScreeningRules.ts"

const at = (day: number) => Instant.of(`2026-07-${String(day).padStart(2, "0")}T00:00:00Z`)
const screening = (state: Screening["state"]): Screening => ({
  state,
  screenedAt: at(1),
  listVersion: "1",
  validUntil: at(20)
})
const found = (
  finding: Partial<ScreeningSource.ScreeningFinding> &
    Pick<ScreeningSource.ScreeningFinding, "found">
): ScreeningSource.ScreeningFinding => ({
  screenedAt: at(5),
  listVersion: "2",
  validUntil: null,
  reason: null,
  ...finding
})

describe("every state and every answer", () => {
  it.each([
    ["unscreened", null, null, null, "pending", null],
    ["pending", "clear", "review", "match", null, null],
    ["clear", null, null, null, null, "stale"],
    ["review", "clear", null, "match", null, null],
    ["match", null, null, null, "pending", null],
    ["stale", null, null, null, "pending", null]
  ] as const)("%s is moved otherwise", (state, none, possible, confirmed, afterRequest, aged) => {
    const self = screening(state)
    const answered = (["none", "possible", "confirmed"] as const).map(
      (one) => ScreeningRules.answered(self, found({ found: one }), [])?.state ?? null
    )
    expect(answered).toEqual([none, possible, confirmed])
    expect(ScreeningRules.afterRequest(self)?.state ?? null).toBe(afterRequest)
    expect(ScreeningRules.aged(self)?.state ?? null).toBe(aged)
  })

  it("a holder that was never screened is screened, and begins without an answer", () => {
    expect(ScreeningRules.afterRequest(null)).toEqual({
      state: "pending",
      screenedAt: null,
      listVersion: null,
      validUntil: null
    })
  })
})

describe("how long an answer counts", () => {
  const until = (
    changes: Partial<ScreeningSource.ScreeningFinding>,
    ...rescreenAfter: ReadonlyArray<string>
  ) =>
    ScreeningRules.answered(
      screening("pending"),
      found({ found: "none", ...changes }),
      rescreenAfter.map(Duration.of)
    )?.validUntil
  it("never is longer than the source or the venue says", () => {
    expect(until({})).toBeNull()
    expect(until({ validUntil: at(9) })).toBe(at(9))
    expect(until({}, "P2D")).toBe(at(7))
    expect(until({ validUntil: at(9) }, "P2D")).toBe(at(7))
    expect(until({ validUntil: at(6) }, "P2D")).toBe(at(6))
    expect(until({}, "P3D", "P1D", "P2D")).toBe(at(6))
    expect(until({ found: "possible", validUntil: at(9) }, "P2D")).toBeNull()
  })

  it("never is asked about again later than the shortest age has it, or though no age is set", () => {
    expect(ScreeningRules.tooOldBefore(at(9), [])).toBeUndefined()
    const ages = ["P3D", "P2D", "P30D"].map(Duration.of)
    expect(ScreeningRules.tooOldBefore(at(9), ages)).toBe(at(7))
  })
})
