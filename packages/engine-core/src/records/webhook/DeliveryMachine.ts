/** State machine of the delivery of an event to a webhook. */
import * as Machine from "../../kernel/Machine.ts"
import { OperationKind } from "../../vocabulary/OperationKind.ts"

export const DeliveryMachine = Machine.declare("DeliveryState", {
  doc: "An event on its way to one webhook, from its writing to its last attempt.",
  states: {
    pending: "Not taken yet; the next attempt is due now or later.",
    taken: "The receiver answered with a 2xx status.",
    exhausted: "The last attempt failed too; the event is still on the feed.",
    cancelled: "Its webhook was removed first."
  },
  triggers: {
    take: { by: ["worker"] },
    exhaust: { by: ["worker"] },
    cancel: { by: ["webhook.remove"] }
  },
  initial: "pending",
  // Opened by the event's transaction, whoever caused the event.
  opens: {
    by: [...OperationKind.members, "ledger", "run", "clock", "approver", "maker", "worker"]
  },
  moves: {
    pending: { take: "taken", exhaust: "exhausted", cancel: "cancelled" },
    taken: {},
    exhausted: {},
    cancelled: {}
  },
  forward: ["take"]
})
