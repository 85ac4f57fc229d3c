/** What the controls context holds: its state sets, then its writes and reads. */
import { HoldMachine } from "./hold/HoldMachine.ts"
import { IssuerPowersAgreementMachine } from "./issuer-powers/IssuerPowersAgreementMachine.ts"
import { IssuerPowersConsentMachine } from "./issuer-powers/IssuerPowersConsentMachine.ts"
import { RestrictionMachine } from "./restriction/RestrictionMachine.ts"

export const machines = [
  RestrictionMachine,
  HoldMachine,
  IssuerPowersAgreementMachine,
  IssuerPowersConsentMachine
] as const
export const judged = [] as const
