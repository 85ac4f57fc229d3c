/**
 * Holds: the acts that they stop, the requirements of their release, and the findings that hold an
 * instrument again.
 */
import { createHash } from "node:crypto"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { against, type Act, type OpenHold, stops } from "#core/restraints/hold/HoldRules.ts"
import { blocksOf, reasonOf, sourceOf, stopping } from "#core/restraints/hold/HoldOpeningRules.ts"
import * as Release from "#core/restraints/hold/HoldReleaseRules.ts"
import { evolve, type Finding, first, type Sighting } from "#core/findings/Finding.ts"
import * as Rules from "#core/findings/FindingRules.ts"
import * as Figures from "#core/writes/Figures.ts"
import type { HoldSource } from "#core/vocabulary/sets.ts"
import { id } from "../machines/subscriptions.ts"

const hashed = (text: string) => createHash("sha256").update(text).digest("hex")

const sources = ["manual", "reconciliation", "cover"] as const
const acts = ["deal", "distribution", "mint"] as const

/**
 * docs/domain/restraints.md#what-a-hold-blocks, read by a person: every hold blocks distribution.
 */
const stopped: Readonly<Record<HoldSource, ReadonlyArray<Act>>> = {
  manual: ["deal", "distribution", "mint"],
  reconciliation: ["distribution"],
  cover: ["distribution", "mint"]
}

const hold = (source: HoldSource, nth: number): OpenHold => ({
  holdId: `hold-${nth}`,
  instrumentId: "fund-a",
  blocks: blocksOf[source]
})
const holds = fc
  .array(fc.constantFrom(...sources), { maxLength: 6 })
  .map((all) => all.map((source, nth) => ({ source, hold: hold(source, nth) })))

describe("holds that are open on an instrument", () => {
  it.each(sources)(
    "of the source %s stop the acts that they cover, and let the others pass",
    (source) => {
      for (const act of acts) {
        expect(stops(hold(source, 1), act), act).toBe(stopped[source].includes(act))
      }
    }
  )

  it("never stop anything but the union of what each stops, or name one that does not", () => {
    fc.assert(
      fc.property(holds, fc.constantFrom(...acts), (open, act) => {
        const naming = open.find(({ source }) => stopped[source].includes(act))
        const { refuses, refusal } = against(
          open.map(({ hold }) => hold),
          act
        )
        expect(refuses).toBe(naming !== undefined)
        expect([refusal.gate, refusal.check]).toEqual(["hold", "not-held"])
        if (naming !== undefined) expect(refusal.detail).toContain(naming.hold.holdId)
      })
    )
  })

  it("never let more pass when one opens, or stop more when one is released", () => {
    fc.assert(
      fc.property(holds, fc.nat(5), (open, nth) => {
        const less = open.filter((_, index) => index !== nth)
        const set = (some: typeof open) =>
          acts.filter(
            (act) =>
              against(
                some.map(({ hold }) => hold),
                act
              ).refuses
          )
        expect(set(open)).toEqual(expect.arrayContaining([...set(less)]))
      })
    )
  })
})

const cents = (amount: number) => Decimal.fromAtoms(BigInt(amount) * 100_000_000n)
const noon = Instant.of("2026-07-30T12:00:00Z")

const seenAt = (difference: {
  readonly amount: number
  readonly explained?: number
  readonly run?: number
  readonly severity?: Sighting["severity"]
}): Sighting => {
  const explained = cents(difference.explained ?? 0)
  return {
    runId: `run-${difference.run ?? 1}`,
    severity: difference.severity ?? "blocking",
    expected: null,
    actual: null,
    difference: Decimal.add(cents(difference.amount), explained),
    unit: "units",
    tolerance: Decimal.zero,
    explained: {
      amount: explained,
      by:
        difference.explained === undefined
          ? []
          : [{ resourceKind: "subscription", id: "sub-1", amount: explained }]
    },
    unexplained: cents(difference.amount),
    asOf: { offset: Offset.zero, instant: noon },
    comparedAt: null,
    statementId: null,
    missingDates: [],
    entry: null
  }
}

