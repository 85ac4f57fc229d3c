/**
 * Third part of the demo: units of a lost key are frozen and recovered for their owner, and an
 * instrument is paused.
 */
import { Decimal, type PlainJson } from "@bursar/engine-core/kernel"
import * as story from "../story.ts"
import * as VenueClient from "./VenueClient.ts"
import { holderId, people, successorId } from "#demo/People.ts"
import { admitted, agreed, countersigned, type Walk } from "./steps.ts"

const approvers = ["approver", "approverTwo"] as const
const signers: ReadonlyArray<string> = approvers.map((approver) => people[approver].sub)

const holder = `/v1/holders/${holderId}`
const successor = `/v1/holders/${successorId}`

const value = async (desk: VenueClient.VenueClient, path: string): Promise<PlainJson.Plain> =>
  VenueClient.member((await desk.get(path)).json, "value")

/** Agrees the issuer powers and the holder's consent that a later recovery needs. */
export const prepare = async (walk: Walk): Promise<void> => {
  const { stack, desks, instrument, tell } = walk
  const path = `/v1/instruments/${instrument.instrumentId}`
  await agreed(
    walk,
    `${path}/issuer-powers-agreement:propose`,
    { issuer: stack.parties.fund, powers: ["recover"] },
    { maker: "compliance" }
  )
  await desks.operator.until(
    path,
    (json) =>
      VenueClient.member(json, "value", "issuerPowersAgreement") !== null &&
      VenueClient.text(json, "value", "issuerPowersAgreement", "state") === "agreed"
  )
  tell("the fund's and the registrar's wallets accepted: units may be recovered by consent")
  await desks.operator.done(`${holder}/issuer-powers-consents`, {
    instrumentId: instrument.instrumentId
  })
  await desks.operator.until(holder, (json) =>
    VenueClient.list(json, "value", "consents").some(
      (consent) => VenueClient.text(consent, "state") === "granted"
    )
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
  const restricted = await desks.compliance.done(`${holder}:restrict`, {
    mode: "freeze",
    reason: "lost-key"
  })
  tell(`${people.compliance.name} freezes ${holderId} at once, alone`)
  const claim = { subscriptionId: "sub-3", instrumentId, holderId, amount }
  const seen = await refusing(desks.operator, { instrumentId, holderId, amount })
  const problem = await desks.app.refused("/v1/subscriptions", story.claim(claim))
  const [gate, check] = [VenueClient.text(problem, "gate"), VenueClient.text(problem, "check")]
  tell(`${people.app.name} claims sub-3: refused, and told no more than "${gate} ${check}"`)
  tell(`a precheck tells ${people.operator.name} what it is: ${seen.join()}`)
  return {
    restrictionId: VenueClient.text(restricted, "result", "restrictionId"),
    checks: {
      "one officer alone froze the holder": VenueClient.member(restricted, "signedBy") === null,
      "the freeze is all that stands in the way of a frozen holder's claim":
        seen.length > 0 && seen.every((check) => check.startsWith("restriction ")),
      "the application is not told of the freeze": `${gate} ${check}` === "admission standing"
    }
  }
}

/** Returns the checks that refuse a claim; none where it is permitted. */
const refusing = async (
  desk: VenueClient.VenueClient,
  order: { readonly instrumentId: string; readonly holderId: string; readonly amount: string }
): Promise<ReadonlyArray<string>> => {
  const query = `act=subscription.claim&holderId=${order.holderId}&amount=${order.amount}`
  const precheck = await value(desk, `/v1/instruments/${order.instrumentId}/precheck?${query}`)
  return VenueClient.list(precheck, "gates")
    .filter((check) => VenueClient.member(check, "ok") === false)
    .map((check) => `${VenueClient.text(check, "gate")} ${VenueClient.text(check, "check")}`)
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
    `${holder}:register-successor`,
    { party, successorId },
    { maker: "compliance" }
  )
  await countersigned(walk, successorId)
  await desks.operator.done(`${successor}/admissions`, { instrumentId })
  await admitted(walk, successorId)
  await desks.compliance.until(
    `/v1/instruments/${instrumentId}/precheck?act=instrument.recover&holderIds=${holderId}`,
    (json) => VenueClient.member(json, "value", "allowed") === true
  )
  tell(`${successorId} has cooled: a precheck lets ${holderId} be recovered`)
}

