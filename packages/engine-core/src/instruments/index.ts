/** What the instruments context holds: its state sets, then its writes and reads. */
import { AdmissionConsentMachine } from "./admission/AdmissionConsentMachine.ts"
import { AdmissionMachine } from "./admission/AdmissionMachine.ts"
import { PolicyVersionMachine } from "./policy/PolicyVersionMachine.ts"
import { NavFeed } from "./price/NavFeed.ts"

export const machines = [PolicyVersionMachine, AdmissionMachine, AdmissionConsentMachine] as const
export const judged = [NavFeed] as const
