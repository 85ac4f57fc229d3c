/** Pure rules of reconciliation runs: verdict, counts, the limit of new findings, what each check compares. */
import { Decimal, Duration, Instant, Offset } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Difference, identityOf, oneOfEach } from "#core/findings/FindingRules.ts"
import { continuationOf, itemOf, requestOf } from "#core/findings/RunQueue.ts"
import * as PolicyTerms from "#core/instruments/policy/PolicyTerms.ts"
import { checks } from "#core/reconciliation/checks/AllChecks.ts"
import { checkNames, isConcealedCheck } from "#core/vocabulary/ReconciliationChecks.ts"
import {
  distributionIdentity,
  distributionRecompute
} from "#core/reconciliation/checks/DistributionChecks.ts"
import {
  figureNames,
  type IdentityFact,
  type RecomputedLine
} from "#core/reconciliation/checks/DistributionCheckLookups.ts"
import { changeOf } from "#core/reconciliation/checks/MovementSumLookups.ts"
import { movementsBalance, registerSupply } from "#core/reconciliation/checks/RegisterChecks.ts"
import { NotCompared } from "#core/reconciliation/checks/Check.ts"
import * as Pace from "#core/reconciliation/run/PaceLookups.ts"
import * as Rules from "#core/reconciliation/run/RunRules.ts"
import * as VerdictRules from "#core/reconciliation/verdict/VerdictRules.ts"

const d = Decimal.of

const finding = (
  state: "open" | "accepted" | "cleared",
  severity: "blocking" | "warning" | "info"
) => ({ state, severity })
const ran = { ran: true }
const failed = { ran: false }

/** Members of an outcome without notes. */
const unnoted = {
  notCompared: [],
  feeds: null,
  judgesAll: false,
  hasNew: false,
  again: []
} as const

/** A batch of one fact without notes. */
const batchOf = (changes: Partial<Rules.Batch>): Rules.Batch => ({
  differences: [],
  moments: [],
  facts: 1,
  notes: [],
  again: [],
  ...changes
})

describe("the verdict of a run", () => {
  it.each([
    ["clear", [], [ran]],
    ["clear", [], []],
    ["clear", [finding("open", "info")], [ran]],
    ["findings", [finding("open", "warning")], [ran]],
    ["findings", [finding("accepted", "blocking")], [ran]],
    ["incomplete", [], [ran, failed]],
    ["incomplete", [finding("open", "warning"), finding("accepted", "blocking")], [failed]],
    ["blocked", [finding("open", "blocking")], [ran]],
    ["blocked", [finding("open", "info"), finding("open", "blocking")], [failed]]
  ] as const)("is %s for %j and %j", (verdict, findings, outcomes) => {
    expect(Rules.verdictOf({ findings, outcomes })).toBe(verdict)
  })
})

const difference = (nth: number, amount: string): Difference => ({
  check: "lots-holdings",
  instrumentId: "fund",
  subject: { resourceKind: "holder", id: `h${nth}` },
  holderId: `h${nth}`,
  severity: "blocking",
  expected: null,
  actual: null,
  difference: d(amount),
  unit: "units",
  tolerance: d("0"),
  explained: { amount: d("0"), by: [] },
  unexplained: d(amount),
  comparedAt: null,
  statementId: null,
  missingDates: [],
  entry: null
})

describe("new findings of one check", () => {
  it("beyond a thousand are one with their sum, and known ones are never among them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: -50, max: 50 }), fc.boolean()), {
          minLength: 990,
          maxLength: 2_100
        }),
        fc.integer({ min: 1, max: 700 }),
        (amounts, batch) => {
          const recordedIds = new Set<string>()
          const all = amounts.map(([amount, isKnown], nth) => {
            const found = difference(nth, String(amount))
            if (isKnown && nth % 2 === 0) recordedIds.add(identityOf(found))
            return found
          })
          let gathered = Rules.nothing
          for (let from = 0; from < all.length; from += batch) {
            const differences = all.slice(from, from + batch)
            gathered = Rules.withBatch(gathered, batchOf({ differences }), recordedIds)
          }
          const { differences, why } = Rules.outcomeOf(
            { check: "lots-holdings", instrumentId: "fund", judgesAll: false },
            gathered
          )
          const fresh = all.filter((found) => !recordedIds.has(identityOf(found)))
          const rest = fresh.slice(1_000)
          expect(why).toBe(null)
          expect(differences.length).toBe(
            recordedIds.size + Math.min(1_000, fresh.length) + (rest.length > 0 ? 1 : 0)
          )
          const sum = (differences: ReadonlyArray<Difference>) =>
            Decimal.sum(differences.map(({ unexplained }) => unexplained))
          expect(sum(differences)).toBe(sum(all))
          if (rest.length === 0) return
          expect(differences.at(-1)).toMatchObject({
            subject: { resourceKind: "instrument", id: "fund" },
            holderId: null,
            severity: "blocking",
            unexplained: sum(rest)
          })
        }
      ),
      { numRuns: 20 }
    )
  })
})

