/** A fund's and its registrar's consent that orders of an instrument are paid on the ledger. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { evolve, Fact, PrimaryMarketMachine } from "./PrimaryMarketMachine.ts"

const { NullOr, String: Text } = Schema

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
  description: "A fund's consent that orders of an instrument are paid on the ledger."
})
export type PrimaryMarket = typeof PrimaryMarket.Type

export const primaryMarkets = Collection.define<PrimaryMarket, Fact>("primary-market", {
  doc: "A fund's consent that orders of an instrument are paid on the ledger.",
  id: (self) => self.marketId,
  record: PrimaryMarket,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  // Sorted by the proposal's offset: ids made within one millisecond have no order.
  sortKey: (self) => `${Offset.sortable(self.offset)}:${self.marketId}`,
  filters: {
    instrumentId: (self) => self.instrumentId,
    state: (self) => self.state,
    /** Filter of the markets shown with an instrument; replaced ones are left out. */
    shown: (self) => (self.state === "withdrawn" ? null : self.instrumentId)
  },
  ripens: ["state"],
  due: (self) =>
    self.state === "agreed" && self.until !== null
      ? { at: self.until, fact: { on: "end", marketCid: null, at: self.until } }
      : undefined,
  waitingOn: (self) =>
    self.state === "proposed"
      ? missing(self).map((party) => ({
          party,
          action: "PrimaryMarketProposal.Accept",
          by: self.until
        }))
      : [],
  invariants: {
    "a proposal and an agreed market stand on their contracts": (self) =>
      (self.state === "proposed") === (self.proposalCid !== null) &&
      (self.state !== "agreed" || self.marketCid !== null),
    "nobody accepts twice": (self) => new Set(self.acceptedBy).size === self.acceptedBy.length,
    "an agreed market has been accepted by all": (self) =>
      self.state !== "agreed" || missing(self).length === 0
  }
})

/** Who has not accepted yet. */
const missing = ({ fund, registrar, acceptedBy }: PrimaryMarket): ReadonlyArray<Party.Party> =>
  [...new Set([fund, registrar])].filter((party) => !acceptedBy.includes(party))
