/**
 * Second part of the demo: a dealing cycle whose orders are paid on the ledger, and a redemption by
 * wire.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { Decimal, type PlainJson } from "@bursar/engine-core/kernel"
import { paidOut } from "../statements.ts"
import * as story from "../story.ts"
import * as VenueClient from "./VenueClient.ts"
import { holderId, people } from "#demo/People.ts"
import * as wallet from "./wallet.ts"
import { booked } from "./statements.ts"
import { agreed, type Walk } from "./steps.ts"

/** Milliseconds in which two orders can be placed before the cycle's cut-off. */
const ordersTake = 40_000

/** Next full minute that leaves this time, as a daily cut-off. */
const nextCutOff = () => {
  const minute = 60_000
  const at = new Date(Math.ceil((Date.now() + ordersTake) / minute) * minute)
  return { at, time: at.toISOString().slice(11, 16) }
}

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

export interface Dealt {
  /** The cycle after it has ended. */
  readonly cycle: PlainJson.Plain
  /** Units that its subscription bought. */
  readonly bought: Decimal.Decimal
  /** Digest of the figures that the approver signed. */
  readonly figuresHash: string
}

const state = (is: string) => (json: PlainJson.Plain) =>
  VenueClient.text(json, "value", "state") === is

/** Settles one subscription and one redemption together, both signed in the investor's wallet. */
export const cycle = async (
  walk: Walk,
  figures: { readonly amount: string; readonly units: string }
): Promise<Dealt> => {
  const { desks, instrument, tell } = walk
  const { instrumentId } = instrument
  const cutOff = nextCutOff()
  await agreed(
    walk,
    `/v1/instruments/${instrumentId}/policy:set`,
    { cutOff: { time: cutOff.time, days, zone: "UTC" } },
    { headers: { "if-match": "1" } }
  )
  await desks.operator.done("/v1/dealing-cycles", { cycleId: "cycle-1", instrumentId })
  tell(`${people.operator.name} opens a dealing cycle that takes orders until ${cutOff.time} UTC`)
  await ordered(walk, figures)
  await desks.operator.until(
    "/v1/subscriptions/sub-2",
    (json) => VenueClient.text(json, "value", "orderState") === "ready"
  )
  await desks.operator.until(
    "/v1/redemptions/red-1",
    (json) => VenueClient.text(json, "value", "orderState") === "ready"
  )
  tell("the attestor's and the oracle's wallets priced both, the investor's locked cash and units")
  const left = cutOff.at.getTime() - Date.now()
  tell(`the cut-off is in ${Math.max(0, Math.round(left / 1_000))} s`)
  await sleep(Math.max(0, left) + 500)
  const action = await agreed(walk, "/v1/dealing-cycles/cycle-1:settle", {})
  const { json } = await desks.operator.until("/v1/dealing-cycles/cycle-1", state("ended"))
  const { json: bought } = await desks.operator.get("/v1/subscriptions/sub-2")
  const settled = VenueClient.member(json, "value")
  tell(
    `both orders settled in one transaction of the ledger: the fund gets ` +
      `${Decimal.formatPlain(VenueClient.decimal(settled, "fundNet", "cash"))} USD on balance`
  )
  return {
    cycle: settled,
    bought: VenueClient.decimal(bought, "value", "units"),
    figuresHash: VenueClient.text(action, "figuresHash")
  }
}

/** Funds the investor on the ledger, signs two orders, and has the venue claim them. */
const ordered = async (
  { desks, instrument, stack, tell }: Walk,
  figures: { readonly amount: string; readonly units: string }
): Promise<void> => {
  const { registrar, fund, venue, investor } = stack.parties
  const { instrumentId } = instrument
  await wallet.act(stack, "registrar", "issue", {
    instrument: "USD",
    provider: venue,
    to: investor,
    amount: figures.amount
  })
  tell(`the registrar's wallet gives the investor ${figures.amount} USD on the ledger`)
  const order = {
    venue,
    fund,
    "instrument-admin": registrar,
    instrument: instrumentId,
    "payment-admin": registrar,
    "payment-instrument": "USD"
  }
  await wallet.act(stack, "investor", "order", {
    ...order,
    "order-id": "buy-1",
    amount: figures.amount
  })
  await wallet.act(stack, "investor", "redeem", {
    ...order,
    "order-id": "sell-1",
    units: figures.units
  })
  tell(
    `${people.investor.name} signs two orders: for ${figures.amount} USD, and ${figures.units} units back`
  )
  const claim = { instrumentId, holderId, payment: "ledger" }
  await desks.app.done("/v1/subscriptions", {
    ...claim,
    subscriptionId: "sub-2",
    orderId: "buy-1"
  })
  await desks.app.done("/v1/redemptions", { ...claim, redemptionId: "red-1", orderId: "sell-1" })
  tell(`${people.app.name} claims both: they join the cycle`)
}

/** Redeems units by wire: priced, burned on the holder's request, paid by the bank. */
export const redeem = async (
  walk: Walk,
  figures: { readonly units: string }
): Promise<PlainJson.Plain> => {
  const { desks, instrument, tell } = walk
  const { instrumentId } = instrument
  const path = "/v1/redemptions/red-2"
  await desks.app.done("/v1/redemptions", {
    redemptionId: "red-2",
    instrumentId,
    holderId,
    units: story.figure(figures.units)
  })
  tell(`${people.app.name} claims a redemption of ${figures.units} units, to be paid by wire`)
  const { json: burned } = await desks.operator.until(path, state("burned"))
  const proceeds = Decimal.formatPlain(VenueClient.decimal(burned, "value", "proceeds"))
  tell(`the oracle's wallet priced it, the investor's asked for the burn, the registrar's burned`)
  const entries = [paidOut({ amount: proceeds, reference: "red-2" })]
  const stated = await booked(walk, { entries })
  await desks.operator.done(`${path}:settle`, story.paid({ ...stated, amount: proceeds }))
  const { json: settled } = await desks.operator.until(path, state("settled"))
  tell(`${people.operator.name} names the bank line that paid ${proceeds}: settled`)
  return VenueClient.member(settled, "value")
}
