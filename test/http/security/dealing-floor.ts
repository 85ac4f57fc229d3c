/** A venue with two instances over one store and one ledger, ready to deal: who is there, and how they act. */
import { Catalogue, Engine, type Operation, Records, Workers } from "@bursar/engine-core"
import { Decimal, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Layer, Option, Semaphore } from "effect"
import { openOn } from "#core/restraints/hold/OpenHoldLookups.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { approvals } from "#core/writes/Approval.ts"
import * as Calls from "../../engine/calls.ts"
import { ports } from "../../engine/world.ts"
import * as Bank from "../../operations/bank.ts"
import * as Cycles from "../../operations/cycles.ts"
import * as Fund from "../../operations/fund.ts"
import * as Interleaved from "./interleaved.ts"

export const people = {
  olga: Calls.person("olga", "operator"),
  otto: Calls.person("otto", "operator", "approver"),
  ada: Calls.person("ada", "approver")
} as const
export type Who = keyof typeof people

export const holderIds = ["h1", "h2"] as const
/** At opening `o1` is delivered, two orders are priced, and the others are not yet claimed. */
export const orderIds = ["o1", "o2", "o3", "o4", "o5"] as const
/** Every order is of this much, so that any bank line of as much would pay any of them. */
export const amount = "1000.00"
/** 1000.00 at 1.0437, worked out by hand; the rest of a millionth is not bought. */
export const unitsBought = "958.129730"
const price = "1.0437"
const cutOff = "2026-07-31T20:00:00Z"

const kindOf = (kind: string): Operation.Operation => {
  const found = Catalogue.operations.find((one) => one.kind === kind)
  if (found === undefined) throw new Error(`no operation ${kind}`)
  return found
}

/**
 * Orders have no write of their own that needs two people, and what stands in an instrument's way
 * is what a signature is judged by again. So delivery needs a second person here.
 */
export const deliver: Operation.Operation = { ...kindOf("subscription.deliver"), approvers: 1 }
const served = Catalogue.operations.map((one) => (one.kind === deliver.kind ? deliver : one))

const engine = () =>
  Layer.fresh(Engine.layerOf({ operations: served, fromLedger: Catalogue.fromLedger }))

/** Engine and ports of the floor; the store and the ledger wait for `turns`. */
export const layer = (turns: Interleaved.Turns) =>
  engine().pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        ports({ storage: Interleaved.storage(turns), tamper: Interleaved.ledger(turns) }),
        Interleaved.ids
      )
    )
  )

/** Services of the floor. */
export type Here = Layer.Success<ReturnType<typeof layer>>

let acts = 0
/** Acts on the ledger as a party without waiting for others; a refusal does not fail the test. */
export const actAs = (party: Party.Party, command: Templates.Command) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const user = {
      userId: party,
      tokenHash: null,
      rights: [{ kind: "CanActAs" as const, party }],
      expiresAt: null,
      active: true
    }
    const commandId = `floor-${++acts}`
    return yield* participant.submit(user, {
      commandId,
      actAs: [party],
      readAs: [],
      commands: [command],
      dedup: null,
      submissionId: commandId,
      workflowId: null,
      disclosed: [],
      minLedgerTime: null,
      traceparent: null
    })
  })

/**
 * Loop of one instance: follows the ledger and runs queued operations. One instance at a time
 * follows, as the lease that instances share has it.
 */
const working = (reading: Semaphore.Semaphore) =>
  Effect.andThen(reading.withPermit(Calls.catchUp), Workers.runOnce("operations"))

/** An instrument with its market and its price, two holders, and the orders that stand already. */
export const open = Effect.gen(function* () {
  const stage = yield* Fund.opened()
  yield* Bank.states({ id: "bank", entries: Array.from({ length: 12 }, () => ({ amount })) })
  yield* Fund.market(stage)
  for (const holderId of holderIds) yield* Cycles.joins(stage, holderId)
  yield* Fund.publishes(stage, price, cutOff)
  const point = yield* Fund.newestContract(Templates.OraclePoint)
  for (const [index, subscriptionId] of orderIds.slice(0, 3).entries()) {
    const holderId = holderIds[index % 2] ?? "h1"
    yield* submit("subscription.claim", { subscriptionId, holderId, who: "olga", key: null })
    yield* Calls.settle
    yield* attest({ stage, pointCid: point.cid }, subscriptionId)
    yield* Calls.settle
  }
  yield* deliverSigned({ subscriptionId: "o1", who: "olga", key: null, line: 9 })
  yield* Calls.settle
  const reading = yield* Semaphore.make(1)
  const second = yield* Layer.build(engine())
  return {
    stage,
    /** For each hold that was seen open, the acts that had begun by then. */
    begun: new Map<string, ReadonlySet<string>>(),
    pointCid: point.cid,
    instances: [working(reading), Effect.provide(working(reading), second)] as const
  }
})
export type Floor = Effect.Success<typeof open>

