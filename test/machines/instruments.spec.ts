/**
 * Admissions, consents and primary markets: the permitted commands in each state, and the record
 * after each fact.
 */
import { Result, Schema } from "effect"
import { describe, expect, it } from "vitest"
import {
  type Admission,
  admissions,
  decide,
  endsAt,
  evolve,
  type Fact as AdmissionFact
} from "#core/admissions/Admission.ts"
import type { Fact } from "#core/agreements/Agreement.ts"
import {
  type AdmissionConsent,
  AdmissionConsentMachine,
  admissionConsents
} from "#core/admissions/AdmissionConsent.ts"
import * as ProposalSteps from "#core/agreements/ProposalSteps.ts"
import {
  against as rows,
  againstAtOnboarding,
  type OfferContext
} from "#core/admissions/AdmissionRules.ts"
import type { RecordedInstrument } from "#core/instruments/instrument/Instrument.ts"
import { Manifest } from "#core/instruments/instrument/Manifest.ts"
import { ripen } from "#core/kernel/Collection.ts"
import * as Gates from "#core/kernel/Gates.ts"
import * as Instant from "#core/kernel/Instant.ts"
import * as Invariant from "#core/kernel/Invariant.ts"
import * as Offset from "#core/kernel/Offset.ts"
import * as Party from "#core/kernel/Party.ts"
import * as PlainJson from "#core/kernel/PlainJson.ts"
import {
  type PrimaryMarket,
  PrimaryMarketMachine,
  primaryMarkets
} from "#core/orders/primary-market/PrimaryMarket.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

const at = (hour: number) => Instant.of(`2026-07-30T${String(hour).padStart(2, "0")}:00:00Z`)
const fund = Party.of("fund::1220f0")
const registrar = Party.of("registrar::1220aa")
const party = Party.of("holder::1220dd")

const outcome = <A, E extends { readonly slug: string; readonly details: object }>(
  result: Result.Result<A, E>
) =>
  Result.match(result, {
    onSuccess: (made) => ({ makes: made }),
    onFailure: ({ slug, details }) => ({ slug, details })
  })

const offered: Admission = {
  admissionId: "adm_1",
  holderId: "holder-1",
  instrumentId: "fund-a",
  party,
  registrar,
  state: "offered",
  offeredAt: at(1),
  offset: Offset.of(1),
  expiresAt: at(5),
  admittedAt: null,
  validFrom: null,
  validUntil: at(9),
  offerCid: "00aa",
  credentialCid: null,
  endedAt: null,
  endedBy: null,
  recoveredBy: null
}
const fold = (...facts: ReadonlyArray<AdmissionFact>) => facts.reduce(evolve, offered)
const accept = { on: "accept", credentialCid: "00bb", at: at(2) } as const
const revoke = { on: "revoke", by: "venue", recoveredBy: null, at: at(3) } as const

describe("an admission", () => {
  it.each([
    ["offered", fold(), { makes: { on: "withdraw" } }],
    ["admitted", fold(accept), { makes: { on: "revoke" } }],
    ["declined", fold({ on: "decline", at: at(2) }), { slug: "state-conflict" }],
    [
      "withdrawn",
      fold({ on: "withdraw", recoveredBy: null, at: at(2) }),
      { slug: "state-conflict" }
    ],
    ["expired", fold({ on: "expire", at: at(5) }), { slug: "state-conflict" }],
    ["revoked", fold(accept, revoke), { slug: "state-conflict" }]
  ] as const)("%s: a withdrawal leads nowhere else", (state, self, expected) => {
    expect(self.state).toBe(state)
    expect(outcome(decide(self, { on: "withdraw" }))).toMatchObject(expected)
    expect(Invariant.breaches(admissions.invariants, self)).toEqual([])
  })

  it("an acceptance leaves the credential's contract, not the offer's", () => {
    expect(fold(accept)).toMatchObject({ offerCid: null, credentialCid: "00bb", admittedAt: at(2) })
  })

  it("an offer ends with its own time or the credential's, the earlier; a credential with its own", () => {
    expect(endsAt(fold())).toBe(at(5))
    expect(endsAt({ ...offered, expiresAt: at(10) })).toBe(at(9))
    expect(endsAt({ ...offered, expiresAt: null, validUntil: null })).toBeNull()
    expect(endsAt(fold(accept))).toBe(at(9))
    expect(endsAt(fold(accept, revoke))).toBeNull()
  })

  it("the clock ends it at its time and not before", () => {
    expect(ripen(admissions, offered, Instant.of("2026-07-30T04:59:59Z")).state).toBe("offered")
    expect(ripen(admissions, offered, at(5))).toMatchObject({ state: "expired", endedBy: "clock" })
    expect(ripen(admissions, fold(accept), at(8)).state).toBe("admitted")
    expect(ripen(admissions, fold(accept), at(9)).state).toBe("expired")
  })

  it("only an offer waits, for its holder, until its time", () => {
    expect(admissions.waitingOn(offered)).toEqual([
      { party, action: "AdmissionOffer.Accept", by: at(5) }
    ])
    expect(admissions.waitingOn(fold(accept))).toEqual([])
  })
})