describe("the checks of a run", () => {
  const outcome = (
    check: string,
    instrumentId: string,
    changes: Partial<Rules.ComparisonOutcome> = {}
  ) => ({
    check,
    instrumentId,
    ran: true,
    why: null,
    comparedAt: null,
    differences: [],
    ...unnoted,
    ...changes
  })

  it("ran where they ran for every instrument, and had nothing to compare where none had", () => {
    const idle = { why: Rules.nothingToCompare }
    const found = { differences: [difference(1, "1"), difference(2, "1")] }
    expect(
      Rules.ranOf(
        ["register-supply", "movements-balance", "lots-holdings"],
        [
          outcome("register-supply", "f", idle),
          outcome("register-supply", "g", idle),
          outcome("movements-balance", "f", idle),
          outcome("movements-balance", "g", found),
          outcome("lots-holdings", "f", { ran: false, why: "before-horizon" }),
          outcome("lots-holdings", "g", found)
        ]
      )
    ).toEqual([
      { check: "register-supply", ran: true, why: "nothing-to-compare", findings: 0 },
      { check: "movements-balance", ran: true, why: null, findings: 2 },
      { check: "lots-holdings", ran: false, why: "before-horizon", findings: 2 }
    ])
  })

  it("cover an instrument wholly only if every one of the release is among them", () => {
    expect(Rules.isWhole({ checks: null }, checkNames)).toBe(true)
    expect(Rules.isWhole({ checks: [...checkNames] }, checkNames)).toBe(true)
    for (const check of checkNames) {
      const others = checkNames.filter((name) => name !== check)
      expect(Rules.isWhole({ checks: others }, checkNames)).toBe(false)
    }
  })

  it("have names that a policy may set a tolerance for", () => {
    for (const check of checkNames) expect(PolicyTerms.checks).toContain(check)
  })
})

describe("what a check judges by", () => {
  it.each([
    ["lots-holdings", {}, null, "0", null],
    ["lots-holdings", { "lots-holdings": "2" }, "2", "2", null],
    ["nav-price", {}, null, "0.002", null],
    ["nav-price", { "nav-price": "0" }, "0", "0", null],
    ["register-line", {}, null, null, null],
    ["register-line", { "register-line": "0.5" }, "0.5", "0.5", null],
    ["burned-unpaid", {}, null, "0", "P3D"],
    ["nav-usable", {}, null, "0", null]
  ])("is of %s under %j: own %s, tolerance %s, grace %s", (check, named, own, all, grace) => {
    const tolerances = Object.fromEntries(
      Object.entries(named).map(([name, text]) => [name, d(text)])
    )
    const terms = Rules.termsOf(check, { tolerances, grace: {} })
    expect(terms.tolerance).toBe(own === null ? null : d(own))
    expect(Rules.toleranceOf(check, terms)).toBe(all === null ? null : d(all))
    expect(terms.grace && Duration.format(terms.grace)).toBe(grace)
  })

  it("is the grace of the policy before that of the defaults", () => {
    const grace = { "burned-unpaid": Duration.days(9) }
    const terms = Rules.termsOf("burned-unpaid", { tolerances: {}, grace })
    expect(terms.grace).toEqual(Duration.days(9))
  })
})

