/** State machine of an eligibility attribute of a holder. */
import * as Machine from "../../kernel/Machine.ts"

export const AttributeMachine = Machine.declare("AttributeState", {
  doc: "One eligibility attribute of a holder. A new value of the same name is a new attribute.",
  states: {
    pending: "Its evidence is not verified.",
    valid: "Verified, and in time.",
    expired: "Past the instant it was valid until.",
    revoked: "Its value was withdrawn.",
    rejected: "Its evidence was refused."
  },
  triggers: {
    verify: { by: ["holder.set-attributes"] },
    reject: { by: ["holder.set-attributes"] },
    expire: { by: ["clock"] },
    revoke: { by: ["holder.set-attributes"] }
  },
  initial: "pending",
  opensIn: ["pending", "valid", "rejected"],
  opens: { by: ["holder.set-attributes", "holder.onboard"] },
  moves: {
    pending: { verify: "valid", reject: "rejected" },
    valid: { expire: "expired", revoke: "revoked" },
    expired: {},
    revoked: {},
    rejected: {}
  },
  forward: ["verify"]
})