const instrument = (): RecordedInstrument => ({
  instrumentId: "fund-a" as RecordedInstrument["instrumentId"],
  registrar,
  configurations: [],
  manifest: Schema.decodeUnknownSync(Manifest)(PlainJson.parseTrusted(JSON.stringify(bodyOf()))),
  policyVersion: 1,
  termsSince: null,
  next: null,
  backedBy: null
})

const attribute = (state: "valid" | "pending" | "revoked", validUntil: Instant.Instant | null) => ({
  name: "kyc",
  value: "passed",
  state,
  validFrom: at(0),
  validUntil,
  evidenceHash: "0".repeat(64),
  setBy: "somebody"
})

const screening = (state: "clear" | "review") => ({
  state,
  screenedAt: at(0),
  listVersion: null,
  validUntil: null
})

const open: OfferContext = {
  holder: { attributes: [attribute("valid", null)], screening: screening("clear") },
  instrument: instrument(),
  latest: null,
  consent: { state: "agreed" },
  required: [],
  takenPlaces: 1,
  expiresAt: at(5),
  validFrom: null,
  validUntil: at(9),
  now: at(1)
}

const judge = (offering: OfferContext) => Gates.judge(rows(offering))
const judgeAtOnboarding = (offering: OfferContext) => Gates.judge(againstAtOnboarding(offering))
/** Checks that refuse, as a precheck shows them. */
const against = (offering: OfferContext) =>
  Gates.gateChecksOf(rows(offering)).filter(({ ok }) => !ok)

/** Every gate broken at once; removing the breaches from the left shows the order of precedence. */
const breaches = [
  ["not-admitted-yet", { latest: { state: "admitted" } }],
  [
    "attributes-valid",
    { holder: { attributes: [attribute("pending", null)], screening: screening("clear") } }
  ],
  [
    "screening-clear",
    { holder: { attributes: [attribute("valid", null)], screening: screening("review") } }
  ],
  ["admission-consent", { consent: { state: "proposed" } }],
  ["holder-cap", { takenPlaces: 2 }],
  ["offer-in-time", { expiresAt: at(1) }],
  ["offer-period", { validFrom: at(9) }]
] as const satisfies ReadonlyArray<readonly [string, Partial<OfferContext>]>

const broken = (from: number): OfferContext => ({
  ...open,
  ...Object.assign({}, ...breaches.slice(from).map(([, change]) => change)),
  holder: {
    attributes: [attribute(from <= 1 ? "pending" : "valid", null)],
    screening: screening(from <= 2 ? "review" : "clear")
  }
})

describe("the gates of an offer", () => {
  it("an offer that nothing stands against is not refused", () => {
    expect(outcome(judge(open))).toEqual({ makes: undefined })
    expect(against(open)).toEqual([])
  })

  it.each(breaches.map(([check], n) => [check, n] as const))(
    "%s refuses before every gate after it",
    (check, n) => {
      expect(outcome(judge(broken(n)))).toMatchObject({ slug: "rule-refused", details: { check } })
    }
  )

  it.each(breaches)("%s alone refuses", (check, change) => {
    expect(against({ ...open, ...change }).map(({ check }) => check)).toEqual([check])
  })

  it("a precheck is told every gate that refuses, in order", () => {
    expect(against(broken(0)).map(({ check }) => check)).toEqual(breaches.map(([c]) => c))
  })

  it("an attribute past its time is not valid, whatever its state says", () => {
    const past = [attribute("valid", at(1))]
    expect(outcome(judge({ ...open, holder: { ...open.holder, attributes: past } }))).toMatchObject(
      { details: { gate: "attribute" } }
    )
  })

  it("a deployment without screening refuses nobody for it", () => {
    const holder = { ...open.holder, screening: null }
    expect(outcome(judge({ ...open, holder }))).toEqual({ makes: undefined })
  })

  it("a holder being registered is not asked for what nobody can have verified yet", () => {
    const holder = { attributes: [attribute("pending", null)], screening: screening("review") }
    expect(outcome(judgeAtOnboarding({ ...open, holder }))).toEqual({ makes: undefined })
    expect(outcome(judgeAtOnboarding({ ...open, takenPlaces: 2 }))).toMatchObject({
      details: { check: "holder-cap" }
    })
  })

  it.each(["declined", "withdrawn", "expired", "revoked"] as const)(
    "an admission that was %s does not stand in the way of a new one",
    (state) => {
      expect(outcome(judge({ ...open, latest: { state } }))).toEqual({ makes: undefined })
    }
  )
})

