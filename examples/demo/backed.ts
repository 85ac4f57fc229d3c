/**
 * `--backed`: units that exist only against assets locked on the ledger. A reserve is agreed, assets
 * are locked, units minted and redeemed, the terms tightened and the reserve reported, by wallets.
 */
import { appendFile } from "node:fs/promises"
import { Decimal } from "@bursar/engine-core/kernel"
import type * as PlainClient from "@bursar/http-host/plain-client"
import * as story from "../story.ts"
import * as Desk from "./Desk.ts"
import { holderId, people } from "#demo/People.ts"
import * as walking from "./steps.ts"
import type { Walk } from "./steps.ts"
import type { Outcome } from "./subscription.ts"
import * as wallet from "./wallet.ts"

export const reserveId = "reserve-1"
const [cash, bills] = ["USD", "T-BILL"] as const
/** Price of a bill, and the part of its worth that does not count. */
const [billPrice, haircut] = ["0.98", "0.05"] as const
/** The custodian locks cash of its own, so that the reserve may cover more than its units. */
const [ownCash, cashDeposit, billDeposit, redeemed] = ["8000", "100000", "20000", "30000"] as const

type Mint = PlainClient.AnswerJson<"reserves.mint">

/** Waits until a mint is in a state. */
export const mintUntil = (
  { desks }: Pick<Walk, "desks">,
  mintId: string,
  state: Mint["state"]
): Promise<Mint> =>
  Desk.until(
    () => desks.operator.read("reserves.mint", { reserveId, mintId }),
    (mint) => mint.state === state
  )

/** Records the instrument, whose registrar issues it, and gets the registrar's consent to admissions. */
export const recorded = (walk: Walk): Promise<void> => {
  const { registrar, oracle } = walk.stack.parties
  const { instrumentId, unitDecimals } = walk.instrument
  const terms = story.backed({ instrumentId, unitDecimals, registrar, oracle })
  return walking.recorded(walk, terms, registrar)
}

const terms = ({ registrar, oracle }: Walk["stack"]["parties"], minCover: string) => ({
  minCover: minCover,
  assets: [
    {
      asset: { admin: registrar, id: cash },
      priceSource: null,
      freshness: null,
      haircut: "0",
      maxShare: null
    },
    {
      asset: { admin: registrar, id: bills },
      priceSource: oracle,
      freshness: "PT1H",
      haircut: haircut,
      maxShare: "0.4"
    }
  ]
})

/** Has the reserve agreed and its assets locked. */
export const agreed = async (walk: Walk): Promise<void> => {
  const { stack, desks, instrument, tell } = walk
  const { custodian, registrar, venue } = stack.parties
  await walking.agreed(walk, "reserve.propose", {
    reserveId,
    instrumentId: instrument.instrumentId,
    holder: custodian,
    unit: "USD",
    decimals: 6,
    terms: terms(stack.parties, "1.02")
  })
  const read = () => desks.operator.read("reserves.get", { reserveId })
  await Desk.until(read, ({ state }) => state === "active")
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
    const lock = { reserveId, lockAgreementId: `lock-${id}` }
    const asset = { admin: registrar, id }
    await walking.agreed(walk, "lock-agreement.propose", { ...lock, asset, amount })
    await Desk.until(
      () => desks.operator.read("reserves.lock-agreement", lock),
      ({ state }) => state === "active"
    )
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
  await Desk.until(
    () => desks.operator.read("reserves.get", { reserveId }),
    ({ assets }) => assets.some(({ asset, price }) => asset.id === bills && price !== null)
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
  await desks.operator.complete("mint.start", {
    reserveId,
    mintId,
    holderId,
    asset: { admin: registrar, id },
    deposit: deposit
  })
  tell(`${people.operator.name} starts ${mintId} for ${deposit} ${id}`)
}

/** Mints units against a deposit, which the investor's wallet allocates. */
const minted = async (walk: Walk, deposit: Deposit): Promise<Mint> => {
  await started(walk, deposit)
  const mint = await mintUntil(walk, deposit.mintId, "settled")
  walk.tell(
    `the investor's wallet allocated them, and the engine settled: ${walking.plain(mint.units)} units minted`
  )
  return mint
}

/** Redeems units for cash of the reserve. */
const paid = async ({ stack, desks, tell }: Walk) => {
  const redemption = { reserveId, reserveRedemptionId: "redemption-1" }
  await desks.operator.complete("reserve-redemption.start", {
    ...redemption,
    holderId,
    asset: { admin: stack.parties.registrar, id: cash },
    units: redeemed
  })
  const settled = await Desk.until(
    () => desks.operator.read("reserves.redemption", redemption),
    ({ state }) => state === "settled"
  )
  tell(`the investor's wallet locked ${redeemed} units, and the engine burned them for ${cash}`)
  return settled
}

/** Tightens the terms, which are in force as soon as the issuer accepts them. */
const tightened = async (walk: Walk): Promise<void> => {
  const { stack, desks, tell } = walk
  const amendment = { reserveId, amendmentId: "amendment-1" }
  await walking.agreed(walk, "amendment.propose", {
    ...amendment,
    terms: terms(stack.parties, "1.05")
  })
  await Desk.until(
    () => desks.operator.read("reserves.amendment", amendment),
    ({ state }) => state === "effective"
  )
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
  const ofReport = { reserveId, reportId: "report-1" }
  await desks.risk.complete("reserve-report.create", ofReport)
  const report = await desks.auditor.read("reserves.report", ofReport)
  tell(`${people.risk.name} has the ledger compute a report of the reserve`)
  const shown = await desks.auditor.read("reserves.get", { reserveId })
  const figure = (text: string | null) => Decimal.of(walking.plain(text))
  const [outstanding, counted] = [figure(shown.outstanding), figure(shown.counted)]
  tell(
    `outstanding ${Decimal.formatPlain(outstanding)}, counted ${Decimal.formatPlain(counted)}, ` +
      `${shown.cover.state}`
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
      "a deposit of cash minted as many units": figure(first.units) === Decimal.of(cashDeposit),
      "bills minted what they are worth, without the haircut":
        Decimal.atoms(figure(second.units)) === (atoms(billDeposit) * 98n) / 100n,
      "the redemption was paid at par": figure(redemption.payout) === Decimal.of(redeemed),
      "what is outstanding is what was minted and not redeemed":
        Decimal.atoms(outstanding) === left,
      "what counts is what is locked, less haircut and cap": Decimal.atoms(counted) === byHand,
      "the reserve covers its units": shown.cover.state === "covered",
      "the ledger's report has the same figures":
        figure(report.view.outstanding) === outstanding && figure(report.view.counted) === counted
    }
  }
}
