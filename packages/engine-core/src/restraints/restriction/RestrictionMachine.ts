/** State machine of a restriction of a holder. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Restriction } from "./Restriction.ts"

export const RestrictionMachine = Machine.declare("RestrictionState", {
  doc: "A restriction of a holder: one person sets it at once, two approvers lift it.",
  states: {
    active: "In force.",
    lifted: "Ended by two approvers.",
    lapsed: "Ended by its own date.",
    carried: "Moved to the holder's successor."
  },
  triggers: {
    lift: { by: ["restriction.lift"], announces: ["holder.unrestricted"] },
    lapse: { by: ["clock"], announces: ["holder.unrestricted"] },
    carry: { by: ["holder.recover", "instrument.recover"], announces: ["holder.restricted"] }
  },
  initial: "active",
  opens: {
    by: [
      "holder.restrict",
      "holder.restrict-batch",
      "screening",
      "holder.recover",
      "instrument.recover"
    ],
    announces: ["holder.restricted"]
  },
  moves: {
    active: { lift: "lifted", lapse: "lapsed", carry: "carried" },
    lifted: {},
    lapsed: {},
    carried: {}
  }
})

/** Two approvers ended it, for the maker's reason. */
const Lift = Schema.Struct({
  on: Schema.Literal("lift"),
  at: Instant.schema,
  liftedBy: Schema.Array(Schema.String),
  liftReason: Schema.String
})
/** The clock ended it at its `autoReleaseAt`. */
const Lapse = Schema.Struct({ on: Schema.Literal("lapse"), at: Instant.schema })
/** A recovery carried the restriction to the holder's successor, with all units. */
const Carry = Schema.Struct({ on: Schema.Literal("carry"), at: Instant.schema })

export const Fact = Schema.Union([Lift, Lapse, Carry])
export type Fact = typeof Fact.Type

/** Fold: the restriction after `fact`. */
export const evolve = (self: Restriction, fact: Fact): Restriction =>
  match(fact)
    .with({ on: "lift" }, ({ on, at, liftedBy, liftReason }) => ({
      ...ended(self, on, at),
      liftedBy,
      liftReason
    }))
    .with({ on: "lapse" }, { on: "carry" }, ({ on, at }) => ended(self, on, at))
    .exhaustive()

const ended = (
  self: Restriction,
  on: Machine.TriggerOf<typeof RestrictionMachine>,
  endedAt: Instant.Instant
): Restriction => ({
  ...self,
  state: Machine.follow(RestrictionMachine, self.state, on),
  endedAt
})

/** Decides whether the restriction may be lifted. Refuses `state-conflict` after its end. */
export const decide = (self: Pick<Restriction, "state">, { on }: { readonly on: "lift" }) =>
  Machine.admit(RestrictionMachine, self, on)
