/** Which states a subscription passes through, and who moves it. */
import * as Machine from "../../kernel/Machine.ts"

export const SubscriptionMachine = Machine.declare("SubscriptionState", {
  doc: "A subscription, from its claim to its close.",
  states: {
    claimed: "The holder's claim stands; nobody has priced it yet.",
    priced: "Its attestors priced it: the lot exists on the ledger.",
    delivered: "Units are minted to the holder. This is the value date.",
    closed: "The fund has its cash and the lot is closed.",
    released: "The venue let the priced lot go undelivered.",
    withdrawn: "The claim was withdrawn before it was priced."
  },
  triggers: {
    price: { by: ["ledger"], announces: ["subscription.priced", "subscription.created"] },
    withdraw: { by: ["subscription.withdraw"], announces: ["subscription.ended"] },
    deliver: { by: ["subscription.deliver", "ledger"], announces: ["subscription.delivered"] },
    settle: { by: ["subscription.settle"], announces: ["subscription.ended"] },
    exchange: {
      by: ["subscription.settle", "dealing-cycle.settle"],
      announces: ["subscription.delivered", "subscription.ended"]
    },
    release: {
      by: ["subscription.release", "dealing-cycle.release"],
      announces: ["subscription.ended"]
    }
  },
  initial: "claimed",
  opens: { by: ["subscription.claim"] },
  moves: {
    claimed: { price: "priced", withdraw: "withdrawn" },
    priced: { deliver: "delivered", exchange: "closed", release: "released" },
    delivered: { settle: "closed" },
    closed: {},
    released: {},
    withdrawn: {}
  },
  forward: ["price", "deliver", "settle", "exchange"]
})
