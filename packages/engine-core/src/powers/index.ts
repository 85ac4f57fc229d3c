/** Declarations of the room powers: agreements and consents on forced acts, and those acts. */
import { forcedActs, forcedTransferEvents } from "./ForcedAct.ts"
import * as ForcedMoveFromLedger from "./ForcedMoveFromLedger.ts"
import * as ForcedTransferOperations from "./ForcedTransferOperations.ts"
import { issuerPowersAgreements, IssuerPowersAgreementMachine } from "./IssuerPowersAgreement.ts"
import * as IssuerPowersAgreementOperations from "./IssuerPowersAgreementOperations.ts"
import * as IssuerPowersAgreementFromLedger from "./IssuerPowersAgreementFromLedger.ts"
import {
  issuerPowersConsents,
  IssuerPowersConsentMachine
} from "../holders/issuer-powers-consent/IssuerPowersConsent.ts"
import * as IssuerPowersConsentOperations from "./IssuerPowersConsentOperations.ts"
import * as IssuerPowersConsentFromLedger from "./IssuerPowersConsentFromLedger.ts"
import { recoveries, recoveryEvents } from "./Recovery.ts"
import * as RecoveryOperations from "./RecoveryOperations.ts"

export const machines = [IssuerPowersAgreementMachine, IssuerPowersConsentMachine] as const
export const collections = [
  issuerPowersAgreements,
  issuerPowersConsents,
  forcedActs,
  recoveries
] as const
export const operations = [
  IssuerPowersAgreementOperations.propose,
  IssuerPowersConsentOperations.offer,
  ...ForcedTransferOperations.operations,
  ...RecoveryOperations.operations
] as const
export const fromLedger = [
  ...IssuerPowersAgreementFromLedger.fromLedger,
  ...IssuerPowersConsentFromLedger.fromLedger,
  ...ForcedMoveFromLedger.fromLedger
] as const
/** Events that the room announces. */
export const events = { ...forcedTransferEvents, ...recoveryEvents } as const
