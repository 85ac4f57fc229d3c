/** The story's steps, walked through the API and the wallets only: nothing here touches a database. */
import { appendFile } from "node:fs/promises"
import { Decimal, type PlainJson } from "@bursar/engine-core/kernel"
import * as story from "../story.ts"
import * as Desk from "./Desk.ts"
import { holderId, people } from "./people.ts"
import type { Stack } from "./Stack.ts"

export interface Walk {
  readonly stack: Stack
  readonly desks: Readonly<Record<keyof typeof people, Desk.Desk>>
  readonly instrument: {
    readonly instrumentId: string
    readonly unitDecimals: number
    readonly valuation: "par" | "accumulating"
  }
  /** Tells a person what happened. */
  readonly tell: (said: string) => void
}

export const desks = ({ venue }: Stack): Walk["desks"] => ({
  operator: Desk.open(venue, people.operator),
  operatorTwo: Desk.open(venue, people.operatorTwo),
  approver: Desk.open(venue, people.approver),
  approverTwo: Desk.open(venue, people.approverTwo),
  risk: Desk.open(venue, people.risk),
  compliance: Desk.open(venue, people.compliance),
  auditor: Desk.open(venue, people.auditor),
  investor: Desk.open(venue, people.investor),
  successor: Desk.open(venue, people.successor),
  app: Desk.open(venue, people.app),
  monitor: Desk.open(venue, people.monitor),
  feed: Desk.open(venue, people.feed),
  registrar: Desk.open(venue, people.registrar)
})

/** Who asks, and who else must agree; the operator and one approver where nobody is named. */
export interface Signing {
  readonly maker?: keyof typeof people
  readonly approvers?: ReadonlyArray<keyof typeof people>
  readonly headers?: Readonly<Record<string, string>>
}

/** What one person asks for runs only once others have agreed; the action as it was made. */
export const agreed = async (
  { desks, tell }: Walk,
  path: string,
  body: PlainJson.Printable,
  { maker = "operator", approvers = ["approver"], headers = {} }: Signing = {}
): Promise<PlainJson.Plain> => {
  const { json: action } = await desks[maker].post(path, body, headers)
  const kind = Desk.text(action, "kind")
  tell(`${people[maker].name} asks for ${kind}: ${Desk.text(action, "state")}`)
  let location = ""
  for (const approver of approvers) {
    const signed = await desks[approver].post(
      `/v1/approvals/${Desk.text(action, "actionKey")}:approve`
    )
    location = signed.headers.get("location") ?? ""
    if (approver !== approvers.at(-1)) tell(`${people[approver].name} approves ${kind}`)
    else {
      await Desk.finished(desks[maker], location)
      tell(`${people[approver].name} approves: ${kind} succeeded`)
    }
  }
  return action
}

/** Instrument, consent and market: what two people at the venue ask, the wallets answer. */
export const openMarket = async (walk: Walk): Promise<void> => {
  const { stack, desks, instrument, tell } = walk
  const { registrar, fund, attestor, oracle } = stack.parties
  const path = `/v1/instruments/${instrument.instrumentId}`
  const stands = (what: "admissionConsent" | "primaryMarket") => (json: PlainJson.Plain) =>
    Desk.member(json, "value", what) !== null &&
    Desk.text(json, "value", what, "state") === "agreed"

  await agreed(walk, "/v1/instruments", story.instrument({ ...instrument, registrar, oracle }))
  await desks.operator.until(path, (json) => Desk.member(json, "value", "onRegistry") === true)
  await agreed(walk, `${path}/admission-consent:propose`, story.consent({ fund }))
  await desks.operator.until(path, stands("admissionConsent"))
  tell("the registrar's wallet accepted: the venue may admit holders")
  const market = story.market({ fund, registrar, attestors: [attestor], oracle })
  await agreed(walk, `${path}/primary-market:propose`, market)
  await desks.operator.until(path, stands("primaryMarket"))
  tell("the fund's and the registrar's wallets accepted: the market is agreed")
}

