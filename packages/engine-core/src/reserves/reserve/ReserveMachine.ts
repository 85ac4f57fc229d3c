/** State machine of the reserve of a backed instrument. */
import { Result } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import { refuse, type Refused } from "../../kernel/Refusal.ts"

export const ReserveMachine = Machine.declare("ReserveState", {
  doc: "The reserve of a backed instrument. Its cover is no state of it, and is judged by itself.",
  states: {
    proposed: "Binds nobody: the issuer and the holder have not both accepted.",
    active: "Both accepted.",
    declined: "One of them declined.",
    withdrawn: "The venue took it back before both accepted.",
    closing: "No more mints; what is outstanding is redeemed.",
    closed: "Nothing is outstanding, open or locked."
  },
  triggers: {
    accept: { by: ["ledger"] },
    activate: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    withdraw: { by: ["reserve.close"] },
    close: { by: ["reserve.close"] },
    empty: { by: ["reserve.close", "lock-agreement.release"] }
  },
  initial: "proposed",
  // A projection that begins from a snapshot opens the reserve in the state that it has.
  opensIn: ["proposed", "active", "closing"],
  opens: { by: ["reserve.propose", "ledger"] },
  moves: {
    proposed: {
      accept: "proposed",
      activate: "active",
      decline: "declined",
      withdraw: "withdrawn"
    },
    active: { close: "closing" },
    declined: {},
    withdrawn: {},
    closing: { empty: "closed" },
    closed: {}
  },
  forward: ["activate", "empty"]
})

/** Decides whether a reserve may be closed: it has not ended. */
export const decideClose = (self: {
  readonly state: Machine.State<typeof ReserveMachine>
}): Result.Result<void, Refused<"state-conflict">> =>
  Machine.isTerminal(ReserveMachine, self.state)
    ? refuse("state-conflict", {
        check: ReserveMachine.name,
        detail: `The reserve is ${self.state}.`
      })
    : Result.void
