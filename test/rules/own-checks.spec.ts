/** Tables of facts and findings of the checks that need no statement. */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import type { Difference } from "#core/findings/FindingRules.ts"
import * as Admissions from "#core/reconciliation/checks/AdmissionChecks.ts"
import { cashSettlement } from "#core/reconciliation/checks/CashChecks.ts"
import {
  distributionIdentity,
  distributionRecompute,
  distributionUnpaid
} from "#core/reconciliation/checks/DistributionChecks.ts"
import * as Drift from "#core/reconciliation/checks/DriftChecks.ts"
import { burnedUnpaid, claimAging, orphanLocks } from "#core/reconciliation/checks/OrderChecks.ts"
import { policyReplay } from "#core/reconciliation/checks/PolicyChecks.ts"
import { movementsBalance } from "#core/reconciliation/checks/RegisterChecks.ts"
import { leftAgainst, restrictionEffect } from "#core/reconciliation/checks/RestraintChecks.ts"

const d = Decimal.of
const at = Instant.of
const grace = Duration.days(3)
const none = d("0")

/** A difference as one text: check, severity, subject, expected, actual, unit; `-` without amounts. */
const shown = (difference: Difference): string => {
  const amount = (value: Difference["expected"]) =>
    value === null ? "-" : Decimal.formatPlain(value)
  const { resourceKind, id } = difference.subject
  return [
    difference.check,
    difference.severity,
    `${resourceKind}:${id}`,
    amount(difference.expected),
    amount(difference.actual),
    difference.unit
  ].join(" ")
}

const burnedAt = at("2026-03-02T18:00:00Z")
const terms = (now: string) => ({ grace, now: at(now) })

describe("a redemption that is burned", () => {
  const burned = { instrumentId: "f", redemptionId: "r1", holderId: "h", currency: "USD", burnedAt }
  it.each([
    ["is no finding until its grace time is over", "2026-03-05T18:00:00Z", "100", "0", []],
    [
      "blocks for the rest of its cash from then on",
      "2026-03-05T18:00:00.000000001Z",
      "100",
      "30",
      ["burned-unpaid blocking redemption:r1 100 30 USD"]
    ],
    [
      "blocks without amounts where all is paid and nothing settled",
      "2026-03-06T00:00:00Z",
      "100",
      "99.99",
      ["burned-unpaid blocking redemption:r1 - - settlement"]
    ]
  ])("%s", (_, now, proceeds, paid, found) => {
    const fact = { ...burned, proceeds: d(proceeds), paidAmount: d(paid) }
    expect(burnedUnpaid.differences(fact, d("0.01"), terms(now)).map(shown)).toEqual(found)
  })

  it("has no grace time to wait for where its check has none", () => {
    const fact = { ...burned, proceeds: d("1"), paidAmount: none }
    const now = at("2026-03-02T18:00:00.000000001Z")
    expect(burnedUnpaid.differences(fact, none, { grace: null, now })).toHaveLength(1)
  })
})

describe("an order that is delivered", () => {
  const delivered = {
    ...{ instrumentId: "f", kind: "subscription" as const, orderId: "s1", holderId: "h" },
    ...{ currency: "USD", due: d("100"), since: burnedAt }
  }
  const [edge, past] = ["2026-03-05T18:00:00Z", "2026-03-05T18:00:00.000000001Z"]
  it.each([
    ["is no finding once lines have its cash", past, "100", false, []],
    ["is no finding for charges of a bank within the allowance", past, "99.99", false, []],
    ["warns until its grace time is over", edge, "99.98", false, "warning 99.98"],
    ["blocks from then on", past, "99.98", false, "blocking 99.98"],
    ["blocks at once where a correction lost its cash", edge, "40", true, "blocking 40"]
  ] as const)("%s", (_, now, paid, isLost, found) => {
    const fact = { ...delivered, paidAmount: d(paid), isLost, entry: null }
    const [severity, amount] = typeof found === "string" ? found.split(" ") : []
    expect(cashSettlement.differences(fact, d("0.01"), terms(now)).map(shown)).toEqual(
      severity === undefined
        ? []
        : [`cash-settlement ${severity} subscription:s1 100 ${amount} USD`]
    )
  })
})

