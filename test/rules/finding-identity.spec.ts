/** A finding over its runs: one id, the age of its first day, cleared, reopened, accepted and grown. */
import { createHash } from "node:crypto"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  evolve,
  type Finding,
  FindingId,
  findings,
  first,
  type Sighting
} from "#core/findings/Finding.ts"
import { foundAgain, idTextOf } from "#core/findings/FindingRules.ts"

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
const same = {
  check: "register-line",
  subject: { resourceKind: "holder" as const, id: "hol-1" },
  instrumentId: "inst-1"
}
const findingId = Schema.decodeSync(FindingId)(idTextOf(same, sha256))

const sightingAt = (
  instant: Instant.Instant,
  unexplained: Decimal.Decimal,
  figures: Partial<Pick<Sighting, "difference" | "unit" | "figure">> = {}
): Sighting => ({
  runId: "run-1",
  severity: "blocking",
  expected: null,
  actual: null,
  difference: unexplained,
  unit: "units",
  tolerance: Decimal.zero,
  explained: { amount: Decimal.zero, by: [] },
  unexplained,
  asOf: { offset: Offset.zero, instant },
  comparedAt: null,
  statementId: null,
  missingDates: [],
  entry: null,
  ...figures
})

const found = (before: Finding | undefined, now: Sighting): Finding =>
  before === undefined
    ? first({ ...same, findingId, holderId: "hol-1" }, now)
    : evolve(before, foundAgain(before, now))

const cleared = (before: Finding): Finding => evolve(before, { on: "clear", runId: "run-2" })

const accepted = (before: Finding): Finding =>
  evolve(before, {
    on: "accept",
    accepted: {
      unexplained: before.unexplained,
      reason: "explained elsewhere",
      holdId: "hold-1",
      operationId: "op-1",
      at: before.asOf.instant
    }
  })

