/**
 * Second part of the demo: a dealing cycle whose orders are paid on the ledger, and a redemption by
 * wire.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { Decimal } from "@bursar/engine-core/kernel"
import type * as PlainClient from "@bursar/http-host/plain-client"
import { paidOut } from "../statements.ts"
import * as story from "../story.ts"
import * as Desk from "./Desk.ts"
import { holderId, people } from "#demo/People.ts"
import * as wallet from "./wallet.ts"
import { booked } from "./statements.ts"
import { agreed, plain, type Walk } from "./steps.ts"

const cycleId = "cycle-1"

/** Milliseconds in which two orders can be placed before the cycle's cut-off. */
const ordersTake = 40_000

/** Next full minute that leaves this time, as a daily cut-off. */
const nextCutOff = () => {
  const minute = 60_000
  const at = new Date(Math.ceil((Date.now() + ordersTake) / minute) * minute)
  return { at, time: at.toISOString().slice(11, 16) }
}

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const

export interface Dealt {
  /** The cycle after it has ended. */
  readonly cycle: PlainClient.AnswerJson<"dealing-cycles.get">
  /** Units that its subscription bought. */
  readonly bought: Decimal.Decimal
  /** Digest of the figures that the approver signed. */
  readonly figuresHash: string | null
}

/** A redemption as a read answers it. */
type Redemption = PlainClient.AnswerJson<"redemptions.get">

const redemptionUntil = (
  { desks }: Walk,
  redemptionId: string,
  is: (redemption: Redemption) => boolean
): Promise<Redemption> =>
  Desk.until(() => desks.operator.read("redemptions.get", { redemptionId }), is)

/** Settles one subscription and one redemption together, both signed in the investor's wallet. */
export const cycle = async (
  walk: Walk,
  figures: { readonly amount: string; readonly units: string }
): Promise<Dealt> => {
  const { desks, instrument, tell } = walk
  const { instrumentId } = instrument
  const cutOff = nextCutOff()
  await agreed(walk, "policy.set", {
    instrumentId,
    cutOff: { time: cutOff.time, days, zone: "UTC" },
    replaces: "1"
  })
  await desks.operator.complete("dealing-cycle.open", { cycleId, instrumentId })
  tell(`${people.operator.name} opens a dealing cycle that takes orders until ${cutOff.time} UTC`)
  await ordered(walk, figures)
  const buying = () => desks.operator.read("subscriptions.get", { subscriptionId: "sub-2" })
  await Desk.until(buying, ({ orderState }) => orderState === "ready")
  await redemptionUntil(walk, "red-1", ({ orderState }) => orderState === "ready")
  tell("the attestor's and the oracle's wallets priced both, the investor's locked cash and units")
  const left = cutOff.at.getTime() - Date.now()
  tell(`the cut-off is in ${Math.max(0, Math.round(left / 1_000))} s`)
  await sleep(Math.max(0, left) + 500)
  const { figuresHash } = await agreed(walk, "dealing-cycle.settle", { cycleId })
  const settled = await Desk.until(
    () => desks.operator.read("dealing-cycles.get", { cycleId }),
    ({ state }) => state === "ended"
  )
  const bought = await buying()
  tell(
    `both orders settled in one transaction of the ledger: the fund gets ` +
      `${plain(settled.fundNet.cash)} USD on balance`
  )
  return { cycle: settled, bought: Decimal.of(plain(bought.units)), figuresHash }
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
  const claim = { instrumentId, holderId, payment: "ledger" } as const
  const buying = { ...claim, subscriptionId: "sub-2", orderId: "buy-1" }
  await desks.app.complete("subscription.claim", buying)
  const selling = { ...claim, redemptionId: "red-1", orderId: "sell-1" }
  await desks.app.complete("redemption.claim", selling)
  tell(`${people.app.name} claims both: they join the cycle`)
}

/** Redeems units by wire: priced, burned on the holder's request, paid by the bank. */
export const redeem = async (
  walk: Walk,
  { units }: { readonly units: string }
): Promise<Redemption> => {
  const { desks, instrument, tell } = walk
  const { instrumentId } = instrument
  const redemptionId = "red-2"
  await desks.app.complete("redemption.claim", { redemptionId, instrumentId, holderId, units })
  tell(`${people.app.name} claims a redemption of ${units} units, to be paid by wire`)
  const burned = await redemptionUntil(walk, redemptionId, ({ state }) => state === "burned")
  const proceeds = plain(burned.proceeds)
  tell(`the oracle's wallet priced it, the investor's asked for the burn, the registrar's burned`)
  const entries = [paidOut({ amount: proceeds, reference: redemptionId })]
  const paid = story.paid({ ...(await booked(walk, { entries })), amount: proceeds })
  await desks.operator.complete("redemption.settle", { redemptionId, ...paid })
  const settled = await redemptionUntil(walk, redemptionId, ({ state }) => state === "settled")
  tell(`${people.operator.name} names the bank line that paid ${proceeds}: settled`)
  return settled
}
