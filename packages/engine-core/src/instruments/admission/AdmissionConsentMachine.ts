/** Which states a registrar's consent to admissions to an instrument passes through. */
import * as Machine from "../../kernel/Machine.ts"

export const AdmissionConsentMachine = Machine.declare("AdmissionConsentState", {
  doc: "A registrar's consent that the venue admits holders to an instrument.",
  states: {
    proposed: "Asked of the registrar.",
    agreed: "The venue may offer admissions.",
    declined: "The registrar declined.",
    withdrawn: "A newer proposal replaced it.",
    ended: "The registrar revoked it, or its date passed."
  },
  triggers: {
    agree: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    replace: { by: ["admission-consent.propose"] },
    end: { by: ["ledger", "clock"] }
  },
  initial: "proposed",
  opens: { by: ["admission-consent.propose"] },
  moves: {
    proposed: { agree: "agreed", decline: "declined", replace: "withdrawn" },
    agreed: { end: "ended" },
    declined: {},
    withdrawn: {},
    ended: {}
  },
  forward: ["agree"]
})
