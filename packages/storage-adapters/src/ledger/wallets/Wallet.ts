/** Wallet of an investor: consents, orders and payments, each by its own signature. */
import { Decimal, type Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Agreements from "./Agreements.ts"
import * as Commitments from "./Commitments.ts"
import * as Orders from "./Orders.ts"
import * as Policy from "./Policy.ts"
import * as Powers from "./Powers.ts"
import * as Reserves from "./Reserves.ts"
import * as World from "./World.ts"

/** Options of a holder's wallet. */
export interface Options {
  readonly policy: Policy.Policy
  /**
   * SHA-256 of the terms that the holder has read and signs once it is registered; absent: none.
   */
  readonly terms?: string
}

/** Plan of an unattended wallet, which accepts what its policy permits. */
export const plan = ({ policy, terms }: Options): World.Plan =>
  Agreements.all(
    invitations(policy),
    terms === undefined ? () => [] : signTerms({ documentHash: terms }),
    offers(policy),
    Powers.consents(policy),
    Agreements.transferOffers(policy),
    Agreements.legs(policy),
    Commitments.commitments(policy),
    Orders.dues(policy),
    Orders.units(policy),
    Orders.burns(policy, (custodian) => custodian === null),
    Orders.strays,
    Reserves.orders(policy)
  )

/** Acts on the invitations of the venue that a policy accepts. */
export const invitations =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.HolderInvitation).flatMap(({ contractId, payload }) => {
      const { validUntil } = payload
      const past = validUntil !== null && world.now >= validUntil
      if (payload.holder !== world.party || past) return []
      const to = { template: Templates.HolderInvitation, contractId } as const
      const details = { holderId: payload.holderId }
      switch (Policy.judge(policy, [contractId, payload.holderId])) {
        case "accept":
          return [World.answer("accept-invitation", { ...to, choice: "Accept" }, {}, details)]
        case "reject":
          return [World.answer("decline-invitation", { ...to, choice: "Decline" }, {}, details)]
        case "wait":
          return []
      }
    })

/** Acts on the offers of admission that a policy accepts. */
export const offers =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.AdmissionOffer).flatMap(({ contractId, payload }) => {
      const { holder, instrumentId, credentialId, expiresAt } = payload
      if (holder !== world.party || (expiresAt !== null && world.now >= expiresAt)) return []
      const to = { template: Templates.AdmissionOffer, contractId } as const
      const details = { instrumentId, credentialId }
      switch (Policy.judge(policy, [contractId, instrumentId, credentialId])) {
        case "accept":
          return [World.answer("accept-offer", { ...to, choice: "Accept" }, {}, details)]
        case "reject":
          return [World.answer("decline-offer", { ...to, choice: "Decline" }, {}, details)]
        case "wait":
          return []
      }
    })

/** Signs the terms as the registered holder, once for each document. */
export const signTerms =
  (terms: { readonly documentHash: string; readonly holderId?: string }): World.Plan =>
  (world) =>
    World.find(world, Templates.HolderRegistration).flatMap(({ payload }) => {
      const { holder, holderId, venue } = payload
      const { documentHash } = terms
      const mine = holder === world.party && (terms.holderId ?? holderId) === holderId
      if (!mine || isSigned(world, { holderId, documentHash })) return []
      return [
        {
          name: "sign-terms",
          about: holderId,
          change: {
            commandId: `sign-terms:${holderId}:${documentHash}`,
            commands: [
              Templates.create(Templates.SignedTerms, {
                venue,
                holder,
                holderId,
                documentHash,
                signedAt: world.now
              })
            ]
          },
          details: { holderId, documentHash }
        }
      ]
    })

const isSigned = (
  world: World.World,
  { holderId, documentHash }: { readonly holderId: string; readonly documentHash: string }
): boolean =>
  [...World.find(world, Templates.SignedTerms), ...World.find(world, Templates.AcceptedTerms)].some(
    ({ payload }) => payload.holderId === holderId && payload.documentHash === documentHash
  )

/** Order of a holder, as its wallet signs it. */
export interface Order {
  readonly venue: Party.Party
  readonly fund: Party.Party
  readonly orderId: string
  readonly instrument: Templates.Asset
  readonly paymentAsset: Templates.Asset
  readonly ordered: { readonly amount: Decimal.Decimal } | { readonly units: Decimal.Decimal }
  readonly expiresAt: Instant.Instant | null
}

