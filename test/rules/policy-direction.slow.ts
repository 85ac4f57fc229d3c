/**
 * Direction of a policy's change: every term has one, and a change that only tightens permits no
 * new act.
 */
import {
  Date,
  Decimal,
  type Direction,
  Duration,
  Instant,
  PlainJson
} from "@bursar/engine-core/kernel"
import { Result, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { tooOldBefore } from "#core/holders/screening/ScreeningRules.ts"
import * as AdmissionRules from "#core/admissions/AdmissionRules.ts"
import { Body, type Manifest } from "#core/instruments/instrument/Manifest.ts"
import { termsOf } from "#core/instruments/policy/Policy.ts"
import { changesOf, type Course } from "#core/instruments/policy/PolicyDirection.ts"
import { defaults } from "#core/instruments/policy/PolicyTerms.ts"
import { NavFeed } from "#core/instruments/price/NavFeed.ts"
import { feedOf } from "#core/instruments/price/NavFeedRules.ts"
import { judge, type Judgement } from "#core/kernel/Gates.ts"
import * as RedemptionGates from "#core/orders/redemption/RedemptionGates.ts"
import * as SubscriptionGates from "#core/orders/subscription/SubscriptionGates.ts"
import * as Figures from "#core/writes/Figures.ts"
import * as TermChange from "#core/writes/TermChange.ts"
import { at, id, party } from "../machines/subscriptions.ts"
import { runsOf } from "../long-run.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

const { instrumentId, registrar, ...said } = Schema.decodeUnknownSync(Body)(
  Result.getOrThrow(PlainJson.parse(JSON.stringify(bodyOf())))
)
const base: Manifest = { ...said, ...defaults }

const days = (count: number) => Instant.fromNanos(at + BigInt(count * 24) * 3_600_000_000_000n)
const decimal = fc.constantFrom("0.5", "1", "2").map((text) => Decimal.of(text))
const small = fc.constantFrom("0", "0.1", "0.2").map((text) => Decimal.of(text))
const instant = fc.constantFrom(-1, 0, 1).map(days)
const duration = fc.constantFrom(0, 1, 3).map((count) => Duration.hours(24 * count))
const named = <A>(value: fc.Arbitrary<A>) =>
  fc.dictionary(fc.constantFrom("figures", "nav-price", "nav-usable", "claim-aging"), value, {
    maxKeys: 2
  })

/** Values for every term, few of each, so that they meet; some are neither wider nor tighter. */
const values: { readonly [Term in keyof Manifest]: fc.Arbitrary<Manifest[Term]> } = {
  valuation: fc.constant(base.valuation),
  oracle: fc.constantFrom(null, party("oracle")),
  currency: fc.constant(base.currency),
  unitDecimals: fc.constant(base.unitDecimals),
  parValue: fc.constant(null),
  holderCap: fc.constantFrom(1, 2, 3),
  distribution: fc
    .constantFrom("none" as const, "monthly" as const)
    .map((schedule) => ({ ...base.distribution, schedule })),
  identifiers: fc.constant(base.identifiers),
  legalName: fc.constantFrom(null, "Fund A"),
  businessZone: fc.constant(null),
  display: fc.constant(base.display),
  cutOff: fc.constant(base.cutOff),
  pricing: fc.constant(base.pricing),
  fees: fc.record({ subscription: small, redemption: small }),
  minimumSubscription: fc.option(decimal),
  minimumHolding: fc.option(decimal),
  swing: fc.constant(null),
  navGuardrail: fc.option(fc.record({ up: small, down: small })),
  residual: fc.constant(base.residual),
  navFeed: fc.option(
    fc.record({ externalSourceId: fc.constantFrom("nav-1", "nav-2"), grace: fc.option(duration) })
  ),
  window: fc.record({ opensAt: fc.option(instant), closesAt: fc.option(instant) }),
  limits: fc.record({
    maxSubscription: fc.option(decimal),
    maxRedemption: fc.option(decimal),
    cycleCapacity: fc.option(decimal)
  }),
  tolerances: named(small),
  deliverBeforeCash: fc.boolean(),
  partialDistribution: fc.constantFrom("carry", "refuse"),
  rateChange: fc.constantFrom("alert", "refuse"),
  rescreenAfter: fc.option(duration),
  grace: named(duration)
}
const manifests = fc.record(values)
const terms = Object.keys(values)

/** A pair that differs in few terms: two that differ in all are hardly ever comparable. */
const near = fc
  .tuple(manifests, manifests, fc.subarray(terms, { maxLength: 4 }))
  .map(([from, other, changed]) => ({
    from,
    to: {
      ...from,
      ...Object.fromEntries(Object.entries(other).filter(([term]) => changed.includes(term)))
    }
  }))

const holds = (objections: ReadonlyArray<Judgement>) => Result.isSuccess(judge(objections))
const holder = { holderId: id("h1"), state: "active", screening: null, party: party("h1") } as const
const gateContext = (manifest: Manifest, now: Instant.Instant) => ({
  holds: [],
  restrictions: [],
  now,
  holder: { ...holder, holderId: id<"HolderId">("h1") },
  instrument: {
    instrumentId,
    registrar,
    manifest,
    policyVersion: 1,
    termsSince: null,
    next: null,
    backedBy: null,
    configurations: ["00aa"]
  },
  terms: termsOf({ policyVersion: 1, manifest }),
  payment: "wire" as const,
  cashDecimals: 2,
  market: null
})

const sizes = ["0.4", "0.7", "1", "1.5", "2", "3"].map((text) => Decimal.of(text))
const instants = [-2, -1, 0, 1, 2].map(days)

/** By name, every act of the grid that the terms let pass, judged by what judges the acts themselves. */
const permitted = (manifest: Manifest): ReadonlySet<string> => {
  const acts = new Set<string>()
  const add = (name: string, passes: boolean) => {
    if (passes) acts.add(name)
  }
  for (const now of instants) {
    const common = gateContext(manifest, now)
    for (const size of sizes) {
      add(
        `subscribe ${size} at ${now}`,
        holds(
          SubscriptionGates.againstClaim(
            {
              ...common,
              admission: { state: "admitted", validFrom: null, credentialCid: "00" },
              amount: size,
              units: null,
              worth: size,
              buys: size,
              moves: size,
              attestors: [party("attestor")]
            },
            []
          )
        )
      )
      add(
        `redeem ${size} at ${now}`,
        holds(
          RedemptionGates.againstClaim(
            {
              ...common,
              amount: null,
              units: size,
              oracle: party("oracle"),
              free: Decimal.of("3"),
              heldUnits: Decimal.of("3"),
              leaving: Decimal.zero,
              lastPrice: null
            },
            []
          )
        )
      )
      add(
        `run figures that moved by ${size} of ten`,
        Figures.moved(
          { total: "10" },
          {
            figures: { total: Decimal.add(Decimal.of("10"), size) },
            tolerance: common.terms.tolerances.figures ?? Decimal.zero
          }
        ).length === 0
      )
    }
    for (const next of ["0.7", "0.85", "1", "1.15", "1.3"]) {
      for (const businessDate of [Date.of("2026-07-28"), Date.of("2026-07-30")]) {
        const latest = {
          businessDate,
          official: Decimal.of(next),
          ripcord: false,
          expiresAt: days(2),
          accepted: Decimal.one
        }
        const state = NavFeed.judge({ feed: feedOf({ terms: manifest, latest, now }), now })
        add(`price at ${next} of ${businessDate} at ${now}`, state === "usable" || state === "none")
      }
    }
  }
  for (const takenPlaces of [0, 1, 2, 3]) {
    const offering: AdmissionRules.OfferContext = {
      ...gateContext(manifest, at),
      holder: { attributes: [], screening: null },
      latest: null,
      consent: { state: "agreed" },
      required: [],
      takenPlaces,
      expiresAt: null,
      validFrom: null,
      validUntil: null
    }
    add(`offer the place after ${takenPlaces}`, holds(AdmissionRules.against(offering)))
  }
  const ages = manifest.rescreenAfter === null ? [] : [manifest.rescreenAfter]
  for (const screenedAt of [-4, -2, -0.5].map(days)) {
    const limit = tooOldBefore(at, ages)
    add(`deal on a screening of ${screenedAt}`, limit === undefined || screenedAt >= limit)
  }
  add("deliver before cash", manifest.deliverBeforeCash)
  return acts
}

type Terms = Direction.Pair<Manifest>
const alone = (manifest: Manifest): Course => ({ manifest, next: null })
const changed = ({ from, to }: Terms) => changesOf({ from: alone(from), to: alone(to) }, at)

const acts = ({ from, to }: Terms) => {
  const before = permitted(from)
  const after = permitted(to)
  return { more: [...after].filter((act) => !before.has(act)), isLess: after.size < before.size }
}

describe("a change of terms that loosens nothing", () => {
  it("permits no act that was not permitted before", () => {
    const seen = { tightened: 0, less: 0 }
    fc.assert(
      fc.property(near, (pair) => {
        const direction = TermChange.directionOf(changed(pair))
        if (direction === "loosen") return
        const { isLess, more } = acts(pair)
        expect(more).toEqual([])
        if (direction === null) expect(isLess, "nothing changed, and less may happen").toBe(false)
        seen.tightened += 1
        if (isLess) seen.less += 1
      }),
      { numRuns: runsOf(800) }
    )
    // A property that never saw a tightening would hold of anything.
    expect(seen.tightened).toBeGreaterThan(100)
    expect(seen.less).toBeGreaterThan(25)
  })

  it("permits none at any later instant either, whatever was scheduled before and is now", () => {
    const next = (manifest: fc.Arbitrary<Manifest>) =>
      fc.option(fc.record({ manifest, effectiveFrom: fc.constantFrom(1, 2, 3).map(days) }))
    const courses = near.chain(({ from, to }) => {
      const one = fc.constantFrom(from, to)
      const course = fc.record({ manifest: one, next: next(one) })
      return fc.record({ from: course, to: course })
    })
    const inForce = ({ manifest, next }: Course, now: Instant.Instant) =>
      next !== null && now >= next.effectiveFrom ? next.manifest : manifest
    const seen = { shut: 0, moved: 0 }
    fc.assert(
      fc.property(courses, (pair) => {
        const changes = changesOf(pair, at)
        if (TermChange.directionOf(changes) === "loosen") return
        for (const now of [0, 0.5, 1, 1.5, 2, 2.5, 3, 4].map(days)) {
          const { more } = acts({ from: inForce(pair.from, now), to: inForce(pair.to, now) })
          expect(more).toEqual([])
        }
        seen.shut += 1
        if (changes.length > 0) seen.moved += 1
      }),
      { numRuns: runsOf(200) }
    )
    expect(seen.shut).toBeGreaterThan(50)
    expect(seen.moved).toBeGreaterThan(5)
  })
})

describe("a policy that replaces a scheduled one", () => {
  const wide = { ...base, holderCap: 9 }
  const versionAfter = (manifest: Manifest, count: number) => ({
    manifest,
    effectiveFrom: days(count)
  })
  const changesBetween = (from: Course, to: Course) =>
    changesOf({ from, to }, at).map((one) => `${one.path} ${one.from} ${one.to} ${one.direction}`)

  it("loosens when it brings the same wider terms forward", () => {
    expect(
      changesBetween(
        { manifest: base, next: versionAfter(wide, 2) },
        { manifest: base, next: versionAfter(wide, 1) }
      )
    ).toEqual(["/holderCap 2 9 loosen"])
    expect(changesBetween({ manifest: base, next: versionAfter(wide, 2) }, alone(wide))).toEqual([
      "/holderCap 2 9 loosen"
    ])
  })

  it("loosens when it puts tighter terms off", () => {
    expect(
      changesBetween(
        { manifest: wide, next: versionAfter(base, 1) },
        { manifest: wide, next: versionAfter(base, 2) }
      )
    ).toEqual(["/holderCap 2 9 loosen"])
  })

  it("tightens when it puts wider terms off, and is told against both versions", () => {
    const between = { ...base, holderCap: 5 }
    expect(
      changesBetween(
        { manifest: base, next: versionAfter(wide, 1) },
        { manifest: base, next: versionAfter(wide, 2) }
      )
    ).toEqual(["/holderCap 9 2 tighten"])
    expect(changesBetween({ manifest: base, next: versionAfter(wide, 1) }, alone(between))).toEqual(
      ["/holderCap 2 5 loosen", "/holderCap 9 5 tighten"]
    )
  })

  it("does not look at what is past: terms that began are those in force", () => {
    expect(changesBetween({ manifest: base, next: versionAfter(wide, 0) }, alone(wide))).toEqual([])
  })
})

const long = Duration.days(5)
const short = Duration.hours(12)

/** Each change and what it is; taken back it is the other, and where it is neither it loosens twice. */
const rows: ReadonlyArray<
  readonly [path: string, from: Partial<Manifest>, to: Partial<Manifest>, is: "wider" | "other"]
> = [
  ["/valuation", {}, { valuation: "rebasing" }, "other"],
  ["/oracle", {}, { oracle: party("another") }, "other"],
  ["/currency", {}, { currency: "EUR" }, "other"],
  ["/unitDecimals", {}, { unitDecimals: 7 }, "other"],
  ["/parValue", {}, { parValue: Decimal.one }, "other"],
  ["/holderCap", {}, { holderCap: 3 }, "wider"],
  ...(
    [
      ["schedule", { schedule: "monthly" }, "wider"],
      ["withholding", { withholding: Decimal.one }, "other"],
      ["payoutDecimals", { payoutDecimals: 3 }, "other"],
      ["payout", { payout: "cash" }, "other"],
      ["calendar", { calendar: { frequency: "monthly", recordDay: 1, paymentLagDays: 0 } }, "other"]
    ] as const
  ).map(
    ([name, said, is]) =>
      [
        `/distribution/${name}`,
        {},
        { distribution: { ...base.distribution, ...said } },
        is
      ] as const
  ),
  ["/identifiers", {}, { identifiers: { ...base.identifiers, figi: "BBG000BLNNH6" } }, "other"],
  ["/legalName", {}, { legalName: "Fund A" }, "other"],
  ["/businessZone", {}, { businessZone: base.cutOff.zone }, "other"],
  ["/display", {}, { display: { ...base.display, symbol: "A" } }, "other"],
  ["/cutOff", {}, { cutOff: { ...base.cutOff, days: ["monday"] } }, "other"],
  ["/pricing", {}, { pricing: "historic" }, "other"],
  ["/fees", {}, { fees: { subscription: Decimal.zero, redemption: Decimal.of("0.01") } }, "other"],
  ["/minimumSubscription", { minimumSubscription: Decimal.one }, {}, "wider"],
  [
    "/minimumHolding",
    { minimumHolding: Decimal.of("2") },
    { minimumHolding: Decimal.one },
    "wider"
  ],
  [
    "/swing",
    {},
    { swing: { threshold: Decimal.one, up: Decimal.zero, down: Decimal.zero } },
    "other"
  ],
  [
    "/guardrail",
    { navGuardrail: { up: Decimal.one, down: Decimal.zero } },
    { navGuardrail: null },
    "wider"
  ],
  [
    "/guardrail/up",
    { navGuardrail: { up: Decimal.zero, down: Decimal.zero } },
    { navGuardrail: { up: Decimal.one, down: Decimal.zero } },
    "wider"
  ],
  [
    "/guardrail/down",
    { navGuardrail: { up: Decimal.zero, down: Decimal.zero } },
    { navGuardrail: { up: Decimal.zero, down: Decimal.of("0.1") } },
    "wider"
  ],
  ["/residual", {}, { residual: "fund" }, "other"],
  ["/navFeed", { navFeed: { externalSourceId: "a", grace: null } }, {}, "wider"],
  [
    "/navFeed/externalSourceId",
    { navFeed: { externalSourceId: "a", grace: null } },
    { navFeed: { externalSourceId: "b", grace: null } },
    "other"
  ],
  [
    "/navFeed/grace",
    { navFeed: { externalSourceId: "a", grace: null } },
    { navFeed: { externalSourceId: "a", grace: short } },
    "wider"
  ],
  ["/window/opensAt", { window: { opensAt: at, closesAt: null } }, {}, "wider"],
  [
    "/window/closesAt",
    { window: { opensAt: null, closesAt: at } },
    { window: { opensAt: null, closesAt: days(1) } },
    "wider"
  ],
  ...(["maxSubscription", "maxRedemption", "cycleCapacity"] as const).map(
    (name) =>
      [`/limits/${name}`, { limits: { ...base.limits, [name]: Decimal.one } }, {}, "wider"] as const
  ),
  ["/tolerances/figures", {}, { tolerances: { figures: Decimal.of("0.1") } }, "wider"],
  ["/tolerances/nav-price", { tolerances: { "nav-price": Decimal.of("0.0019") } }, {}, "wider"],
  ["/tolerances/nav-movement", {}, { tolerances: { "nav-movement": Decimal.zero } }, "other"],
  ["/deliverBeforeCash", {}, { deliverBeforeCash: true }, "wider"],
  ["/partialDistribution", { partialDistribution: "refuse" }, {}, "wider"],
  ["/rateChange", { rateChange: "refuse" }, {}, "wider"],
  ["/rescreenAfter", { rescreenAfter: long }, {}, "wider"],
  ["/rescreenAfter", { rescreenAfter: short }, { rescreenAfter: long }, "wider"],
  ["/grace/claim-aging", {}, { grace: { "claim-aging": long } }, "wider"],
  ["/grace/burned-unpaid", { grace: { "burned-unpaid": short } }, {}, "wider"],
  ["/grace/nav-usable", { grace: { "nav-usable": long } }, {}, "wider"],
  ["/grace/statement-overdue", {}, { grace: { "statement-overdue": short } }, "other"]
]

describe("each term", () => {
  it.each(rows)("%s", (path, before, after, is) => {
    const [from, to] = [
      { ...base, ...before },
      { ...base, ...after }
    ]
    const directionsOf = (pair: Terms) => changed(pair).map((one) => [one.path, one.direction])
    expect(directionsOf({ from, to })).toEqual([[path, "loosen"]])
    expect(directionsOf({ from: to, to: from })).toEqual([
      [path, is === "wider" ? "tighten" : "loosen"]
    ])
  })

  it("has a row here", () => {
    const shown = Object.keys(base).map((term) => (term === "navGuardrail" ? "guardrail" : term))
    const tried = new Set(rows.map(([path]) => path.split("/")[1]))
    expect(shown.filter((term) => !tried.has(term))).toEqual([])
  })

  it("is told with the values a policy's body shows", () => {
    const to = {
      ...base,
      navGuardrail: { up: Decimal.of("0.25"), down: Decimal.zero },
      rescreenAfter: long
    }
    expect(changed({ from: base, to }).map((one) => PlainJson.stringify({ ...one }))).toEqual([
      '{"path":"/guardrail","from":null,"to":{"up":0.25,"down":0},"direction":"tighten"}',
      '{"path":"/rescreenAfter","from":null,"to":"P5D","direction":"tighten"}'
    ])
  })
})

describe("what an approver signs of a change", () => {
  const sha256 = (text: string) => `hash of ${text.length}`

  it("is the direction of the whole, and each term by its path", () => {
    const to = { ...base, holderCap: 1, deliverBeforeCash: true }
    expect(TermChange.figuresOf(changed({ from: base, to }), sha256)).toEqual({
      direction: "loosen",
      "/holderCap": "tighten: 2 -> 1",
      "/deliverBeforeCash": "loosen: false -> true"
    })
    expect(TermChange.figuresOf([], sha256)).toEqual({ direction: "none" })
  })

  it("is another when a long value is, though it is shown by its hash", () => {
    const others = Array.from({ length: 9 }, (_, nth) => ({ scheme: "internal", id: `${nth}` }))
    const to = { ...base, identifiers: { ...base.identifiers, others } }
    expect(TermChange.figuresOf(changed({ from: base, to }), sha256)["/identifiers"]).toMatch(
      /^loosen: \{.*\} -> sha256:hash of \d+$/u
    )
  })
})
