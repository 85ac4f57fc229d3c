/** Nouns of the room holders: holders, their attributes, screening, terms and accounts. */
import * as Noun from "../nouns/Noun.ts"
import { acceptedTerms as acceptedTermsRecords } from "./accepted-terms/AcceptedTerms.ts"
import * as AcceptedTermsFromLedger from "./accepted-terms/AcceptedTermsFromLedger.ts"
import * as AcceptedTermsOperations from "./accepted-terms/AcceptedTermsOperations.ts"
import { AttributeMachine } from "./attribute/Attribute.ts"
import * as AttributeOperations from "./attribute/AttributeOperations.ts"
import { accountNumbers } from "./external-account/AccountNumber.ts"
import { externalAccounts } from "./external-account/ExternalAccount.ts"
import * as ExternalAccountOperations from "./external-account/ExternalAccountOperations.ts"
import * as ExternalAccountQueries from "./external-account/ExternalAccountQueries.ts"
import { holderParties, holders, HolderMachine } from "./holder/Holder.ts"
import { holderNameLocks } from "./holder/HolderNameLock.ts"
import * as HolderFromLedger from "./holder/HolderFromLedger.ts"
import * as HolderOperations from "./holder/HolderOperations.ts"
import * as HolderQueries from "./holder/HolderQueries.ts"
import * as SuccessorOperations from "./holder/SuccessorOperations.ts"
import * as SuccessorSteps from "./holder/SuccessorSteps.ts"
import { screenings, ScreeningMachine } from "./screening/Screening.ts"

const holder = Noun.declare({
  collections: [holders, holderParties, holderNameLocks],
  machine: HolderMachine,
  writes: HolderOperations.operations,
  queries: HolderQueries.queries,
  fromLedger: HolderFromLedger.fromLedger,
  // One that fails may fail by a restriction or a suspended line, and one that awaits its approvers shows
  // that the venue considers to part with the holder.
  concealed: { untilDone: ["holder.close"] }
})

const attribute = Noun.declare({
  machine: AttributeMachine,
  writes: AttributeOperations.operations
})

const successor = Noun.declare({
  writes: SuccessorOperations.operations,
  consequences: SuccessorSteps.consequences
})

const screening = Noun.declare({ collections: [screenings], machine: ScreeningMachine })

const externalAccount = Noun.declare({
  collections: [externalAccounts, accountNumbers],
  writes: ExternalAccountOperations.operations,
  queries: ExternalAccountQueries.queries
})

const acceptedTerms = Noun.declare({
  collections: [acceptedTermsRecords],
  writes: AcceptedTermsOperations.operations,
  fromLedger: AcceptedTermsFromLedger.fromLedger
})

export const nouns = [
  holder,
  attribute,
  successor,
  screening,
  externalAccount,
  acceptedTerms
] as const
