/**
 * Worklist walk: the party that a record waits for makes the move that it names, until the record
 * has ended.
 */
import { Records, type Stored, type WaitingOn } from "@bursar/engine-core"
import { type Collection, Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Machine } from "#core/kernel/Machine.ts"
import { type Redemption, redemptions } from "#core/orders/redemption/Redemption.ts"
import { figuresAt } from "#core/orders/redemption/RedemptionPricing.ts"
import { unrefunded } from "#core/orders/order/CashLine.ts"
import {
  owesRefund,
  type Subscription,
  subscriptions
} from "#core/orders/subscription/Subscription.ts"
import { dealingOf } from "#core/orders/subscription/SubscriptionPricing.ts"
import { byAmount } from "#core/orders/subscription/SubscriptionRules.ts"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

export const price = "1.0437"
const nextMonth = Instant.of("2026-08-30T00:00:00Z")

/** The stage, and everybody on it by party. */
export interface Play {
  readonly stage: Fund.Parties
  readonly cast: ReadonlyMap<string, Fund.Outsider>
}

/** Services that acts on the stage require. */
type Needs = Effect.Services<ReturnType<typeof Cycles.subscribes>>

/** A move of the record that waits for it, made by the one it waits for. */
type Move = (
  play: Play,
  order: { readonly id: string; readonly by: Fund.Outsider | undefined }
) => Effect.Effect<unknown, unknown, Needs>

const subscription = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(subscriptions, id))
const redemption = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(redemptions, id))

const text = (figure: Decimal.Decimal | null | undefined): string =>
  Decimal.formatPlain(figure ?? Decimal.zero)

const named = (by: Fund.Outsider | undefined): Fund.Outsider => {
  if (by === undefined) throw new Error("a party that is not on the stage is waited for")
  return by
}

const writes = (kind: string, name: string, body: Calls.Json = {}): Move => {
  return (_, { id }) =>
    Effect.map(Calls.write(kind, { [name]: id }, body), ({ why }) => {
      if (why !== "") throw new Error(`${kind} of ${id}: ${why}`)
    })
}

let lines = 0
const paidFor = (amount: Decimal.Decimal | null | undefined, statementId = "stmt-2") => ({
  cash: [{ statementId, line: 1 + (++lines % 400), amount: Number(text(amount)) }]
})

const attests = (self: Subscription): string =>
  text(
    self.amount === null
      ? self.units
      : byAmount(self.amount, dealingOf(self, Decimal.of(price))).units
  )

const priced = (self: Redemption) => figuresAt(self, Decimal.of(price))

/** Cash for a subscription, units for a redemption, or the fund's cash for one. */
const allocates: Move = ({ stage }, { id, by }) =>
  Effect.gen(function* () {
    const who = named(by)
    const bought = yield* Effect.option(subscription(id))
    if (bought._tag === "Some") {
      const amount = text(bought.value.cash.expected)
      yield* Cycles.paysIn(stage, who, amount)
      const to = stage.fund
      return yield* Cycles.allocates(stage, who, { assetId: "USD", amount, to, reference: id })
    }
    const sold = yield* redemption(id)
    if (who.party === sold.party) {
      return yield* Cycles.locksUnits(
        stage,
        { ...who, holderId: "" },
        { id, units: text(sold.units) }
      )
    }
    const amount = text(sold.proceeds)
    yield* Cycles.paysIn(stage, who, amount)
    const to = { ...who, party: sold.party }
    return yield* Cycles.allocates(stage, who, { assetId: "USD", amount, to, reference: id })
  })

