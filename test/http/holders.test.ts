/** Holders over HTTP, from invitation to close: the venue asks over the API, everybody else answers by wallet. */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Scripted from "@bursar/storage-adapters/screening"
import { RegistrarBot, Wallet as InvestorWallet } from "@bursar/storage-adapters/wallets"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Wallets from "./wallets.ts"

const documentHash = "ab".repeat(32)
const evidenceHash = "ee".repeat(32)
const policy = { accept: "all" } as const
const refusing = { accept: [], reject: "all" } as const

let venue: Wallets.WholeVenue
let registrar: Wallets.Wallet
let alice: Wallets.Wallet
let bob: Wallets.Wallet
beforeEach(async () => {
  venue = await Wallets.open({
    plugged: Scripted.layer(Scripted.clear),
    settings: { sealingKeys: [{ keyId: "k1", secret: new Uint8Array(32).fill(7) }] }
  })
  registrar = await venue.wallet("registrar")
  alice = await venue.wallet("alice")
  bob = await venue.wallet("bob")
  const fund = await venue.wallet("fund")
  const recorded = await venue.write("/v1/instruments", {
    ...bodyOf(),
    registrar: registrar.party,
    oracle: registrar.party,
    holderCap: 1
  })
  expect(recorded).toMatchObject({ state: "succeeded" })
  const instruments = [{ instrumentId: "fund-a", provider: venue.party, issuer: fund.party }]
  const bot = RegistrarBot.plan({
    policy,
    instruments: instruments.map((one) => ({
      ...one,
      holderRequirements: [{ issuer: venue.party, property: "kyc", value: "passed" }],
      issuerRequirements: []
    }))
  })
  expect(await registrar.does(bot)).toBe("configure-instrument")
  await venue.write("/v1/instruments/fund-a/admission-consent:propose", {
    fund: fund.party,
    terms: "terms"
  })
  expect(await registrar.does(bot)).toBe("accept-consent")
})
afterEach(() => venue.close())

const registers = (holderId: string, party: string, members: object = {}) =>
  venue.write("/v1/holders", { holderId, party, ...members }, "app")

/** Invited, accepting, its terms signed and countersigned. */
const joins = async (holderId: string, wallet: Wallets.Wallet, members: object = {}) => {
  expect(await registers(holderId, wallet.party, members)).toMatchObject({ state: "succeeded" })
  expect(await wallet.does(InvestorWallet.invitations(policy))).toBe("accept-invitation")
  expect(await wallet.does(InvestorWallet.signTerms({ documentHash }))).toBe("sign-terms")
  const countersigned = await venue.write(`/v1/holders/${holderId}/accepted-terms:accept`, {})
  expect(countersigned).toMatchObject({ state: "succeeded", result: { state: "active" } })
}

const kyc = { name: "kyc", value: "passed", state: "valid", evidenceHash }
const verifies = (holderId: string, members: object = {}) =>
  venue.write(
    `/v1/holders/${holderId}:set-attributes`,
    { attributes: [{ ...kyc, ...members }] },
    "compliance"
  )
const offers = (holderId: string, members: object = {}) =>
  venue.write(`/v1/holders/${holderId}/admissions`, { instrumentId: "fund-a", ...members })
const states = async (holderId: string) => {
  const { value } = await venue.read(`/v1/holders/${holderId}/admissions`)
  return (value as ReadonlyArray<{ readonly state: string; readonly endedBy: string | null }>).map(
    ({ state, endedBy }) => `${state} ${endedBy ?? ""}`.trim()
  )
}
const checkOf = (ended: Readonly<Record<string, unknown>>) => {
  const problem = (ended["problem"] ?? ended) as Readonly<Record<string, unknown>>
  return `${problem["gate"]} ${problem["check"]}`
}

