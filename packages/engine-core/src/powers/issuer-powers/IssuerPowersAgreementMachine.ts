/** State machine of an agreement on an issuer's powers over an instrument. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import type { IssuerPowersAgreement } from "./IssuerPowersAgreement.ts"

export const IssuerPowersAgreementMachine = Machine.declare("IssuerPowersAgreementState", {
  doc: "The agreement of issuer and registrar that forced acts may be asked for on an instrument.",
  states: {
    proposed: "Asked of the issuer and the registrar.",
    agreed: "Both agreed: holders may be asked for their consent.",
    declined: "One of them declined.",
    withdrawn: "A newer proposal replaced it.",
    ended: "One of them revoked it, or its date passed."
  },
  triggers: {
    agree: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    replace: { by: ["issuer-powers-agreement.propose"] },
    end: { by: ["ledger", "clock"] }
  },
  initial: "proposed",
  // One that was agreed before the projection began is first seen as it stands.
  opensIn: ["proposed", "agreed"],
  opens: { by: ["issuer-powers-agreement.propose", "ledger"] },
  moves: {
    proposed: { agree: "agreed", decline: "declined", replace: "withdrawn" },
    agreed: { end: "ended" },
    declined: {},
    withdrawn: {},
    ended: {}
  },
  forward: ["agree"]
})

const at = Instant.schema
/** One of the two accepted; the proposal is made anew with its signature, and waits for the other. */
const Accept = Schema.Struct({
  on: Schema.Literal("accept"),
  party: Party.schema,
  proposalCid: Field.contractId
})
const Agree = Schema.Struct({
  on: Schema.Literal("agree"),
  party: Party.schema,
  agreementCid: Field.contractId,
  at
})
const Decline = Schema.Struct({ on: Schema.Literal("decline"), at })
const Replace = Schema.Struct({ on: Schema.Literal("replace"), at })
const End = Schema.Struct({ on: Schema.Literal("end"), at })

/** The first leaves the state as it is; the others are the table's triggers. */
export const Fact = Schema.Union([Accept, Agree, Decline, Replace, End])
export type Fact = typeof Fact.Type

/** Fold: the agreement after `fact`. */
export const evolve = (self: IssuerPowersAgreement, fact: Fact): IssuerPowersAgreement =>
  match(fact)
    .with({ on: "accept" }, ({ party, proposalCid }) => ({
      ...self,
      acceptedBy: [...self.acceptedBy, party],
      proposalCid
    }))
    .with({ on: "agree" }, ({ on, party, agreementCid, at: from }) => ({
      ...moved(self, on),
      acceptedBy: [...self.acceptedBy, party],
      proposalCid: null,
      agreementCid,
      from
    }))
    .with({ on: "decline" }, { on: "replace" }, ({ on, at: endedAt }) => ({
      ...moved(self, on),
      proposalCid: null,
      endedAt
    }))
    .with({ on: "end" }, ({ on, at: endedAt }) => ({ ...moved(self, on), endedAt }))
    .exhaustive()

const moved = (
  self: IssuerPowersAgreement,
  on: Machine.TriggerOf<typeof IssuerPowersAgreementMachine>
): IssuerPowersAgreement => ({
  ...self,
  state: Machine.follow(IssuerPowersAgreementMachine, self.state, on)
})
