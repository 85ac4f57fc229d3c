/** Record of a primary market: the agreement of a fund and a registrar that orders of an instrument are paid on the ledger. */
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
  doc: "A fund's consent to orders paid on the ledger. Orders claimed while it was agreed settle under it.",
  means: {
    proposed: "Asked of the fund.",
    agreed: "Orders may be paid on the ledger.",
    declined: "The fund declined.",
    ended: "The fund revoked it, or its date passed."
  },
  proposedBy: "primary-market.propose",
  endedBy: ["ledger", "clock"]
})

/** The attestors that price the market's orders, how many must agree, and the oracle of the price points. */
const Terms = Schema.Struct({
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
  /** Instant at which it was agreed. */
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