describe("an order that waits", () => {
  const since = at("2026-03-02T18:00:00Z")
  const order = { instrumentId: "f", orderId: "s1", holderId: "h", since }
  it.each([
    ["2026-03-05T18:00:00Z", []],
    ["2026-03-05T18:00:00.000000001Z", ["claim-aging warning subscription:s1 100 0 USD"]]
  ])("is a warning for what it names once its grace time is over: %s", (now, found) => {
    const fact = { ...order, kind: "subscription" as const, ordered: d("100"), unit: "USD" }
    expect(claimAging.differences(fact, none, terms(now)).map(shown)).toEqual(found)
  })
})

describe("a payable distribution", () => {
  const payable = {
    instrumentId: "f",
    distributionId: "f.2026-03",
    payableFrom: at("2026-03-02T00:00:00Z")
  }
  it.each([
    ["2026-03-05T00:00:00Z", 2, 1, []],
    ["2026-03-05T00:00:00.000000001Z", 0, 0, []],
    [
      "2026-03-05T00:00:00.000000001Z",
      2,
      1,
      ["distribution-unpaid warning distribution:f.2026-03 0 3 lines"]
    ],
    [
      "2026-03-05T00:00:00.000000001Z",
      0,
      1,
      ["distribution-unpaid warning distribution:f.2026-03 0 1 lines"]
    ]
  ])(
    "warns of lines that are neither rolled nor waiting: %s %d %d",
    (now, due, delivered, found) => {
      const fact = { ...payable, due, delivered }
      expect(distributionUnpaid.differences(fact, none, terms(now)).map(shown)).toEqual(found)
    }
  )
})

describe("units of a restricted holder", () => {
  const period = {
    restrictionId: "x1" as never,
    holderId: "h" as never,
    instrumentId: null,
    mode: "freeze" as const,
    from: at("2026-03-02T12:00:00Z"),
    endedAt: null
  }
  const out = {
    instrumentId: "f",
    holderId: "h",
    party: "alice" as never,
    from: "alice" as never,
    to: "bob" as never,
    kind: "transfer" as const,
    units: d("5"),
    at: at("2026-03-02T12:00:01Z")
  }
  const ended = at("2026-03-02T12:00:01Z")
  it.each([
    ["left against it", {}, {}, "5"],
    ["left at its very beginning", {}, { at: at("2026-03-02T12:00:00Z") }, "0"],
    ["left before", {}, { at: at("2026-03-02T11:59:59Z") }, "0"],
    ["left when it ended", { endedAt: ended }, {}, "0"],
    ["left just before it ended", { endedAt: at("2026-03-02T12:00:02Z") }, {}, "5"],
    ["came in", {}, { from: "bob" as never, to: "alice" as never }, "0"],
    ["were minted", {}, { from: null, to: "alice" as never, kind: "mint" as const }, "0"],
    ["were locked", {}, { to: "alice" as never, kind: "lock" as const }, "0"],
    ["were moved by force", {}, { kind: "forced-transfer" as const }, "0"],
    ["were recovered", {}, { kind: "recovery" as const }, "0"],
    ["are another instrument's", { instrumentId: "g" as never }, {}, "0"],
    ["are this instrument's", { instrumentId: "f" as never }, {}, "5"],
    ["were redeemed under a freeze", {}, { to: null, kind: "redemption" as const }, "5"],
    [
      "were redeemed where that is allowed",
      { mode: "redeem-only" as const },
      { to: null, kind: "redemption" as const },
      "0"
    ],
    ["were given away where only redeeming is", { mode: "redeem-only" as const }, {}, "5"],
    [
      "were burned for no redemption",
      { mode: "redeem-only" as const },
      { to: null, kind: "burn" as const },
      "5"
    ],
    ["left a holder that may only receive", { mode: "receive-only" as const }, {}, "5"]
  ])("%s", (_, restriction, movement, units) => {
    const left = leftAgainst([{ ...period, ...restriction }], {
      ...out,
      ...movement
    })
    expect(Decimal.formatPlain(left)).toBe(units)
  })

  it("that left against it block their instrument, beyond the tolerance alone", () => {
    const fact = { instrumentId: "f", holderId: "h", units: d("5") }
    expect(restrictionEffect.differences(fact, d("5"))).toEqual([])
    expect(restrictionEffect.differences(fact, d("4.9")).map(shown)).toEqual([
      "restriction-effect blocking holder:h 0 5 units"
    ])
  })
})

