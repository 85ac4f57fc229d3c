/**
 * Declarations of the room admissions: which holders may hold which instruments, and by whose
 * consent.
 */
import { admissions } from "./admission/Admission.ts"
import { admissionConsents, AdmissionConsentMachine } from "./admission/AdmissionConsent.ts"
import * as AdmissionConsentOperations from "./admission/AdmissionConsentOperations.ts"
import * as AdmissionConsentReadings from "./admission/AdmissionConsentReadings.ts"
import { admissionPlaces } from "./admission/AdmissionPlaces.ts"
import { AdmissionMachine } from "./admission/AdmissionMachine.ts"
import * as AdmissionOperations from "./admission/AdmissionOperations.ts"
import * as OnboardOperations from "./admission/OnboardOperations.ts"
import { endingsOf } from "./admission/AdmissionSteps.ts"
import * as AdmissionReadings from "./admission/AdmissionReadings.ts"
import * as AdmissionReads from "./admission/AdmissionReads.ts"

export const machines = [AdmissionMachine, AdmissionConsentMachine] as const
export const collections = [admissionConsents, admissions, admissionPlaces] as const
export const operations = [
  AdmissionConsentOperations.propose,
  AdmissionOperations.offerAdmission,
  AdmissionOperations.withdraw,
  OnboardOperations.onboard
] as const
export const reads = AdmissionReads.reads
export const readings = [
  ...AdmissionConsentReadings.readings,
  ...AdmissionReadings.readings
] as const
/** Commands that end the admissions of a holder that is closed. */
export const holderTies = { endings: endingsOf } as const
export { events } from "./events.ts"