describe("a finding on a statement that a check no longer finds", () => {
  const asOf = { offset: Offset.of(6), instant: Instant.of("2026-03-03T00:00:00Z") }
  const comparedAt = { offset: Offset.of(4), instant: Instant.of("2026-03-01T00:00:00Z") }
  const subject = { resourceKind: "external-account", id: "acc-1" } as const
  const finding = { asOf, comparedAt: asOf, subject }
  const statement = { externalStatementId: "st-1", feed: "bank/fund" }
  const unread = (statementId: string, isNeeded: boolean) =>
    new NotCompared({
      subject: { resourceKind: "external-source", id: "bank" },
      ...{ statementId, isNeeded, why: "before-horizon" }
    })

  it.each([
    [true, "by its source's statements", ["bank/fund"], []],
    [true, "where another one could not be compared", ["bank/fund"], [unread("st-2", false)]],
    [false, "by those of another source", ["agent/fund"], []],
    [false, "by those of another instrument", ["bank/other"], []],
    [false, "by a run that compared no source", null, []],
    [false, "where it could not be compared", ["bank/fund"], [unread("st-1", false)]],
    [
      false,
      "where its subject could not be compared",
      ["bank/fund"],
      [new NotCompared({ subject, statementId: null, why: "statement-missing", isNeeded: false })]
    ]
  ] as const)("is cleared (%s) %s", (isCleared, _, feeds, notCompared) => {
    const compared = feeds === null ? null : new Set(feeds)
    const outcome = { ran: true, comparedAt, feeds: compared, judgesAll: false, notCompared }
    expect(Rules.clears({ asOf, outcome }, finding, statement)).toBe(isCleared)
    const failed = { ...outcome, ran: false }
    expect(Rules.clears({ asOf, outcome: failed }, finding, statement)).toBe(false)
    // Figures of the run's own pin are no reason to clear it, and all that is in force is one.
    const own = { ...finding, comparedAt: null }
    expect(Rules.clears({ asOf, outcome }, own, statement)).toBe(isCleared)
    const whole = { ...outcome, feeds: null, judgesAll: true }
    expect(Rules.clears({ asOf, outcome: whole }, own, statement)).toBe(true)
  })
})

describe("a finding that a check no longer finds", () => {
  const at = (offset: number, instant: string) => ({
    offset: Offset.of(offset),
    instant: Instant.of(instant)
  })
  const old = at(4, "2026-03-01T00:00:00Z")
  const mid = at(5, "2026-03-02T00:00:00Z")
  const now = at(6, "2026-03-03T00:00:00Z")

  it.each([
    [true, "by the same pin", mid, true, null, mid, null],
    [true, "by a later pin", now, true, null, mid, null],
    [false, "by a check that did not run", now, false, null, mid, null],
    [false, "by an older pin", old, true, null, mid, null],
    [false, "by an older offset", at(4, "2026-03-03T00:00:00Z"), true, null, mid, null],
    [false, "by an older instant", at(6, "2026-03-01T00:00:00Z"), true, null, mid, null],
    [false, "without a statement", now, true, null, mid, mid],
    [false, "by an older statement", now, true, old, mid, mid],
    [true, "by the same statement", now, true, mid, mid, mid],
    [true, "by a later statement", now, true, now, mid, mid],
    [true, "by a statement, where it had none", now, true, old, mid, null]
  ] as const)("is cleared (%s) %s", (isCleared, _, asOf, ran, comparedAt, seen, seenAt) => {
    const outcome = { ran, comparedAt, feeds: null, judgesAll: false, notCompared: [] }
    const subject = { resourceKind: "holder", id: "hol-1" } as const
    const finding = { asOf: seen, comparedAt: seenAt, subject }
    expect(Rules.clears({ asOf, outcome }, finding, null)).toBe(isCleared)
  })

  it("is judged by the newest moment of a batch, whatever the order of its facts", () => {
    for (const moments of [
      [old, now, mid],
      [now, mid, old]
    ]) {
      const gathered = Rules.withBatch(Rules.nothing, batchOf({ moments }), new Set())
      const identity = { check: "lots-holdings", instrumentId: "fund", judgesAll: false }
      expect(Rules.outcomeOf(identity, gathered).comparedAt).toBe(now)
      const gatheredAgain = Rules.withBatch(gathered, batchOf({ moments: [mid] }), new Set())
      expect(gatheredAgain.comparedAt).toBe(now)
    }
  })
})

