/** Nouns of the room admissions: which holders may hold which instruments, and by whose consent. */
import * as Noun from "../nouns/Noun.ts"
import { admissions, AdmissionMachine, admissionEvents } from "./Admission.ts"
import { admissionConsents, AdmissionConsentMachine } from "./AdmissionConsent.ts"
import * as AdmissionConsentFromLedger from "./AdmissionConsentFromLedger.ts"
import * as AdmissionConsentOperations from "./AdmissionConsentOperations.ts"
import * as AdmissionFromLedger from "./AdmissionFromLedger.ts"
import * as AdmissionOperations from "./AdmissionOperations.ts"
import { admissionPlaces } from "./AdmissionPlaces.ts"
import * as AdmissionQueries from "./AdmissionQueries.ts"
import { endingsOf } from "./AdmissionSteps.ts"
import * as OnboardOperations from "./OnboardOperations.ts"

const admissionConsent = Noun.declare({
  collections: [admissionConsents],
  machine: AdmissionConsentMachine,
  writes: [AdmissionConsentOperations.propose],
  fromLedger: AdmissionConsentFromLedger.fromLedger
})

const admission = Noun.declare({
  collections: [admissions, admissionPlaces],
  machine: AdmissionMachine,
  writes: [
    AdmissionOperations.offerAdmission,
    AdmissionOperations.withdraw,
    OnboardOperations.onboard
  ],
  queries: AdmissionQueries.queries,
  fromLedger: AdmissionFromLedger.fromLedger,
  events: admissionEvents
})

export const nouns = [admissionConsent, admission] as const

/** Commands that end the admissions of a holder that is closed. */
export const holderTies = { endings: endingsOf } as const
