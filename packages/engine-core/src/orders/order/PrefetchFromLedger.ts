/** Prefetch: the records that the contracts of a ledger update name, loaded together before it is read. */
import { Option, Schema } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf, holdings } from "../../instruments/register/Holding.ts"
import { idOf as entryOf, registerEntries } from "../../instruments/register/RegisterEntry.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import * as Party from "../../kernel/Party.ts"
import type { Look, FromLedger } from "../../projection/FromLedger.ts"
import type { LfRecord, LfValue } from "../../ports/Ledger.ts"
import { Lot, SubscriptionClaim, SubscriptionOrder } from "../../templates/Market.ts"
import { PricedRedemption, RedemptionClaim, RedemptionOrder } from "../../templates/Redemption.ts"
import { Allocation, Holding } from "../../templates/Registry.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import { dealingCycles } from "../dealing-cycle/DealingCycle.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { holderOrders, type OrderKind, nameOf } from "./HolderOrder.ts"
import { subscriptions } from "../subscription/Subscription.ts"

/** Returns the text of a field; empty if the field is no text. */
const text = (value: LfValue | undefined): string => (typeof value === "string" ? value : "")

const inside = (value: LfValue | undefined, field: string): string =>
  typeof value === "object" && value !== null && field in value
    ? text((value as LfRecord)[field])
    : ""

const look = (collection: Look["collection"], id: string): ReadonlyArray<Look> =>
  id === "" ? [] : [{ collection, id }]

const party = Schema.decodeUnknownOption(Party.schema)

const orderOf = (kind: OrderKind, holder: LfValue | undefined, orderId: LfValue | undefined) =>
  Option.match(party(holder), {
    onNone: () => [],
    onSome: (holderParty) =>
      text(orderId) === ""
        ? []
        : look(holderOrders, nameOf({ kind, party: holderParty, orderId: text(orderId) }))
  })

const ofParties = (payload: LfRecord): ReadonlyArray<Look> => [
  ...look(holderParties, text(payload.holder)),
  ...look(instruments, inside(payload.instrument, "id")),
  ...look(dealingCycles, text(payload.cycleId))
]

const subscription = (payload: LfRecord) => [
  ...look(subscriptions, text(payload.subscriptionId)),
  ...orderOf("subscription", payload.holder, payload.orderId),
  ...ofParties(payload)
]
const redemption = (payload: LfRecord) => [
  ...look(redemptions, text(payload.redemptionId)),
  ...orderOf("redemption", payload.holder, payload.orderId),
  ...ofParties(payload)
]

export const fromLedger: ReadonlyArray<FromLedger> = [
  { template: SubscriptionOrder.typeRef, looks: subscription },
  { template: SubscriptionClaim.typeRef, looks: subscription },
  { template: Lot.typeRef, looks: subscription },
  { template: RedemptionOrder.typeRef, looks: redemption },
  { template: RedemptionClaim.typeRef, looks: redemption },
  { template: PricedRedemption.typeRef, looks: redemption },
  {
    template: Allocation.typeRef,
    looks: ({ reference, sender }) => [
      ...look(subscriptions, text(reference)),
      ...look(redemptions, text(reference)),
      ...look(dealingCycles, text(reference)),
      ...orderOf("subscription", sender, reference),
      ...orderOf("redemption", sender, reference)
    ]
  },
  {
    template: SettlementIntent.typeRef,
    looks: ({ reference }) => [
      ...look(subscriptions, inside(reference, "id")),
      ...look(redemptions, inside(reference, "id"))
    ]
  },
  {
    template: Holding.typeRef,
    looks: ({ registrar, instrument, owner }, contractId) => [
      ...look(holdings, contractId),
      ...Option.match(Option.all([party(registrar), party(owner)]), {
        onNone: () => [],
        onSome: ([registrarParty, ownerParty]) => {
          const asset = { registrar: registrarParty, instrumentId: inside(instrument, "id") }
          return [
            ...look(registerEntries, entryOf({ ...asset, party: ownerParty })),
            ...look(supplies, assetKeyOf(asset))
          ]
        }
      })
    ]
  }
]