describe("facts of no instrument", () => {
  const difference = { severity: "blocking", instrumentId: null } as unknown as Difference
  const outcome = {
    ...{ check: "policy-replay", instrumentId: null, ran: true, why: null, notCompared: [] },
    ...{ comparedAt: null, differences: [difference] }
  } as unknown as Rules.ComparisonOutcome
  const severitiesOf = ({ differences }: Rules.ComparisonOutcome) =>
    differences.map(({ severity }) => severity)

  it("warn at most, since a finding without an instrument holds none", () => {
    expect(severitiesOf(Rules.ofVenue(outcome, {}))).toEqual(["warning"])
  })
  it("block where every other check rests on theirs: such a run clears nothing", () => {
    expect(severitiesOf(Rules.ofVenue(outcome, { isGround: true }))).toEqual(["blocking"])
    const withVenueFacts = checks.filter(({ venueFacts }) => venueFacts !== undefined)
    expect(withVenueFacts.map(({ isGround, name }) => [name, isGround === true])).toEqual([
      ["projection-drift", true],
      ["policy-replay", false]
    ])
  })
})

describe("a queued run", () => {
  it.each([
    ["schedule", "fund-a", "d-1/x"],
    ["schedule", null, "2026-03-02"],
    ["release", "fund-a", "hold-1"],
    ["statement", "fund-a", "st-1"]
  ] as const)("is read as it was asked for: %s of %s by %s", (trigger, instrumentId, causedBy) => {
    const request = { trigger, instrumentId, causedBy }
    expect(requestOf(itemOf(request))).toEqual(request)
  })

  it("by no known trigger is a defect", () => {
    expect(() => requestOf({ itemId: "other/1", payload: "fund-a" })).toThrow()
  })

  it("continues the run of a call", () => {
    const item = continuationOf("run-1", { delay: 60_000 })
    expect(requestOf(item)).toEqual({ trigger: "manual", runId: "run-1" })
  })

  it("follows the runs of its instrument, and no other", () => {
    const findingOf = (instrumentId: string | null, causedBy: string) =>
      itemOf({ trigger: "statement", instrumentId, causedBy })
    expect(findingOf("fund-a", "st-1").resource).toBe(findingOf("fund-a", "st-2").resource)
    expect(findingOf("fund-b", "st-1").resource).not.toBe(findingOf("fund-a", "st-1").resource)
    // A run of every instrument takes long: it has a queue of its own.
    expect(findingOf(null, "2026-03-02").queue).not.toBe(findingOf("fund-a", "st-1").queue)
    expect(continuationOf("run-1", { delay: 0 }).queue).toBe(findingOf(null, "2026-03-02").queue)
  })
})

/** Outcomes of a check by chance: whether it ran, why not, and how many differences it found. */
const chanceOutcome = fc
  .record({
    check: fc.constantFrom("register-supply", "lots-holdings", "restriction-effect"),
    instrumentId: fc.constantFrom("fund-a", "fund-b", null),
    kind: fc.constantFrom("compared", "idle", "served", "failed"),
    differences: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }),
    severity: fc.constantFrom("info", "warning", "blocking" as const)
  })
  .map(({ kind, differences, severity, ...outcome }): Rules.ComparisonOutcome => {
    const why = { compared: null, idle: Rules.nothingToCompare, served: Rules.comparedBefore }
    return {
      ...unnoted,
      ...outcome,
      comparedAt: null,
      ran: kind !== "failed",
      why: kind === "failed" ? "not-reached" : why[kind as keyof typeof why],
      differences: differences.map(
        (nth) => ({ ...difference(nth, String(nth)), severity }) as never
      )
    }
  })

describe("the parts of a run", () => {
  it("come to what all their outcomes come to at once", () => {
    const all = ["register-supply", "lots-holdings", "restriction-effect"]
    fc.assert(
      fc.property(
        fc.array(fc.array(chanceOutcome, { maxLength: 4 }), { maxLength: 5 }),
        (parts) => {
          const partOf = (outcomes: ReadonlyArray<Rules.ComparisonOutcome>) => {
            const notCompared = Rules.notComparedOf(outcomes)
            const findings = outcomes.flatMap(({ check, differences }) =>
              differences.map(({ severity }) => ({ check, state: "open" as const, severity }))
            )
            return {
              checks: Rules.ranOf(all, outcomes),
              notCompared,
              notComparedCount: notCompared.length,
              verdict: Rules.verdictOf({ findings, outcomes }),
              shownVerdict: Rules.shownVerdictOf({ findings, outcomes }),
              holdsOpened: findings.map((_, nth) => `hold-${nth}`),
              distributionsCleared: []
            }
          }
          const sum = parts.map(partOf).reduce(Rules.withPart, Rules.noParts(all))
          const { holdsOpened: _, ...whole } = partOf(parts.flat())
          expect(sum).toMatchObject(whole)
        }
      )
    )
  })

  it("list no more of what was not compared than a run does, and count all", () => {
    const entry = (nth: number) => ({
      check: "register-line",
      instrumentId: "fund-a",
      subject: { resourceKind: "external-source" as const, id: `s-${nth}` },
      statementId: null,
      why: "not-reached",
      isNeeded: true
    })
    const part = {
      ...Rules.noParts([]),
      notCompared: Array.from({ length: 700 }, (_, nth) => entry(nth)) as never,
      notComparedCount: 700
    }
    const sum = [part, part].reduce(Rules.withPart, Rules.noParts([]))
    expect([sum.notCompared.length, sum.notComparedCount]).toEqual([Rules.notComparedMax, 1400])
  })
})

