/**
 * Steps of the demo's story, through the API and the wallets only: none of them accesses a
 * database.
 */
import { appendFile } from "node:fs/promises"
import { Decimal, type PlainJson } from "@bursar/engine-core/kernel"
import { paidIn } from "../statements.ts"
import * as story from "../story.ts"
import * as VenueClient from "./VenueClient.ts"
import { holderId, people } from "#demo/People.ts"
import type { Stack } from "#demo/Stack.ts"
import { booked, type Stated } from "./statements.ts"

export interface Walk {
  readonly stack: Stack
  readonly desks: Readonly<Record<keyof typeof people, VenueClient.VenueClient>>
  readonly instrument: {
    readonly instrumentId: string
    readonly unitDecimals: number
    readonly valuation: "par" | "accumulating"
  }
  /** Statements of outside parties about the instrument so far. */
  readonly stated: Stated
  /** Prints a line about the progress for a person. */
  readonly tell: (said: string) => void
}

export const desks = ({ venue }: Stack): Walk["desks"] => ({
  operator: VenueClient.open(venue, people.operator),
  operatorTwo: VenueClient.open(venue, people.operatorTwo),
  approver: VenueClient.open(venue, people.approver),
  approverTwo: VenueClient.open(venue, people.approverTwo),
  risk: VenueClient.open(venue, people.risk),
  compliance: VenueClient.open(venue, people.compliance),
  auditor: VenueClient.open(venue, people.auditor),
  investor: VenueClient.open(venue, people.investor),
  successor: VenueClient.open(venue, people.successor),
  app: VenueClient.open(venue, people.app),
  monitor: VenueClient.open(venue, people.monitor),
  feed: VenueClient.open(venue, people.feed),
  registrar: VenueClient.open(venue, people.registrar)
})

/**
 * The person who requests a write and those who approve it; the operator and one approver by
 * default.
 */
