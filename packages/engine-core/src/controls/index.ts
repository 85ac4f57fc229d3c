/** What the controls context holds: its state sets, then its writes and reads. */
import { holds } from "./hold/Hold.ts"
import { HoldMachine } from "./hold/HoldMachine.ts"
import { IssuerPowersAgreementMachine } from "./issuer-powers/IssuerPowersAgreementMachine.ts"
import { IssuerPowersConsentMachine } from "./issuer-powers/IssuerPowersConsentMachine.ts"
import { restrictions } from "./restriction/Restriction.ts"
import { RestrictionMachine } from "./restriction/RestrictionMachine.ts"

export const machines = [
  RestrictionMachine,
  HoldMachine,
  IssuerPowersAgreementMachine,
  IssuerPowersConsentMachine
] as const
export const judged = [] as const
export const collections = [restrictions, holds] as const
