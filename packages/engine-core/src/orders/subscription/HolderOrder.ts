/** An order that a holder signed in its own wallet, which the venue may claim to be paid on the ledger. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"

const { NullOr, String: Text } = Schema

const signed = {
  cid: Field.contractId,
  instrument: Field.asset,
  fund: Party.schema,
  paymentAsset: Field.asset,
  amount: NullOr(Decimal.schema),
  units: NullOr(Decimal.schema),
  expiresAt: NullOr(Instant.schema)
} as const

export const HolderOrder = Schema.Struct({
  orderId: Text,
  party: Party.schema,
  state: Schema.Literals(["signed", "claimed", "withdrawn"]),
  /** The subscription that came of it. */
  subscriptionId: NullOr(Text),
  ...signed
})
export type HolderOrder = typeof HolderOrder.Type

export const Fact = Schema.Union([
  /** Signed anew under the same id, after it was withdrawn. */
  Schema.Struct({ on: Schema.Literal("sign"), ...signed }),
  Schema.Struct({ on: Schema.Literal("claim"), subscriptionId: Text }),
  Schema.Struct({ on: Schema.Literal("withdraw") })
])
export type Fact = typeof Fact.Type

/** A holder's own name for an order: another holder may use the same. */
export const nameOf = ({ party, orderId }: Pick<HolderOrder, "party" | "orderId">): string =>
  `${party}/${orderId}`

export const holderOrders = Collection.define<HolderOrder, Fact>("holder-order", {
  doc: "An order that a holder signed in its own wallet.",
  id: nameOf,
  record: HolderOrder,
  fact: Fact,
  evolve: (self, fact) =>
    match(fact)
      .with({ on: "sign" }, ({ on: _, ...order }) => ({
        ...self,
        ...order,
        state: "signed" as const,
        subscriptionId: null
      }))
      .with({ on: "claim" }, ({ subscriptionId }) => ({
        ...self,
        state: "claimed" as const,
        subscriptionId
      }))
      .with({ on: "withdraw" }, () => ({ ...self, state: "withdrawn" as const }))
      .exhaustive(),
  keptBy: "ledger",
  filters: { party: (self) => self.party, state: (self) => self.state },
  waitingOn: (self) =>
    self.state === "signed"
      ? [{ role: "operator", action: "subscription.claim", by: self.expiresAt }]
      : []
})
