/** Facts from the ledger about a redemption: claimed, priced, funded, burned, settled, ended. */
import { Effect, Option } from "effect"
import * as Zone from "../../kernel/Zone.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node } from "../../projection/FromLedger.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { PricedRedemption, RedemptionClaim } from "../../templates/Redemption.ts"
import { BurnRequest } from "../../templates/Registry.ts"
import type { Argument, Payload } from "../../templates/Template.ts"
import { awaitingTerms } from "../../instruments/instrument/AwaitingTermsSteps.ts"
import { cutOffOf, openingOf } from "../order/OrderClaimLookups.ts"
import { beyondAnOrder } from "../order/OrderSize.ts"
import { pricingOf } from "../order/OrderPricingLookups.ts"
import {
  burnedBy,
  type Redemption,
  redemptions,
  type Fact,
  RedemptionMachine
} from "./Redemption.ts"
import { claimedAs } from "./RedemptionOpening.ts"
import * as Pricing from "./RedemptionPricing.ts"

type Claim = Payload<typeof RedemptionClaim>
type PricedPayload = Payload<typeof PricedRedemption>

const order = LedgerRecord.transitionsOf({
  collection: redemptions,
  machine: RedemptionMachine,
  resourceKind: "redemption"
})

const claim = TypedFromLedger.of(RedemptionClaim, {
  created: Effect.fn("RedemptionClaim.created")(function* (payload, node) {
    const records = yield* Records
    const existing = yield* records.find(redemptions, payload.redemptionId)
    if (Option.isNone(existing)) return yield* opened(payload, node)
    if (isJoining(existing.value, payload)) {
      const { cycleId } = payload
      return yield* order.record(existing.value, node, {
        on: "join",
        claimCid: node.contractId,
        cycleId
      })
    }
    yield* order.keepBreach(node, payload.redemptionId, {
      on: "claim",
      detail: "A redemption of this id exists."
    })
  }),
  exercised: {
    Withdraw: ({ payload }, node) =>
      order.moveBy(payload.redemptionId, node, { on: "withdraw", at: node.effectiveAt })
  }
})

const priced = TypedFromLedger.of(PricedRedemption, {
  created: (payload, node) =>
    order.withRecord(payload.redemptionId, node, "price", (self) =>
      order.allows(self, "price") && self.mispricedCid === null
        ? pricedBy(self, payload, node)
        : order.keepBreach(node, payload.redemptionId, {
            on: "price",
            detail: `A redemption in state ${self.state} waits for no price.`
          })
    ),
  exercised: {
    Settle: ({ payload, argument }, node) =>
      // Without a units allocation the units were burned before: this is the payment alone.
      argument.unitsAllocationCid === null
        ? order.move(payload.redemptionId, node, "settle", (self) => ({
            on: "settle",
            ...valued(self, node)
          }))
        : order.move(payload.redemptionId, node, "exchange", (self) =>
            exchanged(self, payload, argument, node)
          ),
    Release: ({ payload, argument: { withdrawn } }, node) =>
      order.withRecord(payload.redemptionId, node, "release", (self) =>
        order.moveBy(payload.redemptionId, node, {
          on: withdrawn === true || self.mispricedCid === node.contractId ? "withdraw" : "release",
          at: node.effectiveAt
        })
      )
  }
})

const burnRequest = TypedFromLedger.of(BurnRequest, {
  created: (payload, node) =>
    burning(payload, ({ id }) =>
      order.withRecord(id, node, "fund", (self) => funded(self, payload, node))
    ),
  exercised: {
    Accept: ({ payload }, node) =>
      burning(payload, ({ id }) =>
        order.withRecord(id, node, "burn", (self) =>
          self.burnRequestCid === node.contractId && order.allows(self, "burn")
            ? order.record(self, node, { on: "burn", at: node.effectiveAt })
            : order.keepBreach(node, id, {
                on: "burn",
                detail: "The redemption does not wait for this burn."
              })
        )
      ),
    Reject: ({ payload }, node) => unburned(payload, node),
    Withdraw: ({ payload }, node) => unburned(payload, node)
  }
})

export const fromLedger = [claim, priced, burnRequest].map(awaitingTerms)

// ---- a claim opens the order

const opened = Effect.fnUntraced(function* (payload: Claim, node: Node) {
  const opening = yield* openingOf(payload, node)
  if (opening === null) {
    return yield* order.keepBreach(node, payload.redemptionId, {
      on: "claim",
      detail: "Its instrument or its holder is not recorded."
    })
  }
  const cutOff = yield* cutOffOf(payload, opening, node)
  yield* LedgerRecord.open(redemptions, claimedAs(payload, opening, cutOff), node)
})

