/** Nouns of the room powers: agreements and consents on forced acts, and those acts. */
import {
  issuerPowersConsents,
  IssuerPowersConsentMachine
} from "../holders/issuer-powers-consent/IssuerPowersConsent.ts"
import * as Noun from "../nouns/Noun.ts"
import { forcedActs, forcedTransferEvents } from "./ForcedAct.ts"
import * as ForcedMoveFromLedger from "./ForcedMoveFromLedger.ts"
import * as ForcedTransferOperations from "./ForcedTransferOperations.ts"
import { issuerPowersAgreements, IssuerPowersAgreementMachine } from "./IssuerPowersAgreement.ts"
import * as IssuerPowersAgreementFromLedger from "./IssuerPowersAgreementFromLedger.ts"
import * as IssuerPowersAgreementOperations from "./IssuerPowersAgreementOperations.ts"
import * as IssuerPowersConsentFromLedger from "./IssuerPowersConsentFromLedger.ts"
import * as IssuerPowersConsentOperations from "./IssuerPowersConsentOperations.ts"
import { recoveries, recoveryEvents } from "./Recovery.ts"
import * as RecoveryOperations from "./RecoveryOperations.ts"

const issuerPowersAgreement = Noun.declare({
  collections: [issuerPowersAgreements],
  machine: IssuerPowersAgreementMachine,
  writes: [IssuerPowersAgreementOperations.propose],
  fromLedger: IssuerPowersAgreementFromLedger.fromLedger
})

const issuerPowersConsent = Noun.declare({
  collections: [issuerPowersConsents],
  machine: IssuerPowersConsentMachine,
  writes: [IssuerPowersConsentOperations.offer],
  fromLedger: IssuerPowersConsentFromLedger.fromLedger
})

const forcedTransfer = Noun.declare({
  collections: [forcedActs],
  writes: ForcedTransferOperations.operations,
  fromLedger: ForcedMoveFromLedger.fromLedger,
  events: forcedTransferEvents
})

const recovery = Noun.declare({
  collections: [recoveries],
  writes: RecoveryOperations.operations,
  events: recoveryEvents
})

export const nouns = [issuerPowersAgreement, issuerPowersConsent, forcedTransfer, recovery] as const
