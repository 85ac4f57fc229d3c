/**
 * Distributions and their lines: the moves of each fact, the parties that each waits for, and the
 * events.
 */
import { describe, expect, it } from "vitest"
import { operations } from "#core/catalogue.ts"
import {
  type Distribution,
  distributions,
  evolve,
  type Fact
} from "#core/distributions/distribution/Distribution.ts"
import * as Line from "#core/distributions/distribution/DistributionLine.ts"
import {
  type DistributionLine,
  distributionLines,
  causes,
  firstOf,
  shownOf
} from "#core/distributions/distribution/DistributionLine.ts"
import * as Date from "#core/kernel/Date.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import * as Instant from "#core/kernel/Instant.ts"
import * as Invariant from "#core/kernel/Invariant.ts"
import * as Offset from "#core/kernel/Offset.ts"
import * as PlainJson from "#core/kernel/PlainJson.ts"
import fc from "fast-check"
import * as Given from "./distributions.ts"

const at = (minute: number) => Instant.of(`2026-08-03T10:${String(minute).padStart(2, "0")}:00Z`)
const suspended = Decimal.of("46.17")
const seal: Fact = { on: "seal", at: at(1), totals: { ...Given.distribution().totals, suspended } }
const clear: Fact = { on: "clear", at: at(2), runId: "run_1" }
const hold: Fact = { on: "hold", at: at(3), holdId: "hold_1" }
const pay: Fact = { on: "pay", at: at(4), rolled: 1 }

const after = (...facts: ReadonlyArray<Fact>): Distribution =>
  facts.reduce(evolve, Given.distribution())
const announced = (self: Distribution, fact?: Fact) =>
  distributions
    .announce(self, fact)
    .map(({ type, payload }) => [type, PlainJson.stringify(payload)])

describe("a distribution", () => {
  it.each<readonly [string, ReadonlyArray<Fact>, Distribution["state"], ReadonlyArray<string>]>([
    ["executed, until it is sealed", [], "executed", ["operator distribution.execute"]],
    ["executed, until a run clears it", [seal], "executed", ["operator distribution.clear"]],
    ["held", [seal, hold], "held", ["operator hold.release", "risk hold.release"]],
    ["held before it is sealed", [hold], "held", ["operator distribution.execute"]],
    [
      "payable",
      [seal, hold, clear],
      "payable",
      [`${Given.registrar} DistributionLine.Deliver`, "operator distribution.roll"]
    ],
    ["paid", [seal, clear, pay], "paid", []]
  ])("is %s", (_, facts, state, waits) => {
    const self = after(...facts)
    expect(self.state).toBe(state)
    expect(Invariant.breaches(distributions.invariants, self)).toEqual([])
    expect(
      distributions.waitingOn(self).map(({ party, role, action }) => `${party ?? role} ${action}`)
    ).toEqual(waits)
  })

  it("names its hold while it is held and no longer, and the run that cleared it", () => {
    expect(after(seal, hold).holdId).toBe("hold_1")
    expect(after(seal, hold, clear)).toMatchObject({ holdId: null, clearedByRun: "run_1" })
    expect(after(seal).totals.suspended).toBe(suspended)
  })

  it("announces each move of its state once, and a rate change or lines left out as it opens", () => {
    expect(announced(after(seal), seal)).toEqual([])
    expect(announced(after(seal, clear), clear)).toEqual([
      ["distribution.payable", '{"state":"payable","month":"2026-07","runId":"run_1"}']
    ])
    expect(announced(after(seal, hold), hold)).toEqual([
      ["distribution.held", '{"state":"held","month":"2026-07","holdId":"hold_1"}']
    ])
    expect(announced(after(seal, clear, pay), pay)).toEqual([
      ["distribution.paid", '{"state":"paid","month":"2026-07","rolled":1}']
    ])
    expect(announced(after())).toEqual([])
    const ratesSeen = [Decimal.of("0.15"), Decimal.of("0.2")]
    const withholding = Decimal.of("0.2")
    const changed = Given.distribution({ ratesSeen, withholding, unrolled: 3 })
    expect(announced(changed).map(([type]) => type)).toEqual([
      "distribution.rate-changed",
      "distribution.carried"
    ])
    expect(announced({ ...changed, acknowledgedRate: withholding, unrolled: 0 })).toEqual([])
  })

  it("is open to runs and holds until it is paid", () => {
    expect(distributions.filters["open"]?.(after(seal, hold))).toBe("fund-a")
    expect(distributions.filters["open"]?.(after(seal, clear, pay))).toBeNull()
  })
})

const suspend = (...causes: DistributionLine["causes"]): Line.Fact => ({
  on: "suspend",
  at: at(1),
  causes
})
const cure: Line.Fact = { on: "cure", at: at(2) }
const deliver: Line.Fact = {
  on: "deliver",
  at: at(3),
  uid: "u3",
  cid: "00cc",
  evidence: { reference: "wire 1", paidOn: Date.of("2026-08-03") },
  paidOn: Date.of("2026-08-03"),
  delivery: { offset: Offset.of(9), ledgerTime: at(3) }
}
const roll: Line.Fact = { on: "roll", at: at(4), uid: "u4" }
const voids: Line.Fact = { on: "void", at: at(4), uid: "u4", orderRef: "0".repeat(64) }
const follow: Line.Fact = {
  on: "follow",
  at: at(2),
  holderId: "h2",
  party: Given.successor,
  custodian: null,
  predecessor: "h1"
}

