/**
 * Every state of a reserve, its lock agreements, amendments, mints and redemptions over HTTP, reached by
 * calls of the venue and acts of wallets, and the events and checks of its cover.
 */
import * as Templates from "@bursar/engine-core/templates"
import { CustodianBot, Reserves, Wallet as InvestorWallet } from "@bursar/storage-adapters/wallets"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  asset,
  bank,
  clock,
  close,
  custodian,
  does,
  events,
  gives,
  mintBody,
  mints,
  open,
  policy,
  prices,
  refusedBy,
  read,
  refusing,
  registrar,
  reserve,
  rows,
  type Row,
  succeeds,
  terms,
  turn,
  venue,
  walletOf
} from "./backed.ts"
import * as Venue from "./venue.ts"

beforeAll(open)
afterAll(close)

const at = (path: string) => `/v1/reserves/res-1/${path}`
const passes = (seconds: number) => clock.set(new Date(Date.now() + seconds * 1_000).toISOString())

const proposes = (reserveId: string) =>
  succeeds("/v1/reserves", {
    reserveId,
    instrumentId: "fund-a",
    holder: custodian.party,
    unit: "USD",
    decimals: 6,
    terms: terms(1),
    loosenDelay: "PT1H"
  })

/** A run that risk calls for. */
const ran = async () => {
  const response = await Venue.send(venue, {
    method: "POST",
    path: "/v1/reconciliation-runs",
    as: await Venue.bearer(["risk"]),
    headers: { "idempotency-key": crypto.randomUUID() }
  })
  return { status: response.status, value: await Venue.json<Row>(response) }
}

/** States of the records of a list, by their ids. */
const states = async (list: string, id: string): Promise<Row> =>
  Object.fromEntries((await rows(list)).map((row) => [row[id], row["state"]]))

