/** State machine of an agreement to lock holdings for a reserve. */
import * as Machine from "../../kernel/Machine.ts"

export const LockAgreementMachine = Machine.declare("LockAgreementState", {
  doc: "An agreement to lock holdings for a reserve.",
  states: {
    proposed: "Asked of the holder and its custodian.",
    active: "Holdings may be locked.",
    declined: "One of them declined.",
    withdrawn: "The venue took it back before all signed.",
    released: "Ended: the holdings are free."
  },
  triggers: {
    accept: { by: ["ledger"] },
    activate: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    withdraw: { by: ["lock-agreement.release"] },
    release: { by: ["lock-agreement.release"] }
  },
  initial: "proposed",
  // A projection that begins from a snapshot opens what was agreed before it as it stands.
  opensIn: ["proposed", "active"],
  opens: { by: ["lock-agreement.propose", "ledger"] },
  moves: {
    proposed: {
      accept: "proposed",
      activate: "active",
      decline: "declined",
      withdraw: "withdrawn"
    },
    active: { release: "released" },
    declined: {},
    withdrawn: {},
    released: {}
  },
  forward: ["activate"]
})