/**
 * One call of a walk: the caller and the order, with a key if it sends one, and a bank line if it
 * names one.
 */
export interface Asked {
  readonly subscriptionId: string
  readonly who: Who
  readonly key: string | null
  readonly holderId?: string
  readonly line?: number
}

const bodyOf = (kind: string, { subscriptionId, holderId, line }: Asked): string => {
  if (kind === "subscription.claim") {
    return `{"subscriptionId":"${subscriptionId}","instrumentId":"fund-a","holderId":"${holderId}","payment":"wire","amount":${amount}}`
  }
  if (kind !== deliver.kind && kind !== "subscription.settle") return "{}"
  if (line === undefined) return '{"cash":[]}'
  return `{"cash":[{"statementId":"bank","line":${line},"amount":${amount}}]}`
}

const call = (kind: string, input: Asked) => {
  const { subscriptionId, who, key } = input
  const params = kind === "subscription.claim" ? {} : { subscriptionId }
  const operation = kind === deliver.kind ? deliver : kindOf(kind)
  return Calls.submit(operation, people[who], { params, body: bodyOf(kind, input), key })
}

/** The slug of the refusal, or that there was none. */
export const submit = (kind: string, input: Asked) => Calls.slug(call(kind, input))

/** Asks for a delivery, which another person signs as soon as it awaits approval. */
export const deliverSigned = (input: Asked) =>
  Calls.slug(
    Effect.flatMap(call(deliver.kind, input), (answer) =>
      Calls.approve(String(Calls.field(answer, "actionKey")), people.ada)
    )
  )

/** Attests an order's price; does nothing where no order waits for one. */
export const attest = (
  { stage, pointCid }: { readonly stage: Fund.Parties; readonly pointCid: string },
  subscriptionId: string
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.find(subscriptions, subscriptionId)
    const claimCid = Option.isSome(found) ? found.value.claimCid : null
    if (claimCid === null) return
    const argument = {
      attestor: stage.attestor.party,
      pointCid,
      price: Decimal.of(price),
      units: Decimal.of(unitsBought)
    }
    yield* Effect.ignore(
      actAs(
        stage.attestor.party,
        Templates.exercise(Templates.SubscriptionClaim, claimCid, "Attest", argument)
      )
    )
  })

/** Signs the nth of all actions to deliver, as a person. */
export const approve = (nth: number, who: Who) =>
  Effect.gen(function* () {
    const records = yield* Records
    const rows = yield* records.list(approvals, { limit: 100 })
    const actions = rows.map(({ record }) => record).filter(({ kind }) => kind === deliver.kind)
    const one = actions[nth % Math.max(1, actions.length)]
    return one === undefined ? "none" : yield* Calls.slug(Calls.approve(one.actionKey, people[who]))
  })

const instrumentId = "fund-a"

/** Pauses the instrument: a hold opens beside those that are open. */
export const hold = Effect.suspend(() =>
  Calls.slug(
    Calls.submit(kindOf("instrument.pause"), people.olga, {
      params: { instrumentId },
      body: '{"reason":"a wrong price is out"}',
      key: `pause-${++acts}`
    })
  )
)

/** Asks for the release of an open hold, which two others sign. */
export const lift = Effect.gen(function* () {
  for (const { holdId } of yield* openOn([instrumentId])) {
    const made = yield* Calls.submit(kindOf("hold.release"), people.olga, {
      params: { holdId },
      key: `release-${++acts}`
    })
    const action = String(Calls.field(made, "actionKey"))
    yield* Calls.approve(action, people.ada)
    yield* Calls.approve(action, people.otto)
  }
}).pipe(Calls.slug)