/** Checks whether the claim contract is a remainder that joins the cycle of its cut-off. */
const isJoining = (
  { cutOffAt, cycleId, state }: Redemption,
  payload: Claim
): payload is Claim & { readonly cycleId: string } =>
  state === "claimed" &&
  cycleId === null &&
  payload.cycleId !== null &&
  payload.remainderOf !== null &&
  (payload.cutOffAt ?? cutOffAt) === cutOffAt

// ---- the oracle prices it

/**
 * Records the price that the oracle signed; a breach of the rules is kept for reconciliation. A price whose
 * figures are beyond those of an order prices nothing: the order stays claimed, until it is withdrawn.
 */
const pricedBy = Effect.fnUntraced(function* (
  self: Stored<Redemption>,
  payload: PricedPayload,
  node: Node
) {
  if (!Pricing.isWithinOrder(self, payload)) {
    yield* order.keepBreach(node, self.redemptionId, { on: "price", detail: beyondAnOrder })
    const mispricedCid = node.contractId
    return yield* order.record(self, node, { on: "misprice", mispricedCid })
  }
  const breaches = Pricing.breaches(
    self,
    payload,
    yield* pricingOf(self, payload.pointCid, node.effectiveAt)
  )
  if (breaches.length > 0) {
    yield* order.keepBreach(node, self.redemptionId, { on: "price", detail: breaches.join(" ") })
  }
  const { pointCid, proceeds } = payload
  yield* order.record(self, node, {
    on: "price",
    pricedCid: node.contractId,
    pointCid,
    proceeds,
    ...Pricing.pricedAs(self, payload),
    at: node.effectiveAt
  })
})

// ---- units are burned by request, or with the payment

/** Reads a burn request whose reference is a redemption; ignores any other. */
const burning = (
  { reference }: Payload<typeof BurnRequest>,
  read: (reference: { readonly id: string }) => LedgerRecord.LedgerEffect
): LedgerRecord.LedgerEffect => (reference.kind === "redemption" ? read(reference) : Effect.void)

/**
 * Reason why a burn request is not one of the order; null: it is. An order in a dealing cycle is burned and
 * paid by its cycle alone: burned by request it would evade the cycle's capacity and the sequence of
 * cut-offs, and while a request is open the venue could neither settle the cycle nor release the order
 * (docs/domain/dealing-cycles.md#burn-requests).
 */
export const misfitOfBurn = (
  self: Parameters<typeof isBurnOf>[0] & Pick<Redemption, "cycleId">,
  request: Payload<typeof BurnRequest>
): string | null => {
  if (!isBurnOf(self, request)) {
    return "The request to burn is for another holder, instrument or number of units."
  }
  return self.cycleId === null ? null : "Its dealing cycle burns its units."
}

/** Checks whether a burn request is for the holder, the instrument and the units of the order. */
const isBurnOf = (
  self: Pick<Redemption, "party" | "instrumentId" | "registrar" | "units" | "index" | "baseUnits">,
  { holder, instrument, amount }: Payload<typeof BurnRequest>
): boolean =>
  holder === self.party &&
  instrument.id === self.instrumentId &&
  instrument.admin === self.registrar &&
  amount === burnedBy(self)

const funded = (
  self: Stored<Redemption>,
  requested: Payload<typeof BurnRequest>,
  node: Node
): LedgerRecord.LedgerEffect => {
  const { redemptionId } = self
  const misfit = misfitOfBurn(self, requested)
  if (misfit !== null) return order.keepIdle(node, redemptionId, { on: "fund", detail: misfit })
  if (self.burnRequestCid !== null) {
    return order.keepIdle(node, redemptionId, {
      on: "fund",
      detail: "Its units are requested already."
    })
  }
  const burnRequestCid = node.contractId
  if (self.state === "funded")
    return order.record(self, node, { on: "request-burn", burnRequestCid })
  return order.allows(self, "fund")
    ? order.record(self, node, { on: "fund", burnRequestCid, at: node.effectiveAt })
    : order.keepIdle(node, redemptionId, {
        on: "fund",
        detail: `A redemption in state ${self.state} gives no units to burn.`
      })
}

/** Records the end of a burn request that was rejected or withdrawn; the order needs another. */
const unburned = (payload: Payload<typeof BurnRequest>, node: Node): LedgerRecord.LedgerEffect =>
  burning(payload, ({ id }) =>
    order.withRecord(id, node, "request-burn", (self) =>
      self.burnRequestCid === node.contractId
        ? order.record(self, node, { on: "request-burn", burnRequestCid: null })
        : Effect.void
    )
  )

const valued = (self: Redemption, node: Node) => ({
  at: node.effectiveAt,
  valueDate: Zone.dateAt(self.zone, node.effectiveAt)
})

const exchanged = (
  self: Redemption,
  { units, price, proceeds }: PricedPayload,
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
