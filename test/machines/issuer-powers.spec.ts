/**
 * Issuer powers: the moves of each fact and of the clock in each state, and the parties that each
 * state waits for.
 */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { describe, expect, it } from "vitest"
import type { Fact } from "#core/agreements/Agreement.ts"
import {
  type IssuerPowersAgreement,
  IssuerPowersAgreementMachine,
  issuerPowersAgreements
} from "#core/powers/IssuerPowersAgreement.ts"
import * as Consent from "#core/holders/issuer-powers-consent/IssuerPowersConsent.ts"
import {
  type IssuerPowersConsent,
  issuerPowersConsents
} from "#core/holders/issuer-powers-consent/IssuerPowersConsent.ts"
import { ripen } from "#core/kernel/Collection.ts"
import * as Invariant from "#core/kernel/Invariant.ts"
import * as Machine from "#core/kernel/Machine.ts"
import { id, party } from "./subscriptions.ts"

const at = (hour: number) => Instant.of(`2026-07-30T${String(hour).padStart(2, "0")}:00:00Z`)
const cid = (text: string) => text.padEnd(8, "0")

const proposed: IssuerPowersAgreement = {
  issuerPowersAgreementId: "ipa_1",
  instrumentId: "fund-a",
  issuer: party("fund"),
  registrar: party("registrar"),
  powers: ["force-transfer", "recover"],
  consentRevocable: true,
  state: "proposed",
  acceptedBy: [],
  proposedAt: at(1),
  offset: Offset.of(1),
  from: null,
  until: at(9),
  endedAt: null,
  proposalCid: cid("aa"),
  agreementCid: null
}
const accept = { on: "accept", party: party("fund"), proposalCid: cid("ab") } as const
const agree = {
  on: "agree",
  party: party("registrar"),
  cid: cid("ac"),
  at: at(2)
} as const
const decline = { on: "decline", at: at(2) } as const
const replace = { on: "replace", at: at(2) } as const
const end = { on: "end", at: at(3) } as const
const agreed = issuerPowersAgreements.evolve(issuerPowersAgreements.evolve(proposed, accept), agree)

const offered: IssuerPowersConsent = {
  issuerPowersConsentId: "ipc_1",
  holderId: id("h1"),
  party: party("h1"),
  instrumentId: null,
  issuers: [party("fund")],
  powers: ["recover"],
  revocable: true,
  state: "offered",
  offeredAt: at(1),
  offset: Offset.of(1),
  expiresAt: at(5),
  grantedAt: null,
  validUntil: at(9),
  endedAt: null,
  cid: cid("aa")
}
const grant = { on: "grant", cid: cid("ab"), at: at(2) } as const
const expire = { on: "expire", at: at(5) } as const
const revoke = { on: "revoke", at: at(3) } as const
const granted = Consent.evolve(offered, grant)

describe("an issuer powers agreement", () => {
  it("never is agreed by one of the two alone, or waits for somebody else", () => {
    const waits = (self: IssuerPowersAgreement) =>
      issuerPowersAgreements.waitingOn(self).map((one) => [one.party, one.action, one.by])
    const action = "IssuerPowersAgreementProposal.Accept"
    expect(waits(proposed)).toEqual([
      [party("fund"), action, at(9)],
      [party("registrar"), action, at(9)]
    ])
    const half = issuerPowersAgreements.evolve(proposed, accept)
    expect(half).toMatchObject({ state: "proposed", proposalCid: cid("ab") })
    expect(waits(half)).toEqual([[party("registrar"), action, at(9)]])
    expect(agreed).toMatchObject({ state: "agreed", from: at(2), agreementCid: cid("ac") })
    expect(waits(agreed)).toEqual([])
    // An issuer that keeps its own register is asked once.
    expect(waits({ ...proposed, issuer: party("registrar") })).toHaveLength(1)
  })

  it.each<[self: IssuerPowersAgreement, fact: Fact, state: string]>([
    [proposed, decline, "declined"],
    [proposed, replace, "withdrawn"],
    [agreed, end, "ended"]
  ])("%o answers to %o by something else", (self, fact, state) => {
    const after = issuerPowersAgreements.evolve(self, fact)
    expect(after.state).toBe(state)
    expect(Machine.isTerminal(IssuerPowersAgreementMachine, after.state)).toBe(true)
    expect(Invariant.breaches(issuerPowersAgreements.invariants, after)).toEqual([])
    for (const more of [agree, decline, replace, end]) {
      expect(() => issuerPowersAgreements.evolve(after, more)).toThrow(/corrupt history/u)
    }
  })

  it("never is in force at its end, or ends before it", () => {
    expect(ripen(issuerPowersAgreements, agreed, Instant.fromNanos(at(9) - 1n)).state).toBe(
      "agreed"
    )
    expect(ripen(issuerPowersAgreements, agreed, at(9))).toMatchObject({
      state: "ended",
      endedAt: at(9)
    })
    expect(ripen(issuerPowersAgreements, proposed, at(20)).state).toBe("proposed")
    expect(ripen(issuerPowersAgreements, { ...agreed, until: null }, at(20)).state).toBe("agreed")
  })

  it("that is not as its facts make it is refused", () => {
    const breaches = (changes: Partial<IssuerPowersAgreement>, self = agreed) =>
      Invariant.breaches(issuerPowersAgreements.invariants, { ...self, ...changes })
    expect(breaches({})).toEqual([])
    expect(breaches({ agreementCid: null })).toHaveLength(1)
    expect(breaches({ acceptedBy: [party("fund")] })).toHaveLength(1)
    expect(breaches({ acceptedBy: [...agreed.acceptedBy, party("fund")] })).toHaveLength(1)
    expect(breaches({ proposalCid: null }, proposed)).toHaveLength(1)
  })
})

