/** Which states a fund's consent to a ledger-paid primary market passes through. */
import * as Machine from "../../kernel/Machine.ts"

export const PrimaryMarketMachine = Machine.declare("PrimaryMarketState", {
  doc: "A fund's consent to orders paid on the ledger. What opened while agreed settles under it.",
  states: {
    proposed: "Asked of the fund.",
    agreed: "Orders may be paid on the ledger.",
    declined: "The fund declined.",
    withdrawn: "A newer proposal replaced it.",
    ended: "The fund revoked it, or its date passed."
  },
  triggers: {
    agree: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    replace: { by: ["primary-market.propose"] },
    end: { by: ["ledger", "clock"] }
  },
  initial: "proposed",
  opens: { by: ["primary-market.propose"] },
  moves: {
    proposed: { agree: "agreed", decline: "declined", replace: "withdrawn" },
    agreed: { end: "ended" },
    declined: {},
    withdrawn: {},
    ended: {}
  },
  forward: ["agree"]
})