describe("the time that a caller is told to wait", () => {
  it("is that of the instruments that are left, at the pace of those that are done", () => {
    const began = Instant.of("2026-03-02T10:00:00Z")
    const now = Instant.of("2026-03-02T10:00:30Z")
    const times = { began, now }
    expect(Pace.wholeSeconds(Pace.nanosFor(10, { ...times, doneCount: 3 }))).toBe(100)
    expect(Pace.wholeSeconds(Pace.nanosFor(1, { ...times, doneCount: 20 }))).toBe(2)
    // Before the first instrument is done, each takes at least as long as the run has taken so far.
    expect(Pace.wholeSeconds(Pace.nanosFor(2, { ...times, doneCount: 0 }))).toBe(60)
    // A clock that was set back measures nothing.
    expect(Pace.wholeSeconds(Pace.nanosFor(2, { began: now, now: began, doneCount: 1 }))).toBe(1)
    expect(Pace.wholeSeconds(Pace.nanosFor(100_000, { ...times, doneCount: 1 }))).toBe(3_600)
  })
})

const text = ({ difference }: Difference) =>
  difference === null ? "none" : Decimal.formatPlain(difference)

describe("register-supply", () => {
  it.each([
    ["5", "5", "0", []],
    ["5", "5.0000000001", "0", ["0.0000000001"]],
    ["5", "4.5", "0.5", []],
    ["5", "4.4999999999", "0.5", ["-0.5000000001"]]
  ])("reports of register %s and supply %s within %s: %j", (register, supply, tolerance, found) => {
    const sums = { instrumentId: "fund", register: d(register), supply: d(supply) }
    const differences = registerSupply.differences(sums, d(tolerance))
    expect(differences.map(text)).toEqual(found)
    for (const { severity, subject } of differences) {
      expect([severity, subject]).toEqual(["blocking", { resourceKind: "instrument", id: "fund" }])
    }
  })
})

describe("movements-balance", () => {
  const movement = (kind: "mint" | "burn" | "transfer" | "lock", side: "from" | "to" | "both") =>
    ({ kind, party: "a::12", to: side === "from" ? null : "a::12", units: d("3") }) as never

  it("counts what comes as more, what goes as less, and a lock as nothing", () => {
    expect(changeOf(movement("mint", "to"))).toBe(d("3"))
    expect(changeOf(movement("transfer", "from"))).toBe(d("-3"))
    expect(changeOf(movement("lock", "both"))).toBe(d("0"))
  })

  it("blocks for a party whose opening and movements are not its units", () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.integer(), fc.integer(), fc.integer()),
        ([opening, moved, closing]) => {
          const found = movementsBalance.differences(
            {
              instrumentId: "fund",
              party: "a::12",
              holderId: null,
              opening: Decimal.fromInteger(opening),
              moved: Decimal.fromInteger(moved),
              closing: Decimal.fromInteger(closing)
            },
            d("0")
          )
          const off = closing - opening - moved
          expect(found.map(text)).toEqual(off === 0 ? [] : [String(off)])
          expect(found.every(({ severity }) => severity === "blocking")).toBe(true)
        }
      )
    )
  })
})

