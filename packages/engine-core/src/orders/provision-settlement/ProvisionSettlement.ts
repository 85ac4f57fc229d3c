/** A fund's standing consent that the venue pays what the fund owes from cash the fund names. */
import { Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { evolve, Fact, ProvisionSettlementMachine } from "./ProvisionSettlementMachine.ts"

const { NullOr } = Schema

export const ProvisionSettlement = Schema.Struct({
  provisionSettlementId: Schema.String,
  instrumentId: InstrumentId,
  fund: Party.schema,
  /** The asset that the fund pays in. */
  paymentAsset: Field.asset,
  /** The most that one draw may take; any amount where it is null. */
  limit: NullOr(Decimal.schema),
  until: NullOr(Instant.schema),
  state: ProvisionSettlementMachine.schema,
  proposedAt: Instant.schema,
  /** The offset of the proposal. */
  offset: Offset.schema,
  agreedAt: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  proposalCid: NullOr(Field.contractId),
  provisionCid: NullOr(Field.contractId)
}).annotate({
  identifier: "ProvisionSettlement",
  description: "A fund's consent that the venue pays its legs from cash the fund names."
})
export type ProvisionSettlement = typeof ProvisionSettlement.Type

export const provisionSettlements = Collection.define<ProvisionSettlement, Fact>(
  "provision-settlement",
  {
    doc: "A fund's consent that the venue pays its legs from cash the fund names.",
    id: (self) => self.provisionSettlementId,
    record: ProvisionSettlement,
    fact: Fact,
    evolve,
    keptBy: "ledger",
    // Sorted by the proposal's offset: ids made within one millisecond have no order.
    sortKey: (self) => `${Offset.sortable(self.offset)}:${self.provisionSettlementId}`,
    filters: {
      instrumentId: (self) => self.instrumentId,
      state: (self) => self.state
    },
    ripens: ["state"],
    due: (self) =>
      self.state === "agreed" && self.until !== null
        ? { at: self.until, fact: { on: "end", at: self.until } }
        : undefined,
    waitingOn: (self) =>
      self.state === "proposed"
        ? [{ party: self.fund, action: "ProvisionSettlementProposal.Accept", by: self.until }]
        : [],
    invariants: {
      "a proposal and a consent stand on their contracts": (self) =>
        (self.state === "proposed") === (self.proposalCid !== null) &&
        (self.state !== "agreed" || self.provisionCid !== null)
    }
  }
)
