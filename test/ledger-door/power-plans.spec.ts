/**
 * Plans of the issuer's, the registrar's and the holder's program about issuer powers: each answers
 * by its policy, once, in time, and to its own partners alone.
 */
import { Instant, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import * as Duties from "#adapters/ledger/wallets/Duties.ts"
import * as Flags from "#adapters/ledger/wallets/Flags.ts"
import {
  FundBot,
  Policy,
  Powers,
  RegistrarBot,
  Wallet,
  type World
} from "#adapters/ledger/wallets/index.ts"

const party = (hint: string): Party.Party => Party.of(`${hint}::1220${"ab".repeat(32)}`)
const [venue, fund, registrar] = [party("venue"), party("fund"), party("registrar")]
const [alice, bob] = [party("alice"), party("bob")]
const instrument = { admin: registrar, id: "FUND-A" }
const noon = Instant.of("2026-01-05T12:00:00Z")
const before = Instant.of("2026-01-05T11:59:59.999999Z")

type Contract = World.World["contracts"] extends ReadonlyMap<string, infer C> ? C : never

const contract = <T extends Templates.Template>(
  contractId: string,
  template: T,
  payload: Templates.Payload<T>
): Contract => ({
  contractId,
  template: template.typeRef,
  payload: Templates.encodePayload(template, payload),
  createdAt: before
})

const agreed = {
  venue,
  issuerPowersAgreementId: "ipa-1",
  instrument,
  issuer: fund,
  registrar,
  powers: ["force-transfer", "recover"],
  consentRevocable: true,
  until: null
} as const satisfies Templates.Payload<typeof Templates.IssuerPowersAgreement>

type Proposal = Templates.Payload<typeof Templates.IssuerPowersAgreementProposal>
const proposal = (other: Partial<Proposal> = {}) =>
  contract("00a1", Templates.IssuerPowersAgreementProposal, { ...agreed, accepted: [], ...other })
const agreement = contract("00a2", Templates.IssuerPowersAgreement, agreed)

const consented = {
  venue,
  issuerPowersConsentId: "ipc-1",
  holderId: "h1",
  holder: alice,
  instrument,
  issuers: [fund],
  registrars: [registrar],
  powers: ["recover"],
  revocable: true,
  validUntil: null
} as const satisfies Templates.Payload<typeof Templates.IssuerPowersConsent>

type Offer = Templates.Payload<typeof Templates.IssuerPowersConsentOffer>
const offer = (other: Partial<Offer> = {}) =>
  contract("00b1", Templates.IssuerPowersConsentOffer, { ...consented, expiresAt: null, ...other })
type Consent = Templates.Payload<typeof Templates.IssuerPowersConsent>
const consent = (other: Partial<Consent> = {}) =>
  contract("00b2", Templates.IssuerPowersConsent, { ...consented, ...other })

const acts = (plan: World.Plan, by: Party.Party, ...contracts: ReadonlyArray<Contract>) =>
  actsAt(before)(plan, by, ...contracts)
const actsAt =
  (now: Instant.Instant) =>
  (plan: World.Plan, by: Party.Party, ...contracts: ReadonlyArray<Contract>) =>
    plan({ party: by, now, contracts: new Map(contracts.map((one) => [one.contractId, one])) }).map(
      ({ name, details, change }) => ({ name, ...details, ...change })
    )

const policy = Policy.acceptAll
const bots = [
  ["fund", fund, FundBot.plan({ policy })],
  ["registrar", registrar, RegistrarBot.plan({ policy, instruments: [] })]
] as const

describe("the powers proposed over an instrument", () => {
  it.each(bots)("are accepted by its %s, once, in its own name", (_, by, plan) => {
    const [act, ...more] = acts(plan, by, proposal())
    expect(more).toEqual([])
    expect(act).toMatchObject({
      name: "accept-powers",
      commandId: "accept-powers:00a1",
      issuerPowersAgreementId: "ipa-1",
      instrumentId: "FUND-A",
      powers: "force-transfer recover"
    })
    expect(act?.commands).toEqual([
      Templates.exercise(Templates.IssuerPowersAgreementProposal, "00a1", "Accept", { party: by })
    ])
    expect(acts(plan, by, proposal({ accepted: [by] }))).toEqual([])
  })
  it.each(bots)("never would be accepted by the %s of another instrument", (_, by, plan) => {
    const other = proposal({ issuer: bob, registrar: bob, instrument: { admin: bob, id: "B" } })
    expect(acts(plan, by, other)).toEqual([])
  })
  it.each(bots)("never would be accepted by its %s when they are past", (_, by, plan) => {
    expect(acts(plan, by, proposal({ until: noon }))).toHaveLength(1)
    expect(actsAt(noon)(plan, by, proposal({ until: noon }))).toEqual([])
  })
})

describe("a consent asked of a holder", () => {
  const plan = Wallet.plan({ policy })

  it("is granted by its wallet, which is told what it grants", () => {
    const [act, ...more] = acts(plan, alice, offer())
    expect(more).toEqual([])
    expect(act).toMatchObject({
      name: "grant-consent",
      commandId: "grant-consent:00b1",
      holderId: "h1",
      issuerPowersConsentId: "ipc-1",
      instrumentId: "FUND-A",
      powers: "recover"
    })
    expect(acts(plan, alice, offer({ instrument: null }))).toMatchObject([{ instrumentId: "all" }])
  })
  it("never would be granted by another, after its offer, or for no time at all", () => {
    expect(acts(plan, bob, offer())).toEqual([])
    for (const late of [offer({ expiresAt: noon }), offer({ validUntil: noon })]) {
      expect(acts(plan, alice, late)).toHaveLength(1)
      expect(actsAt(noon)(plan, alice, late)).toEqual([])
    }
  })
  it("never would be granted by who agreed to be this holder, or to hold this instrument", () => {
    const named = Wallet.plan({ policy: { accept: ["h1", "FUND-A"] } })
    expect(acts(named, alice, offer())).toEqual([])
    expect(acts(Wallet.plan({ policy: { accept: ["ipc-1"] } }), alice, offer())).toHaveLength(1)
  })
  it("never would be taken back where the holder may not, or by another", () => {
    const back = Powers.revokeConsent("ipc-1")
    expect(acts(back, alice, consent())).toMatchObject([{ name: "revoke-consent" }])
    expect(acts(back, alice, consent({ revocable: false }))).toEqual([])
    expect(acts(back, bob, consent())).toEqual([])
    expect(acts(Powers.revokeConsent("ipc-2"), alice, consent())).toEqual([])
  })
})

/** Acts of a person's command in a world with all contracts in it. */
const actsOfCommand = (
  actor: Duties.Actor,
  by: Party.Party,
  command: string,
  ...flags: Array<string>
) => {
  const duty = Result.getOrThrow(Duties.read(actor, command, Result.getOrThrow(Flags.parse(flags))))
  if (duty.kind !== "once") throw new Error(duty.kind)
  return acts(duty.plan, by, proposal(), agreement, offer(), consent())
}

describe("a person tells its program to", () => {
  const rows: ReadonlyArray<
    readonly [
      command: string,
      actor: Duties.Actor,
      by: Party.Party,
      ids: readonly [string, ...Array<string>],
      choice: string
    ]
  > = [
    ["accept-powers", "fund", fund, ["ipa-1", "FUND-A"], "Accept"],
    ["accept-powers", "registrar", registrar, ["ipa-1", "FUND-A"], "Accept"],
    ["decline-powers", "fund", fund, ["ipa-1", "FUND-A"], "Decline"],
    ["decline-powers", "registrar", registrar, ["ipa-1", "FUND-A"], "Decline"],
    ["end-powers", "fund", fund, ["ipa-1", "FUND-A"], "End"],
    ["end-powers", "registrar", registrar, ["ipa-1", "FUND-A"], "End"],
    ["grant-consent", "investor", alice, ["ipc-1"], "Accept"],
    ["refuse-consent", "investor", alice, ["ipc-1"], "Decline"],
    ["revoke-consent", "investor", alice, ["ipc-1"], "Withdraw"],
    ["grant-consent", "custodian", alice, ["ipc-1"], "Accept"]
  ]
  it.each(rows)("%s as %s, and it does that alone", (command, actor, by, ids, choice) => {
    for (const id of ids) {
      const done = actsOfCommand(actor, by, command, "--reference", id)
      expect(done, id).toMatchObject([{ name: command, commands: [{ choice }] }])
    }
    expect(actsOfCommand(actor, by, command, "--reference", "another")).toEqual([])
    expect(actsOfCommand(actor, bob, command, "--reference", ids[0])).toEqual([])
  })
  it("never would answer a market by the powers over its instrument", () => {
    expect(actsOfCommand("fund", fund, "accept-market", "--reference", "FUND-A")).toEqual([])
    expect(actsOfCommand("fund", fund, "decline-market", "--reference", "FUND-A")).toEqual([])
  })
})
