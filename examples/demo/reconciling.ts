/**
 * The administrator's register against the venue's: a difference that an order in flight explains,
 * the same difference once the order has settled, and its release by four eyes.
 */
import { Decimal, type PlainJson } from "@bursar/engine-core/kernel"
import * as files from "../statements.ts"
import * as VenueClient from "./VenueClient.ts"
import { holderId, people } from "#demo/People.ts"
import { handedIn } from "./statements.ts"
import { agreed, type Walk } from "./steps.ts"

const approvers = ["approver", "approverTwo"] as const

/** Findings of a run about the administrator's register, as the API shows them. */
export interface Difference {
  readonly findingId: string
  readonly severity: string
  readonly units: Decimal.Decimal
  readonly unexplained: Decimal.Decimal
  readonly explainedBy: string
  readonly firstSeen: string
  readonly ageDays: string
  readonly holdId: string | null
}

const differenceOf = (row: PlainJson.Plain): Difference => ({
  findingId: VenueClient.text(row, "findingId"),
  severity: VenueClient.text(row, "severity"),
  units: VenueClient.decimal(row, "difference"),
  unexplained: VenueClient.decimal(row, "unexplained"),
  explainedBy: VenueClient.list(row, "explained", "by")
    .map((item) => VenueClient.text(item, "id"))
    .join(),
  firstSeen: VenueClient.text(row, "firstSeenRunId"),
  ageDays: VenueClient.text(row, "ageDays"),
  holdId: VenueClient.member(row, "holdId") === null ? null : VenueClient.text(row, "holdId")
})

/** Hands in the administrator's register as of now; answers what the run that it starts finds. */
const stated = async (walk: Walk, units: Decimal.Decimal): Promise<Difference> => {
  const { desks, instrument, tell } = walk
  const at = new Date().toISOString()
  const quantity = Decimal.formatPlain(units)
  const file = files.register({ at, units: { [holderId]: quantity } })
  const statementId = await handedIn(walk, file)
  tell(`${people.feed.name} hands in the administrator's register: ${holderId} has ${quantity}`)
  const path = `/v1/findings?check=register-line&instrumentId=${instrument.instrumentId}`
  const isOf = (row: PlainJson.Plain) => VenueClient.member(row, "statementId") === statementId
  const { json } = await desks.operator.until(path, (found) =>
    VenueClient.list(found, "value").some(isOf)
  )
  const found = VenueClient.list(json, "value").find(isOf) ?? null
  return differenceOf(found)
}

/** Holds of the instrument that are open. */
const open = async ({ desks, instrument }: Walk): Promise<number> => {
  const query = `instrumentId=${instrument.instrumentId}&state=open`
  return VenueClient.list((await desks.operator.get(`/v1/holds?${query}`)).json, "value").length
}

/** The administrator counts an order in flight, which the register does not have yet. */
export const explained = async (
  walk: Walk,
  change: { readonly held: Decimal.Decimal; readonly units: Decimal.Decimal; readonly by: string }
) => {
  const found = await stated(walk, Decimal.add(change.held, change.units))
  const holds = await open(walk)
  walk.tell(
    `a run compares it: ${Decimal.formatPlain(found.units)} more than on the register, all of it ` +
      `explained by ${found.explainedBy}, which is in flight; ${holds} holds are open`
  )
  return {
    found,
    checks: {
      "an order in flight explains what the administrator counts already":
        found.severity === "info" &&
        found.units === change.units &&
        Decimal.isZero(found.unexplained) &&
        found.explainedBy === change.by,
      "a difference that is explained holds nothing": holds === 0 && found.holdId === null
    }
  }
}

/** The order has settled and the administrator states as much too much again, until people accept it. */
export const released = async (
  walk: Walk,
  change: { readonly held: Decimal.Decimal; readonly before: Difference }
) => {
  const { desks, tell } = walk
  const { before, held } = change
  const found = await stated(walk, Decimal.add(held, before.units))
  const holdId = found.holdId ?? ""
  tell(
    `no order explains it any more: the finding of the first day is ${found.severity}, ` +
      `${found.ageDays} days old, and holds ${walk.instrument.instrumentId}`
  )
  const reason = "The administrator booked an order twice, and will correct it."
  const body = { accept: [found.findingId], reason }
  await agreed(walk, `/v1/holds/${holdId}:release`, body, { maker: "risk", approvers })
  const { json: hold } = await desks.operator.get(`/v1/holds/${holdId}`)
  const { json: finding } = await desks.operator.get(`/v1/findings/${found.findingId}`)
  tell(`two people have accepted the finding, with a reason: ${reason}`)
  return {
    "a difference that nothing explains blocks, by the finding of its first day":
      found.severity === "blocking" &&
      found.unexplained === before.units &&
      found.findingId === before.findingId &&
      found.firstSeen === before.firstSeen,
    "two approvers released what it held, and accepted it by name":
      VenueClient.text(hold, "value", "state") === "released" &&
      VenueClient.text(finding, "value", "state") === "accepted" &&
      VenueClient.text(finding, "value", "accepted", "reason") === reason &&
      (await open(walk)) === 0
  }
}