export const moves: Readonly<Record<string, Move>> = {
  "SubscriptionClaim.Attest": ({ stage }, { id, by }) =>
    Effect.gen(function* () {
      const self = yield* subscription(id)
      const attestor = named(by)
      yield* Cycles.attests({ ...stage, attestor }, { id, price, units: attests(self) })
    }),
  "subscription.deliver": (play, order) =>
    Effect.flatMap(subscription(order.id), ({ cash }) =>
      writes(
        "subscription.deliver",
        "subscriptionId",
        paidFor(cash.expected, "stmt-1")
      )(play, order)
    ),
  "MintRequest.Accept": (_, { by }) =>
    Effect.gen(function* () {
      const request = yield* Fund.newestContract(Templates.MintRequest)
      const credential = yield* Fund.newestContract(Templates.Credential)
      yield* named(by).act(
        Templates.exercise(Templates.MintRequest, request.cid, "Accept", {
          credentialCid: credential.cid,
          configurationCid: null
        })
      )
    }),
  "subscription.settle": (play, order) =>
    Effect.flatMap(subscription(order.id), (self) =>
      writes(
        "subscription.settle",
        "subscriptionId",
        owesRefund(self) ? { refunds: paidFor(unrefunded(self)).cash } : {}
      )(play, order)
    ),
  "Holding.Allocate": allocates,
  "RedemptionClaim.Price": ({ stage }, { id, by }) =>
    Effect.gen(function* () {
      const { units, proceeds } = priced(yield* redemption(id))
      const oracle = named(by)
      const figures = { units: text(units), proceeds: text(proceeds) }
      yield* Cycles.pays({ ...stage, oracle }, { id, price, ...figures })
    }),
  "Holding.RequestBurn": (_, { id, by }) =>
    Effect.gen(function* () {
      const { units } = yield* redemption(id)
      const who = named(by)
      const held = yield* Cycles.active(Templates.Holding)
      const free = held.find(
        ({ payload }) =>
          payload.owner === who.party &&
          payload.instrument.id === "fund-a" &&
          payload.lock === null &&
          Decimal.of(String(payload.amount)) >= (units ?? Decimal.zero)
      )
      yield* who.act(
        Templates.exercise(Templates.Holding, free?.cid ?? "", "RequestBurn", {
          amount: units ?? Decimal.zero,
          reference: { kind: "redemption", id },
          custodian: null,
          executeBefore: nextMonth
        })
      )
    }),
  "BurnRequest.Accept": (_, { by }) =>
    Effect.flatMap(Fund.newestContract(Templates.BurnRequest), ({ cid }) =>
      named(by).act(Templates.exercise(Templates.BurnRequest, cid, "Accept", {}))
    ),
  "redemption.settle": (play, order) =>
    Effect.flatMap(redemption(order.id), ({ payment, proceeds }) =>
      writes(
        "redemption.settle",
        "redemptionId",
        payment === "wire" ? paidFor(proceeds) : {}
      )(play, order)
    ),
  "dealing-cycle.settle": writes("dealing-cycle.settle", "cycleId"),
  "PrimaryMarketProposal.Accept": (_, { by }) =>
    Effect.flatMap(Fund.newestContract(Templates.PrimaryMarketProposal), ({ cid }) =>
      named(by).act(
        Templates.exercise(Templates.PrimaryMarketProposal, cid, "Accept", {
          party: named(by).party
        })
      )
    ),
  "StandingSettlement.Commit": ({ stage }, { by }) =>
    Effect.gen(function* () {
      const { cid } = yield* Fund.newestContract(Templates.StandingSettlement)
      yield* Cycles.paysIn(stage, named(by), "2000")
      const held = yield* Cycles.active(Templates.Holding)
      const free = held.find(
        ({ payload }) => payload.owner === named(by).party && payload.lock === null
      )
      yield* named(by).act(
        Templates.exercise(Templates.StandingSettlement, cid, "Commit", {
          party: named(by).party,
          holdingCid: free?.cid ?? "",
          amount: Decimal.of("2000")
        })
      )
    }),
  "standing-settlement.resume": writes("standing-settlement.resume", "standingSettlementId")
}

/** Whether the state has a move that brings the record nearer to its end. */
export const hasForward = (machine: Machine, state: string): boolean =>
  Object.keys(machine.moves[state] ?? {}).some((on) => machine.forward.includes(on))

/**
 * Whether a closed order waits for its refund; the refund delays nothing and is not a state of the
 * order.
 */
const owes = (members: object): boolean =>
  "owedRefundCid" in members &&
  owesRefund({ owedRefundCid: members.owedRefundCid as string | null })

export interface Walked {
  readonly state: string
  /** The states it was seen in, and the moves it was brought on by. */
  readonly states: ReadonlyArray<string>
  readonly actions: ReadonlyArray<string>
}

/** Limit of moves, more than any record needs. */
const movesMax = 16