describe("distribution-recompute", () => {
  const figures: RecomputedLine["expected"] = {
    units: d("10"),
    entitlement: d("5.005"),
    carryIn: d("0.1"),
    gross: d("5.1"),
    equalisation: d("1"),
    rate: d("0.15"),
    withheld: d("0.62"),
    net: d("4.48"),
    carryOut: d("0.005"),
    payoutUnits: null
  }
  const line = (actual: RecomputedLine["expected"] | null): RecomputedLine => ({
    of: "line",
    instrumentId: "fund",
    distributionId: "d-1",
    currency: "USD",
    lineId: "d-1.1",
    holderId: "h1",
    expected: figures,
    actual
  })

  it("finds nothing in a line that is computed again as it is stored", () => {
    expect(distributionRecompute.differences(line(figures), d("0"))).toEqual([])
    expect(
      distributionRecompute.differences(line({ ...figures, payoutUnits: d("0") }), d("0"))
    ).toEqual([])
  })

  it.each(figureNames)("finds an atom more in %s", (member) => {
    const changed = Decimal.add(figures[member] ?? d("0"), d("0.0000000001"))
    const found = distributionRecompute.differences(line({ ...figures, [member]: changed }), d("0"))
    expect(found.map(text)).toEqual(["0.0000000001"])
    expect(found[0]?.severity).toBe("blocking")
    expect(found[0]?.subject).toEqual({ resourceKind: "distribution", id: "d-1.1" })
    expect(found[0]?.unit).toBe(
      member === "rate" ? "rate" : member.toLowerCase().includes("units") ? "units" : "USD"
    )
  })

  it.each([
    [2, 2, true, []],
    [2, 2, false, ["none"]],
    [2, 1, true, ["-1"]],
    [2, 3, false, ["1", "none"]]
  ] as const)(
    "of %i lines and %i stored, hashed %s, reports %j",
    (expected, actual, isHashed, found) => {
      const whole = {
        of: "lines",
        instrumentId: "fund",
        distributionId: "d-1",
        currency: "USD"
      } as const
      const counted = { ...whole, expectedCount: expected, actualCount: actual, isHashed }
      const differences = distributionRecompute.differences(counted, d("0"))
      expect(differences.map(text)).toEqual(found)
      expect(differences.every(({ severity }) => severity === "blocking")).toBe(true)
    }
  )
})

describe("distribution-identity", () => {
  const sums = {
    entitlement: d("5"),
    gross: d("4"),
    equalisation: d("1"),
    withheld: d("1"),
    net: d("3"),
    carryOut: d("1.5"),
    payoutUnits: d("0"),
    lines: 2
  }
  const fact: IdentityFact = {
    instrumentId: "fund",
    distributionId: "d-1",
    currency: "USD",
    sealed: sums,
    stored: { ...sums, carryIn: d("0.5"), lost: d("0"), unpayable: 0 },
    accrued: { least: d("4.9999999998"), most: d("5") }
  }
  const found = (identityFact: IdentityFact) =>
    oneOfEach(distributionIdentity.differences(identityFact, d("0")), new Map()).map(
      (difference) => {
        expect(difference.severity).toBe("blocking")
        return text(difference)
      }
    )

  it("finds nothing where every identity holds, and for instruments whose units do not say", () => {
    expect(found(fact)).toEqual([])
    expect(found({ ...fact, accrued: null })).toEqual([])
  })

  it.each([
    ["lines", 3],
    ["entitlement", d("6")],
    ["gross", d("5")],
    ["equalisation", d("2")],
    ["withheld", d("2")],
    ["net", d("4")],
    ["carryOut", d("2.5")],
    ["payoutUnits", d("1")],
    ["lost", d("1")],
    ["unpayable", 1]
  ])("finds stored %s that are not those of the ledger, or break an identity", (name, value) => {
    expect(found({ ...fact, stored: { ...fact.stored, [name]: value } })).toEqual(["1"])
  })

  it.each([
    ["0.0000000001", { least: d("3"), most: d("4.9999999999") }],
    ["-1", { least: d("6"), most: d("7") }]
  ])("finds entitlements off by %s of the income of the units", (off, accrued) => {
    expect(found({ ...fact, accrued })).toEqual([off])
  })

  it("finds gross that is neither paid nor withheld, where the ledger says the same", () => {
    const off = { ...sums, gross: d("4.5") }
    expect(found({ ...fact, sealed: off, stored: { ...fact.stored, gross: d("4.5") } })).toEqual([
      "-0.5"
    ])
  })
})