/** The holder's party accepts registration, terms and admission in its wallet; the venue countersigns. */
export const onboard = async ({ stack, desks, instrument, tell }: Walk): Promise<void> => {
  const body = story.holder({
    holderId,
    party: stack.parties.investor,
    instrumentId: instrument.instrumentId
  })
  await desks.app.done("/v1/holders:onboard", body)
  tell(`${people.app.name} onboards ${holderId}: invited, and offered its admission`)
  await countersigned({ desks, tell }, holderId)
  await admitted({ desks, tell }, holderId)
}

type Told = Pick<Walk, "desks" | "tell">

/** A holder's wallet accepts its registration and signs the terms; the venue countersigns them. */
export const countersigned = async ({ desks, tell }: Told, of: string): Promise<void> => {
  const path = `/v1/holders/${of}`
  await desks.operator.until(path, (json) =>
    Desk.list(json, "value", "waitingOn").some(
      (one) => Desk.text(one, "action") === "accepted-terms.accept"
    )
  )
  tell(`the wallet of ${of} accepted the registration and signed the terms`)
  await desks.operator.done(`${path}/accepted-terms:accept`, {})
  await desks.operator.until(path, (json) => Desk.text(json, "value", "state") === "active")
  tell(`${people.operator.name} countersigns the terms: ${of} is active`)
}

/** A holder's wallet takes the admission that it was offered. */
export const admitted = async ({ desks, tell }: Told, of: string): Promise<void> => {
  await desks.operator.until(`/v1/holders/${of}/admissions`, (json) =>
    Desk.list(json, "value").some((one) => Desk.text(one, "state") === "admitted")
  )
  tell(`the wallet of ${of} accepted the offer: ${of} is admitted`)
}

/** The oracle's wallet publishes what is added to its price file. */
export const publish = async (
  { stack, desks, instrument, tell }: Walk,
  quote: { readonly metric: "price" | "income"; readonly value: Decimal.Decimal }
): Promise<void> => {
  const { instrumentId } = instrument
  const value = Decimal.formatPlain(quote.value)
  const line = { ...quote, instrumentId, value, valuationTime: new Date().toISOString() }
  await appendFile(stack.prices, `${JSON.stringify(line)}\n`)
  const isThere = (json: PlainJson.Plain) => Desk.list(json, "value").length > 0
  await desks.operator.until(`/v1/instruments/${instrumentId}/prices`, isThere)
  tell(`the oracle's wallet published ${quote.metric} ${value}`)
}

export interface Closed {
  readonly subscription: PlainJson.Plain
  /** The list of subscriptions as it stood when this one was priced, and where it was read. */
  readonly priced: { readonly offset: string; readonly text: string }
}

/** From claim to close. */
export const subscribe = async (
  { desks, instrument, tell }: Walk,
  of: { readonly subscriptionId: string; readonly amount: string }
): Promise<Closed> => {
  const path = `/v1/subscriptions/${of.subscriptionId}`
  const { instrumentId } = instrument
  const state = (is: string) => (json: PlainJson.Plain) => Desk.text(json, "value", "state") === is
  await desks.app.done("/v1/subscriptions", story.claim({ ...of, instrumentId, holderId }))
  tell(`${people.app.name} claims ${of.subscriptionId} for ${of.amount} USD`)
  const { json: priced } = await desks.operator.until(path, state("priced"))
  const figure = (...path: ReadonlyArray<string>) =>
    Decimal.formatPlain(Desk.decimal(priced, "value", ...path))
  // What the order costs is known once it is priced.
  const due = figure("cash", "expected")
  tell(`the attestor's wallet priced it: ${figure("units")} units at ${figure("price")}`)
  const listed = await desks.operator.get("/v1/subscriptions")
  await desks.operator.done(
    `${path}:deliver`,
    story.paid({ subscriptionId: of.subscriptionId, amount: due })
  )
  await desks.operator.until(path, state("delivered"))
  tell(`${people.operator.name} names the bank line that paid ${due} and delivers: units minted`)
  await desks.operator.done(`${path}:settle`, {})
  const { json: closed } = await desks.operator.until(path, state("closed"))
  tell(`${people.operator.name} settles: closed`)
  return {
    subscription: Desk.member(closed, "value"),
    priced: { offset: Desk.text(listed.json, "offset"), text: listed.text }
  }
}