/** Makes the move a record waits for, and the next, until it waits for none, or for one of `until`. */
export const walk = <R extends { readonly state: string }, F>(
  play: Play,
  options: {
    readonly collection: Collection.Collection<R, F>
    readonly machine: Machine
    readonly id: string
    readonly until?: string
  }
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const { collection, machine, id } = options
    const states: Array<string> = []
    const actions: Array<string> = []
    for (let move = 0; move < movesMax; move++) {
      const before: Stored<R> = yield* records.get(collection, id)
      const waiting: ReadonlyArray<WaitingOn> = collection.waitingOn(before)
      if (states.at(-1) !== before.state) states.push(before.state)
      if (waiting.length > 0 !== (hasForward(machine, before.state) || owes(before))) {
        throw new Error(`${collection.name} ${before.state} waits for ${waiting.length}`)
      }
      const [next] = waiting
      if (next === undefined || next.action === options.until) {
        return { state: before.state, states, actions } satisfies Walked
      }
      const act = moves[next.action]
      if (act === undefined) throw new Error(`nobody knows how to ${next.action}`)
      const by = next.party === undefined ? undefined : play.cast.get(next.party)
      yield* act(play, { id, by })
      actions.push(next.action)
      const after = yield* records.get(collection, id)
      if (after.version <= before.version) {
        throw new Error(`${next.action} does not move a ${collection.name} that is ${before.state}`)
      }
    }
    throw new Error(`a ${collection.name} is moved without an end`)
  })

export const valued = "2026-07-31T20:30:00Z"

export const playOf = (stage: Fund.Parties, holders: ReadonlyArray<Fund.Outsider> = []): Play => ({
  stage,
  cast: new Map(
    [stage.registrar, stage.fund, stage.oracle, stage.attestor, stage.holder, ...holders].map(
      (who) => [who.party, who]
    )
  )
})

/** Units in a holder's hands, put there by the registrar. */
export const gives = (stage: Fund.Parties, to: Cycles.Holder, units: string) =>
  Effect.gen(function* () {
    const found = yield* Cycles.active(Templates.Credential)
    const credential = found.find(({ payload }) => payload.holder === to.party)
    yield* stage.registrar.act(
      Templates.exercise(Templates.Credential, credential?.cid ?? "", "Receive", {
        amount: Decimal.of(units),
        reference: { kind: "opening", id: `opening-${to.holderId}` },
        configurationCid: null
      })
    )
  })

export const claims = (
  kind: "subscription" | "redemption",
  body: Readonly<Record<string, Calls.Json>>
) =>
  Effect.map(Calls.write(`${kind}.claim`, {}, { instrumentId: "fund-a", ...body }), ({ why }) =>
    assert.strictEqual(why, "")
  )

/** Two holders with units, and an order of every shape, each claimed before Friday's cut-off. */
export const ordered = Effect.gen(function* () {
  // With units so coarse an amount of 1000 leaves a cent over.
  const { stage, holders } = yield* Cycles.opened(["h1", "h2"], { unitDecimals: 2 })
  const [one, two] = holders
  if (one === undefined || two === undefined) throw new Error("two holders are on the stage")
  yield* gives(stage, one, "5000")
  yield* gives(stage, one, "500")
  yield* gives(stage, two, "5000")
  yield* claims("subscription", { subscriptionId: "s-wire", holderId: "h1", amount: 1000 })
  yield* claims("subscription", { subscriptionId: "s-units", holderId: "h1", units: 250 })
  yield* claims("redemption", { redemptionId: "r-wire", holderId: "h1", units: 500 })
  assert.strictEqual(
    (yield* Cycles.subscribes(stage, one, { id: "s-alone", amount: "700" })).why,
    ""
  )
  assert.isEmpty((yield* Cycles.redeems(stage, two, { id: "r-alone", units: "300" })).why)
  assert.isEmpty((yield* Cycles.opens("c1")).why)
  assert.strictEqual(
    (yield* Cycles.subscribes(stage, two, { id: "s-cycle", amount: "900" })).why,
    ""
  )
  assert.isEmpty((yield* Cycles.redeems(stage, one, { id: "r-cycle", units: "200" })).why)
  yield* Cycles.at(valued)
  yield* Fund.publishes(stage, price, valued)
  return playOf(stage, holders)
})
