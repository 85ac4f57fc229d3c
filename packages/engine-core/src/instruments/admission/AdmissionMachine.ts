/** Which states the admission of one holder to one instrument passes through. */
import * as Machine from "../../kernel/Machine.ts"

export const AdmissionMachine = Machine.declare("AdmissionState", {
  doc: "One holder with one instrument. Offered and admitted both hold a place under the holder cap.",
  states: {
    offered: "The credential is offered to the holder.",
    admitted: "The credential is live.",
    declined: "The holder declined the offer.",
    withdrawn: "The venue took the offer back before it was accepted.",
    expired: "The offer or the credential ran out.",
    revoked: "The credential was ended."
  },
  triggers: {
    accept: { by: ["ledger"], announces: ["admission.granted"] },
    decline: { by: ["ledger"] },
    withdraw: { by: ["admission.withdraw"] },
    revoke: { by: ["admission.withdraw", "ledger"] },
    expire: { by: ["clock"] }
  },
  initial: "offered",
  opens: { by: ["admission.offer"], announces: ["admission.offered"] },
  moves: {
    offered: { accept: "admitted", decline: "declined", withdraw: "withdrawn", expire: "expired" },
    admitted: { revoke: "revoked", expire: "expired" },
    declined: {},
    withdrawn: {},
    expired: {},
    revoked: {}
  },
  forward: ["accept"]
})