describe("a holder", () => {
  it("never is admitted without what the registrar requires, or with it and not", async () => {
    await joins("h1", alice)
    expect(checkOf(await offers("h1"))).toBe("attribute attributes-valid")
    await verifies("h1", { state: "pending" })
    expect(checkOf(await offers("h1"))).toBe("attribute attributes-valid")
    await verifies("h1", { value: "partly" })
    expect(checkOf(await offers("h1"))).toBe("attribute attributes-valid")
    await verifies("h1")
    expect(await offers("h1")).toMatchObject({ state: "succeeded" })
    expect(await alice.does(InvestorWallet.offers(policy))).toBe("accept-offer")
    expect(await states("h1")).toEqual(["admitted"])
    expect(await alice.sees(Templates.Credential)).toHaveLength(1)
  })

  it("never declines, is taken back, accepts and renounces, and a place is lost on the way", async () => {
    await joins("h1", alice)
    await verifies("h1")
    await joins("h2", bob)
    await verifies("h2")
    await offers("h1")
    expect(checkOf(await offers("h2"))).toBe("policy holder-cap")
    expect(await alice.does(InvestorWallet.offers(refusing))).toBe("decline-offer")
    await offers("h2")
    expect(checkOf(await offers("h1"))).toBe("policy holder-cap")
    const path = "/v1/holders/h2/admissions/fund-a:withdraw"
    expect(await venue.write(path, {}, "compliance")).toMatchObject({ state: "succeeded" })
    await offers("h1")
    await alice.does(InvestorWallet.offers(policy))
    const [credential] = await alice.sees(Templates.Credential)
    await alice.acts(
      Templates.exercise(Templates.Credential, credential?.contractId ?? "", "Renounce", {})
    )
    await offers("h2")
    await bob.does(InvestorWallet.offers(policy))
    expect(await venue.write(path, {})).toMatchObject({ state: "succeeded" })
    expect(await states("h1")).toEqual(["declined holder", "revoked holder"])
    expect(await states("h2")).toEqual(["withdrawn venue", "revoked venue"])
    const again = await venue.write(path, {})
    expect(again).toMatchObject({ type: "urn:bursar:problem:state-conflict" })
  })

  it("never keeps an offer past its time, and the place with it", async () => {
    await joins("h1", alice)
    await verifies("h1")
    await joins("h2", bob)
    await verifies("h2")
    // A busy machine needs longer to make an offer than the shortest of them lasts.
    let ended: Readonly<Record<string, unknown>> = {}
    for (let millis = 1_000; ended["state"] !== "succeeded" && millis < 60_000; millis *= 2) {
      const expiresAt = Instant.format(Instant.fromEpochMillis(Date.now() + millis))
      ended = await offers("h1", { expiresAt })
    }
    expect(ended).toMatchObject({ state: "succeeded" })
    await expect.poll(() => states("h1")).toEqual(["expired clock"])
    expect(await alice.does(InvestorWallet.offers(policy))).toBe("nothing")
    expect(await offers("h2")).toMatchObject({ state: "succeeded" })
  })

  it("never is onboarded with less than its attributes, its offer and its screening", async () => {
    const onboarded = await venue.write(
      "/v1/holders:onboard",
      {
        holderId: "h1",
        party: alice.party,
        legalName: "Alice",
        taxResidences: [{ country: "US", tin: "*****6789", tinType: "SSN" }],
        attributes: [{ name: "kyc", value: "passed", evidenceHash }],
        admissions: [{ instrumentId: "fund-a" }]
      },
      "app"
    )
    expect(onboarded).toMatchObject({ state: "succeeded" })
    const { value } = await venue.read("/v1/holders/h1")
    expect(value).toMatchObject({
      state: "pending",
      attributes: [{ name: "kyc", state: "pending" }],
      screening: { state: "clear", listVersion: "1" },
      taxResidences: [{ country: "US", tin: "*****6789" }]
    })
    expect(await alice.does(InvestorWallet.invitations(policy))).toBe("accept-invitation")
    expect(await states("h1")).toEqual(["offered"])
  })

  it("never declines its registration and is invited anew, or is left open for ever", async () => {
    await registers("h1", alice.party)
    expect(await alice.does(InvestorWallet.invitations(refusing))).toBe("decline-invitation")
    const waits = async () =>
      (
        (await venue.read("/v1/holders/h1")).value as { waitingOn: Array<{ action: string }> }
      ).waitingOn.map(({ action }) => action)
    expect(await waits()).toContain("holder.close")
    await verifies("h1")
    expect(await waits()).toContain("HolderInvitation.Accept")
    const closed = await venue.write("/v1/holders/h1:close", { closedAs: "CLIN" }, "compliance")
    expect(closed).toMatchObject({ result: { state: "closed", closedAs: "CLIN" } })
    expect(await alice.sees(Templates.HolderInvitation)).toEqual([])
  })

  it("never is closed with a credential that lives on, or while a successor takes no terms of its own", async () => {
    await joins("h1", alice)
    await verifies("h1")
    await offers("h1")
    await alice.does(InvestorWallet.offers(policy))
    const named = await venue.write(
      "/v1/holders/h1:register-successor",
      { party: bob.party, successorId: "h2" },
      "compliance"
    )
    expect(named).toMatchObject({ result: { successor: { party: bob.party } } })
    expect(await bob.does(InvestorWallet.invitations(policy))).toBe("accept-invitation")
    expect((await venue.read("/v1/holders/h2")).value).toMatchObject({
      state: "pending",
      predecessor: "h1"
    })
    expect(await bob.does(InvestorWallet.signTerms({ documentHash }))).toBe("sign-terms")
    await venue.write("/v1/holders/h2/accepted-terms:accept", {})
    expect((await venue.read("/v1/holders/h2")).value).toMatchObject({ state: "active" })
    expect(await venue.write("/v1/holders/h1:close", {})).toMatchObject({ state: "succeeded" })
    expect(await alice.sees(Templates.Credential)).toEqual([])
    expect(await states("h1")).toEqual(["revoked venue"])
  })
})