const proposedConsent: AdmissionConsent = {
  admissionConsentId: "acn_1",
  instrumentId: "fund-a",
  registrar,
  fund,
  terms: "t",
  state: "proposed",
  proposedAt: at(1),
  offset: Offset.of(1),
  agreedAt: null,
  endedAt: null,
  proposalCid: "00aa",
  consentCid: null
}
const agree = { on: "agree", cid: "00bb", at: at(2) } as const
const proposalStates = (machine: ProposalSteps.States["machine"]): ProposalSteps.States => ({
  machine,
  proposed: "proposed",
  agreed: "agreed"
})

describe("an admission consent", () => {
  it.each([
    ["proposed", [], true],
    ["agreed", [agree], false],
    ["declined", [{ on: "decline", at: at(2) }], true],
    ["withdrawn", [{ on: "replace", at: at(2) }], true],
    ["ended", [agree, { on: "end", at: at(3) }], true]
  ] as const)("%s: another is asked for only while none is agreed", (state, facts, may) => {
    const self = (facts as ReadonlyArray<Fact>).reduce(admissionConsents.evolve, proposedConsent)
    expect(self.state).toBe(state)
    expect(Invariant.breaches(admissionConsents.invariants, self)).toEqual([])
    expect(
      outcome(ProposalSteps.decide(proposalStates(AdmissionConsentMachine), self, "It stands."))
    ).toMatchObject(may ? { makes: { replaces: self } } : { slug: "state-conflict" })
    expect(admissionConsents.waitingOn(self)).toHaveLength(state === "proposed" ? 1 : 0)
  })

  it("the first is asked for with nothing to replace", () => {
    expect(
      outcome(ProposalSteps.decide(proposalStates(AdmissionConsentMachine), null, "It stands."))
    ).toEqual({
      makes: { replaces: null }
    })
  })
})

const proposedMarket: PrimaryMarket = {
  marketId: "mkt_1",
  instrumentId: "fund-a",
  registrar,
  fund,
  paymentAsset: { admin: Party.of("bank::1220ba"), id: "USD" },
  terms: { attestors: [Party.of("attestor::1220a1")], required: 1, oracle: fund },
  state: "proposed",
  acceptedBy: [],
  proposedAt: at(1),
  offset: Offset.of(1),
  from: null,
  until: at(9),
  endedAt: null,
  proposalCid: "00aa",
  marketCid: null
}
const first = { on: "accept", party: fund, proposalCid: "00ab" } as const
const second = { on: "agree", party: registrar, cid: "00bb", at: at(2) } as const

describe("a primary market", () => {
  it.each([
    ["proposed", [], true, [fund, registrar]],
    ["proposed", [first], true, [registrar]],
    ["agreed", [first, second], false, []],
    ["declined", [first, { on: "decline", at: at(2) }], true, []],
    ["withdrawn", [{ on: "replace", at: at(2) }], true, []],
    ["ended", [first, second, { on: "end", at: at(3) }], true, []]
  ] as const)("%s (row %#): whom it waits for, and whether another may be asked for", (...row) => {
    const [state, facts, may, waits] = row
    const self = (facts as ReadonlyArray<Fact>).reduce(primaryMarkets.evolve, proposedMarket)
    expect(self.state).toBe(state)
    expect(Invariant.breaches(primaryMarkets.invariants, self)).toEqual([])
    expect(primaryMarkets.waitingOn(self).map(({ party }) => party)).toEqual(waits)
    expect(
      outcome(ProposalSteps.decide(proposalStates(PrimaryMarketMachine), self, "It stands."))
    ).toMatchObject(may ? { makes: { replaces: self } } : { slug: "state-conflict" })
  })

  it("it does not wait twice for a registrar that is the fund itself", () => {
    const own = { ...proposedMarket, registrar: fund }
    expect(primaryMarkets.waitingOn(own).map(({ party }) => party)).toEqual([fund])
  })

  it("it ends at its time, and the contract that open orders settle under stays named", () => {
    const agreed = [first, second].reduce(primaryMarkets.evolve, proposedMarket)
    expect(ripen(primaryMarkets, agreed, at(8)).state).toBe("agreed")
    expect(ripen(primaryMarkets, agreed, at(9))).toMatchObject({
      state: "ended",
      marketCid: "00bb"
    })
  })
})
