/** Which states a standing settlement passes through. */
import * as Machine from "../../kernel/Machine.ts"

export const StandingSettlementMachine = Machine.declare("StandingSettlementState", {
  doc: "A settlement that the same parties repeat under allocations they committed once.",
  states: {
    proposed: "Proposed; not every party committed its allocation.",
    open: "The allocations are committed.",
    paused: "No iteration runs until it is resumed.",
    closed: "Its allocations are cancelled and the funds are back.",
    expired: "Its deadline passed."
  },
  triggers: {
    commit: { by: ["ledger"] },
    settle: { by: ["standing-settlement.settle"] },
    pause: { by: ["standing-settlement.pause"] },
    resume: { by: ["standing-settlement.resume"] },
    close: { by: ["standing-settlement.close"] },
    expire: { by: ["clock"] }
  },
  initial: "proposed",
  // The intent is created when it is proposed, so that is when the ledger's event tells of it.
  opens: { by: ["standing-settlement.open"], announces: ["settlement.proposed"] },
  moves: {
    proposed: { commit: "open", expire: "expired" },
    open: { settle: "open", pause: "paused", close: "closed", expire: "expired" },
    paused: { resume: "open", close: "closed", expire: "expired" },
    closed: {},
    expired: {}
  },
  forward: ["commit", "resume"]
})