describe("a consent to issuer powers", () => {
  it.each<[self: IssuerPowersConsent, fact: Consent.Fact, state: string]>([
    [offered, decline, "declined"],
    [offered, replace, "withdrawn"],
    [offered, expire, "expired"],
    [granted, expire, "expired"],
    [granted, revoke, "revoked"]
  ])("%o answers to %o by something else", (self, fact, state) => {
    const after = Consent.evolve(self, fact)
    expect(after.state).toBe(state)
    expect(after.endedAt).toBe(fact.at)
    expect(Machine.isTerminal(Consent.IssuerPowersConsentMachine, after.state)).toBe(true)
    expect(Invariant.breaches(issuerPowersConsents.invariants, after)).toEqual([])
    for (const more of [grant, decline, replace, expire, revoke]) {
      expect(() => Consent.evolve(after, more)).toThrow(/corrupt history/u)
    }
  })

  it("never is revoked before it is granted, or declined afterwards", () => {
    expect(() => Consent.evolve(offered, revoke)).toThrow(/corrupt history/u)
    expect(() => Consent.evolve(granted, decline)).toThrow(/corrupt history/u)
    expect(() => Consent.evolve(granted, replace)).toThrow(/corrupt history/u)
    expect(granted).toMatchObject({ state: "granted", grantedAt: at(2), cid: cid("ab") })
  })

  it("never outlives the offer's time unanswered, or ends with the offer's time once granted", () => {
    const shown = (self: IssuerPowersConsent, hour: number) =>
      ripen(issuerPowersConsents, self, at(hour)).state
    expect([shown(offered, 4), shown(offered, 5)]).toEqual(["offered", "expired"])
    expect([shown(granted, 5), shown(granted, 8), shown(granted, 9)]).toEqual([
      "granted",
      "granted",
      "expired"
    ])
    expect(shown({ ...offered, expiresAt: null }, 9)).toBe("expired")
    expect(shown({ ...offered, expiresAt: at(12) }, 9)).toBe("expired")
    expect(shown({ ...granted, validUntil: null }, 20)).toBe("granted")
  })

  it("never waits for another than its holder, or for anybody once it is answered", () => {
    expect(issuerPowersConsents.waitingOn(offered)).toEqual([
      { party: party("h1"), action: "IssuerPowersConsentOffer.Accept", by: at(5) }
    ])
    expect(issuerPowersConsents.waitingOn(granted)).toEqual([])
  })

  it("that is not as its facts make it is refused", () => {
    const breaches = (changes: Partial<IssuerPowersConsent>) =>
      Invariant.breaches(issuerPowersConsents.invariants, { ...granted, ...changes })
    expect(breaches({})).toEqual([])
    expect(breaches({ endedAt: at(3) })).toHaveLength(1)
    expect(breaches({ state: "revoked" })).toHaveLength(1)
    expect(breaches({ state: "revoked", endedAt: at(3), grantedAt: null })).toHaveLength(1)
  })
})
