/**
 * The demo's whole story with every figure checked: a subscription, a dealing cycle, a redemption,
 * reconciliation, controls, then reads of the result.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import type * as PlainClient from "@bursar/http-host/plain-client"
import * as Desk from "./Desk.ts"
import * as controlling from "./controls.ts"
import * as dealing from "./dealing.ts"
import { holderId, people } from "#demo/People.ts"
import { reports } from "./reporting.ts"
import * as reconciling from "./reconciling.ts"
import * as stating from "./statements.ts"
import * as walking from "./steps.ts"
import type { Walk } from "./steps.ts"

export interface Asked {
  readonly amount: string
  readonly price: string
  readonly unitDecimals: number
}

/** Result of the demo, with the outcome of each check. */
export interface Outcome {
  readonly demo: string
  readonly checks: Readonly<Record<string, boolean>>
  readonly [figure: string]: unknown
}

const subscriptionId = "sub-1"

/** Event types of a subscription in their order. */
const course = ["subscription.priced", "subscription.delivered", "subscription.ended"]

export const subscription = async (walk: Walk, order: Asked): Promise<Outcome> => {
  const { desks, tell, instrument } = walk
  await walking.openMarket(walk)
  await stating.mapped(walk)
  await walking.onboard(walk)
  await walking.publish(walk, { metric: "price", value: Decimal.of(order.price) })
  const wanted = unitsFor(order)
  let counted: Awaited<ReturnType<typeof reconciling.explained>> | undefined
  const { subscription, priced } = await walking.subscribe(walk, {
    subscriptionId,
    amount: order.amount,
    inFlight: async (units) => {
      const change = { held: Decimal.zero, units, by: subscriptionId }
      counted = await reconciling.explained(walk, change)
    }
  })
  if (counted === undefined) throw new Error("the order was never in flight")

  const dealt = await dealing.cycle(walk, {
    amount: order.amount,
    units: Decimal.formatPlain(wanted)
  })
  const back = halfOf(wanted, order.unitDecimals)
  const redeemed = await dealing.redeem(walk, { units: Decimal.formatPlain(back) })
  const left = Decimal.subtract(wanted, back)
  const accepted = await reconciling.released(walk, { held: left, before: counted.found })
  await controlling.prepare(walk)

  const { instrumentId } = instrument
  const portfolio = await desks.investor.read("holders.portfolio", { holderId })
  const held = portfolio.filter((row) => row.instrumentId === instrumentId)
  const units = Decimal.sum(held.map((row) => Decimal.of(row.units)))
  tell(`${people.investor.name} reads her portfolio: ${Decimal.formatPlain(units)} units`)
  const { head } = await desks.operator.read("instruments.register", { instrumentId })
  const controlled = await controlling.controls(walk, { units: left, amount: order.amount })

  const operations = await Desk.all(desks.auditor.records("operations.list"))
  tell(`the auditor reads ${operations.length} operations, oldest first:`)
  for (const { actorName, kind, state } of operations.toReversed()) {
    tell(`  ${state}  ${kind}  by ${actorName}`)
  }
  const approvals = await Desk.all(desks.auditor.records("approvals.list"))
  tell(`and ${approvals.length} approvals, each made by one and signed by another`)
  const events = await Desk.all(desks.auditor.feed({ limit: 10, until: "now" }))
  tell(`the feed holds ${events.length} events, the last: ${events.at(-1)?.type}`)

  const again = await desks.operator.list("subscriptions.list", { at: priced.offset })
  tell(`the list as it stood at offset ${priced.offset} is read again`)
  const reported = await reports(walk, { left })
  return {
    demo: "subscription",
    amount: order.amount,
    price: order.price,
    unitDecimals: order.unitDecimals,
    units: Decimal.formatPlain(units),
    recovered: Decimal.formatPlain(controlled.recovered),
    state: subscription.state,
    operations: operations.length,
    approvals: approvals.length,
    events: events.length,
    rereadAt: priced.offset,
    checks: {
      "the cycle's order bought what the first one did": dealt.bought === wanted,
      "the fund moved only what its cycle came to on balance":
        Decimal.of(dealt.cycle.fundNet.cash) ===
        Decimal.subtract(Decimal.of(order.amount), paidFor(wanted, order.price)),
      "the figures that were signed have a digest": /^[0-9a-f]{64}$/.test(dealt.figuresHash ?? ""),
      "the redemption paid what its units are worth, rounded down":
        figure(redeemed.proceeds) === paidFor(back, order.price),
      "the holder has what it bought and did not give back": units === left,
      "the order says the same units": figure(subscription.units) === wanted,
      "it was priced at the point that was published":
        figure(subscription.price) === Decimal.of(order.price),
      "it is closed": subscription.state === "closed",
      "the register adds up to the ledger":
        Decimal.of(head.totalUnits) === left && Decimal.isZero(Decimal.of(head.difference)),
      ...counted.checks,
      ...accepted,
      ...controlled.checks,
      ...reported,
      "every operation succeeded": operations.every(({ state }) => state === "succeeded"),
      "nobody approved what they made":
        approvals.length === 12 && approvals.every((approval) => isSignedByAnother(approval)),
      "the feed has no gap": events.every(({ seq }, i) => seq === i + 1),
      "the feed tells the order's course": isCourse(events),
      "the feed tells of the hold and of each control": controlling.isTold(events),
      "the same list at the same offset is the same": withoutNow(again) === withoutNow(priced)
    }
  }
}

const figure = (text: string | null): Decimal.Decimal => Decimal.of(walking.plain(text))

const isSignedByAnother = ({
  maker,
  signedBy,
  state
}: PlainClient.RowJson<"approvals.list">): boolean =>
  state === "approved" &&
  signedBy !== null &&
  signedBy.length > 0 &&
  !signedBy.includes(maker ?? "")

const isCourse = (events: ReadonlyArray<PlainClient.FeedEventJson>): boolean => {
  const types = events
    .filter(({ resourceId }) => resourceId === subscriptionId)
    .map(({ type }) => type)
    .filter((type) => course.includes(type))
  return types.join() === course.join()
}

/** Text of an answer without its instant, which differs between equal reads. */
const withoutNow = ({ now: _, ...answer }: PlainClient.PageJson<"subscriptions.list">): string =>
  JSON.stringify(answer)

/** Half of the units in the instrument's own places, rounded down. */
export const halfOf = (units: Decimal.Decimal, unitDecimals: number): Decimal.Decimal => {
  const smallest = 10n ** BigInt(places - unitDecimals)
  return Decimal.fromAtoms((Decimal.atoms(units) / (2n * smallest)) * smallest)
}

/** ⌊units · price⌋ in cents, computed in whole atoms and independently of the engine. */
const paidFor = (units: Decimal.Decimal, price: string): Decimal.Decimal => {
  const atoms = Decimal.atoms(units) * Decimal.atoms(Decimal.of(price))
  const cent = 10n ** BigInt(places - 2)
  return Decimal.fromAtoms((atoms / (10n ** BigInt(places) * cent)) * cent)
}

const places = 10

/**
 * ⌊amount / price⌋ in the instrument's own places, computed in whole atoms and independently of the
 * engine.
 */
export const unitsFor = ({ amount, price, unitDecimals }: Asked): Decimal.Decimal => {
  const [cash, each] = [Decimal.atoms(Decimal.of(amount)), Decimal.atoms(Decimal.of(price))]
  const smallest = (cash * 10n ** BigInt(unitDecimals)) / each
  return Decimal.fromAtoms(smallest * 10n ** BigInt(places - unitDecimals))
}
