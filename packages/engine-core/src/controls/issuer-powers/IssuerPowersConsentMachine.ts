/** Which states a holder's consent to forced acts on its units passes through. */
import * as Machine from "../../kernel/Machine.ts"

export const IssuerPowersConsentMachine = Machine.declare("IssuerPowersConsentState", {
  doc: "A holder's consent to forced acts. It must be granted at the ledger time of the act.",
  states: {
    offered: "Asked of the holder.",
    granted: "Forced acts on the holder's units are allowed.",
    declined: "The holder declined.",
    withdrawn: "The offer was taken back.",
    revoked: "The holder ended it.",
    expired: "It ran out."
  },
  triggers: {
    grant: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    replace: { by: ["issuer-powers-consent.offer"] },
    expire: { by: ["clock"] },
    revoke: { by: ["ledger"] }
  },
  initial: "offered",
  opens: { by: ["issuer-powers-consent.offer"] },
  moves: {
    offered: { grant: "granted", decline: "declined", replace: "withdrawn", expire: "expired" },
    granted: { revoke: "revoked", expire: "expired" },
    declined: {},
    withdrawn: {},
    revoked: {},
    expired: {}
  },
  forward: ["grant"]
})
