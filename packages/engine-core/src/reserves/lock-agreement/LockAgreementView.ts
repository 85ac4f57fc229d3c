/** View of a lock agreement: its public members, and the holdings that are locked under it. */
import { Schema, Struct } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { LockAgreement, lockAgreements } from "./LockAgreement.ts"
import type { LockedHoldings } from "./LockAgreementLookups.ts"

const shown = Struct.pick(LockAgreement.fields, [
  "lockAgreementId",
  "reserveId",
  "asset",
  "holder",
  "acceptedBy",
  // The approver of a proposal and its holder see how much is locked at once.
  "asked",
  "state"
])

export const LockAgreementView = Schema.Struct({
  ...shown,
  /** Parties whose lock it is: the venue. */
  lockers: Schema.Array(Party.schema),
  /** Context of the lock on the ledger: the reserve's id. */
  context: Schema.String,
  /** Amount that is locked now. */
  amount: Decimal.schema,
  /** Locked holdings on the ledger. */
  cids: Schema.Array(Field.contractId),
  ...RecordView.fields
}).annotate({
  identifier: "LockAgreementView",
  description: "An agreement to lock an asset for a reserve, and what is locked under it."
})
export type LockAgreementView = typeof LockAgreementView.Type

export const of = (
  record: Stored<LockAgreement>,
  { locked, venue }: { readonly locked: LockedHoldings; readonly venue: Party.Party }
): LockAgreementView => ({
  ...RecordView.of(lockAgreements, shown, record),
  lockers: [venue],
  context: record.reserveId,
  ...locked
})
