/**
 * The administrator's register against the venue's: a difference that an order in flight explains,
 * the same difference once the order has settled, and its release by four eyes.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import type * as PlainClient from "@bursar/http-host/plain-client"
import * as files from "../statements.ts"
import * as Desk from "./Desk.ts"
import { holderId, people } from "#demo/People.ts"
import { handedIn } from "./statements.ts"
import { agreed, plain, type Walk } from "./steps.ts"

const approvers = ["approver", "approverTwo"] as const

/** Findings of a run about the administrator's register, as the API shows them. */
export interface Difference {
  readonly findingId: string
  readonly severity: string
  readonly units: Decimal.Decimal
  readonly unexplained: Decimal.Decimal
  readonly explainedBy: string
  readonly firstSeen: string
  readonly ageDays: number
  readonly holdId: string | null
}

const differenceOf = (row: Finding): Difference => ({
  findingId: row.findingId,
  severity: row.severity,
  units: Decimal.of(plain(row.difference)),
  unexplained: Decimal.of(plain(row.unexplained)),
  explainedBy: (row.explained?.by ?? []).map(({ id }) => id).join(),
  firstSeen: row.firstSeenRunId,
  ageDays: row.ageDays,
  holdId: row.holdId
})
type Finding = PlainClient.RowJson<"findings.list">

/** Hands in the administrator's register as of now; answers what the run that it starts finds. */
const stated = async (walk: Walk, units: Decimal.Decimal): Promise<Difference> => {
  const { desks, instrument, tell } = walk
  const at = new Date().toISOString()
  const quantity = Decimal.formatPlain(units)
  const file = files.register({ at, units: { [holderId]: quantity } })
  const statementId = await handedIn(walk, file)
  tell(`${people.feed.name} hands in the administrator's register: ${holderId} has ${quantity}`)
  const { instrumentId } = instrument
  const where = { check: ["register-line"], instrumentId } as const
  const isOf = (row: Finding) => row.statementId === statementId
  const { value } = await Desk.until(
    () => desks.operator.list("findings.list", { where }),
    (found) => found.value.some(isOf)
  )
  const [found] = value.filter(isOf)
  if (found === undefined) throw new Error("the finding is gone")
  return differenceOf(found)
}

/** Holds of the instrument that are open. */
const open = async ({ desks, instrument: { instrumentId } }: Walk): Promise<number> => {
  const where = { instrumentId, state: ["open"] } as const
  return (await desks.operator.list("holds.list", { where })).value.length
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
  const { findingId } = found
  const body = { holdId, accept: [findingId], reason }
  await agreed(walk, "hold.release", body, { maker: "risk", approvers })
  const hold = await desks.operator.read("holds.get", { holdId })
  const finding = await desks.operator.read("findings.get", { findingId })
  tell(`two people have accepted the finding, with a reason: ${reason}`)
  return {
    "a difference that nothing explains blocks, by the finding of its first day":
      found.severity === "blocking" &&
      found.unexplained === before.units &&
      found.findingId === before.findingId &&
      found.firstSeen === before.firstSeen,
    "two approvers released what it held, and accepted it by name":
      hold.state === "released" &&
      finding.state === "accepted" &&
      finding.accepted?.reason === reason &&
      (await open(walk)) === 0
  }
}
