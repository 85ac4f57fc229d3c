/** Readings of the ledger about a redemption: claimed, priced, funded, burned, settled, ended. */
import { Effect, Option, Schema } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import { pricePoints } from "../../instruments/price/PricePoint.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Follow from "../../projection/Follow.ts"
import * as Once from "../../projection/Once.ts"
import type { Node } from "../../projection/Reading.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { PricedRedemption, RedemptionClaim } from "../../templates/Redemption.ts"
import { BurnRequest } from "../../templates/Registry.ts"
import type { Argument, Payload } from "../../templates/Template.ts"
import * as Currency from "../../kernel/Currency.ts"
import { dayPriceOf } from "../DayPriceLookups.ts"
import { dealingCycles } from "../dealing-cycle/DealingCycle.ts"
import { nextCutOff, settleBy } from "../subscription/SubscriptionRules.ts"
import { pointsFor } from "../subscription/SubscriptionLookups.ts"
import { type Redemption, RedemptionId, redemptions } from "./Redemption.ts"
import { type Fact, RedemptionMachine } from "./RedemptionMachine.ts"
import * as Pricing from "./RedemptionPricing.ts"

type Claim = Payload<typeof RedemptionClaim>
type Priced = Payload<typeof PricedRedemption>

const order = Follow.of({
  collection: redemptions,
  machine: RedemptionMachine,
  resourceKind: "redemption"
})

const claim = TypedReading.of(RedemptionClaim, {
  created: Effect.fn("RedemptionClaim.created")(function* (payload, node) {
    const records = yield* Records
    const known = yield* records.find(redemptions, payload.redemptionId)
    if (Option.isNone(known)) return yield* opened(payload, node)
    if (isJoining(known.value, payload)) {
      const { cycleId } = payload
      return yield* order.noted(known.value, node, {
        on: "join",
        claimCid: node.contractId,
        cycleId
      })
    }
    yield* order.surprise(node, payload.redemptionId, {
      on: "claim",
      detail: "A redemption of this id exists."
    })
  }),
  exercised: {
    Withdraw: ({ payload }, node) =>
      order.stepped(payload.redemptionId, node, { on: "withdraw", at: node.effectiveAt })
  }
})

const priced = TypedReading.of(PricedRedemption, {
  created: (payload, node) =>
    order.found(payload.redemptionId, node, "price", (self) =>
      order.allows(self, "price")
        ? isPriced(self, payload, node)
        : order.surprise(node, payload.redemptionId, {
            on: "price",
            detail: `A redemption in state ${self.state} waits for no price.`
          })
    ),
  exercised: {
    Settle: ({ payload, argument }, node) =>
      // Without units to burn they were gone before, and this is the payment alone.
      argument.unitsAllocationCid === null
        ? order.moved(payload.redemptionId, node, "settle", (self) => ({
            on: "settle",
            ...valued(self, node)
          }))
        : order.moved(payload.redemptionId, node, "exchange", (self) =>
            exchanged(self, payload, argument, node)
          ),
    Release: ({ payload, argument: { withdrawn } }, node) =>
      order.stepped(payload.redemptionId, node, {
        on: withdrawn === true ? "withdraw" : "release",
        at: node.effectiveAt
      })
  }
})

const burnRequest = TypedReading.of(BurnRequest, {
  created: (payload, node) =>
    burning(payload, ({ id }) =>
      order.found(id, node, "fund", (self) => funded(self, payload, node))
    ),
  exercised: {
    Accept: ({ payload }, node) =>
      burning(payload, ({ id }) =>
        order.found(id, node, "burn", (self) =>
          self.burnRequestCid === node.contractId && order.allows(self, "burn")
            ? order.noted(self, node, { on: "burn", at: node.effectiveAt })
            : order.surprise(node, id, {
                on: "burn",
                detail: "The redemption does not wait for this burn."
              })
        )
      ),
    Reject: ({ payload }, node) => unburned(payload, node),
    Withdraw: ({ payload }, node) => unburned(payload, node)
  }
})

