/** Changes of a policy: the terms after each, and each reason for which one is refused. */
import { Decimal, Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Result, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { faults } from "#core/instruments/instrument/InstrumentRules.ts"
import { type Changes, changes, Manifest } from "#core/instruments/instrument/Manifest.ts"
import { judge, type PolicyFacts } from "#core/instruments/policy/PolicyGates.ts"
import { amended, unfixed } from "#core/instruments/policy/PolicyRules.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import { at, id, party } from "../machines/subscriptions.ts"

const decode = <A>(schema: Schema.Codec<A, unknown>, plain: object): A =>
  Schema.decodeUnknownSync(schema)(PlainJson.parseTrusted(JSON.stringify(plain)))
const manifest = decode(Manifest, bodyOf())
const change = (plain: object): Changes => decode(Schema.Struct(changes), plain)

describe("a change of a policy", () => {
  const names = Object.keys(changes) as ReadonlyArray<keyof Changes>
  const allChanges: Changes = change({
    valuation: "par",
    oracle: null,
    currency: "EUR",
    unitDecimals: 2,
    parValue: 2,
    holderCap: 9,
    distribution: { schedule: "monthly", withholding: 0.3, payoutDecimals: 2, payout: "cash" },
    identifiers: { isin: "US0378331005" },
    legalName: "Fund A",
    businessZone: "Europe/Berlin",
    display: { symbol: "FA" },
    cutOff: { time: "12:00", days: ["monday"], zone: "Europe/Berlin" },
    pricing: "historic",
    fees: { subscription: 0.01, redemption: 0.02 },
    minimumSubscription: 100,
    minimumHolding: 1,
    swing: { threshold: 0.05, up: 0.0015, down: 0.001 },
    guardrail: { up: 0.1, down: 0.1 },
    residual: "fund",
    navFeed: { externalSourceId: "nav-1", grace: "PT2H" },
    window: { opensAt: "2026-01-01T00:00:00Z" },
    limits: { maxSubscription: 1000 },
    tolerances: { "nav-price": 0.005 },
    deliverBeforeCash: true,
    partialDistribution: "refuse",
    rateChange: "refuse",
    rescreenAfter: "P365D",
    grace: { "cash-settlement": "P3D" }
  })
  const memberOf = (name: keyof Changes) => (name === "guardrail" ? "navGuardrail" : name)

  it("can name every term there is, so that none is fixed for ever by not being named", () => {
    expect(names.map(memberOf).toSorted()).toEqual(Object.keys(manifest).toSorted())
    expect(Object.keys(allChanges).toSorted()).toEqual(names.toSorted())
  })

  it("changes what it says and nothing else, whichever terms it names", () => {
    fc.assert(
      fc.property(fc.subarray([...names]), (chosen) => {
        const some = Object.fromEntries(chosen.map((name) => [name, allChanges[name]])) as Changes
        const after = amended(manifest, some)
        for (const name of names) {
          // A par instrument has the par value 1 by default.
          if (name === "parValue" && chosen.includes("valuation")) continue
          expect(after[memberOf(name)]).toEqual(
            chosen.includes(name) ? allChanges[name] : manifest[memberOf(name)]
          )
        }
      })
    )
  })

  it("said twice is said once", () => {
    const once = amended(manifest, allChanges)
    expect(amended(once, allChanges)).toEqual(once)
  })

  it("to par without a par value is worth one, as when it is recorded", () => {
    expect(amended(manifest, change({ valuation: "par" })).parValue).toBe(Decimal.one)
  })

  it("names the terms that units are counted by, and only when they become others", () => {
    expect(unfixed(manifest, amended(manifest, allChanges))).toEqual([
      "valuation",
      "currency",
      "unitDecimals"
    ])
    expect(unfixed(manifest, amended(manifest, change({ unitDecimals: 6, holderCap: 3 })))).toEqual(
      []
    )
  })

  it.each([
    [
      { window: { opensAt: "2026-01-02T00:00:00Z", closesAt: "2026-01-02T00:00:00Z" } },
      "window/closesAt"
    ],
    [{ parValue: 2 }, "parValue"]
  ])("%o contradicts itself and is refused where it does", (plain, pointer) => {
    expect(faults(amended(manifest, change(plain))).map((fault) => fault.pointer)).toEqual([
      `/body/${pointer}`
    ])
  })

  it.each([
    { tolerances: { "nav-prize": 0.01 } },
    { tolerances: { "nav-price": -0.01 } },
    { grace: { "cash-settlement": "P1M" } },
    { grace: { nothing: "P1D" } },
    { rescreenAfter: "P1Y" },
    { navFeed: { externalSourceId: "nav-1", grace: "P31DT1S" } },
    { navFeed: { externalSourceId: "nav-1", grace: "P1M" } },
    { limits: { maxRedemption: 0 } },
    { fees: { subscription: 1, redemption: 0 } },
    { fees: null },
    { window: null }
  ])("%o is no policy", (plain) => {
    expect(() => change(plain)).toThrow()
  })
})

const nextDay = Instant.add(at, { years: 0, months: 0, days: 1, time: 0n })
const instrument: PolicyFacts["instrument"] = {
  instrumentId: id("fund-a"),
  registrar: party("registrar"),
  configurations: [],
  manifest,
  policyVersion: 3,
  termsSince: null,
  next: null,
  backedBy: null
}
const sound: PolicyFacts = {
  instrument,
  replaces: "3",
  effectiveFrom: null,
  unfixed: [],
  manifest,
  isMinted: true,
  now: at
}
const waiting = { policyVersion: 4, effectiveFrom: nextDay, manifest }
const swungHistoric = amended(
  manifest,
  change({ pricing: "historic", swing: { threshold: 0.05, up: 0.0015, down: 0.001 } })
)

const outcome = (setting: PolicyFacts) =>
  Result.match(judge(setting), {
    onSuccess: () => "none",
    onFailure: ({ slug, details }) => [slug, details.gate, details.check].filter(Boolean).join(" ")
  })

describe("the gates of policy.set", () => {
  it.each<[outcome: string, change: Partial<PolicyFacts>]>([
    ["none", {}],
    ["none", { effectiveFrom: nextDay }],
    ["none", { replaces: "4", instrument: { ...instrument, next: waiting } }],
    ["none", { unfixed: ["currency"], isMinted: false }],
    ["rule-refused policy swing-forward", { manifest: swungHistoric }],
    // Terms that had both before may change otherwise.
    ["none", { manifest: swungHistoric, instrument: { ...instrument, manifest: swungHistoric } }],
    ["invalid-request", { replaces: null }],
    ["state-conflict PolicyVersionState", { replaces: "2" }],
    ["state-conflict PolicyVersionState", { replaces: "4" }],
    ["state-conflict PolicyVersionState", { replaces: "03" }],
    // A caller who replaces the version in force would undo the accepted change that waits after
    // it.
    ["state-conflict PolicyVersionState", { instrument: { ...instrument, next: waiting } }],
    ["rule-refused policy effective-ahead", { effectiveFrom: at }],
    ["rule-refused policy fixed-after-mint", { unfixed: ["currency"] }],
    [
      "rule-refused policy fixed-at-once",
      { unfixed: ["currency"], isMinted: false, effectiveFrom: nextDay }
    ],
    // A stale version is refused first: everything else was judged against terms its maker never
    // saw.
    [
      "state-conflict PolicyVersionState",
      { replaces: "2", effectiveFrom: at, unfixed: ["currency"] }
    ]
  ])("%s", (expected, change) => {
    expect(outcome({ ...sound, ...change })).toBe(expected)
  })
})