const finding = (findingId: string, seen: Sighting, check = "register-supply"): Finding =>
  first(
    {
      findingId: id(findingId),
      check,
      instrumentId: "fund-a",
      subject: { resourceKind: "instrument", id: "fund-a" },
      holderId: null
    },
    seen
  )

const acceptedAs = (unexplained: Decimal.Decimal) => ({
  on: "accept" as const,
  accepted: { unexplained, reason: "known", holdId: "hold-1", operationId: "op-1", at: noon }
})

describe("a hold's release", () => {
  const states = ["open", "cleared", "accepted"] as const
  const behind = fc
    .array(
      fc.record({
        state: fc.constantFrom(...states),
        severity: fc.constantFrom("blocking", "warning", "info"),
        isNamed: fc.boolean()
      }),
      { maxLength: 5 }
    )
    .map((all) =>
      all.map((one, nth) => ({ ...one, findingId: id<"FindingId">(`f${nth}`), check: "c" }))
    )

  it("never leaves a blocking finding behind that nobody named, or is refused without one", () => {
    fc.assert(
      fc.property(behind, fc.boolean(), (findings, isStrange) => {
        const named = findings.filter(({ isNamed }) => isNamed).map(({ findingId }) => findingId)
        const hold = {
          holdId: id<"HoldId">("hold-1"),
          findings: findings.map(({ findingId }) => findingId)
        }
        const accept = isStrange ? [...named, "f99"] : named
        const rows = Release.against({ hold, findings, accept })
        const left = findings.filter(
          ({ state, severity, isNamed }) => state === "open" && severity === "blocking" && !isNamed
        )
        expect(rows.map(({ refuses, refusal }) => [refusal.check, refuses])).toEqual([
          ["findings-of-hold", isStrange],
          ["findings-cleared", left.length > 0]
        ])
        expect(rows[0]?.refusal.errors ?? []).toHaveLength(isStrange ? 1 : 0)
        expect(rows[1]?.refusal.errors ?? []).toHaveLength(left.length)
        const taken = Release.overridden(findings, accept)
        expect(taken.map(({ findingId }) => findingId)).toEqual(
          findings
            .filter(({ state, isNamed }) => state === "open" && isNamed)
            .map(({ findingId }) => findingId)
        )
      })
    )
  })

  it("never is signed by the same figures though more of a finding is accepted, or by others for the same", () => {
    const sizes = fc.array(fc.integer({ min: -900, max: 900 }), { minLength: 1, maxLength: 60 })
    const shown = (all: ReadonlyArray<number>, order: 1 | -1 = 1, otherUnit = -1) => {
      const accepted = all.map((size, nth) => ({
        findingId: id<"FindingId">(`f${nth}`),
        unit: nth === otherUnit ? "lines" : "units",
        unexplained: cents(size)
      }))
      const sorted = order === 1 ? accepted : accepted.toReversed()
      const figures = Release.figuresOf({ blocks: ["distribution"] }, sorted, hashed)
      return Figures.shown({ figures, tolerance: Decimal.zero })
    }
    fc.assert(
      fc.property(sizes, fc.nat(), (all, at) => {
        const before = shown(all)
        expect(shown(all, -1)).toEqual(before)
        const more = all.map((size, nth) => (nth === at % all.length ? size + 1 : size))
        expect(shown(more)).not.toEqual(before)
        expect(shown([...all, 1])).not.toEqual(before)
        expect(shown(all, 1, at % all.length)).not.toEqual(before)
        // A person does not read a thousand figures before signing: many figures are signed as one,
        // their hash.
        expect(Object.keys(before)).toHaveLength(all.length <= 50 ? 2 + 2 * all.length : 3)
      })
    )
  })
})

