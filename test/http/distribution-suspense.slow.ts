/** Suspended lines of a par fund over HTTP: voided by an order, taken over by successors, waiting for a holder; and what is refused. */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"
import type * as Venue from "./venue.ts"

const order = {
  authority: "District Court",
  reference: "22-1234",
  documentHash: "cd".repeat(32)
}
const { par } = Distributing

let fund: Distributing.Fund

beforeAll(async () => {
  fund = await Distributing.open({
    instruments: {
      "fund-a": par,
      "never-paid": {
        ...par,
        distribution: { ...par.distribution, schedule: "none", calendar: null }
      },
      "month-end": { ...par, distribution: { ...par.distribution, calendar: null } }
    },
    holders: ["alice", "bob", "carol", "dave"],
    admissions: Object.fromEntries(
      ["alice", "bob", "carol", "dave", "stranger"].map((name) => [name, ["fund-a"]])
    ),
    settings: { successorCooling: Duration.of("PT0S"), linesMax: 5 }
  })
  for (const name of ["alice", "bob", "carol", "dave"]) await fund.mints(name, "1000")
  await fund.writes("/v1/instruments/fund-a/issuer-powers-agreement:propose", {
    issuer: fund.wallet("fund").party,
    powers: ["force-transfer", "recover"]
  })
  await fund.work()
  for (const name of ["carol", "dave"]) {
    await fund.writes(`/v1/holders/${name}/issuer-powers-consents`, {})
    await fund.work()
  }
})
afterAll(() => fund.close())