describe("a finding over its runs", () => {
  // G69: docs/domain/reconciliation.md#age
  it("keeps its id, and ages in whole days from its first run, also over a day on which it is gone", () => {
    const ten = Decimal.of("10")
    const at = (text: string) => sightingAt(Instant.of(text), ten)
    const opened = found(undefined, at("2026-03-02T18:00:00Z"))
    const again = found(opened, at("2026-03-03T17:59:59Z"))
    const day = found(again, at("2026-03-03T18:00:00Z"))
    const gone = cleared(day)
    const back = found(gone, at("2026-03-05T18:00:00Z"))
    expect(
      [opened, again, day, gone, back].map(({ findingId, state, ageDays, seenRuns }) => [
        findingId,
        state,
        ageDays,
        seenRuns
      ])
    ).toEqual([
      ["fnd_59d660051a026f524a800b896c0246b2", "open", 0, 1],
      ["fnd_59d660051a026f524a800b896c0246b2", "open", 0, 2],
      ["fnd_59d660051a026f524a800b896c0246b2", "open", 1, 3],
      ["fnd_59d660051a026f524a800b896c0246b2", "cleared", 1, 3],
      ["fnd_59d660051a026f524a800b896c0246b2", "open", 3, 4]
    ])
  })

  // G70: docs/domain/reconciliation.md#acceptance
  it.each([
    ["-60", "accepted"],
    ["-101", "open"],
    ["1", "open"],
    ["-100", "accepted"]
  ] as const)("accepted at -100 and found again at %s is %s", (unexplained, state) => {
    const now = Instant.of("2026-03-02T18:00:00Z")
    const before = accepted(found(undefined, sightingAt(now, Decimal.of("-100"))))
    expect(found(before, sightingAt(now, Decimal.of(unexplained))).state).toBe(state)
  })

  // docs/domain/reconciliation.md#acceptance
  it.each([
    ["500 units", "500 units", "accepted"],
    ["500 units", "400 units", "accepted"],
    ["500 units", "0.4 ratio", "open"],
    ["500 units", "cover", "open"],
    ["500 units", "units", "open"],
    ["units", "1 units", "open"],
    ["units", "0.4 ratio", "open"],
    ["cover", "cover", "accepted"],
    ["cover", "plan", "open"]
  ])("accepted at %s and found again at %s is %s", (accepts, finds, state) => {
    const now = Instant.of("2026-03-02T18:00:00Z")
    const sightingOf = (text: string): Sighting => {
      const [unit = "", amount = null] = text.split(" ").toReversed()
      return amount === null
        ? sightingAt(now, Decimal.zero, { difference: null, unit })
        : sightingAt(now, Decimal.of(amount), { unit })
    }
    const before = accepted(found(undefined, sightingOf(accepts)))
    const once = found(before, sightingOf(finds))
    expect(once.state).toBe(state)
    // Nor does a second run take the other difference for the accepted one.
    expect(found(once, sightingOf(finds)).state).toBe(state)
  })

  // docs/domain/reconciliation.md#acceptance
  it.each([
    ["gross", "-100", "gross", "-60", "accepted"],
    ["gross", "-100", "net", "-60", "open"],
    ["gross", "-100", "net", "-100", "open"],
    ["gross", "-100", null, "-100", "open"],
    // Accepted before figures were named: it was for one of them, of that amount.
    [null, "-100", "net", "-100", "accepted"],
    [null, "-100", "net", "-60", "open"],
    [null, "-100", null, "-60", "accepted"]
  ] as const)(
    "accepted of the figure %s at %s and found again of %s at %s is %s",
    (figure, accepts, other, finds, state) => {
      const now = Instant.of("2026-03-02T18:00:00Z")
      const before = accepted(found(undefined, sightingAt(now, Decimal.of(accepts), { figure })))
      const once = found(before, sightingAt(now, Decimal.of(finds), { figure: other }))
      expect(once.state).toBe(state)
    }
  )

  it("accepted before figures were named, without amounts, is open once it has a name", () => {
    const now = Instant.of("2026-03-02T18:00:00Z")
    const none = { difference: null, unit: "units" } as const
    const { figure: _, ...stored } = sightingAt(now, Decimal.zero, none)
    const before = accepted(found(undefined, stored))
    const named = sightingAt(now, Decimal.zero, { ...none, figure: "outstanding" })
    expect(found(before, named).state).toBe("open")
    expect(found(before, stored).state).toBe("accepted")
  })

  it("accepted with amounts that an earlier release replaced by none is open once it is found again", () => {
    const now = Instant.of("2026-03-02T18:00:00Z")
    const none = sightingAt(now, Decimal.zero, { difference: null, unit: "cover" })
    const before = accepted(found(undefined, sightingAt(now, Decimal.of("500"))))
    expect(found({ ...before, ...none }, none).state).toBe("open")
  })

  it("is what its history says, whatever runs found, lost, or people accepted", () => {
    const step = fc.record({
      hours: fc.integer({ min: 0, max: 40 }),
      does: fc.constantFrom("find", "miss", "accept"),
      amount: fc.integer({ min: -9, max: 9 })
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        let self: Finding | undefined
        const begin = Instant.of("2026-03-02T18:00:00Z")
        // Books of the test's own: hours of the runs that found it, and the accepted amount.
        let hour = 0
        let runs: ReadonlyArray<number> = []
        let state = "none"
        let limit = 0
        for (const { hours, does, amount } of steps) {
          hour += hours
          if (does === "find" && amount !== 0) {
            const instant = Instant.fromNanos(begin + BigInt(hour) * 3_600_000_000_000n)
            self = found(self, sightingAt(instant, Decimal.fromInteger(amount)))
            runs = [...runs, hour]
            const isCovered =
              Math.sign(amount) === Math.sign(limit) && Math.abs(amount) <= Math.abs(limit)
            if (state !== "accepted" || !isCovered) state = "open"
          } else if (does === "miss" && self !== undefined && self.state !== "cleared") {
            self = cleared(self)
            state = "cleared"
          } else if (does === "accept" && self?.state === "open") {
            limit = Number(Decimal.formatPlain(self.unexplained))
            self = accepted(self)
            state = "accepted"
          }
          if (self === undefined) continue
          expect(self.state).toBe(state)
          expect(self.findingId).toBe(findingId)
          expect(self.seenRuns).toBe(runs.length)
          expect(self.ageDays).toBe(Math.floor(((runs.at(-1) ?? 0) - (runs[0] ?? 0)) / 24))
          for (const holds of Object.values(findings.invariants)) expect(holds(self)).toBe(true)
        }
      }),
      { numRuns: 300, seed: 15 }
    )
  })
})