const unitsOf = async (desk: VenueClient.VenueClient, path: string): Promise<Decimal.Decimal> => {
  const rows = await value(desk, `${path}/portfolio`)
  return Decimal.sum(VenueClient.list(rows).map((row) => VenueClient.decimal(row, "units")))
}

/** Moves all units to the successor on the ledger, as fund, registrar and holder have agreed. */
const recover = async (walk: Walk, units: Decimal.Decimal) => {
  const { desks, instrument, tell } = walk
  const path = `/v1/instruments/${instrument.instrumentId}`
  await agreed(walk, `${holder}:recover`, {}, { maker: "compliance" })
  const { json: left } = await desks.operator.until(
    holder,
    (json) => VenueClient.text(json, "value", "state") === "succeeded"
  )
  const [before, after] = [
    await unitsOf(desks.operator, holder),
    await unitsOf(desks.successor, successor)
  ]
  tell(
    `${holderId} is ${VenueClient.text(left, "value", "state")}; ` +
      `${people.successor.name} reads what ${successorId} holds: ${Decimal.formatPlain(after)} units`
  )
  const register = await value(desks.operator, `${path}/register`)
  const moves = VenueClient.list(await value(desks.operator, `${path}/movements?limit=100`)).filter(
    (move) => VenueClient.text(move, "kind") === "recovery"
  )
  return {
    units: after,
    checks: {
      "the successor holds all that was left, to the last place": after === units,
      "the lost key holds no units": Decimal.isZero(before),
      "what was recovered is what moved":
        Decimal.sum(moves.map((move) => VenueClient.decimal(move, "units"))) === units,
      "a recovery makes no units and loses none":
        VenueClient.decimal(register, "head", "totalUnits") === units &&
        Decimal.isZero(VenueClient.decimal(register, "head", "difference"))
    }
  }
}

/** Lifts the freeze, which has followed the units; this needs two approvers. */
const lift = async (walk: Walk, restrictionId: string) => {
  const { desks, tell } = walk
  const [carried = null] = VenueClient.list(
    await value(desks.compliance, `/v1/restrictions?holderId=${successorId}`)
  )
  tell(
    `the freeze came along: ${successorId} is restricted for ${VenueClient.text(carried, "reason")}`
  )
  const path = `/v1/restrictions/${VenueClient.text(carried, "restrictionId")}`
  await agreed(
    walk,
    `${path}:lift`,
    { reason: "The owner proved who it is." },
    { maker: "compliance", approvers }
  )
  const before = await value(desks.compliance, `/v1/restrictions/${restrictionId}`)
  const lifted = await value(desks.compliance, path)
  return {
    "the freeze was carried to the successor":
      VenueClient.text(before, "state") === "carried" &&
      VenueClient.text(carried, "state") === "active" &&
      VenueClient.text(carried, "supersedes") === restrictionId,
    "two approvers lifted the freeze":
      VenueClient.text(lifted, "state") === "lifted" &&
      VenueClient.list(lifted, "liftedBy").join() === signers.join()
  }
}

/** Pauses the instrument by one person; resuming needs two approvers. */
const pause = async (walk: Walk, amount: string) => {
  const { desks, instrument, tell } = walk
  const { instrumentId } = instrument
  const claim = { instrumentId, holderId: successorId, amount }
  const free = await refusing(desks.operator, claim)
  const opened = await desks.risk.done(`/v1/instruments/${instrumentId}:pause`, {
    reason: "A price is being looked at."
  })
  const holdId = VenueClient.text(opened, "result", "holdId")
  tell(`${people.risk.name} pauses ${instrumentId} at once, alone`)
  const held = await refusing(desks.operator, claim)
  tell(`a precheck of a claim tells what stands in its way: ${held.join()}`)
  await agreed(walk, `/v1/holds/${holdId}:release`, {}, { maker: "risk", approvers })
  const released = await value(desks.operator, `/v1/holds/${holdId}`)
  const again = await refusing(desks.operator, claim)
  return {
    "a pause is all that stands in the way of a claim, while it lasts":
      free.length === 0 && held.join() === "hold not-held" && again.length === 0,
    "two approvers released the hold":
      VenueClient.text(released, "state") === "released" &&
      VenueClient.list(released, "releasedBy").join() === signers.join()
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

export const isTold = (events: ReadonlyArray<PlainJson.Plain>): boolean =>
  events
    .map((event) => VenueClient.text(event, "type"))
    .filter((type) => course.includes(type))
    .join() === course.join()