describe("units of a party without an admission", () => {
  const start = at("2026-03-02T12:00:00Z")
  const end = at("2026-03-05T12:00:00Z")
  const period = { admittedAt: start, validFrom: null, validUntil: null, endedAt: null }
  it.each([
    ["from its acceptance on", {}, "2026-03-02T12:00:00Z", true],
    ["never before", {}, "2026-03-02T11:59:59Z", false],
    ["never while it is only offered", { admittedAt: null }, "2026-03-03T00:00:00Z", false],
    ["until its end", { endedAt: end }, "2026-03-05T11:59:59Z", true],
    ["never from its end on", { endedAt: end }, "2026-03-05T12:00:00Z", false],
    ["never from its last day on", { validUntil: end }, "2026-03-05T12:00:00Z", false],
    ["never before its first day", { validFrom: end }, "2026-03-05T11:59:59Z", false],
    ["from its first day on", { validFrom: end }, "2026-03-05T12:00:00Z", true]
  ])("may be held %s", (_, change, now, isAdmitted) => {
    expect(Admissions.isAdmitted([{ ...period, ...change }], at(now))).toBe(isAdmitted)
  })

  it.each([
    ["transfer", "2026-03-01T00:00:00Z", true],
    ["transfer", "2026-03-03T00:00:00Z", false],
    ["forced-transfer", "2026-03-01T00:00:00Z", false],
    ["recovery", "2026-03-01T00:00:00Z", false],
    ["transfer", "2026-03-05T12:00:00Z", false],
    ["transfer", "2026-03-05T12:00:00.000000001Z", true],
    ["forced-transfer", "2026-03-06T00:00:00Z", false]
  ] as const)("came against its admissions by a %s of %s: %s", (kind, then, isAgainst) => {
    const arrival = { kind, at: at(then), restricted: true }
    expect(Admissions.isAgainst([{ ...period, endedAt: end }], arrival)).toBe(isAgainst)
  })

  it("come against no admission where anybody may hold them", () => {
    const arrival = { kind: "transfer", at: start, restricted: false } as const
    expect(Admissions.isAgainst([], arrival)).toBe(false)
    expect(Admissions.isAgainst([], { ...arrival, restricted: true })).toBe(true)
  })

  const held = {
    instrumentId: "f",
    party: "bob",
    holderId: null,
    units: d("10"),
    isAdmitted: false,
    byForce: none,
    isNew: false
  }
  it.each([
    ["nothing of one that is admitted", { isAdmitted: true, isNew: true }, []],
    ["a warning", {}, ["admission-effect warning holder:bob 0 10 units"]],
    [
      "the holder, where there is one",
      { holderId: "h" },
      ["admission-effect warning holder:h 0 10 units"]
    ],
    [
      "blocks where units came since the last run",
      { isNew: true },
      ["admission-effect blocking holder:bob 0 10 units"]
    ],
    [
      "the part that nobody forced",
      { byForce: d("4") },
      ["admission-effect warning holder:bob 4 10 units"]
    ],
    ["nothing of what was forced", { byForce: d("10") }, []],
    ["nothing of a part of what was forced", { byForce: d("12") }, []]
  ])("are %s", (_, change, found) => {
    expect(Admissions.admissionEffect.differences({ ...held, ...change }, none).map(shown)).toEqual(
      found
    )
  })
})

