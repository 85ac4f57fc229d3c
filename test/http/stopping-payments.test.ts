/**
 * Who can stop the payments of a backed instrument over HTTP: the source of an asset's price by
 * publishing 0, and no stranger by atoms of units (docs/domain/stopping-payments.md).
 */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { CustodianBot, Reserves, Wallet as InvestorWallet } from "@bursar/storage-adapters/wallets"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  asset,
  bank,
  close,
  coverOf,
  custodian,
  gives,
  mintBody,
  mints,
  open,
  policy,
  prices,
  read,
  refusedBy,
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

const proposed = (change: object) => ({
  reserveId: "res-1",
  instrumentId: "fund-a",
  holder: custodian.party,
  unit: "USD",
  decimals: 6,
  terms: terms(1.02),
  ...change
})

/** A run that risk calls for. */
const ran = async (): Promise<void> => {
  const { status } = await Venue.send(venue, {
    method: "POST",
    path: "/v1/reconciliation-runs",
    as: await Venue.bearer(["risk"]),
    headers: { "idempotency-key": crypto.randomUUID() }
  })
  expect(status).toBe(201)
  await venue.settle()
}

/** `check severity instrument subject` of every open finding. */
const openFindings = async (): Promise<ReadonlyArray<string>> =>
  (await rows("/v1/findings?state=open", "risk"))
    .map(({ check, severity, instrumentId, subject }) => {
      const { resourceKind, id } = subject as Row
      return [check, severity, instrumentId, `${String(resourceKind)}/${String(id)}`].join(" ")
    })
    .toSorted()

const openHolds = async (): Promise<ReadonlyArray<string>> =>
  (await rows("/v1/holds?state=open", "risk")).map(({ instrumentId, source }) =>
    [instrumentId, source].join(" ")
  )

/** A holder sends an atom of its units, and whoever receives it accepts. */
const sendsAtom = async (holderId: string, to: Awaited<ReturnType<typeof venue.wallet>>) => {
  const held = await walletOf(holderId).sees(Templates.Holding)
  const units = held.find(({ payload }) => payload.instrument.id === "fund-a")
  expect(units?.payload.restricted).toBe(false)
  await walletOf(holderId).acts(
    Templates.exercise(Templates.Holding, units?.contractId ?? "", "OfferTransfer", {
      receiver: to.party,
      amount: Decimal.of("0.0000000001"),
      executeBefore: Instant.add(Instant.of(new Date().toISOString()), Duration.days(1))
    })
  )
  expect(await to.does(InvestorWallet.plan({ policy }))).toBe("accept-transfer")
}

describe("an optional member of null is answered as an absent one", () => {
  it("by the proposal of a reserve", async () => {
    const optional = ["priceDecimals", "loosenDelay", "initialSharePrice"]
    const nulls = Object.fromEntries(optional.map((name) => [name, null]))
    const seen: Array<Row> = []
    for (const [reserveId, change] of [
      ["res-absent", {}],
      ["res-null", nulls]
    ] as const) {
      await succeeds("/v1/reserves", proposed({ ...change, reserveId }))
      const view = await read(`/v1/reserves/${reserveId}`)
      seen.push({ terms: view["terms"], ...Object.fromEntries(optional.map((n) => [n, view[n]])) })
      expect(await custodian.does(CustodianBot.plan({ policy: refusing }))).toBe("decline-reserve")
    }
    expect(seen[1]).toEqual(seen[0])
    expect(seen[0]?.["loosenDelay"]).toEqual(expect.any(String))
  })
})