/** Creates a subscription order that is paid on the ledger. */
export const order = (holder: Party.Party, subscription: Order): World.Act => {
  const { ordered, ...rest } = subscription
  const payload = { ...rest, ...counted(ordered), holder }
  return placed("order", subscription, Templates.create(Templates.SubscriptionOrder, payload))
}

/** Creates a redemption order that is paid on the ledger. */
export const redeem = (
  holder: Party.Party,
  redemption: Order & { readonly custodian: Party.Party | null }
): World.Act => {
  const { ordered, ...rest } = redemption
  const payload = { ...rest, ...counted(ordered), holder }
  return placed("redeem", redemption, Templates.create(Templates.RedemptionOrder, payload))
}

const counted = (ordered: Order["ordered"]) => ({
  amount: "amount" in ordered ? ordered.amount : null,
  units: "units" in ordered ? ordered.units : null
})

const placed = (
  name: "order" | "redeem",
  { orderId, ordered }: Order,
  create: Templates.Command
): World.Act => ({
  name,
  about: orderId,
  change: { commandId: `${name}:${orderId}`, commands: [create] },
  details: {
    orderId,
    ...("amount" in ordered
      ? { amount: Decimal.formatPlain(ordered.amount) }
      : { units: Decimal.formatPlain(ordered.units) })
  }
})

/** Allocates cash of an order to the venue; by the order itself where no request exists for it. */
export const allocate =
  (allocation: {
    readonly reference: string
    readonly venue: Party.Party
    readonly receiver: Party.Party
    readonly instrument: Templates.Asset
    readonly amount: Decimal.Decimal
    readonly settleBefore: Instant.Instant
  }): World.Plan =>
  (world) =>
    Agreements.from(world, allocation, (holdingCid) => ({
      name: "allocate",
      about: allocation.reference,
      change: {
        commandId: `allocate:${allocation.reference}`,
        commands: [
          Templates.exercise(Templates.Holding, holdingCid, "Allocate", {
            allocationId: allocation.reference,
            executor: allocation.venue,
            receiver: allocation.receiver,
            amount: allocation.amount,
            settleBefore: allocation.settleBefore
          })
        ]
      },
      details: { reference: allocation.reference, amount: Decimal.formatPlain(allocation.amount) }
    }))

/** Withdraws an order that has not been claimed. */
export const withdrawOrder =
  (orderId: string): World.Plan =>
  (world) =>
    [Templates.SubscriptionOrder, Templates.RedemptionOrder].flatMap((template) =>
      World.find(world, template)
        .filter(({ payload }) => payload.holder === world.party && payload.orderId === orderId)
        .map(({ contractId }) =>
          World.answer(
            "withdraw-order",
            { template, contractId, choice: "Withdraw" },
            {},
            { orderId }
          )
        )
    )

/** Lists the wallet's holdings as text. */
export const holdings = (world: World.World) =>
  World.find(world, Templates.Holding)
    .filter(({ payload }) => payload.owner === world.party)
    .map(({ contractId, payload }) => ({
      contractId,
      instrumentId: payload.instrument.id,
      registrar: payload.registrar,
      amount: Decimal.formatPlain(payload.amount),
      locked: payload.lock?.context ?? null
    }))

/** Lists the wallet's delivered lines of distributions as text. */
export const payouts = (world: World.World) =>
  World.find(world, Templates.DeliveredLine)
    .filter(({ payload }) => payload.holder === world.party)
    .map(({ contractId, payload: { evidence, payoutUnits, ...line } }) => ({
      contractId,
      lineId: line.lineId,
      instrumentId: line.instrument.id,
      registrar: line.registrar,
      gross: Decimal.formatPlain(line.gross),
      withheld: Decimal.formatPlain(line.withheld),
      net: Decimal.formatPlain(line.net),
      payoutUnits: payoutUnits === null ? null : Decimal.formatPlain(payoutUnits),
      reference: evidence?.reference ?? null,
      paidOn: evidence?.paidOn ?? null
    }))
