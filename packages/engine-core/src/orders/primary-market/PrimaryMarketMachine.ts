/** State machine of a fund's consent to a ledger-paid primary market. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import type { PrimaryMarket } from "./PrimaryMarket.ts"

export const PrimaryMarketMachine = Machine.declare("PrimaryMarketState", {
  doc: "A fund's consent to orders paid on the ledger. What opened while agreed settles under it.",
  states: {
    proposed: "Asked of the fund.",
    agreed: "Orders may be paid on the ledger.",
    declined: "The fund declined.",
    withdrawn: "A newer proposal replaced it.",
    ended: "The fund revoked it, or its date passed."
  },
  triggers: {
    agree: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    replace: { by: ["primary-market.propose"] },
    end: { by: ["ledger", "clock"] }
  },
  initial: "proposed",
  opensIn: ["proposed", "agreed"],
  opens: { by: ["primary-market.propose", "ledger"] },
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
  marketCid: Field.contractId,
  at
})
const Decline = Schema.Struct({ on: Schema.Literal("decline"), at })
const Replace = Schema.Struct({ on: Schema.Literal("replace"), at })
/** By its date, or by the fund, which makes the market anew with its time up. */
const End = Schema.Struct({
  on: Schema.Literal("end"),
  marketCid: Field.optional(Field.contractId),
  at
})

/** The first leaves the state as it is; the others are the table's triggers. */
export const Fact = Schema.Union([Accept, Agree, Decline, Replace, End])
export type Fact = typeof Fact.Type

/** Fold: the market after `fact`. */
export const evolve = (self: PrimaryMarket, fact: Fact): PrimaryMarket =>
  match(fact)
    .with({ on: "accept" }, ({ party, proposalCid }) => ({
      ...self,
      acceptedBy: [...self.acceptedBy, party],
      proposalCid
    }))
    .with({ on: "agree" }, ({ on, party, marketCid, at: from }) => ({
      ...moved(self, on),
      acceptedBy: [...self.acceptedBy, party],
      proposalCid: null,
      marketCid,
      from
    }))
    .with({ on: "decline" }, { on: "replace" }, ({ on, at: endedAt }) => ({
      ...moved(self, on),
      proposalCid: null,
      endedAt
    }))
    // What opened while it was agreed settles under it, so the contract is still named.
    .with({ on: "end" }, ({ on, marketCid, at: endedAt }) => ({
      ...moved(self, on),
      marketCid: marketCid ?? self.marketCid,
      endedAt
    }))
    .exhaustive()

const moved = (
  self: PrimaryMarket,
  on: Machine.TriggerOf<typeof PrimaryMarketMachine>
): PrimaryMarket => ({ ...self, state: Machine.follow(PrimaryMarketMachine, self.state, on) })