describe("a check that an earlier run serves", () => {
  const outcome = (changes: Partial<Rules.ComparisonOutcome> = {}): Rules.ComparisonOutcome => ({
    ...{ check: "policy-replay", instrumentId: "f", ran: true, why: null, comparedAt: null },
    differences: [],
    ...unnoted,
    ...changes
  })
  const about = (resourceKind: "subscription" | "instrument") =>
    [{ subject: { resourceKind, id: "f" } }] as unknown as ReadonlyArray<Difference>

  it.each<readonly [string, boolean, Partial<Rules.ComparisonOutcome>]>([
    ["ran and found nothing", true, {}],
    ["found what is a finding each", true, { differences: about("subscription") }],
    ["found more than the limit", false, { differences: about("instrument") }],
    ["did not run", false, { ran: false, why: "before-horizon" }],
    ["was itself served by an earlier one", false, { why: Rules.comparedBefore }],
    ["found nothing of the venue", true, { instrumentId: null }],
    [
      "found a difference of the venue",
      false,
      { instrumentId: null, differences: about("subscription") }
    ]
  ])("is served where the earlier one %s: %s", (_, isJudgedWhole, changes) => {
    expect(Rules.isJudgedWhole(outcome(changes))).toBe(isJudgedWhole)
  })

  it("ran, and says that it was compared before", () => {
    const check = "projection-drift"
    const idle = { check, why: Rules.nothingToCompare }
    const served = { check, instrumentId: null, why: Rules.comparedBefore }
    const ran = { check, ran: true, findings: 0 }
    expect(Rules.ranOf([check], [outcome(idle), outcome(served)])).toEqual([
      { ...ran, why: Rules.comparedBefore }
    ])
    expect(Rules.ranOf([check], [outcome(idle), outcome({ ...served, why: null })])).toEqual([
      { ...ran, why: null }
    ])
  })
})

describe("a verdict as investors and apps read it", () => {
  const findingOf = fc.record({
    check: fc.constantFrom(...checkNames),
    state: fc.constantFrom("open" as const, "accepted" as const, "cleared" as const),
    severity: fc.constantFrom("blocking" as const, "warning" as const, "info" as const),
    firstSeenAt: fc
      .integer({ min: 0, max: 30 })
      .map((day) => Instant.of(`2026-07-${String(day + 1).padStart(2, "0")}T00:00:00Z`))
  })
  const now = Instant.of("2026-08-01T00:00:00Z")
  const judged = (all: ReadonlyArray<typeof findingOf extends fc.Arbitrary<infer F> ? F : never>) =>
    VerdictRules.judge({
      instrumentId: "fund-a" as never,
      runId: "run",
      pin: { offset: Offset.zero, ledgerTime: null, writtenBy: now, judgedAt: now },
      isReached: true,
      isGrounded: true,
      tally: all.reduce(VerdictRules.tallied, VerdictRules.noFindings),
      outcomes: [],
      ranBefore: [],
      notCompared: [],
      notComparedBefore: [],
      checks: []
    })

  it("shows a hold alone of what blocks, and nothing else of concealed checks", () => {
    fc.assert(
      fc.property(fc.array(findingOf, { maxLength: 8 }), (all) => {
        const open = all.filter(
          ({ check, severity }) => !isConcealedCheck(check) && severity !== "blocking"
        )
        const { shown } = judged(all)
        const alone = judged(open)
        const isHeld = judged(all).verdict === "blocked"
        expect(shown).toEqual({
          verdict: isHeld ? "blocked" : alone.verdict,
          open: alone.open,
          oldestDays: alone.oldestDays
        })
        const ofRun = { findings: all, outcomes: [] }
        expect(Rules.shownVerdictOf(ofRun)).toBe(
          isHeld ? "blocked" : Rules.verdictOf({ ...ofRun, findings: open })
        )
      })
    )
  })

  it("is the same whether the check that blocks is concealed or not", () => {
    const others = fc.array(findingOf, { maxLength: 4 })
    const state = fc.constantFrom("open" as const, "accepted" as const)
    fc.assert(
      fc.property(others, findingOf, state, (all, finding, ofBoth) => {
        const shownBy = (check: "restriction-effect" | "register-supply") => {
          const blocking = { ...finding, check, severity: "blocking" as const, state: ofBoth }
          const findings = [...all, blocking]
          return [judged(findings).shown, Rules.shownVerdictOf({ findings, outcomes: [] })]
        }
        expect(shownBy("restriction-effect")).toEqual(shownBy("register-supply"))
      })
    )
  })
})
