/** State machine of the admission of one holder to one instrument. */
import { Result, Schema } from "effect"
import { match } from "ts-pattern"
import * as Instant from "../kernel/Instant.ts"
import * as Machine from "../kernel/Machine.ts"
import * as Field from "../templates/Field.ts"
import type { Admission } from "./Admission.ts"

export const AdmissionMachine = Machine.declare("AdmissionState", {
  doc: "One holder with one instrument. Offered and admitted both hold a place under the holder cap.",
  states: {
    offered: "The credential is offered to the holder.",
    admitted: "The credential is live.",
    declined: "The holder declined the offer.",
    withdrawn: "The venue took the offer back before it was accepted.",
    expired: "The offer or the credential ran out.",
    revoked:
      "The credential was ended: by its holder, or by the venue, which also does when the holder's units are recovered."
  },
  triggers: {
    accept: { by: ["ledger"], announces: ["admission.granted"] },
    decline: { by: ["ledger"] },
    withdraw: { by: ["admission.withdraw", "holder.recover", "instrument.recover"] },
    revoke: { by: ["admission.withdraw", "holder.recover", "instrument.recover", "ledger"] },
    expire: { by: ["clock"] }
  },
  initial: "offered",
  opensIn: ["offered", "admitted"],
  opens: { by: ["admission.offer", "ledger"], announces: ["admission.offered"] },
  moves: {
    offered: { accept: "admitted", decline: "declined", withdraw: "withdrawn", expire: "expired" },
    admitted: { revoke: "revoked", expire: "expired" },
    declined: {},
    withdrawn: {},
    expired: {},
    revoked: {}
  },
  forward: ["accept"]
})

const at = Instant.schema
const Accept = Schema.Struct({ on: Schema.Literal("accept"), credentialCid: Field.contractId, at })
const Decline = Schema.Struct({ on: Schema.Literal("decline"), at })
/** The recovery that ended the admission; null for any other end. */
const recovered = { recoveredBy: Field.optional(Schema.String) } as const
const Withdraw = Schema.Struct({
  on: Schema.Literal("withdraw"),
  ...recovered,
  at
})
const Revoke = Schema.Struct({
  on: Schema.Literal("revoke"),
  /** Party that ended the credential: the venue revoked it, or its holder renounced it. */
  by: Schema.Literals(["venue", "holder"]),
  ...recovered,
  at
})
const Expire = Schema.Struct({ on: Schema.Literal("expire"), at })
/** The contract of an expired admission was archived on the ledger; the state stays. */
const Clear = Schema.Struct({ on: Schema.Literal("clear"), at })

export const Fact = Schema.Union([Accept, Decline, Withdraw, Revoke, Expire, Clear])
export type Fact = typeof Fact.Type

/** Command of the venue: end the offer or the credential. */
export interface Command {
  readonly on: "withdraw"
}

/**
 * Decides which trigger a withdrawal is; the move follows from the ledger's fact. Refuses
 * `state-conflict` where the admission has ended.
 */
export const decide = (self: Admission, _: Command) => {
  const on: "revoke" | "withdraw" = self.state === "admitted" ? "revoke" : "withdraw"
  return Result.map(Machine.admit(AdmissionMachine, self, on), () => ({ on }))
}

/** Fold: the admission after `fact`. */
export const evolve = (self: Admission, fact: Fact): Admission =>
  fact.on === "clear" ? { ...self, offerCid: null, credentialCid: null } : moved(self, fact)

const moved = (self: Admission, fact: Exclude<Fact, { readonly on: "clear" }>): Admission => ({
  ...self,
  ...match(fact)
    .with({ on: "accept" }, ({ credentialCid, at: admittedAt }) => ({
      credentialCid,
      admittedAt,
      offerCid: null
    }))
    .with({ on: "decline" }, ({ at: endedAt }) => ({
      endedAt,
      endedBy: "holder" as const,
      offerCid: null
    }))
    .with({ on: "withdraw" }, ({ at: endedAt, recoveredBy }) => ({
      endedAt,
      endedBy: "venue" as const,
      recoveredBy,
      offerCid: null
    }))
    .with({ on: "revoke" }, ({ at: endedAt, by: endedBy, recoveredBy }) => ({
      endedAt,
      endedBy,
      recoveredBy,
      credentialCid: null
    }))
    // An expired contract stays on the ledger, which refuses its use after the deadline.
    .with({ on: "expire" }, ({ at: endedAt }) => ({ endedAt, endedBy: "clock" as const }))
    .exhaustive(),
  state: Machine.follow(AdmissionMachine, self.state, fact.on)
})
