/** Issuer powers over HTTP: agreed and consented to by wallets, units moved under an order, a lost key recovered. */
import { Decimal, Duration } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import {
  FundBot,
  Powers,
  RegistrarBot,
  Wallet as InvestorWallet
} from "@bursar/storage-adapters/wallets"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Venue from "./venue.ts"
import * as Wallets from "./wallets.ts"

const policy = { accept: "all" } as const
const refusing = { accept: [], reject: "all" } as const
const documentHash = "ab".repeat(32)
const order = {
  authority: "District Court",
  reference: "22-1234",
  documentHash: "cd".repeat(32)
}

type Row = Readonly<Record<string, unknown>>

let venue: Wallets.WholeVenue
let registrar: Wallets.Wallet
let fund: Wallets.Wallet
const wallets = new Map<string, Wallets.Wallet>()
const walletOf = (holderId: string): Wallets.Wallet => {
  const wallet = wallets.get(holderId)
  if (wallet === undefined) throw new Error(`nobody is ${holderId}`)
  return wallet
}

const succeeds = async (path: string, body: object, as = "operator"): Promise<Row> => {
  const ended = await venue.write(path, body, as)
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: "succeeded" })
  return ended["result"] as Row
}
const refusedBy = async (path: string, body: object, as = "operator"): Promise<string> => {
  const ended = await venue.write(path, body, as)
  const { type, gate, check } = (ended["problem"] ?? ended) as Readonly<Record<string, string>>
  return [type?.split(":").at(-1), gate, check].filter((one) => one != null).join(" ")
}
const read = async (path: string, as = "auditor") => (await venue.read(path, as)).value as Row
const rows = async (path: string, as = "auditor") =>
  (await venue.read(path, as)).value as ReadonlyArray<Row>

const units = async (holderId: string, instrumentId = "fund-a") => {
  const lines = await rows(`/v1/holders/${holderId}/portfolio`)
  const line = lines.find((one) => one["instrumentId"] === instrumentId)
  return Number(line?.["units"] ?? 0)
}
const register = async () => {
  const { text } = await venue.read("/v1/instruments/fund-a/register")
  const { value } = JSON.parse(text) as { readonly value: { readonly head: Row } }
  const { totalUnits, supplyOnLedger, difference } = value.head
  return { totalUnits, supplyOnLedger, difference }
}
const movements = async (instrumentId = "fund-a") =>
  (await rows(`/v1/instruments/${instrumentId}/movements?limit=1000`))
    .filter(({ kind }) => kind !== "mint")
    .map(({ kind, units: moved }) => `${kind} ${moved}`)
const payloadsOf = async (type: string, holderId: string) =>
  (await rows(`/v1/events?type=${type}&holderId=${holderId}`, "operator")).map(
    ({ payload }) => payload as Row
  )
const kinds = async () => (await rows("/v1/proposals")).map(({ kind }) => kind)

const mints = async (holderId: string, amount: string, instrumentId = "fund-a") => {
  const credentials = await registrar.sees(Templates.Credential)
  const { party } = walletOf(holderId)
  const credential = credentials.find(
    ({ payload }) => payload.holder === party && payload.instrumentId === instrumentId
  )
  await registrar.acts(
    Templates.exercise(Templates.Credential, credential?.contractId ?? "", "Receive", {
      amount: Decimal.of(amount),
      reference: { kind: "opening", id: holderId },
      configurationCid: null
    })
  )
}

/** Answers its invitation, signs terms that are countersigned, and accepts its offers. */
const answers = async (holderId: string, instruments: ReadonlyArray<string>) => {
  const wallet = walletOf(holderId)
  expect(await wallet.does(InvestorWallet.invitations(policy))).toBe("accept-invitation")
  expect(await wallet.does(InvestorWallet.signTerms({ documentHash }))).toBe("sign-terms")
  await succeeds(`/v1/holders/${holderId}/accepted-terms:accept`, {})
  for (const instrumentId of instruments) {
    await succeeds(`/v1/holders/${holderId}/admissions`, { instrumentId })
    expect(await wallet.does(InvestorWallet.offers(policy))).toBe("accept-offer")
  }
}

