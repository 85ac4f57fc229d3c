/** Gates of the proposals of reserves and lock agreements, and of releases, at each edge. */
import { Decimal } from "@bursar/engine-core/kernel"
import { describe, expect, test } from "vitest"
import { type Judgement, gateChecksOf } from "#core/kernel/Gates.ts"
import * as LockGates from "#core/reserves/lock-agreement/LockAgreementGates.ts"
import * as ReserveGates from "#core/reserves/reserve/ReserveGates.ts"
import { party } from "../machines/subscriptions.ts"
import { assetTerms } from "./broken-amendments.ts"
import * as Locks from "./broken-lock-agreements.ts"
import * as Reserves from "./broken-reserves.ts"

const d = Decimal.of
const proposed = Reserves.reserve.sound
const { instrument } = proposed

/** Names of the checks that refuse, each with its detail. */
const refusing = (rows: ReadonlyArray<Judgement>) =>
  gateChecksOf(rows)
    .filter(({ ok }) => !ok)
    .map(({ check, detail }) => [check, detail ?? null])
const named = (rows: ReadonlyArray<Judgement>) => refusing(rows).map(([check]) => check)

describe("a reserve", () => {
  test.each([
    ["that was not recorded", { manifest: null, policyVersion: null }],
    ["that no policy is of", { policyVersion: null }],
    ["of which its registrar has no configuration", { configurations: [] }]
  ])("is of no instrument %s", (_, change) => {
    const self = { ...proposed, instrument: { ...instrument, ...change } }
    expect(named(ReserveGates.againstProposal(self))).toEqual(["not-recorded"])
  })

  test("that accumulates may have an initial share price, or none", () => {
    const manifest = { ...instrument.manifest, valuation: "accumulating" }
    const terms = { ...proposed.body.terms, minCover: Decimal.one }
    for (const initialSharePrice of [null, d("1.5")]) {
      const self = {
        ...proposed,
        instrument: { ...instrument, manifest },
        body: { ...proposed.body, terms, initialSharePrice }
      } as typeof proposed
      expect(named(ReserveGates.againstProposal(self))).toEqual([])
    }
  })

  test.each([
    ["another instrument of its registrar", assetTerms("other-1", party("registrar"))],
    [
      "an instrument of its id by another registrar",
      assetTerms(String(instrument.instrumentId), party("bank"))
    ]
  ])("may count %s", (_, asset) => {
    const terms = { ...proposed.body.terms, assets: [asset, assetTerms("USD")] }
    const self = { ...proposed, body: { ...proposed.body, terms } }
    expect(named(ReserveGates.againstProposal(self))).toEqual([])
  })
})

describe("a lock agreement", () => {
  test("is proposed while no terms wait", () => {
    const { sound } = Locks.lock
    const self = { ...sound, reserve: { ...sound.reserve, pending: null } }
    expect(named(LockGates.againstProposal(self))).toEqual([])
  })

  test("of a reserve at par says what its release would leave", () => {
    const { sound } = Locks.release
    const self = { ...sound, books: { ...sound.books, outstanding: d("5001") } }
    expect(refusing(LockGates.againstRelease(self))).toEqual([
      ["cover", "Without the asset 5001 USD would be required, and 5000 USD counted."]
    ])
  })

  test("of an accumulating reserve says who owns what is locked", () => {
    const { sound } = Locks.releaseOwned
    const self = { ...sound, books: { ...sound.books, outstanding: Decimal.one } }
    const accumulating = { mode: "accumulating", initialSharePrice: Decimal.one } as const
    const owned = { ...self, books: { ...self.books, valuation: accumulating } }
    expect(refusing(LockGates.againstRelease(owned))).toEqual([
      ["cover", "What is locked is owned by 1 units outstanding."]
    ])
  })
})