export interface Signing {
  readonly maker?: keyof typeof people
  readonly approvers?: ReadonlyArray<keyof typeof people>
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Makes a four-eyes write, has it approved and waits for its outcome; returns the action as it was
 * first answered.
 */
export const agreed = async (
  { desks, tell }: Walk,
  path: string,
  body: PlainJson.Printable,
  { maker = "operator", approvers = ["approver"], headers = {} }: Signing = {}
): Promise<PlainJson.Plain> => {
  const { json: action } = await desks[maker].post(path, body, headers)
  const kind = VenueClient.text(action, "kind")
  tell(`${people[maker].name} asks for ${kind}: ${VenueClient.text(action, "state")}`)
  let location = ""
  for (const approver of approvers) {
    const signed = await desks[approver].post(
      `/v1/approvals/${VenueClient.text(action, "actionKey")}:approve`
    )
    location = signed.headers.get("location") ?? ""
    if (approver !== approvers.at(-1)) tell(`${people[approver].name} approves ${kind}`)
    else {
      await VenueClient.finished(desks[maker], location)
      tell(`${people[approver].name} approves: ${kind} succeeded`)
    }
  }
  return action
}

/**
 * Opens the market: two people at the venue propose instrument, consent and market, and the wallets
 * accept. Terms that are given replace those of the story.
 */
export const openMarket = async (
  walk: Walk,
  terms: Readonly<Record<string, PlainJson.Printable>> = {}
): Promise<void> => {
  const { stack, desks, instrument, tell } = walk
  const { registrar, fund, attestor, oracle } = stack.parties
  const path = `/v1/instruments/${instrument.instrumentId}`
  const stands = (what: "admissionConsent" | "primaryMarket") => (json: PlainJson.Plain) =>
    VenueClient.member(json, "value", what) !== null &&
    VenueClient.text(json, "value", what, "state") === "agreed"

  const recorded = { ...story.instrument({ ...instrument, registrar, oracle }), ...terms }
  await agreed(walk, "/v1/instruments", recorded)
  await desks.operator.until(
    path,
    (json) => VenueClient.member(json, "value", "onRegistry") === true
  )
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

/**
 * Accepts a holder's registration and signs the terms in its wallet; the venue countersigns them.
 */
export const countersigned = async ({ desks, tell }: Told, holderId: string): Promise<void> => {
  const path = `/v1/holders/${holderId}`
  await desks.operator.until(path, (json) =>
    VenueClient.list(json, "value", "waitingOn").some(
      (action) => VenueClient.text(action, "action") === "accepted-terms.accept"
    )
  )
  tell(`the wallet of ${holderId} accepted the registration and signed the terms`)
  await desks.operator.done(`${path}/accepted-terms:accept`, {})
  await desks.operator.until(path, (json) => VenueClient.text(json, "value", "state") === "active")
  tell(`${people.operator.name} countersigns the terms: ${holderId} is active`)
}

/** Accepts an offered admission in the holder's wallet. */
export const admitted = async ({ desks, tell }: Told, holderId: string): Promise<void> => {
  await desks.operator.until(`/v1/holders/${holderId}/admissions`, (json) =>
    VenueClient.list(json, "value").some(
      (admission) => VenueClient.text(admission, "state") === "admitted"
    )
  )
  tell(`the wallet of ${holderId} accepted the offer: ${holderId} is admitted`)
}

/** Adds a price to the oracle's price file, which its wallet publishes. */
export const publish = async (
  { stack, desks, instrument, tell }: Walk,
  quote: { readonly metric: "price" | "income"; readonly value: Decimal.Decimal }
): Promise<void> => {
  const { instrumentId } = instrument
  const value = Decimal.formatPlain(quote.value)
  const line = { ...quote, instrumentId, value, valuationTime: new Date().toISOString() }
  await appendFile(stack.prices, `${JSON.stringify(line)}\n`)
  const isThere = (json: PlainJson.Plain) => VenueClient.list(json, "value").length > 0
  await desks.operator.until(`/v1/instruments/${instrumentId}/prices`, isThere)
  tell(`the oracle's wallet published ${quote.metric} ${value}`)
}

export interface Closed {
  readonly subscription: PlainJson.Plain
  /** The list of subscriptions as it was when this one was priced, and its offset. */
  readonly priced: { readonly offset: string; readonly text: string }
}

export interface Order {
  readonly subscriptionId: string
  readonly amount: string
  /** Day on which the bank books the cash; today where absent. */
  readonly date?: string
  /** Called while the order is priced and its units are not delivered yet. */
  readonly inFlight?: (units: Decimal.Decimal) => Promise<void>
}

/** Runs a subscription from its claim to its close. */
export const subscribe = async (walk: Walk, order: Order): Promise<Closed> => {
  const { desks, instrument, tell } = walk
  const { amount, date, inFlight, subscriptionId } = order
  const path = `/v1/subscriptions/${subscriptionId}`
  const { instrumentId } = instrument
  const state = (is: string) => (json: PlainJson.Plain) =>
    VenueClient.text(json, "value", "state") === is
  const claim = story.claim({ subscriptionId, amount, instrumentId, holderId })
  await desks.app.done("/v1/subscriptions", claim)
  tell(`${people.app.name} claims ${subscriptionId} for ${amount} USD`)
  const { json: priced } = await desks.operator.until(path, state("priced"))
  const figure = (...path: ReadonlyArray<string>) =>
    Decimal.formatPlain(VenueClient.decimal(priced, "value", ...path))
  // The cash due is fixed by the price.
  const due = figure("cash", "expected")
  tell(`the attestor's wallet priced it: ${figure("units")} units at ${figure("price")}`)
  const listed = await desks.operator.get("/v1/subscriptions")
  await inFlight?.(VenueClient.decimal(priced, "value", "units"))
  const entries = [paidIn({ amount: due, reference: subscriptionId })]
  const stated = await booked(walk, { entries, ...(date === undefined ? {} : { date }) })
  await desks.operator.done(`${path}:deliver`, story.paid({ ...stated, amount: due }))
  await desks.operator.until(path, state("delivered"))
  tell(`${people.operator.name} names the bank line that paid ${due} and delivers: units minted`)
  await desks.operator.done(`${path}:settle`, {})
  const { json: closed } = await desks.operator.until(path, state("closed"))
  tell(`${people.operator.name} settles: closed`)
  return {
    subscription: VenueClient.member(closed, "value"),
    priced: { offset: VenueClient.text(listed.json, "offset"), text: listed.text }
  }
}
