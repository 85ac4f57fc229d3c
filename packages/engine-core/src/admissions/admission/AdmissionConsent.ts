/** A registrar's consent that the venue admits holders to an instrument, from proposal to end. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { AdmissionConsentMachine, evolve, Fact } from "./AdmissionConsentMachine.ts"

const { NullOr, String: Text } = Schema

export const AdmissionConsent = Schema.Struct({
  admissionConsentId: Text,
  instrumentId: Text,
  registrar: Party.schema,
  /** Who may see the consent besides the registrar. */
  fund: Party.schema,
  terms: Text,
  state: AdmissionConsentMachine.schema,
  proposedAt: Instant.schema,
  /** The offset of the proposal. */
  offset: Offset.schema,
  agreedAt: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  proposalCid: NullOr(Field.contractId),
  consentCid: NullOr(Field.contractId)
}).annotate({
  identifier: "AdmissionConsent",
  description: "A registrar's consent that the venue admits holders to an instrument."
})
export type AdmissionConsent = typeof AdmissionConsent.Type

export const admissionConsents = Collection.define<AdmissionConsent, Fact>("admission-consent", {
  doc: "A registrar's consent that the venue admits holders to an instrument.",
  id: (self) => self.admissionConsentId,
  record: AdmissionConsent,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  // Sorted by the proposal's offset: ids made within one millisecond have no order.
  sortKey: (self) => `${Offset.sortable(self.offset)}:${self.admissionConsentId}`,
  filters: {
    instrumentId: (self) => self.instrumentId,
    state: (self) => self.state,
    /** Filter of the consents shown with an instrument; replaced ones are left out. */
    shown: (self) => (self.state === "withdrawn" ? null : self.instrumentId)
  },
  waitingOn: (self) =>
    self.state === "proposed"
      ? [{ party: self.registrar, action: "AdmissionConsentProposal.Accept", by: null }]
      : [],
  invariants: {
    "a proposal and a consent stand on their contracts": (self) =>
      (self.state === "proposed") === (self.proposalCid !== null) &&
      (self.state === "agreed") === (self.consentCid !== null)
  }
})
