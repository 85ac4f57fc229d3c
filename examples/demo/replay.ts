/**
 * `--replay`: each day's inflow into a real fund becomes a subscription at par, paid by a line of the
 * bank's statement of that day; then a day of the administrator and one of the custodian.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import * as files from "../statements.ts"
import * as Desk from "./Desk.ts"
import { holderId, people } from "#demo/People.ts"
import { days, inflows } from "./replay-data.ts"
import * as reconciling from "./reconciling.ts"
import * as stating from "./statements.ts"
import type { Outcome } from "./subscription.ts"
import * as walking from "./steps.ts"
import type { Walk } from "./steps.ts"

/** Units on the register, and what they differ by from the supply on the ledger. */
const registered = async ({ desks, instrument: { instrumentId } }: Walk) => {
  const { head } = await desks.operator.read("instruments.register", { instrumentId })
  return { total: Decimal.of(head.totalUnits), difference: Decimal.of(head.difference) }
}

export const replay = async (walk: Walk): Promise<Outcome> => {
  const { tell } = walk
  const table = await days()
  const subscriptions = inflows(table)
  const last = subscriptions.at(-1)?.date
  await walking.openMarket(walk)
  await stating.mapped(walk)
  await walking.onboard(walk)
  // The oracle of a par instrument publishes the daily income, because the price is fixed.
  await walking.publish(walk, { metric: "income", value: Decimal.zero })
  let claimed = Decimal.zero
  let right = 0
  let counted: Awaited<ReturnType<typeof reconciling.explained>> | undefined
  for (const { date } of table) {
    const inflow = subscriptions.find((each) => each.date === date)
    if (inflow === undefined) {
      // The bank states each day, also one on which nothing came in.
      await stating.booked({ ...walk, tell: () => {} }, { date, entries: [] })
      continue
    }
    const text = Decimal.formatPlaces(inflow.amount, 2)
    tell(`${date}: ${text} came in, as the bank states`)
    const held = claimed
    await walking.subscribe(
      { ...walk, tell: () => {} },
      {
        subscriptionId: date,
        amount: text,
        date,
        ...(date === last
          ? {
              inFlight: async (units: Decimal.Decimal) => {
                tell("an administrator's day, while this order is priced and not delivered:")
                counted = await reconciling.explained(walk, { held, units, by: date })
              }
            }
          : {})
      }
    )
    claimed = Decimal.add(claimed, inflow.amount)
    const { difference, total } = await registered(walk)
    const isRight = total === claimed && Decimal.isZero(difference)
    if (isRight) right += 1
    tell(
      `            the register holds ${Decimal.formatPlaces(total, 2)}, ` +
        `claimed is ${Decimal.formatPlaces(claimed, 2)}: ${isRight ? "equal" : "NOT equal"}`
    )
  }
  if (counted === undefined) throw new Error("no order was in flight")
  return {
    demo: "replay",
    series: "BUIDL-I",
    days: table.length,
    subscriptions: subscriptions.length,
    claimed: Decimal.formatPlaces(claimed, 2),
    equalAfterEach: right,
    checks: {
      "after each subscription the register holds what was claimed, to the cent":
        right === subscriptions.length && right > 0,
      ...counted.checks,
      ...(await reconciling.released(walk, { held: claimed, before: counted.found })),
      ...(await bankDays(walk, { claimed, stated: table.length })),
      ...(await agreeing(walk, { claimed, findingId: counted.found.findingId }))
    }
  }
}

/** Every line of the bank's statements paid an order, and none has anything left. */
const bankDays = async (
  { desks, instrument, tell }: Walk,
  amounts: { readonly claimed: Decimal.Decimal; readonly stated: number }
) => {
  const where = { externalSourceId: [files.sourceId("bank", instrument.instrumentId)] }
  const statements = await Desk.all(desks.auditor.records("external-statements.list", { where }))
  const taken: Array<Decimal.Decimal> = []
  const matches = new Set<string | null>()
  for (const { externalStatementId } of statements) {
    const { lines } = await desks.auditor.read("external-statements.get", { externalStatementId })
    for (const line of lines ?? []) {
      if (line.kind !== "cash") continue
      taken.push(Decimal.of(line.taken))
      matches.add(line.match)
    }
  }
  const sum = Decimal.sum(taken)
  tell(
    `the auditor reads ${statements.length} statements of the bank: ` +
      `${taken.length} lines paid ${Decimal.formatPlaces(sum, 2)}, each ${[...matches].join()}`
  )
  return {
    "the bank stated every day, and its lines paid what was claimed, to the cent":
      statements.length === amounts.stated &&
      sum === amounts.claimed &&
      [...matches].join() === "matched"
  }
}

/** A day on which all agree: the bank, the administrator's register and NAV, and the custodian. */
const agreeing = async (
  walk: Walk,
  cause: { readonly claimed: Decimal.Decimal; readonly findingId: string }
) => {
  const { desks, instrument, tell } = walk
  const { instrumentId } = instrument
  const units = Decimal.formatPlaces(cause.claimed, 2)
  const at = new Date().toISOString()
  tell("a bank's day on which nothing came in:")
  await stating.booked(walk, { entries: [] })
  tell("a custodian's day:")
  const assets = { "US-TREASURY-BILLS": units }
  const custody = await stating.handedIn(walk, files.custodian({ at, assets }))
  const held = await desks.auditor.read("external-statements.get", {
    externalStatementId: custody
  })
  const [position] = held.lines ?? []
  if (position?.kind !== "custody") throw new Desk.NotAnswered(`${custody} has no position`)
  const { asset, quantity } = position
  tell(
    `${people.feed.name} hands in its positions: ${walking.plain(quantity)} of ${asset}, ` +
      "which nothing is compared with yet"
  )
  tell("an administrator's day, with a register that is right:")
  await stating.handedIn(walk, files.nav({ at, official: "1" }))
  await stating.handedIn(walk, files.register({ at, units: { [holderId]: units } }))
  tell(`${people.feed.name} hands in a NAV of 1 USD and ${units} units of ${holderId}`)
  const { checks, verdict } = await desks.operator.reconcile({
    scope: { instrumentIds: [instrumentId] }
  })
  const failing = checks.filter(({ ran }) => !ran)
  const { findingId } = cause
  const { state } = await desks.operator.read("findings.get", { findingId })
  const where = { instrumentId, state: ["open"] } as const
  const { value: open } = await desks.operator.list("findings.list", { where })
  const left = open.map(({ check, severity }) => `${check} ${severity}`)
  tell(
    `${people.operator.name} starts a run of ${checks.length} checks: ${verdict}; ` +
      `the difference is ${state}; left are ${left.join() || "none"}`
  )
  return {
    "every check of the run could be made": failing.length === 0,
    "where the administrator's register agrees, its finding is cleared and nothing blocks":
      state === "cleared" && open.every(({ severity }) => severity !== "blocking"),
    "the custodian's position is kept as it was stated": Decimal.of(quantity) === cause.claimed
  }
}