describe("payments of a backed instrument", () => {
  beforeAll(async () => {
    await succeeds("/v1/reserves", proposed({}))
    expect(await custodian.does(CustodianBot.plan({ policy }))).toBe("accept-reserve")
    expect(await registrar.does(Reserves.proposals(policy))).toBe("accept-reserve")
    await gives(custodian, "USD", "500")
    for (const [id, amount] of [
      ["USD", 500],
      ["BILL", 0]
    ] as const) {
      const lock = { lockAgreementId: `lk-${id}`, asset: asset(id), amount }
      await succeeds(at("lock-agreements"), lock)
      expect(await bank.does(Reserves.locks(policy))).toBe("accept-lock")
      expect(await custodian.does(Reserves.locks(policy))).toBe("accept-lock")
    }
    await prices("2.1")
    expect(await mints("m-1", "USD", 1000)).toMatchObject({ state: "settled", units: 1000 })
    expect(await mints("m-2", "BILL", 250)).toMatchObject({ state: "settled", units: 525 })
  })

  it("answer a mint whose deadline is null as one without", async () => {
    const seen: Array<unknown> = []
    for (const [mintId, change] of [
      ["m-absent", {}],
      ["m-null", { deadline: null }]
    ] as const) {
      await succeeds(at("mints"), { ...mintBody(mintId, "USD", 1), ...change })
      const { state, deadline, deposit } = await read(at(`mints/${mintId}`))
      const ahead = Date.parse(String(deadline)) - Date.now()
      seen.push({ state, deposit, hours: Math.round(ahead / 3_600_000) })
      await succeeds(at(`mints/${mintId}:cancel`), {})
    }
    expect(seen[1]).toEqual(seen[0])
  })

  it("never stop for atoms of unrestricted units that a holder sends to strangers", async () => {
    await ran()
    expect(await openHolds()).toEqual([])
    const strangers: Array<string> = []
    for (const nth of [1, 2, 3]) {
      const stranger = await venue.wallet(`stranger-${nth}`)
      strangers.push(stranger.party)
      await sendsAtom("h1", stranger)
      await ran()
      expect(await openHolds()).toEqual([])
    }
    const found = await openFindings()
    expect(found).toHaveLength(strangers.length)
    for (const text of found) expect(text).toMatch(/^admission-effect warning fund-a /u)
  })

  it("stop for an asset that its source publishes at 0, at which nothing is minted or redeemed", async () => {
    await succeeds(at("mints"), mintBody("m-ready", "BILL", 10))
    const h1 = walletOf("h1")
    await gives(h1, "BILL", "10")
    expect(await h1.does(InvestorWallet.plan({ policy }))).toBe("allocate")
    expect(await h1.does(InvestorWallet.plan({ policy }))).toBe("accept-mint-order")
    const redeemed = { holderId: "h1", asset: asset("BILL") }
    await succeeds(at("redemptions"), { ...redeemed, reserveRedemptionId: "r-ready", units: 21 })
    const accepted = await h1.does(Reserves.redemptions(policy))
    if (accepted === "join") await h1.does(Reserves.redemptions(policy))
    expect(await read(at("mints/m-ready"))).toMatchObject({ state: "ready" })
    expect(await read(at("redemptions/r-ready"))).toMatchObject({ state: "ready" })
    const locked = async () =>
      (await custodian.sees(Templates.Holding))
        .filter(({ payload }) => payload.lock !== null && payload.instrument.id === "BILL")
        .map(({ payload }) => Decimal.formatPlain(payload.amount))
    const before = await locked()
    await prices("0")
    await turn()
    expect(await read(at("mints/m-ready"))).toMatchObject({ state: "ready" })
    expect(await read(at("redemptions/r-ready"))).toMatchObject({ state: "ready" })
    expect(await locked()).toEqual(before)
    expect(await coverOf()).toMatchObject({ counted: 1500, mintable: 0 })
    for (const [path, body] of [
      ["mints", mintBody("m-late", "BILL", 1)],
      ["redemptions", { ...redeemed, reserveRedemptionId: "r-late", units: 1 }]
    ] as const) {
      expect(await refusedBy(at(path), body)).toBe("rule-refused reserve-cover price-known")
    }
    await ran()
    const blocking = (await openFindings()).filter((text) => text.includes(" blocking "))
    expect(blocking).toEqual(["reserve-cover blocking fund-a reserve/res-1"])
    expect(await openHolds()).toEqual(["fund-a cover"])
    expect(await reserve()).toMatchObject({ outstanding: 1525, cover: { state: "low" } })
  })
})