/** A refused call: its status, its slug with the check that fails, its errors by their places. */
const refusal = async (path: string, body: object, as?: string) => {
  const { status, value } = await fund.calls(path, body, as)
  const { type, gate, check, errors } = value as Distributing.Json & Partial<Venue.Problem>
  const slug = String(type).replace("urn:bursar:problem:", "")
  return [
    status,
    slug === "rule-refused" ? `${gate}/${check}` : slug,
    ...(errors ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`)
  ]
}

const july = { instrumentId: "fund-a", month: "2026-07" }

/** Each payee's line of a month as its id and state. */
const statesOf = async (month: string) =>
  Object.fromEntries(
    Object.entries(await fund.lines(`fund-a.${month}`)).map(([payee, line]) => [
      payee,
      `${line["lineId"]?.slice("fund-a.".length)} ${line["state"]} ${line["reason"]}`
    ])
  )

const publishes = (date: string, value: string) =>
  fund.publishes({ value, valuationTime: `${date}T11:00:00Z` })

const restricts = async (name: string, body: object) =>
  fund.writes(
    `/v1/holders/${name}:restrict`,
    { mode: "freeze", reason: "pledge", ...body },
    "compliance"
  )

/** The registrar sends a party units without a credential, which any party may hold. */
const sends = async (name: string, units: string) => {
  const { registrar, venue } = fund
  const amount = Decimal.of(units)
  await registrar.acts(
    Templates.createAndExercise(
      Templates.Holding,
      {
        registrar: registrar.party,
        owner: registrar.party,
        provider: venue.party,
        instrument: { admin: registrar.party, id: "fund-a" },
        amount,
        restricted: false,
        lock: null,
        label: "",
        meta: {}
      },
      "OfferTransfer",
      {
        receiver: fund.wallet(name).party,
        amount,
        executeBefore: Instant.of("2099-01-01T00:00:00Z")
      }
    )
  )
  await fund.work()
}

describe("attributes that decide the tax of a line", () => {
  it.each([
    ["tax-rate", "1.01", "a tax-rate is a decimal from 0 to 1"],
    ["tax-rate", "15%", "a tax-rate is a decimal from 0 to 1"],
    ["tax-exemption", "4", "a tax-exemption is a code of two digits"]
  ])("%s %s is refused where it is set, by its place", async (name, value, expected) => {
    const stated = { name, value, evidenceHash: "ab".repeat(32) }
    const set = { attributes: [{ ...stated, state: "valid" }] }
    const [status, slug, fault] = await refusal("/v1/holders/alice:set-attributes", set)
    expect([status, slug]).toEqual([400, "invalid-request"])
    expect(fault).toContain("/body/attributes/0/value")
    expect(fault).toContain(expected)
    const holder = { holderId: "eve", party: fund.wallet("alice").party, taxResidences: [] }
    const onboarded = { ...holder, attributes: [stated], admissions: [] }
    const [, , elsewhere] = await refusal("/v1/holders:onboard", onboarded, "app")
    expect(elsewhere).toContain("/body/attributes/0/value")
  })
})

describe("a standing approval over HTTP", () => {
  const path = "/v1/standing-approvals"
  const body = { instrumentId: "fund-a", until: "2026-12-01T00:00:00Z" }
  const grants = (changed: object) => refusal(path, { ...body, ...changed })

  it("never is granted without a schedule or a calendar, past its end, or for too long", async () => {
    expect(await grants({ instrumentId: "never-paid" })).toEqual([422, "policy/calendar"])
    expect(await grants({ instrumentId: "month-end" })).toEqual([422, "policy/calendar"])
    expect(await grants({ until: "2026-06-30T00:00:00Z" })).toEqual([422, "policy/approval-period"])
    expect(await grants({ until: "2030-01-01T00:00:00Z" })).toEqual([
      422,
      "policy/approval-longest"
    ])
    expect(await grants({ instrumentId: "fund-z" })).toEqual([404, "not-found"])
    expect((await refusal(path, body, "risk"))[0]).toBe(403)
  })

  it.each([
    [{ action: "distribution.roll" }, "/body/action"],
    [{ until: "soon" }, "/body/until"],
    [{ maxUses: 0 }, "/body/maxUses"],
    [{ maxUses: 1.5 }, "/body/maxUses"],
    [{ maxNet: -1 }, "/body/maxNet"],
    [{ rateChange: "ask" }, "/body/rateChange"],
    [{ partial: "pay" }, "/body/partial"],
    [{ state: "active" }, "/body/state"]
  ])("%o is refused by its member", async (changed, pointer) => {
    const [status, slug, ...faults] = await grants(changed)
    expect([status, slug, faults.length]).toEqual([400, "invalid-request", 1])
    expect(faults[0]).toContain(`${pointer} `)
  })

  it("is the only open one of its instrument, and is revoked once, by an approver alone", async () => {
    await fund.writes(path, { ...body, standingApprovalId: "first" })
    expect(await grants({})).toEqual([409, "state-conflict"])
    expect(await grants({ standingApprovalId: "first" })).toEqual([409, "already-exists"])
    const revoke = `${path}/first:revoke`
    expect((await refusal(revoke, {}, "compliance"))[0]).toBe(403)
    expect(await fund.writes(revoke, {}, "approver")).toMatchObject({
      state: "revoked",
      revokedBy: "approver-1"
    })
    expect(await refusal(revoke, {}, "risk")).toEqual([409, "state-conflict"])
    expect(await refusal(`${path}/nobody:revoke`, {})).toEqual([404, "not-found"])
    // Another approval may be granted after the revocation; it is revoked unused.
    await fund.writes(path, { ...body, standingApprovalId: "second", maxUses: 1 })
    await fund.writes(`${path}/second:revoke`, {}, "risk")
  })
})

describe("the lines of July", () => {
  it("are one for a chain of successors, and one for a party that is no holder", async () => {
    await fund.at("2026-07-10T12:00:00Z")
    await publishes("2026-07-10", "0.01")
    await fund.succeeds("carol", "carol-2")
    await fund.writes("/v1/holders/carol:recover", {})
    await fund.at("2026-07-20T12:00:00Z")
    await fund.writes("/v1/holders/carol-2/issuer-powers-consents", {})
    await fund.work()
    await fund.succeeds("carol-2", "carol-3")
    await fund.writes("/v1/holders/carol-2:recover", {})
    await fund.arrives("stranger")
    await sends("stranger", "1000")
    await publishes("2026-07-20", "0.02")
    const restricted = { reason: "court-order", order }
    await restricts("alice", restricted)
    await restricts("dave", restricted)
    await fund.at("2026-08-01T00:02:00Z")
    expect(await refusal("/v1/distributions", { ...july, instrumentId: "never-paid" })).toEqual([
      422,
      "policy/distributes"
    ])
    await fund.writes("/v1/distributions", july)
    await fund.at("2026-08-01T00:05:00Z")
    const { party } = fund.wallet("stranger")
    expect(await statesOf("2026-07")).toEqual({
      alice: "2026-07.1 suspended court-order",
      bob: "2026-07.2 due null",
      "carol-3": "2026-07.3 due null",
      dave: "2026-07.4 suspended court-order",
      [party]: "2026-07.5 suspended no-holder"
    })
    // Ten days at 0.01 and twelve at 0.02, held by any of the three.
    const lines = await fund.lines("fund-a.2026-07")
    expect(lines["carol-3"]).toMatchObject({ entitlement: "340", gross: "340", net: "289" })
    expect(lines[party]).toMatchObject({ holderId: "null", party, gross: "240" })
  })

  it("void by an order alone, where they are suspended lines of its holder", async () => {
    const path = "/v1/holders/alice:force-transfer"
    const voids = (...lineIds: ReadonlyArray<string>) =>
      refusal(path, { order, voids: lineIds.map((id) => `fund-a.${id}`) }, "compliance")
    expect(await voids("2026-07.1", "2026-07.4", "2026-07.9")).toEqual([
      422,
      "policy/lines-voidable",
      "/body/voids/1 The holder has no line fund-a.2026-07.4.",
      "/body/voids/2 The holder has no line fund-a.2026-07.9."
    ])
    expect(
      await refusal("/v1/holders/bob:force-transfer", { order, voids: ["fund-a.2026-07.2"] })
    ).toEqual([
      422,
      "policy/lines-voidable",
      "/body/voids/0 The line fund-a.2026-07.2 is not suspended."
    ])
    for (const [body, pointer] of [
      [{ order, voids: [] }, "/body/voids"],
      [{ order, voids: ["a", "a"] }, "/body/voids"],
      [{ voids: ["fund-a.2026-07.1"] }, "/body/order"],
      [{ order }, "/body/toHolderId"]
    ] as const) {
      const [status, , fault] = await refusal(path, body)
      expect([status, String(fault).split(" ")[0]]).toEqual([400, pointer])
    }
    const done = await fund.writes(path, { order, voids: ["fund-a.2026-07.1"] }, "compliance")
    expect(done).toMatchObject({ moves: [], voids: ["fund-a.2026-07.1"] })
    expect(await voids("2026-07.1")).toEqual([
      422,
      "policy/lines-voidable",
      "/body/voids/0 The line fund-a.2026-07.1 is not suspended."
    ])
  })

  it("void with the units of their holder, in one act", async () => {
    const body = { order, toHolderId: "bob", voids: ["fund-a.2026-07.4"] }
    const done = await fund.writes("/v1/holders/dave:force-transfer", body, "compliance")
    expect(done).toMatchObject({
      voids: ["fund-a.2026-07.4"],
      moves: [{ from: { holderId: "dave" }, to: { holderId: "bob" }, units: 1000 }]
    })
    expect(await statesOf("2026-07")).toMatchObject({
      alice: expect.stringContaining("void"),
      dave: expect.stringContaining("void")
    })
  })

  it("of the last successor are paid to it, and a delivered one is not voided", async () => {
    await fund.at("2026-08-03T00:00:01Z")
    const wallets = ["carol", "carol-2", "carol-3"].map((name) => fund.wallet(name))
    const deliveredLines = await Promise.all(
      wallets.map((wallet) => wallet.sees(Templates.DeliveredLine))
    )
    expect(deliveredLines.map((lines) => lines.map(({ payload }) => payload.lineId))).toEqual([
      [],
      [],
      ["fund-a.2026-07.3"]
    ])
    expect(
      await refusal("/v1/holders/bob:force-transfer", { order, voids: ["fund-a.2026-07.2"] })
    ).toEqual([
      422,
      "policy/lines-voidable",
      "/body/voids/0 The line fund-a.2026-07.2 is not suspended."
    ])
  })

  it("wait for the party to become a holder, and then are paid to it", async () => {
    await fund.at("2026-08-03T01:05:00Z")
    expect(await fund.reads("/v1/distributions/fund-a.2026-07")).toMatchObject({
      state: "paid",
      counts: { rolled: 2, void: 2, suspended: 1, due: 0, delivered: 0 }
    })
    await fund.joins("stranger")
    expect(await statesOf("2026-07")).toMatchObject({ stranger: "2026-07.5 due null" })
    await fund.at("2026-08-04T12:00:00Z")
    expect((await fund.lines("fund-a.2026-07"))["stranger"]).toMatchObject({
      state: "delivered",
      gross: "240",
      paidOn: "2026-08-04"
    })
  })
})

describe("an execution with more lines than the deployment allows", () => {
  it("is refused before anything is on the ledger, in its precheck too", async () => {
    await fund.joins("erin")
    await fund.joins("frank")
    for (const name of ["erin", "frank"]) await fund.mints(name, "10")
    await fund.at("2026-08-28T12:00:00Z")
    await publishes("2026-08-28", "0.01")
    await fund.at("2026-09-01T00:02:00Z")
    const august = { instrumentId: "fund-a", month: "2026-08" }
    expect(await refusal("/v1/distributions", august)).toEqual([422, "ledger/distribution-size"])
    const { gates } = await fund.reads<{ readonly gates: ReadonlyArray<Distributing.Json> }>(
      "/v1/instruments/fund-a/precheck?act=distribution.execute&month=2026-08"
    )
    expect(gates.filter(({ ok }) => ok !== true)).toMatchObject([
      { gate: "ledger", check: "distribution-size" }
    ])
    expect(await fund.reads("/v1/distributions?instrumentId=fund-a")).toHaveLength(1)
  })
})
