/** State machine of a fund's consent to pay from cash it names. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Field from "../../templates/Field.ts"
import type { ProvisionSettlement } from "./ProvisionSettlement.ts"

export const ProvisionSettlementMachine = Machine.declare("ProvisionSettlementState", {
  doc: "A fund's consent that the venue pays its legs from cash the fund names.",
  states: {
    proposed: "Asked of the fund.",
    agreed: "The venue may draw on the cash the fund names.",
    declined: "The fund declined.",
    withdrawn: "A newer proposal replaced it.",
    ended: "The fund revoked it, or its date passed."
  },
  triggers: {
    agree: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    replace: { by: ["provision-settlement.propose"] },
    end: { by: ["ledger", "clock"] }
  },
  initial: "proposed",
  // One that was agreed before the projection began is first seen as it stands.
  opensIn: ["proposed", "agreed"],
  // The proposal is a ledger fact, and its event is the ledger's.
  opens: { by: ["provision-settlement.propose", "ledger"], announces: ["settlement.proposed"] },
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
const Agree = Schema.Struct({ on: Schema.Literal("agree"), provisionCid: Field.contractId, at })
const Decline = Schema.Struct({ on: Schema.Literal("decline"), at })
const Replace = Schema.Struct({ on: Schema.Literal("replace"), at })
const End = Schema.Struct({ on: Schema.Literal("end"), at })

export const Fact = Schema.Union([Agree, Decline, Replace, End])
export type Fact = typeof Fact.Type

/** Fold: the consent after `fact`. */
export const evolve = (self: ProvisionSettlement, fact: Fact): ProvisionSettlement => ({
  ...self,
  ...match(fact)
    .with({ on: "agree" }, ({ provisionCid, at: agreedAt }) => ({
      provisionCid,
      agreedAt,
      proposalCid: null
    }))
    .with({ on: "decline" }, { on: "replace" }, ({ at: endedAt }) => ({
      endedAt,
      proposalCid: null
    }))
    .with({ on: "end" }, ({ at: endedAt }) => ({ endedAt }))
    .exhaustive(),
  state: Machine.follow(ProvisionSettlementMachine, self.state, fact.on)
})
