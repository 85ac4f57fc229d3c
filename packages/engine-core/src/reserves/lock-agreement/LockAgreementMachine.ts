/** State machine of an agreement to lock holdings for a reserve. */
import { Result } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import { refuse, type Refused } from "../../kernel/Refusal.ts"

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
  // A projection that begins from a snapshot opens the agreement in the state that it has.
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

/** Decides whether an agreement may be released, or its proposal taken back: it has not ended. */
export const decideRelease = (self: {
  readonly state: Machine.State<typeof LockAgreementMachine>
}): Result.Result<void, Refused<"state-conflict">> =>
  Machine.isTerminal(LockAgreementMachine, self.state)
    ? refuse("state-conflict", {
        check: LockAgreementMachine.name,
        detail: `The lock agreement is ${self.state}.`
      })
    : Result.void
