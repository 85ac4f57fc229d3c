/**
 * Declarations of the room admissions: which holders may hold which instruments, and by whose
 * consent.
 */
import { admissions, AdmissionMachine, admissionEvents } from "./Admission.ts"
import { admissionConsents, AdmissionConsentMachine } from "./AdmissionConsent.ts"
import * as AdmissionConsentOperations from "./AdmissionConsentOperations.ts"
import * as AdmissionConsentFromLedger from "./AdmissionConsentFromLedger.ts"
import { admissionPlaces } from "./AdmissionPlaces.ts"
import * as AdmissionOperations from "./AdmissionOperations.ts"
import * as OnboardOperations from "./OnboardOperations.ts"
import { endingsOf } from "./AdmissionSteps.ts"
import * as AdmissionFromLedger from "./AdmissionFromLedger.ts"
import * as AdmissionQueries from "./AdmissionQueries.ts"

export const machines = [AdmissionMachine, AdmissionConsentMachine] as const
export const collections = [admissionConsents, admissions, admissionPlaces] as const
export const operations = [
  AdmissionConsentOperations.propose,
  AdmissionOperations.offerAdmission,
  AdmissionOperations.withdraw,
  OnboardOperations.onboard
] as const
export const queries = AdmissionQueries.queries
export const fromLedger = [
  ...AdmissionConsentFromLedger.fromLedger,
  ...AdmissionFromLedger.fromLedger
] as const
/** Commands that end the admissions of a holder that is closed. */
export const holderTies = { endings: endingsOf } as const
/** Events that the room announces. */
export const events = { ...admissionEvents } as const
