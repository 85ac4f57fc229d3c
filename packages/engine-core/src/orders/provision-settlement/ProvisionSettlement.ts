/** Record of a provision settlement: a fund's revocable consent that the venue pays the fund's legs from its cash. */
import { Schema } from "effect"
import * as Agreement from "../../agreements/Agreement.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"

const { NullOr } = Schema

const doc = "A fund's consent that the venue pays its legs from cash the fund names."

export const ProvisionSettlementMachine = Agreement.declareStates("ProvisionSettlementState", {
  doc,
  means: {
    proposed: "Asked of the fund.",
    agreed: "The venue may draw on the cash the fund names.",
    declined: "The fund declined.",
    ended: "The fund revoked it, or its date passed."
  },
  proposedBy: "provision-settlement.propose",
  endedBy: ["ledger", "clock"],
  // The event is announced by the reading of the proposal's contract.
  announces: ["settlement.proposed"]
})

export const ProvisionSettlement = Schema.Struct({
  provisionSettlementId: Schema.String,
  instrumentId: InstrumentId,
  fund: Party.schema,
  /** The asset that the fund pays in. */
  paymentAsset: Field.asset,
  /** Largest amount of one draw; null: no limit. */
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
}).annotate({ identifier: "ProvisionSettlement", description: doc })
export type ProvisionSettlement = typeof ProvisionSettlement.Type

export const provisionSettlement = Agreement.declare("provision-settlement", {
  doc,
  machine: ProvisionSettlementMachine,
  record: ProvisionSettlement,
  names: { cid: "provisionCid", agreedAt: "agreedAt" },
  id: (self) => self.provisionSettlementId,
  signers: ({ fund }) => [fund],
  accept: "ProvisionSettlementProposal.Accept"
})
export const provisionSettlements = provisionSettlement.collection
