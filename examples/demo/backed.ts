/**
 * `--backed`: units that exist only against assets locked on the ledger. A reserve is agreed, assets
 * are locked, units minted and redeemed, the terms tightened and the reserve reported, by wallets.
 */
import { appendFile } from "node:fs/promises"
import { Decimal, type PlainJson } from "@bursar/engine-core/kernel"
import * as story from "../story.ts"
import * as VenueClient from "./VenueClient.ts"
import { holderId, people } from "#demo/People.ts"
import * as walking from "./steps.ts"
import type { Walk } from "./steps.ts"
import type { Outcome } from "./subscription.ts"
import * as wallet from "./wallet.ts"

const reserveId = "reserve-1"
export const reserve = `/v1/reserves/${reserveId}`
const [cash, bills] = ["USD", "T-BILL"] as const
/** Price of a bill, and the part of its worth that does not count. */
const [billPrice, haircut] = ["0.98", "0.05"] as const
/** The custodian locks cash of its own, so that the reserve may cover more than its units. */
const [ownCash, cashDeposit, billDeposit, redeemed] = ["8000", "100000", "20000", "30000"] as const

const state = (is: string) => (json: PlainJson.Plain) =>
  VenueClient.text(json, "value", "state") === is

/** Records the instrument, whose registrar issues it, and gets the registrar's consent to admissions. */
export const recorded = async (walk: Walk): Promise<void> => {
  const { stack, desks, instrument, tell } = walk
  const { registrar, oracle } = stack.parties
  const { instrumentId, unitDecimals } = instrument
  const path = `/v1/instruments/${instrumentId}`
  const terms = { instrumentId, unitDecimals, registrar, oracle }
  await walking.agreed(walk, "/v1/instruments", story.backed(terms))
  await desks.operator.until(
    path,
    (json) => VenueClient.member(json, "value", "onRegistry") === true
  )
  await walking.agreed(
    walk,
    `${path}/admission-consent:propose`,
    story.consent({ fund: registrar })
  )
  await desks.operator.until(
    path,
    (json) =>
      VenueClient.member(json, "value", "admissionConsent") !== null &&
      VenueClient.text(json, "value", "admissionConsent", "state") === "agreed"
  )
  tell("the registrar's wallet accepted: the venue may admit holders")
}

const terms = ({ registrar, oracle }: Walk["stack"]["parties"], minCover: string) => ({
  minCover: story.figure(minCover),
  assets: [
    {
      asset: { admin: registrar, id: cash },
      priceSource: null,
      freshness: null,
      haircut: story.figure("0"),
      maxShare: null
    },
    {
      asset: { admin: registrar, id: bills },
      priceSource: oracle,
      freshness: "PT1H",
      haircut: story.figure(haircut),
      maxShare: story.figure("0.4")
    }
  ]
})

/** Has the reserve agreed and its assets locked. */
export const agreed = async (walk: Walk): Promise<void> => {
  const { stack, desks, instrument, tell } = walk
  const { custodian, registrar, venue } = stack.parties
  await walking.agreed(walk, "/v1/reserves", {
    reserveId,
    instrumentId: instrument.instrumentId,
    holder: custodian,
    unit: "USD",
    decimals: 6,
    terms: terms(stack.parties, "1.02")
  })
  await desks.operator.until(reserve, state("active"))
  tell("the issuer's and the custodian's wallets accepted: the reserve is active")
  await wallet.act(stack, "registrar", "issue", {
    instrument: cash,
    provider: venue,
    to: custodian,
    amount: "10000"
  })
  for (const [id, amount] of [
    [cash, ownCash],
    [bills, "0"]
  ] as const) {
    const path = `${reserve}/lock-agreements`
    await walking.agreed(walk, path, {
      lockAgreementId: `lock-${id}`,
      asset: { admin: registrar, id },
      amount: story.figure(amount)
    })
    await desks.operator.until(`${path}/lock-${id}`, state("active"))
    tell(
      `the asset's registrar and the custodian accepted: ${id} may be locked, ${amount} of it is`
    )
  }
}

/** Publishes the price of the bills, which the reserve counts. */
const priced = async ({ stack, desks, tell }: Walk): Promise<void> => {
  const line = {
    instrumentId: bills,
    metric: "price",
    value: billPrice,
    valuationTime: new Date().toISOString()
  }
  await appendFile(stack.prices, `${JSON.stringify(line)}\n`)
  await desks.operator.until(reserve, (json) =>
    VenueClient.list(json, "value", "assets").some(
      (asset) =>
        VenueClient.text(asset, "asset", "id") === bills &&
        VenueClient.member(asset, "price") !== null &&
        VenueClient.decimal(asset, "price") === Decimal.of(billPrice)
    )
  )
  tell(`the oracle's wallet published ${billPrice} for ${bills}`)
}

interface Deposit {
  readonly mintId: string
  readonly id: string
  readonly deposit: string
}