describe("what is shown", () => {
  it("an investor sees its own records alone, and nothing of what its screening found", async () => {
    await joins("h1", alice)
    await registers("h2", bob.party)
    const own = { holder: "h1" }
    const mine = await venue.read("/v1/holders/h1", "investor", own)
    expect(mine.value).toMatchObject({ screening: null, state: "active" })
    expect(mine.text).not.toContain("listVersion")
    expect((await venue.read("/v1/holders", "investor", own)).value).toHaveLength(1)
    for (const path of ["/v1/holders/h2", "/v1/holders/h2/admissions"]) {
      const other = await venue.read(path, "investor", own)
      const absent = await venue.read(path.replace("h2", "h9"), "investor", own)
      expect([other.status, absent.status]).toEqual([404, 404])
      const { detail } = JSON.parse(other.text) as { readonly detail: string }
      expect(absent.text).toContain(detail)
    }
  })

  it("shows an account's number to nobody, and the account to no investor", async () => {
    await joins("h1", alice)
    const number = "CH93 0076 2011 6238 5295 7"
    // Two groups of it side by side, since one alone may occur in a digest by chance.
    const any = /0076 ?2011|2011 ?6238|6238 ?5295/
    const mapped = await venue.write("/v1/external-accounts", {
      externalAccountId: "a1",
      kind: "cash",
      holderId: "h1",
      number
    })
    expect(mapped).toMatchObject({ state: "succeeded", result: { masked: "****2957" } })
    const listed = await venue.read("/v1/external-accounts?holderId=h1&kind=cash")
    expect(listed.value).toMatchObject([{ externalAccountId: "a1", masked: "****2957" }])
    expect((await venue.read("/v1/external-accounts?kind=custody")).value).toEqual([])
    expect((await venue.read("/v1/external-accounts?holderId=h2")).value).toEqual([])
    expect((await venue.read("/v1/external-accounts?instrumentId=fund-a")).value).toEqual([])
    const { value } = await venue.read("/v1/holders/h1")
    expect(value).toMatchObject({ externalAccounts: ["a1"] })
    for (const path of [
      "/v1/external-accounts",
      "/v1/operations",
      "/v1/approvals",
      "/v1/holders"
    ]) {
      expect((await venue.read(path)).text).not.toMatch(any)
    }
    expect((await venue.read("/v1/external-accounts", "investor", { holder: "h1" })).status).toBe(
      403
    )
    expect(venue.logs.join()).not.toMatch(any)
  })
})