export const readings = [claim, priced, burnRequest] as const

// ---- a claim opens the order

const opened = Effect.fnUntraced(function* (payload: Claim, node: Node) {
  const records = yield* Records
  const known = yield* records.find(instruments, payload.instrument.id)
  const holder = yield* records.find(holderParties, payload.holder)
  if (Option.isNone(known) || !isRecorded(known.value) || Option.isNone(holder)) {
    return yield* order.surprise(node, payload.redemptionId, {
      on: "claim",
      detail: "Its instrument or its holder is not known."
    })
  }
  const { instrumentId, registrar } = known.value
  const terms = yield* inForce(known.value, node.effectiveAt)
  const { manifest } = terms
  const cutOff = yield* cutOffOf(payload, terms.cutOff, node)
  yield* Once.open(
    redemptions,
    {
      ...unpriced,
      redemptionId: Schema.decodeSync(RedemptionId)(payload.redemptionId),
      instrumentId,
      registrar,
      holderId: holder.value.holderId,
      party: payload.holder,
      payment: payload.mode,
      orderedAs: payload.orderedUnits === null ? "amount" : "units",
      amount: payload.orderedAmount,
      units: payload.orderedUnits,
      currency: payload.currency,
      policyVersion: terms.policyVersion,
      cutOffAt: cutOff.at,
      dealingDate: cutOff.date,
      cycleId: payload.cycleId,
      formerCycle: null,
      cash: { expected: payload.orderedAmount, matched: Decimal.zero, lines: [] },
      settleBy: payload.mode === "ledger" ? settleBy(cutOff.at) : null,
      claimedAt: node.effectiveAt,
      remainderOf: payload.remainderOf,
      // What a gate left over waits for the point of its day, whatever its instrument's rule.
      pricing: payload.cutOffAt === null ? manifest.pricing : "forward",
      feeRate: terms.fees.redemption,
      unitDecimals: manifest.unitDecimals,
      cashDecimals: Currency.decimals(payload.currency),
      zone: manifest.businessZone ?? Zone.utc,
      oracle: payload.oracle,
      custodian: payload.custodian,
      fund: payload.fund,
      paymentAsset: payload.paymentAsset,
      orderId: payload.orderId,
      claimCid: node.contractId
    },
    node
  )
})

/** An order deals at the cut-off that it names or that its cycle has, else at the next. */
const cutOffOf = Effect.fnUntraced(function* (
  { cutOffAt: named, cycleId }: Claim,
  rule: Parameters<typeof nextCutOff>[0],
  node: Node
) {
  const records = yield* Records
  const cycle = cycleId === null ? Option.none() : yield* records.find(dealingCycles, cycleId)
  const at = named ?? Option.getOrNull(cycle)?.cutOffAt ?? null
  return at === null ? nextCutOff(rule, node.effectiveAt) : { at, date: Zone.dateAt(rule.zone, at) }
})

/** What a gate left over is claimed anew by joining the cycle of its day. */
const isJoining = (
  { cutOffAt, cycleId, state }: Redemption,
  payload: Claim
): payload is Claim & { readonly cycleId: string } =>
  state === "claimed" &&
  cycleId === null &&
  payload.cycleId !== null &&
  payload.remainderOf !== null &&
  (payload.cutOffAt ?? cutOffAt) === cutOffAt

const unpriced = {
  state: RedemptionMachine.initial,
  fee: null,
  price: null,
  pointCid: null,
  proceeds: null,
  valueDate: null,
  pricedAt: null,
  burnRequestCid: null,
  fundedAt: null,
  burnedAt: null,
  settledAt: null,
  endedAt: null,
  endedAs: null,
  pricedCid: null,
  intentCid: null,
  unitsAllocation: null,
  allocation: null
} as const

// ---- the oracle prices it