describe("every state over HTTP", () => {
  it("of a reserve: declined, withdrawn, proposed, active", async () => {
    await proposes("res-declined")
    expect(await custodian.does(CustodianBot.plan({ policy: refusing }))).toBe("decline-reserve")
    await proposes("res-back")
    await succeeds("/v1/reserves/res-back:close", {})
    await proposes("res-1")
    const list = () => states("/v1/reserves", "reserveId")
    const ended = { "res-declined": "declined", "res-back": "withdrawn" }
    expect(await list()).toEqual({ ...ended, "res-1": "proposed" })
    expect(await custodian.does(CustodianBot.plan({ policy }))).toBe("accept-reserve")
    expect(await registrar.does(Reserves.proposals(policy))).toBe("accept-reserve")
    expect(await list()).toEqual({ ...ended, "res-1": "active" })
  })

  it("of a lock agreement: withdrawn, proposed, active", async () => {
    const path = at("lock-agreements")
    const asks = (lockAgreementId: string, id: string, amount = 0) =>
      succeeds(path, { lockAgreementId, asset: asset(id), amount })
    await asks("lk-back", "USD")
    await succeeds(`${path}/lk-back:release`, {})
    await gives(custodian, "USD", "50")
    await asks("lk-USD", "USD", 50)
    await asks("lk-BILL", "BILL")
    const ended = { "lk-back": "withdrawn" }
    const list = () => states(path, "lockAgreementId")
    expect(await list()).toEqual({ ...ended, "lk-USD": "proposed", "lk-BILL": "proposed" })
    for (const by of [bank, custodian]) {
      for (const _ of ["USD", "BILL"]) {
        expect(await by.does(Reserves.locks(policy))).toBe("accept-lock")
      }
    }
    expect(await list()).toEqual({ ...ended, "lk-USD": "active", "lk-BILL": "active" })
    await prices("2")
  })

  it("of an amendment: withdrawn, proposed, accepted, superseded, effective", async () => {
    const path = at("amendments")
    const asks = (amendmentId: string, minCover: number) =>
      succeeds(path, { amendmentId, terms: terms(minCover) })
    const accepts = async () =>
      expect(await registrar.does(Reserves.amendments(policy))).toBe("accept-amendment")
    const list = () => states(path, "amendmentId")
    await asks("am-back", 1.01)
    await succeeds(`${path}/am-back:withdraw`, {})
    await asks("am-late", 0.9)
    expect(await list()).toEqual({ "am-back": "withdrawn", "am-late": "proposed" })
    await accepts()
    expect(await read(`${path}/am-late`)).toMatchObject({ state: "accepted", loosens: true })
    expect(await reserve()).toMatchObject({
      liveAmendment: "am-late",
      pending: { amendmentId: "am-late" },
      termsInForce: { minCover: 1 }
    })
    await asks("am-urgent", 1.02)
    await accepts()
    const overtaken = { "am-back": "withdrawn", "am-late": "superseded" }
    expect(await list()).toEqual({ ...overtaken, "am-urgent": "effective" })
    await asks("am-last", 1)
    await accepts()
    passes(3_600)
    expect(await list()).toEqual({
      ...overtaken,
      "am-urgent": "superseded",
      "am-last": "effective"
    })
    expect(await reserve()).toMatchObject({ pending: null, termsInForce: { minCover: 1 } })
    const announced = (await events("reserve.amended")).map(({ amendmentId, direction }) => [
      amendmentId,
      direction
    ])
    expect(announced).toEqual([
      ["am-late", "loosen"],
      ["am-urgent", "tighten"],
      ["am-last", "loosen"]
    ])
  })

  it("of a mint: started, ready, settled, cancelled, expired", async () => {
    await prices("2")
    expect(await mints("m-1", "USD", 100)).toMatchObject({ state: "settled" })
    const path = at("mints")
    await succeeds(path, mintBody("m-back", "USD", 5))
    await succeeds(`${path}/m-back:cancel`, {})
    const deadline = new Date(Date.now() + 600_000).toISOString()
    await succeeds(path, { ...mintBody("m-late", "USD", 7), deadline })
    const list = () => states(path, "mintId")
    const ended = { "m-1": "settled", "m-back": "cancelled" }
    expect(await list()).toEqual({ ...ended, "m-late": "started" })
    await gives(walletOf("h1"), "USD", "7")
    expect(await walletOf("h1").does(InvestorWallet.plan({ policy }))).toBe("allocate")
    expect(await walletOf("h1").does(InvestorWallet.plan({ policy }))).toBe("accept-mint-order")
    expect(await list()).toEqual({ ...ended, "m-late": "ready" })
    passes(601)
    expect(await list()).toEqual({ ...ended, "m-late": "expired" })
    expect(await rows("/v1/open-orders")).toMatchObject([{ orderId: "m-late", state: "expired" }])
    await turn()
    await turn()
    expect(await read(`${path}/m-late`)).toMatchObject({ state: "cancelled", endedAs: "expired" })
    expect(await walletOf("h1").sees(Templates.Allocation)).toEqual([])
  })

  it("of a redemption: started, ready, settled, cancelled, expired", async () => {
    const path = at("redemptions")
    const asks = (reserveRedemptionId: string, units: number, members: object = {}) =>
      succeeds(path, {
        reserveRedemptionId,
        holderId: "h1",
        asset: asset("USD"),
        units,
        ...members
      })
    const accepts = async () =>
      expect(await walletOf("h1").does(Reserves.redemptions(policy))).toBe(
        "accept-reserve-redemption"
      )
    await asks("r-1", 10)
    await accepts()
    await turn()
    await asks("r-back", 5)
    await succeeds(`${path}/r-back:cancel`, {}, "risk")
    await asks("r-late", 7, { deadline: new Date(Date.now() + 600_000).toISOString() })
    const list = () => states(path, "reserveRedemptionId")
    const ended = { "r-1": "settled", "r-back": "cancelled" }
    expect(await list()).toEqual({ ...ended, "r-late": "started" })
    await accepts()
    expect(await list()).toEqual({ ...ended, "r-late": "ready" })
    passes(601)
    expect(await list()).toEqual({ ...ended, "r-late": "expired" })
    await turn()
    await turn()
    expect(await read(`${path}/r-late`)).toMatchObject({ state: "cancelled", endedAs: "expired" })
    const held = (await walletOf("h1").sees(Templates.Holding)).filter(
      ({ payload }) => payload.lock !== null
    )
    expect(held).toEqual([])
  })

  it("of the cover: a low one holds mints and lets redemptions go on, until it is cured", async () => {
    await prices("2")
    expect(await mints("m-2", "BILL", 40)).toMatchObject({ state: "settled", units: 80 })
    const runs = async () => {
      const { status, value } = await ran()
      expect(status).toBe(201)
      return value
    }
    expect(await runs()).toMatchObject({ verdict: "clear" })
    await prices("0.1")
    expect(await reserve()).toMatchObject({
      required: 170,
      counted: 143.8,
      cover: { state: "low" }
    })
    expect(await runs()).toMatchObject({ verdict: "blocked" })
    const [hold] = await rows("/v1/holds?state=open")
    expect(hold).toMatchObject({ source: "cover", blocks: ["mint", "distribution"] })
    expect(await events("reserve.cover-low")).toMatchObject([
      { ratio: 0.8458823529, minCover: 1, holdId: hold?.["holdId"] }
    ])
    expect(await refusedBy(at("mints"), mintBody("m-3", "USD", 1))).toBe(
      "rule-refused hold not-held"
    )
    await succeeds(at("redemptions"), {
      reserveRedemptionId: "r-2",
      holderId: "h1",
      asset: asset("USD"),
      units: 20
    })
    expect(await does(walletOf("h1"), Reserves.redemptions(policy))).toBe(
      "accept-reserve-redemption"
    )
    await turn()
    expect(await read(at("redemptions/r-2"))).toMatchObject({ state: "settled", payout: 20 })
    const release = `/v1/holds/${String(hold?.["holdId"])}:release`
    expect(await refusedBy(release, { reason: "none" })).toBe("rule-refused hold findings-cleared")
    await prices("2")
    expect(await runs()).toMatchObject({ verdict: "clear" })
    await succeeds(release, { reason: "the price is back" })
    expect(await mints("m-3", "USD", 1)).toMatchObject({ state: "settled" })
  })
})

describe("reads of a reserve", () => {
  const paths = [
    "",
    "/lock-agreements",
    "/lock-agreements/lk-USD",
    "/mints",
    "/mints/m-1",
    "/redemptions",
    "/redemptions/r-1",
    "/amendments",
    "/amendments/am-late",
    "/reports"
  ].map((path) => `/v1/reserves/res-1${path}`)

  it.each(paths)(
    "never are shown to another registrar, an investor or compliance: %s",
    async (path) => {
      const status = async (as: string, claims: object) =>
        (await venue.read(path, as, { ...claims })).status
      expect(await status("registrar", { party: registrar.party })).toBe(200)
      expect(await status("registrar", { party: bank.party })).toBe(404)
      expect(await status("investor", { holder: "h1" })).toBe(403)
      expect(await status("compliance", {})).toBe(403)
    }
  )

  it("never list the reserves of another registrar's instruments", async () => {
    const listed = async (party: string) =>
      (await venue.read("/v1/reserves", "registrar", { party })).value as ReadonlyArray<Row>
    expect((await listed(registrar.party)).length).toBe(3)
    expect(await listed(bank.party)).toEqual([])
  })
})
