/**
 * Third part of the demo: units of a lost key are frozen and recovered for their owner, and an
 * instrument is paused.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import type * as PlainClient from "@bursar/http-host/plain-client"
import * as story from "../story.ts"
import * as Desk from "./Desk.ts"
import { holderId, people, successorId } from "#demo/People.ts"
import { admitted, agreed, countersigned, instrumentUntil, type Walk } from "./steps.ts"

const approvers = ["approver", "approverTwo"] as const
const signers: ReadonlyArray<string> = approvers.map((approver) => people[approver].sub)

/** Agrees the issuer powers and the holder's consent that a later recovery needs. */
export const prepare = async (walk: Walk): Promise<void> => {
  const { stack, desks, instrument, tell } = walk
  const { instrumentId } = instrument
  await agreed(
    walk,
    "issuer-powers-agreement.propose",
    { instrumentId, issuer: stack.parties.fund, powers: ["recover"] },
    { maker: "compliance" }
  )
  await instrumentUntil(
    walk,
    ({ issuerPowersAgreement }) => issuerPowersAgreement?.state === "agreed"
  )
  tell("the fund's and the registrar's wallets accepted: units may be recovered by consent")
  await desks.operator.complete("issuer-powers-consent.offer", { holderId, instrumentId })
  await Desk.until(
    () => desks.operator.read("holders.get", { holderId }),
    ({ consents }) => consents.some(({ state }) => state === "granted")
  )
  tell(`the investor's wallet consents that its units be recovered if its key is ever lost`)
}

/** Result of the controls, with the outcome of each check. */
export interface Controlled {
  readonly recovered: Decimal.Decimal
  readonly checks: Readonly<Record<string, boolean>>
}

export const controls = async (
  walk: Walk,
  figures: { readonly units: Decimal.Decimal; readonly amount: string }
): Promise<Controlled> => {
  const frozen = await loseKey(walk, figures.amount)
  await follow(walk)
  const moved = await recover(walk, figures.units)
  const lifted = await lift(walk, frozen.restrictionId)
  const paused = await pause(walk, figures.amount)
  return {
    recovered: moved.units,
    checks: { ...frozen.checks, ...moved.checks, ...lifted, ...paused }
  }
}

/**
 * One officer freezes the holder at once; a refused claim does not tell the investor's application
 * why.
 */
const loseKey = async ({ desks, instrument, tell }: Walk, amount: string) => {
  const { instrumentId } = instrument
  tell(`${people.investor.name} calls: the key of ${holderId} is lost`)
  const restricted = await desks.compliance.complete("holder.restrict", {
    holderId,
    mode: "freeze",
    reason: "lost-key"
  })
  tell(`${people.compliance.name} freezes ${holderId} at once, alone`)
  const claim = { subscriptionId: "sub-3", instrumentId, holderId, amount }
  const seen = await refusing(desks.operator, { instrumentId, holderId, amount })
  const { check, gate } = await desks.app.refused("subscription.claim", story.claim(claim))
  tell(`${people.app.name} claims sub-3: refused, and told no more than "${gate} ${check}"`)
  tell(`a precheck tells ${people.operator.name} what it is: ${seen.join()}`)
  return {
    restrictionId: restricted.result.restrictionId,
    checks: {
      "one officer alone froze the holder": restricted.signedBy === null,
      "the freeze is all that stands in the way of a frozen holder's claim":
        seen.length > 0 && seen.every((check) => check.startsWith("restriction ")),
      "the application is not told of the freeze": `${gate} ${check}` === "admission standing"
    }
  }
}

/** Returns the checks that refuse a claim; none where it is permitted. */
const refusing = async (
  desk: Desk.Desk,
  order: { readonly instrumentId: string; readonly holderId: string; readonly amount: string }
): Promise<ReadonlyArray<string>> => {
  const { gates } = await desk.precheck("subscription.claim", order)
  return gates.filter(({ ok }) => !ok).map(({ check, gate }) => `${gate} ${check}`)
}

/**
 * Registers a successor, the same owner under a new key: named by two people, then onboarded as any
 * holder.
 */
const follow = async (walk: Walk): Promise<void> => {
  const { stack, desks, instrument, tell } = walk
  const { instrumentId } = instrument
  const party = stack.parties.successor
  await agreed(
    walk,
    "holder.register-successor",
    { holderId, party, successorId },
    { maker: "compliance" }
  )
  tell(`${successorId} is to follow ${holderId}`)
  await countersigned(walk, successorId)
  await desks.operator.complete("admission.offer", { holderId: successorId, instrumentId })
  await admitted(walk, successorId)
  const act = { instrumentId, holderIds: [holderId] }
  await Desk.until(
    () => desks.compliance.precheck("instrument.recover", act),
    ({ allowed }) => allowed
  )
  tell(`${successorId} has cooled: a precheck lets ${holderId} be recovered`)
}

