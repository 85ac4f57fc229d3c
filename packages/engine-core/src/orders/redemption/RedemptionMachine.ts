/** Which states a redemption passes through, and who moves it. */
import * as Machine from "../../kernel/Machine.ts"

export const RedemptionMachine = Machine.declare("RedemptionState", {
  doc: "A redemption, from its claim to its settlement. Once burned it can only settle.",
  states: {
    claimed: "The holder's claim stands; nobody has priced it yet.",
    priced: "The fund's oracle priced it.",
    funded: "The holder's custodian requested the burn of its units.",
    burned: "The units are gone and the cash is owed. No way back from here.",
    settled: "Paid. This is the value date.",
    withdrawn: "The claim was withdrawn before its units were burned.",
    released: "The venue let it go before its units were burned."
  },
  triggers: {
    price: { by: ["ledger"], announces: ["redemption.priced"] },
    fund: { by: ["ledger"], announces: ["redemption.funded"] },
    burn: { by: ["ledger"], announces: ["redemption.burned"] },
    settle: { by: ["redemption.settle"], announces: ["redemption.settled"] },
    exchange: {
      by: ["redemption.settle", "dealing-cycle.settle"],
      announces: ["redemption.burned", "redemption.settled"]
    },
    withdraw: { by: ["redemption.withdraw"], announces: ["redemption.withdrawn"] },
    release: {
      by: ["redemption.release", "dealing-cycle.release"],
      announces: ["redemption.withdrawn"]
    }
  },
  initial: "claimed",
  opens: { by: ["redemption.claim"] },
  moves: {
    claimed: { price: "priced", withdraw: "withdrawn" },
    priced: { fund: "funded", exchange: "settled", withdraw: "withdrawn", release: "released" },
    funded: { burn: "burned", exchange: "settled", withdraw: "withdrawn", release: "released" },
    burned: { settle: "settled" },
    settled: {},
    withdrawn: {},
    released: {}
  },
  forward: ["price", "fund", "burn", "settle", "exchange"]
})