/** The record moves whatever the oracle did: a breach of the rules is kept for reconciliation. */
const isPriced = Effect.fnUntraced(function* (
  self: Stored<Redemption>,
  payload: Priced,
  node: Node
) {
  const breaches = Pricing.breaches(
    self,
    payload,
    yield* rulesOf(self, payload.pointCid, node.effectiveAt)
  )
  if (breaches.length > 0) {
    yield* order.surprise(node, self.redemptionId, { on: "price", detail: breaches.join(" ") })
  }
  const { pointCid, price, units, proceeds } = payload
  const fee = Pricing.feeOf(self, { units, price })
  yield* order.noted(self, node, {
    on: "price",
    pricedCid: node.contractId,
    pointCid,
    price,
    units,
    proceeds,
    fee,
    at: node.effectiveAt
  })
})

/** What the order's price is held against: the points, the day's price, how old a price may be. */
const rulesOf = Effect.fnUntraced(function* (
  self: Redemption,
  pointCid: string,
  now: Instant.Instant
) {
  const records = yield* Records
  const points = yield* pointsFor(self, pointCid)
  const point = Option.getOrNull(yield* records.find(pricePoints, pointCid))
  const known = yield* records.find(instruments, self.instrumentId)
  if (Option.isNone(known) || !isRecorded(known.value)) {
    throw new Error("an order is claimed for a recorded instrument")
  }
  const terms = yield* inForce(known.value, self.claimedAt)
  return {
    points,
    dayPrice:
      point === null
        ? null
        : yield* dayPriceOf(self, point.price, { instrument: known.value, now }),
    staleAfter: terms.grace["nav-usable"] ?? null
  }
})

// ---- units are burned by request, or with the payment

/** A request to burn is an order's by its reference; another's is not read here. */
const burning = (
  { reference }: Payload<typeof BurnRequest>,
  read: (reference: { readonly id: string }) => Follow.Reads
): Follow.Reads => (reference.kind === "redemption" ? read(reference) : Effect.void)

const funded = (
  self: Stored<Redemption>,
  { holder, instrument, amount }: Payload<typeof BurnRequest>,
  node: Node
): Follow.Reads => {
  const { redemptionId } = self
  if (
    holder !== self.party ||
    instrument.id !== self.instrumentId ||
    instrument.admin !== self.registrar ||
    amount !== self.units
  ) {
    return order.surprise(node, redemptionId, {
      on: "fund",
      detail: "The request to burn is for another holder, instrument or number of units."
    })
  }
  if (self.burnRequestCid !== null) {
    return order.surprise(node, redemptionId, {
      on: "fund",
      detail: "Its units are requested already."
    })
  }
  const burnRequestCid = node.contractId
  if (self.state === "funded")
    return order.noted(self, node, { on: "request-burn", burnRequestCid })
  return order.allows(self, "fund")
    ? order.noted(self, node, { on: "fund", burnRequestCid, at: node.effectiveAt })
    : order.surprise(node, redemptionId, {
        on: "fund",
        detail: `A redemption in state ${self.state} gives no units to burn.`
      })
}

/** The registrar would not burn, or the request was taken back: another one has to come. */
const unburned = (payload: Payload<typeof BurnRequest>, node: Node): Follow.Reads =>
  burning(payload, ({ id }) =>
    order.found(id, node, "request-burn", (self) =>
      self.burnRequestCid === node.contractId
        ? order.noted(self, node, { on: "request-burn", burnRequestCid: null })
        : Effect.void
    )
  )

const valued = (self: Redemption, node: Node) => ({
  at: node.effectiveAt,
  valueDate: Zone.dateAt(self.zone, node.effectiveAt)
})

const exchanged = (
  self: Redemption,
  { units, price, proceeds }: Priced,
  { fill }: Argument<typeof PricedRedemption, "Settle">,
  node: Node
): Extract<Fact, { readonly on: "exchange" }> => {
  const part = fill ?? { units, proceeds }
  return {
    on: "exchange",
    units: part.units,
    proceeds: part.proceeds,
    fee: Pricing.feeOf(self, { units: part.units, price }),
    ...valued(self, node)
  }
}