const unitsOf = async (desk: Desk.Desk, holderId: string): Promise<Decimal.Decimal> => {
  const lines = await desk.read("holders.portfolio", { holderId })
  return Decimal.sum(lines.map(({ units }) => Decimal.of(units)))
}

/** Moves all units to the successor on the ledger, as fund, registrar and holder have agreed. */
const recover = async (walk: Walk, units: Decimal.Decimal) => {
  const { desks, instrument, tell } = walk
  const { instrumentId } = instrument
  await agreed(walk, "holder.recover", { holderId }, { maker: "compliance" })
  const left = await Desk.until(
    () => desks.operator.read("holders.get", { holderId }),
    ({ state }) => state === "succeeded"
  )
  const [before, after] = [
    await unitsOf(desks.operator, holderId),
    await unitsOf(desks.successor, successorId)
  ]
  tell(
    `${holderId} is ${left.state}; ` +
      `${people.successor.name} reads what ${successorId} holds: ${Decimal.formatPlain(after)} units`
  )
  const { head } = await desks.operator.read("instruments.register", { instrumentId })
  const movements = await Desk.all(
    desks.operator.records("instruments.movements", { where: { instrumentId } })
  )
  const moved = movements.filter(({ kind }) => kind === "recovery").map(({ units }) => units)
  return {
    units: after,
    checks: {
      "the successor holds all that was left, to the last place": after === units,
      "the lost key holds no units": Decimal.isZero(before),
      "what was recovered is what moved": Decimal.sum(moved.map(Decimal.of)) === units,
      "a recovery makes no units and loses none":
        Decimal.of(head.totalUnits) === units && Decimal.isZero(Decimal.of(head.difference))
    }
  }
}

/** Lifts the freeze, which has followed the units; this needs two approvers. */
const lift = async (walk: Walk, restrictionId: string) => {
  const { desks, tell } = walk
  const where = { holderId: successorId }
  const [carried] = (await desks.compliance.list("restrictions.list", { where })).value
  if (carried === undefined) throw new Desk.NotAnswered(`${successorId} is not restricted`)
  tell(`the freeze came along: ${successorId} is restricted for ${carried.reason}`)
  await agreed(
    walk,
    "restriction.lift",
    { restrictionId: carried.restrictionId, reason: "The owner proved who it is." },
    { maker: "compliance", approvers }
  )
  const read = (restrictionId: string) =>
    desks.compliance.read("restrictions.get", { restrictionId })
  const before = await read(restrictionId)
  const lifted = await read(carried.restrictionId)
  return {
    "the freeze was carried to the successor":
      before.state === "carried" &&
      carried.state === "active" &&
      carried.supersedes === restrictionId,
    "two approvers lifted the freeze":
      lifted.state === "lifted" && lifted.liftedBy?.join() === signers.join()
  }
}

/** Pauses the instrument by one person; resuming needs two approvers. */
const pause = async (walk: Walk, amount: string) => {
  const { desks, instrument, tell } = walk
  const { instrumentId } = instrument
  const claim = { instrumentId, holderId: successorId, amount }
  const free = await refusing(desks.operator, claim)
  const opened = await desks.risk.complete("instrument.pause", {
    instrumentId,
    reason: "A price is being looked at."
  })
  const { holdId } = opened.result
  tell(`${people.risk.name} pauses ${instrumentId} at once, alone`)
  const held = await refusing(desks.operator, claim)
  tell(`a precheck of a claim tells what stands in its way: ${held.join()}`)
  await agreed(walk, "hold.release", { holdId }, { maker: "risk", approvers })
  const released = await desks.operator.read("holds.get", { holdId })
  const again = await refusing(desks.operator, claim)
  return {
    "a pause is all that stands in the way of a claim, while it lasts":
      free.length === 0 && held.join() === "hold not-held" && again.length === 0,
    "two approvers released the hold":
      released.state === "released" && released.releasedBy?.join() === signers.join()
  }
}

/**
 * Expected events in their order: the hold of a finding is released, and the freeze moves with the
 * units to their new holder.
 */
const course = [
  "hold.released",
  "holder.restricted",
  "holder.recovered",
  "holder.restricted",
  "holder.unrestricted",
  "instrument.paused",
  "hold.released"
]

export const isTold = (events: ReadonlyArray<PlainClient.FeedEventJson>): boolean =>
  events
    .map(({ type }) => type)
    .filter((type) => course.includes(type))
    .join() === course.join()
