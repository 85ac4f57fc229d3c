/** The story's last part: a lost key, whose units are frozen and come back to their owner, and an instrument that is paused. */
import { Decimal, type PlainJson } from "@bursar/engine-core/kernel"
import * as story from "../story.ts"
import * as Desk from "./Desk.ts"
import { holderId, people, successorId } from "./people.ts"
import { admitted, agreed, countersigned, type Walk } from "./walk.ts"

const approvers = ["approver", "approverTwo"] as const
const signers: ReadonlyArray<string> = approvers.map((approver) => people[approver].sub)

const holder = `/v1/holders/${holderId}`
const successor = `/v1/holders/${successorId}`

const value = async (desk: Desk.Desk, path: string): Promise<PlainJson.Plain> =>
  Desk.member((await desk.get(path)).json, "value")

/** Before anything happens: the fund may give units back where a holder has consented to it. */
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
      Desk.member(json, "value", "issuerPowersAgreement") !== null &&
      Desk.text(json, "value", "issuerPowersAgreement", "state") === "agreed"
  )
  tell("the fund's and the registrar's wallets accepted: units may be recovered by consent")
  await desks.operator.done(`${holder}/issuer-powers-consents`, {
    instrumentId: instrument.instrumentId
  })
  await desks.operator.until(holder, (json) =>
    Desk.list(json, "value", "consents").some((one) => Desk.text(one, "state") === "granted")
  )
  tell(`the investor's wallet consents that its units be recovered if its key is ever lost`)
}

/** What was seen, and whether each thing is as it must be. */
export interface Controlled {
  readonly recovered: Decimal.Decimal
  readonly checks: Readonly<Record<string, boolean>>
}

export const controls = async (
  walk: Walk,
  of: { readonly units: Decimal.Decimal; readonly amount: string }
): Promise<Controlled> => {
  const frozen = await loseKey(walk, of.amount)
  await follow(walk)
  const moved = await recover(walk, of.units)
  const lifted = await lift(walk, frozen.restrictionId)
  const paused = await pause(walk, of.amount)
  return {
    recovered: moved.units,
    checks: { ...frozen.checks, ...moved.checks, ...lifted, ...paused }
  }
}

/** One officer freezes the holder at once; nobody tells the investor's application why it is refused. */
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
  const [gate, check] = [Desk.text(problem, "gate"), Desk.text(problem, "check")]
  tell(`${people.app.name} claims sub-3: refused, and told no more than "${gate} ${check}"`)
  tell(`a precheck tells ${people.operator.name} what it is: ${seen.join()}`)
  return {
    restrictionId: Desk.text(restricted, "result", "restrictionId"),
    checks: {
      "one officer alone froze the holder": Desk.member(restricted, "signedBy") === null,
      "the freeze is all that stands in the way of a frozen holder's claim":
        seen.length > 0 && seen.every((check) => check.startsWith("restriction ")),
      "the application is not told of the freeze": `${gate} ${check}` === "admission standing"
    }
  }
}

/** The checks that refuse a claim: none, where it may be made. */
const refusing = async (
  desk: Desk.Desk,
  of: { readonly instrumentId: string; readonly holderId: string; readonly amount: string }
): Promise<ReadonlyArray<string>> => {
  const asked = `act=subscription.claim&holderId=${of.holderId}&amount=${of.amount}`
  const told = await value(desk, `/v1/instruments/${of.instrumentId}/precheck?${asked}`)
  return Desk.list(told, "gates")
    .filter((one) => Desk.member(one, "ok") === false)
    .map((one) => `${Desk.text(one, "gate")} ${Desk.text(one, "check")}`)
}

/** The same owner under a new key: named by two people, then a holder as any other. */
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
    (json) => Desk.member(json, "value", "allowed") === true
  )
  tell(`${successorId} has cooled: a precheck lets ${holderId} be recovered`)
}

const unitsOf = async (desk: Desk.Desk, path: string): Promise<Decimal.Decimal> => {
  const rows = await value(desk, `${path}/portfolio`)
  return Decimal.sum(Desk.list(rows).map((row) => Desk.decimal(row, "units")))
}

/** All units move to the successor on the ledger, as fund, registrar and holder have agreed. */
const recover = async (walk: Walk, units: Decimal.Decimal) => {
  const { desks, instrument, tell } = walk
  const path = `/v1/instruments/${instrument.instrumentId}`
  await agreed(walk, `${holder}:recover`, {}, { maker: "compliance" })
  const { json: left } = await desks.operator.until(
    holder,
    (json) => Desk.text(json, "value", "state") === "succeeded"
  )
  const [before, after] = [
    await unitsOf(desks.operator, holder),
    await unitsOf(desks.successor, successor)
  ]
  tell(
    `${holderId} is ${Desk.text(left, "value", "state")}; ` +
      `${people.successor.name} reads what ${successorId} holds: ${Decimal.formatPlain(after)} units`
  )
  const register = await value(desks.operator, `${path}/register`)
  const moves = Desk.list(await value(desks.operator, `${path}/movements?limit=100`)).filter(
    (one) => Desk.text(one, "kind") === "recovery"
  )
  return {
    units: after,
    checks: {
      "the successor holds all that was left, to the last place": after === units,
      "the lost key holds no units": Decimal.isZero(before),
      "what was recovered is what moved":
        Decimal.sum(moves.map((one) => Desk.decimal(one, "units"))) === units,
      "a recovery makes no units and loses none":
        Desk.decimal(register, "head", "totalUnits") === units &&
        Decimal.isZero(Desk.decimal(register, "head", "difference"))
    }
  }
}

/** The freeze followed the units; it takes two approvers to let them go. */
const lift = async (walk: Walk, restrictionId: string) => {
  const { desks, tell } = walk
  const [carried = null] = Desk.list(
    await value(desks.compliance, `/v1/restrictions?holderId=${successorId}`)
  )
  tell(`the freeze came along: ${successorId} is restricted for ${Desk.text(carried, "reason")}`)
  const path = `/v1/restrictions/${Desk.text(carried, "restrictionId")}`
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
      Desk.text(before, "state") === "carried" &&
      Desk.text(carried, "state") === "active" &&
      Desk.text(carried, "supersedes") === restrictionId,
    "two approvers lifted the freeze":
      Desk.text(lifted, "state") === "lifted" &&
      Desk.list(lifted, "liftedBy").join() === signers.join()
  }
}

/** One person stops everything at once; it takes two approvers to let it go on. */
const pause = async (walk: Walk, amount: string) => {
  const { desks, instrument, tell } = walk
  const { instrumentId } = instrument
  const claim = { instrumentId, holderId: successorId, amount }
  const free = await refusing(desks.operator, claim)
  const opened = await desks.risk.done(`/v1/instruments/${instrumentId}:pause`, {
    reason: "A price is being looked at."
  })
  const holdId = Desk.text(opened, "result", "holdId")
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
      Desk.text(released, "state") === "released" &&
      Desk.list(released, "releasedBy").join() === signers.join()
  }
}

/** What the feed must tell of it, in this order: with the units the freeze goes on, on their new holder. */
const course = [
  "holder.restricted",
  "holder.recovered",
  "holder.restricted",
  "holder.unrestricted",
  "instrument.paused",
  "hold.released"
]

export const isTold = (events: ReadonlyArray<PlainJson.Plain>): boolean =>
  events
    .map((one) => Desk.text(one, "type"))
    .filter((type) => course.includes(type))
    .join() === course.join()