const lineAfter = (...facts: ReadonlyArray<Line.Fact>): DistributionLine =>
  facts.reduce(Line.evolve, Given.line())

describe("a line", () => {
  it.each<readonly [string, ReadonlyArray<Line.Fact>, Partial<DistributionLine>]>([
    ["due", [], { state: "due", reason: null }],
    [
      "suspended for the first of its causes",
      [suspend("screening", "admission")],
      { state: "suspended", reason: "admission" }
    ],
    ["due again once cured", [suspend("restriction"), cure], { state: "due", reason: null }],
    ["delivered", [deliver], { state: "delivered", deliveredUid: "u3", lineCid: "00cc" }],
    [
      "delivered although it was to wait",
      [suspend("restriction"), deliver],
      { state: "delivered", reason: null, directed: null }
    ],
    ["rolled", [deliver, roll], { state: "rolled", rolledUid: "u4", lineCid: null }],
    ["void", [suspend("court-order"), voids], { state: "void", reason: null, lineCid: null }],
    ["its successor's", [follow], { holderId: "h2", predecessor: "h1", party: Given.successor }]
  ])("is %s", (_, facts, expected) => {
    const self = lineAfter(...facts)
    expect(self).toMatchObject(expected)
    expect(Invariant.breaches(distributionLines.invariants, self)).toEqual([])
  })

  it("waits on the registrar, on whoever cures its first cause, and on its roll", () => {
    const waits = (...facts: ReadonlyArray<Line.Fact>) =>
      distributionLines.waitingOn(lineAfter(...facts)).map(({ action }) => action)
    expect(waits()).toEqual(["DistributionLine.Deliver"])
    expect(waits(deliver)).toEqual(["distribution.roll"])
    expect(waits(deliver, roll)).toEqual([])
    expect(waits(suspend("court-order"), voids)).toEqual([])
    for (const cause of causes) expect(waits(suspend(cause)).length).toBeGreaterThan(0)
  })

  it.each([...causes])(
    "waits for %s on roles that may cure it, by acts of its subject",
    (cause) => {
      const cures = distributionLines.waitingOn(lineAfter(suspend(cause)))
      // A hit is decided upon by the screening source, outside of the engine.
      const isWrite = cause !== "screening"
      const mayMake = cures.map(({ action, role }) => [
        action,
        operations.find(({ kind }) => kind === action)?.makers.some((maker) => maker === role)
      ])
      expect(mayMake).toEqual(cures.map(({ action }) => [action, isWrite ? true : undefined]))
      const subject = {
        ...{ restriction: "restriction", "court-order": "restriction", registration: "holder" },
        ...{ admission: "admission", attribute: "holder", screening: "screening" },
        "no-holder": "holder"
      }[cause]
      expect(cures.map(({ action }) => action.split(".")[0])).toEqual(cures.map(() => subject))
    }
  )

  it("expects its registrar to deliver only what does not wait", () => {
    const isExpected = Object.values(distributionLines.expectations)[0]!
    expect(isExpected(lineAfter(), deliver)).toBe(true)
    expect(isExpected(lineAfter(suspend("screening")), deliver)).toBe(false)
  })

  it("has the first of its causes as its reason, in whatever order they came", () => {
    const some = fc.shuffledSubarray([...causes], { minLength: 1 })
    fc.assert(
      fc.property(some, (given) => {
        const first = causes.findIndex((cause) => given.includes(cause))
        expect(firstOf(given)).toBe(causes[first])
      })
    )
  })

  it("never shows an investor a restriction, an order or a screening, nor that they came or went", () => {
    const hidden = fc.subarray(["restriction", "court-order", "screening"] as const)
    const open = fc.subarray(["registration", "admission", "attribute"] as const)
    const causesOf = (given: DistributionLine["causes"]) => (self: DistributionLine) => {
      if (given.length === 0) return self.state === "suspended" ? Line.evolve(self, cure) : self
      return Line.evolve(self, {
        on: self.state === "suspended" ? "recause" : "suspend",
        at: at(5),
        causes: given
      })
    }
    const view = (self: DistributionLine) => ({ ...shownOf(self), visible: self.visible })
    const histories = fc.array(fc.record({ hidden, open }), { maxLength: 8 })
    fc.assert(
      fc.property(histories, (history) => {
        let [full, bare] = [Given.line(), Given.line()]
        for (const { hidden, open } of history) {
          full = causesOf([...hidden, ...open])(full)
          bare = causesOf(open)(bare)
          expect(view(full).state).toBe(view(bare).state)
          expect(view(full).reason).toBe(view(bare).reason)
        }
        const [shown, counted] = [
          full.visible.version,
          distinctViews(history.map(({ open }) => open))
        ]
        expect(shown).toBe(counted)
      })
    )
  })
})

/** Number of times that what is shown changes, the opening counted. */
const distinctViews = (history: ReadonlyArray<DistributionLine["causes"]>): number => {
  const reasons = [null, ...history.map(firstOf)]
  return reasons.filter((reason, index) => index === 0 || reason !== reasons[index - 1]).length
}