/** Gives the investor what it deposits, and starts the mint. */
export const started = async ({ stack, desks, tell }: Walk, terms: Deposit): Promise<void> => {
  const { investor, registrar, venue } = stack.parties
  const { mintId, id, deposit } = terms
  await wallet.act(stack, "registrar", "issue", {
    instrument: id,
    provider: venue,
    to: investor,
    amount: deposit
  })
  await desks.operator.done(`${reserve}/mints`, {
    mintId,
    holderId,
    asset: { admin: registrar, id },
    deposit: story.figure(deposit)
  })
  tell(`${people.operator.name} starts ${mintId} for ${deposit} ${id}`)
}

/** Mints units against a deposit, which the investor's wallet allocates. */
const minted = async (walk: Walk, deposit: Deposit): Promise<PlainJson.Plain> => {
  const { desks, tell } = walk
  const { mintId } = deposit
  await started(walk, deposit)
  const { json } = await desks.operator.until(`${reserve}/mints/${mintId}`, state("settled"))
  const units = Decimal.formatPlain(VenueClient.decimal(json, "value", "units"))
  tell(`the investor's wallet allocated them, and the engine settled: ${units} units minted`)
  return VenueClient.member(json, "value")
}

/** Redeems units for cash of the reserve. */
const paid = async ({ stack, desks, tell }: Walk): Promise<PlainJson.Plain> => {
  const path = `${reserve}/redemptions/redemption-1`
  await desks.operator.done(`${reserve}/redemptions`, {
    reserveRedemptionId: "redemption-1",
    holderId,
    asset: { admin: stack.parties.registrar, id: cash },
    units: story.figure(redeemed)
  })
  const { json } = await desks.operator.until(path, state("settled"))
  tell(`the investor's wallet locked ${redeemed} units, and the engine burned them for ${cash}`)
  return VenueClient.member(json, "value")
}

/** Tightens the terms, which are in force as soon as the issuer accepts them. */
const tightened = async (walk: Walk): Promise<void> => {
  const { stack, desks, tell } = walk
  await walking.agreed(walk, `${reserve}/amendments`, {
    amendmentId: "amendment-1",
    terms: terms(stack.parties, "1.05")
  })
  await desks.operator.until(`${reserve}/amendments/amendment-1`, state("effective"))
  tell("the issuer's wallet accepted the tightening: it is in force at once")
}

/** Counted value of what is locked, by its own arithmetic: the bills count up to 0.4 of the duty. */
const countedOf = (assets: {
  readonly cash: bigint
  readonly bills: bigint
  readonly duty: bigint
}): bigint => {
  const value = (assets.bills * 98n * 95n) / 10_000n
  const most = (assets.duty * 4n) / 10n
  return assets.cash + (value < most ? value : most)
}

export const backed = async (walk: Walk): Promise<Outcome> => {
  const { desks, tell } = walk
  await recorded(walk)
  await walking.onboard(walk)
  await agreed(walk)
  await priced(walk)
  const first = await minted(walk, { mintId: "mint-1", id: cash, deposit: cashDeposit })
  const second = await minted(walk, { mintId: "mint-2", id: bills, deposit: billDeposit })
  const redemption = await paid(walk)
  await tightened(walk)
  await desks.risk.done(`${reserve}/reports`, { reportId: "report-1" })
  const report = await desks.auditor.get(`${reserve}/reports/report-1`)
  tell(`${people.risk.name} has the ledger compute a report of the reserve`)
  const shown = await desks.auditor.get(reserve)
  const figure = (json: PlainJson.Plain, ...path: ReadonlyArray<string>) =>
    VenueClient.decimal(json, "value", ...path)
  const outstanding = figure(shown.json, "outstanding")
  const counted = figure(shown.json, "counted")
  tell(
    `outstanding ${Decimal.formatPlain(outstanding)}, counted ${Decimal.formatPlain(counted)}, ` +
      `${VenueClient.text(shown.json, "value", "cover", "state")}`
  )
  const units =
    Decimal.atoms(Decimal.of(cashDeposit)) + (Decimal.atoms(Decimal.of(billDeposit)) * 98n) / 100n
  const left = units - Decimal.atoms(Decimal.of(redeemed))
  const atoms = (text: string) => Decimal.atoms(Decimal.of(text))
  const byHand = countedOf({
    cash: atoms(ownCash) + atoms(cashDeposit) - atoms(redeemed),
    bills: atoms(billDeposit),
    duty: (left * 105n) / 100n
  })
  return {
    demo: "backed",
    outstanding: Decimal.formatPlain(outstanding),
    counted: Decimal.formatPlain(counted),
    checks: {
      "a deposit of cash minted as many units":
        VenueClient.decimal(first, "units") === Decimal.of(cashDeposit),
      "bills minted what they are worth, without the haircut":
        Decimal.atoms(VenueClient.decimal(second, "units")) === (atoms(billDeposit) * 98n) / 100n,
      "the redemption was paid at par":
        VenueClient.decimal(redemption, "payout") === Decimal.of(redeemed),
      "what is outstanding is what was minted and not redeemed":
        Decimal.atoms(outstanding) === left,
      "what counts is what is locked, less haircut and cap": Decimal.atoms(counted) === byHand,
      "the reserve covers its units":
        VenueClient.text(shown.json, "value", "cover", "state") === "covered",
      "the ledger's report has the same figures":
        figure(report.json, "view", "outstanding") === outstanding &&
        figure(report.json, "view", "counted") === counted
    }
  }
}
