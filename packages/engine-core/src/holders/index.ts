/** Declarations of the room holders: holders, their attributes, screening, terms and accounts. */
import { acceptedTerms } from "./accepted-terms/AcceptedTerms.ts"
import * as AcceptedTermsOperations from "./accepted-terms/AcceptedTermsOperations.ts"
import * as AcceptedTermsReadings from "./accepted-terms/AcceptedTermsReadings.ts"
import * as AttributeOperations from "./attribute/AttributeOperations.ts"
import { AttributeMachine } from "./attribute/AttributeMachine.ts"
import { accountNumbers } from "./external-account/AccountNumber.ts"
import { externalAccounts } from "./external-account/ExternalAccount.ts"
import * as ExternalAccountOperations from "./external-account/ExternalAccountOperations.ts"
import * as ExternalAccountReads from "./external-account/ExternalAccountReads.ts"
import { holderParties, holders } from "./holder/Holder.ts"
import { holderClaims } from "./holder/HolderClaim.ts"
import { HolderMachine } from "./holder/HolderMachine.ts"
import * as HolderOperations from "./holder/HolderOperations.ts"
import * as HolderReadings from "./holder/HolderReadings.ts"
import * as HolderReads from "./holder/HolderReads.ts"
import * as SuccessorOperations from "./holder/SuccessorOperations.ts"
import * as SuccessorSteps from "./holder/SuccessorSteps.ts"
import { screenings } from "./screening/Screening.ts"
import { ScreeningMachine } from "./screening/ScreeningMachine.ts"

export const machines = [HolderMachine, AttributeMachine, ScreeningMachine] as const
export const collections = [
  holders,
  holderParties,
  holderClaims,
  acceptedTerms,
  screenings,
  externalAccounts,
  accountNumbers
] as const
export const operations = [
  ...HolderOperations.operations,
  ...AttributeOperations.operations,
  ...SuccessorOperations.operations,
  ...ExternalAccountOperations.operations,
  ...AcceptedTermsOperations.operations
] as const
export const reads = [...HolderReads.reads, ...ExternalAccountReads.reads] as const
export const readings = [...HolderReadings.readings, ...AcceptedTermsReadings.readings] as const

export const consequences = [...SuccessorSteps.consequences] as const
