/** `--replay`: each day's inflow into a real fund becomes a subscription at par. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as VenueClient from "./VenueClient.ts"
import { days, inflows } from "./replay-data.ts"
import type { Outcome } from "./subscription.ts"
import * as walking from "./steps.ts"
import type { Walk } from "./steps.ts"

export const replay = async (walk: Walk): Promise<Outcome> => {
  const { desks, tell, instrument } = walk
  const table = await days()
  const subscriptions = inflows(table)
  await walking.openMarket(walk)
  await walking.onboard(walk)
  // The oracle of a par instrument publishes the daily income, because the price is fixed.
  await walking.publish(walk, { metric: "income", value: Decimal.zero })
  let claimed = Decimal.zero
  let right = 0
  for (const { date, amount } of subscriptions) {
    const text = Decimal.formatPlaces(amount, 2)
    tell(`${date}: ${text} came in`)
    await walking.subscribe({ ...walk, tell: () => {} }, { subscriptionId: date, amount: text })
    claimed = Decimal.add(claimed, amount)
    const { json } = await desks.operator.get(`/v1/instruments/${instrument.instrumentId}/register`)
    const total = VenueClient.decimal(json, "value", "head", "totalUnits")
    const isRight =
      total === claimed && Decimal.isZero(VenueClient.decimal(json, "value", "head", "difference"))
    if (isRight) right += 1
    tell(
      `            the register holds ${Decimal.formatPlaces(total, 2)}, ` +
        `claimed is ${Decimal.formatPlaces(claimed, 2)}: ${isRight ? "equal" : "NOT equal"}`
    )
  }
  return {
    demo: "replay",
    series: "BUIDL-I",
    days: table.length,
    subscriptions: subscriptions.length,
    claimed: Decimal.formatPlaces(claimed, 2),
    equalAfterEach: right,
    checks: {
      "after each subscription the register holds what was claimed, to the cent":
        right === subscriptions.length && right > 0
    }
  }
}
