/** Events that the room of orders announces: orders, dealing cycles and payments. */
import { Schema } from "effect"
import * as Date from "../kernel/Date.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Integer from "../kernel/Integer.ts"
import { about, announcing } from "../records/EventDeclaration.ts"
import { RedemptionMachine } from "./redemption/RedemptionMachine.ts"
import { SubscriptionMachine } from "./subscription/SubscriptionMachine.ts"

const { NullOr, String: Text, Struct } = Schema
const Count = Integer.schema

export const events = {
  "subscription.priced": about(
    "subscription",
    Struct({ state: SubscriptionMachine.schema, price: Decimal.schema })
  ),
  "subscription.delivered": about(
    "subscription",
    Struct({
      state: SubscriptionMachine.schema,
      quantity: Decimal.schema,
      valueDate: Date.schema
    })
  ),
  "subscription.ended": about("subscription", Struct({ state: SubscriptionMachine.schema })),
  "redemption.priced": about(
    "redemption",
    Struct({ state: RedemptionMachine.schema, price: Decimal.schema })
  ),
  "redemption.funded": about("redemption", Struct({ state: RedemptionMachine.schema })),
  "redemption.burned": about(
    "redemption",
    Struct({ state: RedemptionMachine.schema, quantity: Decimal.schema })
  ),
  "redemption.settled": about(
    "redemption",
    Struct({ state: RedemptionMachine.schema, amount: Decimal.schema, valueDate: Date.schema })
  ),
  "redemption.withdrawn": about(
    "redemption",
    Struct({
      state: RedemptionMachine.schema,
      how: Schema.Literals(["withdrawn", "released"])
    })
  ),
  "dealing-cycle.settled": about(
    "dealing-cycle",
    Struct({
      subscriptions: Count,
      redemptions: Count,
      fundNet: Struct({ amount: Decimal.schema, quantity: Decimal.schema })
    })
  ),
  "dealing-cycle.released": about(
    "dealing-cycle",
    Struct({ subscriptions: Count, redemptions: Count })
  ),
  "settlement.proposed": about("contract", Struct({ contractId: Text, reference: NullOr(Text) })),
  "subscription.created": about(
    "subscription",
    Struct({ contractId: Text, price: Decimal.schema, quantity: Decimal.schema })
  )
} as const

export const make = announcing(events)
