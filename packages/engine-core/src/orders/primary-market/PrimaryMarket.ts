/** A fund's and its registrar's consent that orders of an instrument are paid on the ledger. */
import { Schema } from "effect"
import * as Agreement from "../../agreements/Agreement.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"

const { NullOr, String: Text } = Schema

const doc = "A fund's consent that orders of an instrument are paid on the ledger."

export const PrimaryMarketMachine = Agreement.declareStates("PrimaryMarketState", {
  doc: "A fund's consent to orders paid on the ledger. What opened while agreed settles under it.",
  means: {
    proposed: "Asked of the fund.",
    agreed: "Orders may be paid on the ledger.",
    declined: "The fund declined.",
    ended: "The fund revoked it, or its date passed."
  },
  proposedBy: "primary-market.propose",
  endedBy: ["ledger", "clock"]
})

/** Who prices the market's orders: how many of the attestors must agree, at a point of the oracle. */
export const Terms = Schema.Struct({
  attestors: Schema.Array(Party.schema),
  required: Integer.schema,
  oracle: Party.schema
})

export const PrimaryMarket = Schema.Struct({
  marketId: Text,
  instrumentId: Text,
  registrar: Party.schema,
  fund: Party.schema,
  paymentAsset: Field.asset,
  terms: Terms,
  state: PrimaryMarketMachine.schema,
  acceptedBy: Schema.Array(Party.schema),
  proposedAt: Instant.schema,
  /** The offset of the proposal. */
  offset: Offset.schema,
  /** When it was agreed. */
  from: NullOr(Instant.schema),
  until: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  proposalCid: NullOr(Field.contractId),
  marketCid: NullOr(Field.contractId)
}).annotate({
  identifier: "PrimaryMarket",
  description: doc
})
export type PrimaryMarket = typeof PrimaryMarket.Type

export const primaryMarket = Agreement.declare("primary-market", {
  doc,
  machine: PrimaryMarketMachine,
  record: PrimaryMarket,
  names: { cid: "marketCid", agreedAt: "from" },
  id: (self) => self.marketId,
  signers: ({ fund, registrar }) => [fund, registrar],
  accept: "PrimaryMarketProposal.Accept"
})
export const primaryMarkets = primaryMarket.collection
