/** State machine of an amendment of a reserve's terms. */
import * as Machine from "../../kernel/Machine.ts"

export const AmendmentMachine = Machine.declare("AmendmentState", {
  doc: "An amendment of a reserve's terms: a tightening takes effect at once, a loosening waits.",
  states: {
    proposed: "Asked of the issuer.",
    accepted: "The issuer accepted it; it waits out the reserve's delay.",
    effective: "In force.",
    superseded: "Another one took effect: after it, or instead of it while it waited.",
    declined: "The issuer declined it.",
    withdrawn: "The venue took it back before it took effect, or the reserve ended first."
  },
  triggers: {
    decline: { by: ["ledger"] },
    tighten: { by: ["ledger"], announces: ["reserve.amended"] },
    loosen: { by: ["ledger"], announces: ["reserve.amended"] },
    begin: { by: ["clock"] },
    // Terms that wait end with their reserve.
    withdraw: { by: ["amendment.withdraw", "reserve.close", "lock-agreement.release"] },
    overtake: { by: ["ledger"] },
    supersede: { by: ["ledger", "clock"] }
  },
  initial: "proposed",
  // A projection that begins from a snapshot opens the amendment in the state that it has.
  opensIn: ["proposed", "accepted"],
  opens: { by: ["amendment.propose", "ledger"] },
  moves: {
    proposed: {
      decline: "declined",
      tighten: "effective",
      loosen: "accepted",
      withdraw: "withdrawn"
    },
    accepted: { begin: "effective", withdraw: "withdrawn", overtake: "superseded" },
    effective: { supersede: "superseded" },
    superseded: {},
    declined: {},
    withdrawn: {}
  },
  forward: ["tighten", "loosen", "begin"]
})