const both = ["fund-a", "fund-b"]

const joins = async (holderId: string) => {
  const wallet = await venue.wallet(holderId)
  wallets.set(holderId, wallet)
  await succeeds("/v1/holders", { holderId, party: wallet.party }, "app")
  await answers(holderId, both)
}
const names = async (holderId: string) => {
  const successorId = `${holderId}-next`
  const wallet = await venue.wallet(successorId)
  wallets.set(successorId, wallet)
  await succeeds(`/v1/holders/${holderId}:register-successor`, {
    party: wallet.party,
    successorId
  })
  await answers(successorId, both)
}

const agreement = (instrumentId: string) =>
  `/v1/instruments/${instrumentId}/issuer-powers-agreement:propose`
const powers = () => ({ issuer: fund.party, powers: ["force-transfer", "recover"] })
const consents = async (holderId: string, body: object = {}) => {
  await succeeds(`/v1/holders/${holderId}/issuer-powers-consents`, body)
  expect(await walletOf(holderId).does(Powers.consents(policy))).toBe("grant-consent")
}

beforeAll(async () => {
  venue = await Wallets.open({ settings: { successorCooling: Duration.of("PT0S") } })
  registrar = await venue.wallet("registrar")
  fund = await venue.wallet("fund")
  const configured = {
    provider: venue.party,
    issuer: fund.party,
    holderRequirements: [],
    issuerRequirements: []
  }
  for (const instrumentId of both) {
    const bot = RegistrarBot.plan({ policy, instruments: [{ instrumentId, ...configured }] })
    await succeeds("/v1/instruments", {
      ...bodyOf(),
      instrumentId,
      registrar: registrar.party,
      oracle: registrar.party,
      holderCap: 100
    })
    expect(await registrar.does(bot)).toBe("configure-instrument")
    await succeeds(`/v1/instruments/${instrumentId}/admission-consent:propose`, {
      fund: fund.party,
      terms: "terms"
    })
    expect(await registrar.does(bot)).toBe("accept-consent")
  }
  for (const holderId of ["h1", "h2", "h3"]) await joins(holderId)
})
afterAll(() => venue.close())

