/** State machine of a holder's consent to forced acts on its units. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Field from "../../templates/Field.ts"
import type { IssuerPowersConsent } from "./IssuerPowersConsent.ts"

export const IssuerPowersConsentMachine = Machine.declare("IssuerPowersConsentState", {
  doc: "A holder's consent to forced acts. It must be granted at the ledger time of the act.",
  states: {
    offered: "Asked of the holder.",
    granted: "Forced acts on the holder's units are allowed.",
    declined: "The holder declined.",
    withdrawn: "The offer was taken back.",
    revoked: "The holder ended it.",
    expired: "It ran out."
  },
  triggers: {
    grant: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    replace: { by: ["issuer-powers-consent.offer"] },
    expire: { by: ["clock"] },
    revoke: { by: ["ledger"] }
  },
  initial: "offered",
  // A consent granted before the snapshot that the projection began with opens as granted.
  opensIn: ["offered", "granted"],
  opens: { by: ["issuer-powers-consent.offer", "ledger"] },
  moves: {
    offered: { grant: "granted", decline: "declined", replace: "withdrawn", expire: "expired" },
    granted: { revoke: "revoked", expire: "expired" },
    declined: {},
    withdrawn: {},
    revoked: {},
    expired: {}
  },
  forward: ["grant"]
})

const at = Instant.schema
const Grant = Schema.Struct({ on: Schema.Literal("grant"), cid: Field.contractId, at })
const ended = <const T extends string>(on: T) => Schema.Struct({ on: Schema.Literal(on), at })

export const Fact = Schema.Union([
  Grant,
  ended("decline"),
  ended("replace"),
  ended("expire"),
  ended("revoke")
])
export type Fact = typeof Fact.Type

/** Fold: the consent after `fact`. */
export const evolve = (self: IssuerPowersConsent, fact: Fact): IssuerPowersConsent => ({
  ...self,
  ...match(fact)
    .with({ on: "grant" }, ({ cid, at: grantedAt }) => ({ cid, grantedAt }))
    .with(
      { on: "decline" },
      { on: "replace" },
      { on: "expire" },
      { on: "revoke" },
      ({ at: endedAt }) => ({ endedAt })
    )
    .exhaustive(),
  state: Machine.follow(IssuerPowersConsentMachine, self.state, fact.on)
})
