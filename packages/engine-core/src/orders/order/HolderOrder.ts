/** An order that a holder signed in its own wallet; the venue claims it as a ledger-paid order. */
import { Effect, Schema } from "effect"
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

/** Kind of order: units for cash, or cash for units. */
const OrderKind = Schema.Literals(["subscription", "redemption"])
export type OrderKind = typeof OrderKind.Type

export const HolderOrder = Schema.Struct({
  kind: OrderKind.pipe(Schema.withDecodingDefaultKey(Effect.succeed("subscription" as const))),
  orderId: Text,
  party: Party.schema,
  state: Schema.Literals(["signed", "claimed", "withdrawn"]),
  /** Id of the subscription or redemption that claimed it. */
  claimedAs: NullOr(Text),
  ...signed
})
export type HolderOrder = typeof HolderOrder.Type

export const Fact = Schema.Union([
  /** The holder signed another order under the same id, after it had withdrawn the former. */
  Schema.Struct({ on: Schema.Literal("sign"), ...signed }),
  Schema.Struct({ on: Schema.Literal("claim"), claimedAs: Text }),
  Schema.Struct({ on: Schema.Literal("withdraw") })
])
export type Fact = typeof Fact.Type

/** Key of a signed order: its id is unique for a holder and a kind only. */
export const nameOf = ({
  kind,
  party,
  orderId
}: Pick<HolderOrder, "kind" | "party" | "orderId">): string => `${kind}:${party}/${orderId}`

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
        claimedAs: null
      }))
      .with({ on: "claim" }, ({ claimedAs }) => ({
        ...self,
        state: "claimed" as const,
        claimedAs
      }))
      .with({ on: "withdraw" }, () => ({ ...self, state: "withdrawn" as const }))
      .exhaustive(),
  keptBy: "ledger",
  filters: { party: (self) => self.party, state: (self) => self.state },
  waitingOn: (self) =>
    self.state === "signed"
      ? [{ role: "operator", action: `${self.kind}.claim`, by: self.expiresAt }]
      : []
})