describe("issuer powers over HTTP", () => {
  it("never are agreed by fund and registrar, and the instrument shows something else", async () => {
    const fundBot = FundBot.plan({ policy })
    await succeeds(agreement("fund-a"), powers(), "compliance")
    expect(await kinds()).toEqual(["issuer-powers-agreement"])
    expect(await fund.does(Powers.agreements(refusing))).toBe("decline-powers")
    const shown = async () => (await read("/v1/instruments/fund-a"))["issuerPowersAgreement"] as Row
    expect(await shown()).toMatchObject({ state: "declined", cid: null })
    await succeeds(agreement("fund-a"), { ...powers(), powers: ["recover"] })
    await succeeds(agreement("fund-a"), powers())
    expect(await fund.does(fundBot)).toBe("accept-powers")
    expect(await registrar.does(Powers.agreements(policy))).toBe("accept-powers")
    const { issuerPowersAgreementId: id } = await shown()
    expect(await fund.does(Powers.endAgreement(String(id)))).toBe("end-powers")
    expect(await shown()).toMatchObject({ state: "ended" })
    for (const instrumentId of both) {
      await succeeds(agreement(instrumentId), powers())
      expect(await fund.does(fundBot)).toBe("accept-powers")
      expect(await registrar.does(Powers.agreements(policy))).toBe("accept-powers")
    }
    expect(await shown()).toMatchObject({ state: "agreed", powers: powers().powers, waitingOn: [] })
    expect(await refusedBy(agreement("fund-a"), powers())).toBe(
      "state-conflict IssuerPowersAgreementState"
    )
  })

  it("never are consented to by the holder's wallet, and its record shows something else", async () => {
    const shown = async () => (await read("/v1/holders/h1"))["consents"] as ReadonlyArray<Row>
    const offers = "/v1/holders/h1/issuer-powers-consents"
    const { state } = await succeeds(offers, { instrumentId: "fund-a" })
    expect(state).toBe("offered")
    expect(await kinds()).toEqual(["issuer-powers-consent"])
    expect(await walletOf("h1").does(Powers.consents(refusing))).toBe("refuse-consent")
    expect(await shown()).toMatchObject([{ instrumentId: "fund-a", state: "declined" }])
    await succeeds(offers, { instrumentId: "fund-a" })
    await succeeds(offers, { instrumentId: "fund-a" })
    expect(await kinds()).toEqual(["issuer-powers-consent"])
    expect(await walletOf("h1").does(Powers.consents(policy))).toBe("grant-consent")
    expect(await shown()).toMatchObject([{ instrumentId: "fund-a", state: "granted" }])
    const [consent] = await walletOf("h1").sees(Templates.IssuerPowersConsent)
    const id = consent?.payload.issuerPowersConsentId ?? ""
    expect(await walletOf("h1").does(Powers.revokeConsent(id))).toBe("revoke-consent")
    expect(await shown()).toMatchObject([{ instrumentId: "fund-a", state: "revoked" }])
    expect(await refusedBy(offers, { validUntil: "2020-01-01T00:00:00Z" })).toBe(
      "rule-refused window consent-in-time"
    )
  })

  it("never move a holder's units under an order: an approver signs other figures than those", async () => {
    await mints("h1", "100")
    const path = "/v1/holders/h1:force-transfer"
    const body = { toHolderId: "h2", instruments: [{ instrumentId: "fund-a", units: 40 }], order }
    expect(await refusedBy(path, body)).toBe("rule-refused consent issuer-powers-consent")
    await consents("h1")
    const made = await Venue.send(venue, {
      method: "POST",
      path,
      as: await Venue.bearer(["compliance"]),
      body: JSON.stringify(body),
      headers: { "idempotency-key": crypto.randomUUID() }
    })
    const { actionKey } = (await made.json()) as Row
    expect(await read(`/v1/approvals/${actionKey}`)).toMatchObject({
      figures: {
        "fund-a h1 to": "h2",
        "fund-a h1 units": "40",
        "fund-a h1 released": "0",
        "fund-a h1 locks": "",
        moves: "1",
        carried: "",
        openOrders: "",
        order: order.documentHash
      }
    })
    await venue.write(`/v1/holders/h1:restrict`, { mode: "freeze", reason: "court-order", order })
    const signed = await Venue.send(venue, {
      method: "POST",
      path: `/v1/approvals/${actionKey}:approve`,
      as: await Venue.bearer(["approver"])
    })
    expect(signed.status).toBe(202)
    await venue.settle()
    const { result } = await read(signed.headers.get("location") ?? "")
    expect(result).toMatchObject({
      cause: "forced",
      orderRef: order.documentHash,
      moves: [
        {
          from: { holderId: "h1" },
          to: { holderId: "h2" },
          instrumentId: "fund-a",
          units: 40,
          released: []
        }
      ]
    })
    expect([await units("h1"), await units("h2")]).toEqual([60, 40])
    expect(await movements()).toEqual(["forced-transfer 40"])
    expect(await payloadsOf("holder.forced-transfer", "h1")).toMatchObject([
      { from: { holderId: "h1" }, to: { holderId: "h2" }, quantity: 40, orderCited: true }
    ])
    expect(await refusedBy(path, { ...body, toHolderId: "h1" })).toMatch(/^rule-refused/)
  })

  /** The checks that refuse an act, by its precheck. */
  const objecting = async (query: string) => {
    const judged = await read(`/v1/instruments/fund-a/precheck?${query}`)
    const all = (judged["gates"] as ReadonlyArray<Row>).filter(({ ok }) => ok === false)
    expect(judged["allowed"]).toBe(all.length === 0)
    return all.map(({ check, gate }) => `${gate} ${check}`)
  }

  it("move several holders' units of an instrument, one event each", async () => {
    await mints("h3", "9")
    await consents("h3", { instrumentId: "fund-a" })
    const path = "/v1/instruments/fund-a:force-transfer"
    const moves = [
      { holderId: "h1", toHolderId: "h2", units: 10 },
      { holderId: "h3", toHolderId: "h2" }
    ]
    expect(await refusedBy(path, { moves: [{ holderId: "h3", toHolderId: "h3" }], order })).toBe(
      "rule-refused policy another-receiver"
    )
    const query = `act=instrument.force-transfer&documentHash=${order.documentHash}`
    expect(await objecting(`${query}&moves=h3:h3&moves=h1:h2:1000.0000001`)).toEqual([
      "policy another-receiver",
      "units enough-units",
      "units unit-decimals"
    ])
    expect(await objecting(`${query}&moves=h1:h2:10&moves=h3:h2`)).toEqual([])
    await succeeds(path, { moves, order }, "compliance")
    expect([await units("h1"), await units("h2"), await units("h3")]).toEqual([50, 59, 0])
    expect(await payloadsOf("holder.forced-transfer", "h3")).toMatchObject([{ quantity: 9 }])
    expect(await payloadsOf("holder.forced-transfer", "h1")).toHaveLength(2)
  })

  it("recover a holder to its successor, with its restriction: one event an instrument", async () => {
    await mints("h1", "5", "fund-b")
    const path = "/v1/holders/h1:recover"
    expect(await refusedBy(path, {})).toBe("rule-refused policy successor-registered")
    await names("h1")
    const part = await succeeds(path, { instruments: ["fund-a"] })
    expect(part).toMatchObject({ cause: "recovery", succeeded: [] })
    expect(await read("/v1/holders/h1")).toMatchObject({ state: "active" })
    const rest = await succeeds(path, {}, "compliance")
    expect(rest).toMatchObject({ succeeded: ["h1"] })
    expect(await read("/v1/holders/h1")).toMatchObject({ state: "succeeded" })
    expect([
      await units("h1"),
      await units("h1-next"),
      await units("h1", "fund-b"),
      await units("h1-next", "fund-b")
    ]).toEqual([0, 50, 0, 5])
    expect(await payloadsOf("holder.recovered", "h1")).toMatchObject([
      { quantity: 50 },
      { quantity: 5 }
    ])
    expect(await movements("fund-b")).toEqual(["recovery 5"])
    const carried = await rows("/v1/restrictions?holderId=h1-next", "compliance")
    expect(carried).toMatchObject([{ state: "active", mode: "freeze", reason: "court-order" }])
    const left = await rows("/v1/restrictions?holderId=h1", "compliance")
    expect(left).toMatchObject([{ state: "carried" }])
    expect(carried[0]?.["supersedes"]).toBe(left[0]?.["restrictionId"])
    expect(await payloadsOf("holder.restricted", "h1-next")).toHaveLength(1)
  })

  it("recover several holders of an instrument, each to its own successor", async () => {
    const query = "act=instrument.recover&holderIds=h2"
    const before = await objecting(query)
    expect(before).toContain("consent issuer-powers-consent")
    expect(before).toContain("policy successor-registered")
    await consents("h2")
    await names("h2")
    expect(await objecting(query)).toEqual([])
    await succeeds("/v1/instruments/fund-a:recover", { holderIds: ["h2"] })
    expect([await units("h2"), await units("h2-next")]).toEqual([0, 59])
    expect(await register()).toEqual({ totalUnits: 109, supplyOnLedger: 109, difference: 0 })
  })

  it("never are an investor's or an app's to use, or answer a fault without saying where", async () => {
    for (const role of ["investor", "app", "risk", "auditor", "approver"]) {
      const { status } = await Venue.send(venue, {
        method: "POST",
        path: "/v1/holders/h2:recover",
        as: await Venue.bearer([role]),
        body: "{}",
        headers: { "idempotency-key": crypto.randomUUID() }
      })
      expect([role, status]).toEqual([role, 403])
    }
    const faulty = await venue.write("/v1/instruments/fund-a:force-transfer", {
      moves: [
        { holderId: "h1", toHolderId: "h2" },
        { holderId: "h1", toHolderId: "h3" }
      ],
      order: { ...order, documentHash: "no" }
    })
    const pointers = (faulty["errors"] as ReadonlyArray<Row>).map(({ pointer }) => pointer)
    expect(pointers).toContain("/body/order/documentHash")
  })
})
