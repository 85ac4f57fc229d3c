/** Declarations of the room powers: agreements and consents on forced acts, and those acts. */
import { forcedActs } from "./issuer-powers/ForcedAct.ts"
import * as ForcedMoveReadings from "./issuer-powers/ForcedMoveReadings.ts"
import * as ForcedTransferOperations from "./issuer-powers/ForcedTransferOperations.ts"
import {
  issuerPowersAgreements,
  IssuerPowersAgreementMachine
} from "./issuer-powers/IssuerPowersAgreement.ts"
import * as IssuerPowersAgreementOperations from "./issuer-powers/IssuerPowersAgreementOperations.ts"
import * as IssuerPowersAgreementReadings from "./issuer-powers/IssuerPowersAgreementReadings.ts"
import { issuerPowersConsents } from "../holders/issuer-powers-consent/IssuerPowersConsent.ts"
import { IssuerPowersConsentMachine } from "../holders/issuer-powers-consent/IssuerPowersConsentMachine.ts"
import * as IssuerPowersConsentOperations from "./issuer-powers/IssuerPowersConsentOperations.ts"
import * as IssuerPowersConsentReadings from "./issuer-powers/IssuerPowersConsentReadings.ts"
import { recoveries } from "./issuer-powers/Recovery.ts"
import * as RecoveryOperations from "./issuer-powers/RecoveryOperations.ts"

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
export const readings = [
  ...IssuerPowersAgreementReadings.readings,
  ...IssuerPowersConsentReadings.readings,
  ...ForcedMoveReadings.readings
] as const
export { events } from "./events.ts"
