/** Declarations of the room holders: holders, their attributes, screening, terms and accounts. */
import { acceptedTerms } from "./accepted-terms/AcceptedTerms.ts"
import * as AcceptedTermsOperations from "./accepted-terms/AcceptedTermsOperations.ts"
import * as AcceptedTermsFromLedger from "./accepted-terms/AcceptedTermsFromLedger.ts"
import * as AttributeOperations from "./attribute/AttributeOperations.ts"
import { AttributeMachine } from "./attribute/Attribute.ts"
import { accountNumbers } from "./external-account/AccountNumber.ts"
import { externalAccounts } from "./external-account/ExternalAccount.ts"
import * as ExternalAccountOperations from "./external-account/ExternalAccountOperations.ts"
import * as ExternalAccountQueries from "./external-account/ExternalAccountQueries.ts"
import { holderParties, holders, HolderMachine } from "./holder/Holder.ts"
import { holderClaims } from "./holder/HolderClaim.ts"
import * as HolderOperations from "./holder/HolderOperations.ts"
import * as HolderFromLedger from "./holder/HolderFromLedger.ts"
import * as HolderQueries from "./holder/HolderQueries.ts"
import * as SuccessorOperations from "./holder/SuccessorOperations.ts"
import * as SuccessorSteps from "./holder/SuccessorSteps.ts"
import { screenings, ScreeningMachine } from "./screening/Screening.ts"

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
export const queries = [...HolderQueries.queries, ...ExternalAccountQueries.queries] as const
export const fromLedger = [
  ...HolderFromLedger.fromLedger,
  ...AcceptedTermsFromLedger.fromLedger
] as const

export const consequences = [...SuccessorSteps.consequences] as const