describe("the places of an instrument", () => {
  it.each([
    [0, []],
    [3, []],
    [4, ["holder-cap warning instrument:f 3 4 holders"]]
  ])("that %d of 3 are taken", (taken, found) => {
    const fact = { instrumentId: "f", holderCap: 3, takenCount: taken }
    expect(Admissions.holderCap.differences(fact, none).map(shown)).toEqual(found)
  })
})

describe("a lock of the venue", () => {
  const lock = { instrumentId: "f", contractId: "c1", holderId: "h", units: d("7") }
  it.each([
    [true, []],
    [false, ["orphan-locks warning contract:c1 0 7 units"]]
  ])("whose order is live: %s", (isLive, found) => {
    expect(orphanLocks.differences({ ...lock, isLive }, none).map(shown)).toEqual(found)
  })
})

describe("the digest of contracts", () => {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
  const digestOf = (contracts: ReadonlyArray<string>) =>
    contracts.reduce((sum, contractId) => Drift.add(sum, { contractId }, sha256), Drift.nothing)
  const contractIds = fc.uniqueArray(fc.string({ maxLength: 8 }), { minLength: 1, maxLength: 20 })

  it("is the same in every order, and another as soon as one contract is another", () => {
    fc.assert(
      fc.property(contractIds, fc.nat(), fc.string({ maxLength: 8 }), (ids, nth, other) => {
        const at = nth % ids.length
        expect(digestOf(ids.toReversed())).toEqual(digestOf(ids))
        expect(digestOf([...ids.slice(at), ...ids.slice(0, at)])).toEqual(digestOf(ids))
        if (!ids.includes(other)) expect(digestOf(ids.with(at, other))).not.toEqual(digestOf(ids))
        expect(digestOf(ids.slice(1))).not.toEqual(digestOf(ids))
      })
    )
  })

  it.each([
    ["nothing where both are the same", ["a", "b"], ["b", "a"], []],
    [
      "the numbers of more",
      ["a"],
      ["a", "b"],
      ["projection-drift blocking contract:t 1 2 contracts"]
    ],
    ["the numbers of fewer", ["a"], [], ["projection-drift blocking contract:t 1 0 contracts"]],
    [
      "no amounts of as many others",
      ["a", "b"],
      ["a", "c"],
      ["projection-drift blocking contract:t - - digest"]
    ]
  ])("finds %s", (_, projected, active, found) => {
    const fact = { name: "t", projected: digestOf(projected), active: digestOf(active) }
    const differences = Drift.projectionDrift.differences(fact, none)
    expect(differences.map(shown)).toEqual(found)
    expect(differences.every(({ instrumentId }) => instrumentId === null)).toBe(true)
  })
})

describe("a replay of policies", () => {
  const versions = [
    { policyVersion: 1, effectiveFrom: at("2026-03-02T00:00:00Z") },
    { policyVersion: 3, effectiveFrom: at("2026-03-03T00:00:00Z") }
  ]
  const order = {
    of: "order" as const,
    instrumentId: "f",
    kind: "redemption" as const,
    orderId: "r1",
    holderId: "h",
    versions
  }
  const found = (inForce: number, judged: number) => [
    `policy-replay blocking redemption:r1 ${inForce} ${judged} policyVersion`
  ]
  it.each([
    ["2026-03-02T12:00:00Z", 1, []],
    ["2026-03-02T12:00:00Z", 3, found(1, 3)],
    ["2026-03-02T12:00:00Z", 2, found(1, 2)],
    ["2026-03-03T00:00:00Z", 3, []],
    ["2026-03-03T00:00:00Z", 1, []],
    ["2026-03-03T00:00:00Z", 2, found(3, 2)],
    ["2026-03-03T00:00:00.000000001Z", 3, []],
    ["2026-03-03T00:00:00.000000001Z", 1, found(3, 1)],
    ["2026-03-01T00:00:00Z", 1, []]
  ])(
    "finds an order of %s under version %d, unless that was in force",
    (then, version, expected) => {
      const fact = { ...order, policyVersion: version, claimedAt: at(then) }
      expect(policyReplay.differences(fact, none).map(shown)).toEqual(expected)
    }
  )

  it.each([
    ["subscription", "s1", "subscription:s1"],
    ["admission", "a1", "contract:admission/a1"]
  ])("finds breaches of a record of kind %s", (kind, id, subject) => {
    const record = { of: "breaches" as const, kind, id, count: 2 }
    const fact = { ...record, instrumentId: "f", isIdle: false }
    expect(policyReplay.differences(fact, none).map(shown)).toEqual([
      `policy-replay blocking ${subject} 0 2 facts`
    ])
    // A finding without an instrument holds none, so that it does not say that it blocks.
    expect(policyReplay.differences({ ...fact, instrumentId: null }, none).map(shown)).toEqual([
      `policy-replay warning ${subject} 0 2 facts`
    ])
    expect(policyReplay.differences({ ...fact, isIdle: true }, none).map(shown)).toEqual([
      `policy-replay warning ${subject} 0 2 facts`
    ])
    expect(policyReplay.differences(fact, d("2"))).toEqual([])
  })
})

