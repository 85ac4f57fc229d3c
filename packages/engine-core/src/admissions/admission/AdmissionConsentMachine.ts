/** State machine of a registrar's consent to admissions to an instrument. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Field from "../../templates/Field.ts"
import type { AdmissionConsent } from "./AdmissionConsent.ts"

export const AdmissionConsentMachine = Machine.declare("AdmissionConsentState", {
  doc: "A registrar's consent that the venue admits holders to an instrument.",
  states: {
    proposed: "Asked of the registrar.",
    agreed: "The venue may offer admissions.",
    declined: "The registrar declined.",
    withdrawn: "A newer proposal replaced it.",
    ended: "The registrar revoked it."
  },
  triggers: {
    agree: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    replace: { by: ["admission-consent.propose"] },
    end: { by: ["ledger"] }
  },
  initial: "proposed",
  opensIn: ["proposed", "agreed"],
  opens: { by: ["admission-consent.propose", "ledger"] },
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
const Agree = Schema.Struct({ on: Schema.Literal("agree"), consentCid: Field.contractId, at })
const Decline = Schema.Struct({ on: Schema.Literal("decline"), at })
const Replace = Schema.Struct({ on: Schema.Literal("replace"), at })
const End = Schema.Struct({ on: Schema.Literal("end"), at })

export const Fact = Schema.Union([Agree, Decline, Replace, End])
export type Fact = typeof Fact.Type

/** Fold: the consent after `fact`. */
export const evolve = (self: AdmissionConsent, fact: Fact): AdmissionConsent => ({
  ...self,
  ...match(fact)
    .with({ on: "agree" }, ({ consentCid, at: agreedAt }) => ({
      consentCid,
      agreedAt,
      proposalCid: null
    }))
    .with({ on: "decline" }, { on: "replace" }, ({ at: endedAt }) => ({
      endedAt,
      proposalCid: null
    }))
    .with({ on: "end" }, ({ at: endedAt }) => ({ endedAt, consentCid: null }))
    .exhaustive(),
  state: Machine.follow(AdmissionConsentMachine, self.state, fact.on)
})