describe("findings of later runs", () => {
  it("never hold an instrument that nothing new stops, or let a difference grow unseen", () => {
    // A difference as later runs see it: its amount in cents, gone, or accepted by a person.
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: -5, max: 5 }).filter((one) => one !== 0) },
      { weight: 1, arbitrary: fc.constant("gone" as const) },
      { weight: 1, arbitrary: fc.constant("accept" as const) }
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(step, { maxLength: 12 }),
        (from, steps) => {
          let self = finding("f1", seenAt({ amount: from }))
          // The auditor's own book: what is known, and between which amounts all is accepted.
          let book: {
            readonly at: number | null
            readonly covered: readonly [number, number] | null
          } = {
            at: from,
            covered: null
          }
          for (const [index, one] of steps.entries()) {
            if (one === "accept") {
              if (self.state !== "open" || book.at === null) continue
              self = evolve(self, acceptedAs(self.unexplained))
              book = { at: book.at, covered: [Math.min(0, book.at), Math.max(0, book.at)] }
            } else if (one === "gone") {
              if (self.state === "cleared") continue
              self = evolve(self, { on: "clear", runId: `run-${index + 2}` })
              book = { at: null, covered: null }
            } else {
              self = evolve(self, Rules.foundAgain(self, seenAt({ amount: one, run: index + 2 })))
              const within =
                book.covered !== null && book.covered[0] <= one && one <= book.covered[1]
              book = { at: one, covered: within ? book.covered : null }
            }
            const stops = stopping([self], { instrumentId: "fund-a", source: "reconciliation" })
            expect(stops.length === 1).toBe(book.at !== null && book.covered === null)
            expect(self.state === "cleared").toBe(book.at === null)
            expect(self.firstSeenRunId).toBe("run-1")
          }
        }
      )
    )
  })

  it("that an order in flight explains stop nothing, until a later run finds them unexplained", () => {
    const explained = seenAt({ amount: 0, explained: 500, severity: "info" })
    const one = finding("f1", explained)
    expect(stopping([one], { instrumentId: "fund-a", source: "reconciliation" })).toEqual([])
    const stays = evolve(one, Rules.foundAgain(one, seenAt({ amount: 500, run: 2 })))
    expect(stopping([stays], { instrumentId: "fund-a", source: "reconciliation" })).toEqual([stays])
    expect(stays.firstSeenRunId).toBe("run-1")
  })

  it("of another instrument, another source or less than blocking do not stop it", () => {
    const hold = { instrumentId: "fund-a", source: "reconciliation" } as const
    const plain = finding("f1", seenAt({ amount: 1 }))
    const cover = finding("f2", seenAt({ amount: 1 }), "reserve-cover")
    const warning = finding("f3", seenAt({ amount: 1, severity: "warning" }))
    const other = { ...plain, findingId: id<"FindingId">("f4"), instrumentId: "fund-b" }
    const all = [plain, cover, warning, other, evolve(plain, acceptedAs(plain.unexplained))]
    expect(stopping(all, hold)).toEqual([plain])
    expect(stopping(all, { ...hold, source: "cover" })).toEqual([cover])
    expect([plain, cover].map(sourceOf)).toEqual(["reconciliation", "cover"])
    expect(reasonOf([cover, plain, plain])).toBe(
      "Blocking findings: register-supply, reserve-cover."
    )
  })

  it("of one check, subject and instrument have one id, and others have another", () => {
    const word = fc.stringMatching(/^[a-z":,\\]{0,6}$/u)
    const same = fc.record({
      check: word,
      subject: fc.record({ resourceKind: fc.constantFrom("instrument", "holder"), id: word }),
      instrumentId: fc.option(word)
    })
    fc.assert(
      fc.property(same, same, (one, two) => {
        const isSame =
          one.check === two.check &&
          one.subject.resourceKind === two.subject.resourceKind &&
          one.subject.id === two.subject.id &&
          one.instrumentId === two.instrumentId
        expect(Rules.identityOf(one) === Rules.identityOf(two)).toBe(isSame)
      })
    )
    const hex = "0123456789abcdef".repeat(4)
    const subject = { resourceKind: "instrument" as const, id: "fund-a" }
    expect(Rules.idTextOf({ check: "c", subject, instrumentId: null }, () => hex)).toBe(
      `fnd_${hex.slice(0, 32)}`
    )
  })
})
