/**
 * Steps of the demo's story, through the API and the wallets only: none of them accesses a
 * database.
 */
import { appendFile } from "node:fs/promises"
import { Decimal, type Party } from "@bursar/engine-core/kernel"
import type * as PlainClient from "@bursar/http-host/plain-client"
import { paidIn } from "../statements.ts"
import * as story from "../story.ts"
import * as Desk from "./Desk.ts"
import { holderId, people } from "#demo/People.ts"
import type { Stack } from "#demo/Stack.ts"
import { booked, type Stated } from "./statements.ts"

export interface Walk {
  readonly stack: Stack
  readonly desks: Readonly<Record<keyof typeof people, Desk.Desk>>
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

/**
 * The person who requests a write and those who approve it; the operator and one approver by
 * default.
 */
export interface Signing {
  readonly maker?: keyof typeof people
  readonly approvers?: ReadonlyArray<keyof typeof people>
}

/**
 * Makes a four-eyes write, has it approved and waits for its outcome; returns the action as it was
 * first answered.
 */
export const agreed = async <K extends PlainClient.WriteKind>(
  { desks, tell }: Walk,
  kind: K,
  body: PlainClient.BodyJson<K>,
  { maker = "operator", approvers = ["approver"] }: Signing = {}
): Promise<PlainClient.ActionJson<K>> => {
  const action = await desks[maker].write(kind, body)
  tell(`${people[maker].name} asks for ${kind}: ${action.state}`)
  for (const approver of approvers) {
    await desks[approver].approve(action)
    if (approver !== approvers.at(-1)) tell(`${people[approver].name} approves ${kind}`)
    else {
      await desks[maker].done(action)
      tell(`${people[approver].name} approves: ${kind} succeeded`)
    }
  }
  return action
}

/** Waits until an instrument is as its parties' wallets leave it. */
export const instrumentUntil = (
  { desks, instrument: { instrumentId } }: Walk,
  is: (instrument: PlainClient.AnswerJson<"instruments.get">) => boolean
) => Desk.until(() => desks.operator.read("instruments.get", { instrumentId }), is)

/** Records an instrument, and gets the consent of its registrar to admissions. */
export const recorded = async (
  walk: Walk,
  terms: PlainClient.BodyJson<"instrument.record">,
  fund: Party.Party
): Promise<void> => {
  const { instrumentId } = walk.instrument
  await agreed(walk, "instrument.record", terms)
  await instrumentUntil(walk, ({ onRegistry }) => onRegistry)
  await agreed(walk, "admission-consent.propose", { instrumentId, ...story.consent({ fund }) })
  await instrumentUntil(walk, ({ admissionConsent }) => admissionConsent?.state === "agreed")
  walk.tell("the registrar's wallet accepted: the venue may admit holders")
}

/**
 * Opens the market: two people at the venue propose instrument, consent and market, and the wallets
 * accept. Terms that are given replace those of the story.
 */
export const openMarket = async (
  walk: Walk,
  terms: Partial<PlainClient.BodyJson<"instrument.record">> = {}
): Promise<void> => {
  const { stack, instrument, tell } = walk
  const { registrar, fund, attestor, oracle } = stack.parties
  const { instrumentId } = instrument
  await recorded(
    walk,
    { ...story.instrument({ ...instrument, registrar, oracle }), ...terms },
    fund
  )
  const market = story.market({ fund, registrar, attestors: [attestor], oracle })
  await agreed(walk, "primary-market.propose", { instrumentId, ...market })
  await instrumentUntil(walk, ({ primaryMarket }) => primaryMarket?.state === "agreed")
  tell("the fund's and the registrar's wallets accepted: the market is agreed")
}

/** The holder's party accepts registration, terms and admission in its wallet; the venue countersigns. */
export const onboard = async ({ stack, desks, instrument, tell }: Walk): Promise<void> => {
  const body = story.holder({
    holderId,
    party: stack.parties.investor,
    instrumentId: instrument.instrumentId
  })
  await desks.app.complete("holder.onboard", body)
  tell(`${people.app.name} onboards ${holderId}: invited, and offered its admission`)
  await countersigned({ desks, tell }, holderId)
  await admitted({ desks, tell }, holderId)
}

type Told = Pick<Walk, "desks" | "tell">

/**
 * Accepts a holder's registration and signs the terms in its wallet; the venue countersigns them.
 */
export const countersigned = async ({ desks, tell }: Told, holderId: string): Promise<void> => {
  const read = () => desks.operator.read("holders.get", { holderId })
  await Desk.until(read, ({ waitingOn }) =>
    waitingOn.some(({ action }) => action === "accepted-terms.accept")
  )
  tell(`the wallet of ${holderId} accepted the registration and signed the terms`)
  await desks.operator.complete("accepted-terms.accept", { holderId })
  await Desk.until(read, ({ state }) => state === "active")
  tell(`${people.operator.name} countersigns the terms: ${holderId} is active`)
}

/** Accepts an offered admission in the holder's wallet. */
export const admitted = async ({ desks, tell }: Told, holderId: string): Promise<void> => {
  await Desk.until(
    () => desks.operator.list("holders.admissions", { where: { holderId } }),
    ({ value }) => value.some(({ state }) => state === "admitted")
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
  await Desk.until(
    () => desks.operator.list("instruments.prices", { where: { instrumentId } }),
    ({ value }) => value.length > 0
  )
  tell(`the oracle's wallet published ${quote.metric} ${value}`)
}

/** A subscription as a read answers it. */
export type Subscription = PlainClient.AnswerJson<"subscriptions.get">

export interface Closed {
  readonly subscription: Subscription
  /** The list of subscriptions as it was when this one was priced, with its offset. */
  readonly priced: PlainClient.PageJson<"subscriptions.list">
}

export interface Order {
  readonly subscriptionId: string
  readonly amount: string
  /** Day on which the bank books the cash; today where absent. */
  readonly date?: string
  /** Called while the order is priced and its units are not delivered yet. */
  readonly inFlight?: (units: Decimal.Decimal) => Promise<void>
}

/** Waits until a subscription is in a state. */
export const subscriptionUntil = (
  { desks }: Pick<Walk, "desks">,
  subscriptionId: string,
  state: Subscription["state"]
): Promise<Subscription> =>
  Desk.until(
    () => desks.operator.read("subscriptions.get", { subscriptionId }),
    (subscription) => subscription.state === state
  )

/** Runs a subscription from its claim to its close. */
export const subscribe = async (walk: Walk, order: Order): Promise<Closed> => {
  const { desks, instrument, tell } = walk
  const { amount, date, inFlight, subscriptionId } = order
  const { instrumentId } = instrument
  const claim = story.claim({ subscriptionId, amount, instrumentId, holderId })
  await desks.app.complete("subscription.claim", claim)
  tell(`${people.app.name} claims ${subscriptionId} for ${amount} USD`)
  const { cash, price, units } = await subscriptionUntil(walk, subscriptionId, "priced")
  tell(`the attestor's wallet priced it: ${plain(units)} units at ${plain(price)}`)
  // The cash due is fixed by the price.
  const due = plain(cash.expected)
  const listed = await desks.operator.list("subscriptions.list")
  await inFlight?.(Decimal.of(plain(units)))
  const entries = [paidIn({ amount: due, reference: subscriptionId })]
  const stated = await booked(walk, { entries, ...(date === undefined ? {} : { date }) })
  const paid = story.paid({ ...stated, amount: due })
  await desks.operator.complete("subscription.deliver", { subscriptionId, ...paid })
  await subscriptionUntil(walk, subscriptionId, "delivered")
  tell(`${people.operator.name} names the bank line that paid ${due} and delivers: units minted`)
  await desks.operator.complete("subscription.settle", { subscriptionId })
  const closed = await subscriptionUntil(walk, subscriptionId, "closed")
  tell(`${people.operator.name} settles: closed`)
  return { subscription: closed, priced: listed }
}

/** A figure without trailing zeros; throws where there is none. */
export const plain = (figure: string | null): string => {
  if (figure === null) throw new Desk.NotAnswered("the answer has no figure")
  return Decimal.formatPlain(Decimal.of(figure))
}
