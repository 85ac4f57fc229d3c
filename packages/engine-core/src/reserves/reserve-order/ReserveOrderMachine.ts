/** State machine of a mint against a reserve, or a redemption from it. */
import * as Machine from "../../kernel/Machine.ts"

export const ReserveOrderMachine = Machine.declare("ReserveOrderState", {
  doc: "A mint against a reserve or a redemption from it; the engine itself settles a ready one.",
  states: {
    started: "Asked; nothing is allocated yet.",
    ready: "The depositor's asset, or the holder's units, are allocated.",
    settled: "Locked and minted, or burned and paid, in one transaction.",
    cancelled: "Ended before it settled: taken back, declined, or past its deadline.",
    expired: "Its deadline passed; what was allocated is held until the engine cancels it."
  },
  triggers: {
    allocate: { by: ["ledger"] },
    reallocate: { by: ["ledger"] },
    settle: {
      by: ["mint.settle", "reserve-redemption.settle"],
      announces: ["reserve.minted", "reserve.redeemed"]
    },
    cancel: { by: ["mint.cancel", "reserve-redemption.cancel"] },
    release: { by: ["ledger", "mint.cancel", "reserve-redemption.cancel"] },
    decline: { by: ["ledger"] },
    expire: { by: ["clock"] }
  },
  initial: "started",
  // A projection that begins from a snapshot opens an order that was accepted before it as ready.
  opensIn: ["started", "ready"],
  opens: { by: ["mint.start", "reserve-redemption.start", "ledger"] },
  moves: {
    started: { allocate: "ready", cancel: "cancelled", decline: "cancelled", expire: "expired" },
    ready: {
      reallocate: "ready",
      settle: "settled",
      cancel: "cancelled",
      decline: "cancelled",
      expire: "expired"
    },
    settled: {},
    cancelled: {},
    expired: { release: "cancelled" }
  },
  forward: ["allocate", "settle", "release"]
})
