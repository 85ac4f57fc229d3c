/** What the controls context holds: its state sets, then its writes and reads. */
import { holds } from "./hold/Hold.ts"
import { HoldMachine } from "./hold/HoldMachine.ts"
import * as HoldOperations from "./hold/HoldOperations.ts"
import * as HoldReads from "./hold/HoldReads.ts"
import { holdSlots } from "./hold/HoldSlot.ts"
import { forcedActs } from "./issuer-powers/ForcedAct.ts"
import * as ForcedMoveReadings from "./issuer-powers/ForcedMoveReadings.ts"
import * as ForcedTransferOperations from "./issuer-powers/ForcedTransferOperations.ts"
import { issuerPowersAgreements } from "./issuer-powers/IssuerPowersAgreement.ts"
import { IssuerPowersAgreementMachine } from "./issuer-powers/IssuerPowersAgreementMachine.ts"
import * as IssuerPowersAgreementOperations from "./issuer-powers/IssuerPowersAgreementOperations.ts"
import * as IssuerPowersAgreementReadings from "./issuer-powers/IssuerPowersAgreementReadings.ts"
import { issuerPowersConsents } from "./issuer-powers/IssuerPowersConsent.ts"
import { IssuerPowersConsentMachine } from "./issuer-powers/IssuerPowersConsentMachine.ts"
import * as IssuerPowersConsentOperations from "./issuer-powers/IssuerPowersConsentOperations.ts"
import * as IssuerPowersConsentReadings from "./issuer-powers/IssuerPowersConsentReadings.ts"
import { recoveries } from "./issuer-powers/Recovery.ts"
import * as RecoveryOperations from "./issuer-powers/RecoveryOperations.ts"
import { restrictions } from "./restriction/Restriction.ts"
import { RestrictionMachine } from "./restriction/RestrictionMachine.ts"
import * as RestrictionOperations from "./restriction/RestrictionOperations.ts"
import * as RestrictionReads from "./restriction/RestrictionReads.ts"

export const machines = [
  RestrictionMachine,
  HoldMachine,
  IssuerPowersAgreementMachine,
  IssuerPowersConsentMachine
] as const
export const judged = [] as const
export const collections = [
  restrictions,
  holds,
  holdSlots,
  issuerPowersAgreements,
  issuerPowersConsents,
  forcedActs,
  recoveries
] as const
export const operations = [
  ...RestrictionOperations.operations,
  ...HoldOperations.operations,
  IssuerPowersAgreementOperations.propose,
  IssuerPowersConsentOperations.offer,
  ...ForcedTransferOperations.operations,
  ...RecoveryOperations.operations
] as const
export const reads = [...RestrictionReads.reads, ...HoldReads.reads] as const
export const readings = [
  ...IssuerPowersAgreementReadings.readings,
  ...IssuerPowersConsentReadings.readings,
  ...ForcedMoveReadings.readings
] as const
