/** The command that ends an admission on the ledger. */
import { AdmissionOffer } from "../templates/Admission.ts"
import { Credential } from "../templates/Registry.ts"
import { exercise } from "../templates/Template.ts"
import type { Admission } from "./Admission.ts"

/** Makes the command that ends an admission: withdraws its offer, or revokes its credential. */
export const ending = ({ offerCid, credentialCid }: Admission) => {
  if (offerCid !== null) return exercise(AdmissionOffer, offerCid, "Withdraw", {})
  if (credentialCid !== null) return exercise(Credential, credentialCid, "Revoke", {})
  throw new Error("an admission that is to end has no contract")
}
