/** Which states an agreement on an issuer's powers over an instrument passes through. */
import * as Machine from "../../kernel/Machine.ts"

export const IssuerPowersAgreementMachine = Machine.declare("IssuerPowersAgreementState", {
  doc: "The agreement of issuer and registrar that forced acts may be asked for on an instrument.",
  states: {
    proposed: "Asked of the issuer and the registrar.",
    agreed: "Both agreed: holders may be asked for their consent.",
    declined: "One of them declined.",
    withdrawn: "A newer proposal replaced it.",
    ended: "One of them revoked it, or its date passed."
  },
  triggers: {
    agree: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    replace: { by: ["issuer-powers-agreement.propose"] },
    end: { by: ["ledger", "clock"] }
  },
  initial: "proposed",
  opens: { by: ["issuer-powers-agreement.propose"] },
  moves: {
    proposed: { agree: "agreed", decline: "declined", replace: "withdrawn" },
    agreed: { end: "ended" },
    declined: {},
    withdrawn: {},
    ended: {}
  },
  forward: ["agree"]
})
