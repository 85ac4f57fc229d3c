/** State machine of a mint against a reserve, or a redemption from it. */
import * as Machine from "../../kernel/Machine.ts"

export const ReserveOrderMachine = Machine.declare("ReserveOrderState", {
  doc: "A mint against a reserve or a redemption from it; the engine itself settles a ready one.",
  states: {
    started: "Asked; nothing is allocated yet.",
    ready: "The depositor's asset, or the holder's units, are allocated.",
    settled: "Locked and minted, or burned and paid, in one transaction.",
    cancelled: "Taken back before it settled.",
    expired: "Its deadline passed before it settled."
  },
  triggers: {
    allocate: { by: ["ledger"] },
    settle: {
      by: ["mint.settle", "reserve-redemption.settle"],
      announces: ["reserve.minted", "reserve.redeemed"]
    },
    cancel: { by: ["mint.cancel", "reserve-redemption.cancel"] },
    expire: { by: ["clock"] }
  },
  initial: "started",
  opens: { by: ["mint.start", "reserve-redemption.start"] },
  moves: {
    started: { allocate: "ready", cancel: "cancelled", expire: "expired" },
    ready: { settle: "settled", cancel: "cancelled", expire: "expired" },
    settled: {},
    cancelled: {},
    expired: {}
  },
  forward: ["allocate", "settle"]
})
