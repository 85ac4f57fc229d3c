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
  events: forcedTransferEvents,
  // They would disclose an order that is cited against a holder before any unit has moved; each move has
  // an event of its own. One that voids lines alone moves none, so that its success is concealed too.
  concealed: {
    operations: ["holder.force-transfer"],
    untilDone: ["instrument.force-transfer"]
  }
})

const recovery = Noun.declare({
  collections: [recoveries],
  writes: RecoveryOperations.operations,
  events: recoveryEvents,
  // A recovery may cite an order, which its events do not state.
  concealed: { untilDone: ["holder.recover", "instrument.recover"] }
})

export const nouns = [issuerPowersAgreement, issuerPowersConsent, forcedTransfer, recovery] as const
