/** Which states a holder passes through, from its registration to its end. */
import * as Machine from "../../kernel/Machine.ts"

export const HolderMachine = Machine.declare("HolderState", {
  doc: "A holder at the venue. Restriction and screening are sets of their own, never holder states.",
  states: {
    pending: "Registered; not everything is accepted yet.",
    active: "May be admitted and dealt with.",
    lapsed: "Its registration ran out.",
    succeeded: "Its successor holds everything it held.",
    closed: "Ended for good."
  },
  triggers: {
    activate: { by: ["ledger", "accepted-terms.accept", "screening"] },
    lapse: { by: ["clock"] },
    renew: { by: ["ledger"] },
    succeed: { by: ["holder.recover", "instrument.recover"], announces: ["holder.recovered"] },
    close: { by: ["holder.close"] }
  },
  initial: "pending",
  opens: { by: ["holder.register", "holder.onboard"] },
  moves: {
    pending: { activate: "active", close: "closed" },
    active: { lapse: "lapsed", succeed: "succeeded", close: "closed" },
    lapsed: { renew: "active", succeed: "succeeded", close: "closed" },
    succeeded: {},
    closed: {}
  },
  forward: ["activate", "renew"]
})