describe("a difference within the tolerance of the policy", () => {
  const holding = { instrumentId: "f", holderId: "h" }
  const late = terms("2026-04-02T18:00:00Z")
  const sums = {
    ...{ entitlement: d("5"), gross: d("4"), equalisation: none, withheld: d("1"), net: d("3") },
    ...{ carryOut: d("1"), payoutUnits: none, lines: 2 }
  }
  const line = { ...sums, units: d("10"), carryIn: none, rate: none, payoutUnits: null }
  const distribution = { ...holding, distributionId: "f.2026-03", currency: "USD" }

  /** A fact of each check whose difference is 2, judged by a tolerance. */
  const ofTwo: Readonly<Record<string, (by: Decimal.Decimal) => ReadonlyArray<Difference>>> = {
    "movements-balance": (by) =>
      movementsBalance.differences(
        { ...holding, party: "p", opening: d("5"), moved: d("1"), closing: d("8") },
        by
      ),
    "claim-aging": (by) =>
      claimAging.differences(
        {
          ...{ ...holding, kind: "subscription", orderId: "s1", ordered: d("2"), unit: "USD" },
          since: burnedAt
        },
        by,
        late
      ),
    "distribution-unpaid": (by) =>
      distributionUnpaid.differences(
        { ...distribution, payableFrom: burnedAt, due: 1, delivered: 1 },
        by,
        late
      ),
    "admission-effect": (by) =>
      Admissions.admissionEffect.differences(
        {
          ...{ ...holding, party: "p", units: d("2"), isAdmitted: false, byForce: none },
          isNew: true
        },
        by
      ),
    "holder-cap": (by) =>
      Admissions.holderCap.differences({ ...holding, holderCap: 3, takenCount: 5 }, by),
    "orphan-locks": (by) =>
      orphanLocks.differences({ ...holding, contractId: "c1", units: d("2"), isLive: false }, by),
    "policy-replay": (by) =>
      policyReplay.differences(
        {
          ...{ ...holding, of: "order", kind: "redemption", orderId: "r1", policyVersion: 3 },
          claimedAt: burnedAt,
          versions: [{ policyVersion: 1, effectiveFrom: burnedAt }]
        },
        by
      ),
    "distribution-recompute": (by) =>
      distributionRecompute.differences(
        {
          ...{ ...distribution, of: "line", lineId: "f.2026-03.1", expected: line },
          actual: { ...line, net: d("5") }
        },
        by
      ),
    "distribution-identity": (by) =>
      distributionIdentity.differences(
        {
          ...{ ...distribution, sealed: sums, accrued: null },
          stored: { ...sums, equalisation: d("2"), carryIn: none, lost: none, unpayable: 0 }
        },
        by
      )
  }

  it.each(Object.entries(ofTwo))("is none of %s, its edge included", (check, differences) => {
    expect(differences(d("2"))).toEqual([])
    const beyond = differences(d("1.9999999999"))
    expect(beyond.map(({ difference }) => Decimal.abs(difference ?? none))).toEqual([d("2")])
    expect(beyond.map((found) => found.check)).toEqual([check])
  })
})
