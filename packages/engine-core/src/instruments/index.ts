/** What the instruments context holds: its state sets, then its records, writes, reads and readings. */
import { admissions } from "./admission/Admission.ts"
import { admissionConsents } from "./admission/AdmissionConsent.ts"
import { AdmissionConsentMachine } from "./admission/AdmissionConsentMachine.ts"
import * as AdmissionConsentOperations from "./admission/AdmissionConsentOperations.ts"
import * as AdmissionConsentReadings from "./admission/AdmissionConsentReadings.ts"
import { admissionPlaces } from "./admission/AdmissionPlaces.ts"
import { AdmissionMachine } from "./admission/AdmissionMachine.ts"
import * as AdmissionOperations from "./admission/AdmissionOperations.ts"
import * as AdmissionReadings from "./admission/AdmissionReadings.ts"
import * as AdmissionReads from "./admission/AdmissionReads.ts"
import { configurations } from "./instrument/Configuration.ts"
import { instruments } from "./instrument/Instrument.ts"
import * as InstrumentOperations from "./instrument/InstrumentOperations.ts"
import * as InstrumentReadings from "./instrument/InstrumentReadings.ts"
import * as InstrumentReads from "./instrument/InstrumentReads.ts"
import * as PolicyOperations from "./policy/PolicyOperations.ts"
import * as PolicyReads from "./policy/PolicyReads.ts"
import { policyVersions } from "./policy/PolicyVersion.ts"
import { PolicyVersionMachine } from "./policy/PolicyVersionMachine.ts"
import * as PrecheckReads from "./precheck/PrecheckReads.ts"
import { NavFeed } from "./price/NavFeed.ts"
import { pricePoints, quotes } from "./price/PricePoint.ts"
import * as PriceReadings from "./price/PriceReadings.ts"
import * as PriceReads from "./price/PriceReads.ts"
import * as SeriesReads from "./price/SeriesReads.ts"
import { holdings } from "./register/Holding.ts"
import { registerEntries } from "./register/RegisterEntry.ts"
import { movements, partyMovements } from "./register/Movement.ts"
import * as MovementReadings from "./register/MovementReadings.ts"
import * as MovementReads from "./register/MovementReads.ts"
import * as RegisterReadings from "./register/RegisterReadings.ts"
import * as RegisterReads from "./register/RegisterReads.ts"
import { supplies } from "./register/Supply.ts"

export const machines = [PolicyVersionMachine, AdmissionMachine, AdmissionConsentMachine] as const
export const judged = [NavFeed] as const
export const collections = [
  instruments,
  policyVersions,
  configurations,
  admissionConsents,
  admissions,
  admissionPlaces,
  pricePoints,
  quotes,
  holdings,
  registerEntries,
  supplies,
  movements,
  partyMovements
] as const
export const operations = [
  InstrumentOperations.record,
  PolicyOperations.set,
  AdmissionConsentOperations.propose,
  AdmissionOperations.offerAdmission,
  AdmissionOperations.withdraw
] as const
export const reads = [
  ...InstrumentReads.reads,
  ...PolicyReads.reads,
  ...PriceReads.reads,
  ...SeriesReads.reads,
  ...PrecheckReads.reads,
  ...AdmissionReads.reads,
  ...RegisterReads.reads,
  ...MovementReads.reads
] as const
export const readings = [
  ...InstrumentReadings.readings,
  ...AdmissionConsentReadings.readings,
  ...AdmissionReadings.readings,
  ...PriceReadings.readings,
  ...RegisterReadings.readings,
  ...MovementReadings.readings
] as const
