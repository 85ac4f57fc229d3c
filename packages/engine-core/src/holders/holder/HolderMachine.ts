/** Which states a holder passes through, from its registration to its end. */
import { Result, Schema } from "effect"
import { match } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import { refuse } from "../../kernel/Refusal.ts"
import * as Field from "../../templates/Field.ts"
import type { Holder } from "./Holder.ts"
import { Attribute, Details, Screening, Terms } from "./HolderDetails.ts"

export const HolderMachine = Machine.declare("HolderState", {
  doc: "A holder at the venue. Restriction and screening are sets of their own, never holder states; a venue without a screening source asks for no screening.",
  states: {
    pending: "Registered; not everything is accepted yet.",
    active: "May be admitted and dealt with.",
    lapsed: "Its registration ran out.",
    succeeded: "Its successor holds everything it held.",
    closed: "Ended for good."
  },
  triggers: {
    activate: { by: ["ledger", "accepted-terms.accept", "screening"] },
    lapse: { by: ["clock"] },
    renew: { by: ["ledger"] },
    succeed: { by: ["holder.recover", "instrument.recover"], announces: ["holder.recovered"] },
    close: { by: ["holder.close"] }
  },
  initial: "pending",
  opens: { by: ["holder.register", "holder.onboard"] },
  moves: {
    pending: { activate: "active", close: "closed" },
    active: { lapse: "lapsed", succeed: "succeeded", close: "closed" },
    lapsed: { renew: "active", succeed: "succeeded", close: "closed" },
    succeeded: {},
    closed: {}
  },
  forward: ["activate", "renew"]
})

const registered = {
  registrationCid: Field.contractId,
  at: Instant.schema,
  validUntil: Schema.NullOr(Instant.schema)
} as const

/** What the venue knows of a holder and the ledger does not. */
const Describe = Schema.Struct({
  on: Schema.Literal("describe"),
  ...Details.fields,
  attributes: Schema.Array(Attribute)
})
/** The holder accepted its registration, or the venue set its attributes on it. */
const Accept = Schema.Struct({ on: Schema.Literal("accept"), ...registered })
/** The invitation is gone and no registration came of it. */
const Decline = Schema.Struct({ on: Schema.Literal("decline") })
/** The holder's wallet signed terms, or took its signature back. */
const Sign = Schema.Struct({
  on: Schema.Literal("sign"),
  signedTermsCid: Schema.NullOr(Field.contractId)
})
const AcceptTerms = Schema.Struct({ on: Schema.Literal("accept-terms"), terms: Terms })
const Screened = Schema.Struct({ on: Schema.Literal("screen"), screening: Screening })
const Activate = Schema.Struct({ on: Schema.Literal("activate") })
const Lapse = Schema.Struct({ on: Schema.Literal("lapse") })
const Renew = Schema.Struct({ on: Schema.Literal("renew"), ...registered })
const Succeed = Schema.Struct({ on: Schema.Literal("succeed"), at: Instant.schema })
const Close = Schema.Struct({ on: Schema.Literal("close"), at: Instant.schema })

/** The first six leave the state as it is; the others are the table's triggers. */
export const Fact = Schema.Union([
  Describe,
  Accept,
  Decline,
  Sign,
  AcceptTerms,
  Screened,
  Activate,
  Lapse,
  Renew,
  Succeed,
  Close
])
export type Fact = typeof Fact.Type

/** What the venue may ask of a holder's record. */
export interface Command {
  readonly on: "accept-terms" | "admit"
}

/** May the venue do this with the holder as it stands? What follows is the ledger's to say. */
export const decide = (self: Holder, { on }: Command) =>
  match(on)
    .with("accept-terms", () =>
      Machine.isTerminal(HolderMachine, self.state)
        ? refuse("state-conflict", {
            check: HolderMachine.name,
            detail: `A holder in state ${self.state} signs no terms.`
          })
        : Result.succeed({ on })
    )
    .with("admit", () =>
      self.state === "active"
        ? Result.succeed({ on })
        : refuse("state-conflict", {
            check: HolderMachine.name,
            detail: `A holder in state ${self.state} is not admitted.`
          })
    )
    .exhaustive()

/**
 * Whether the venue's screening lets the holder become active. A deployment without a screening
 * source asks for none: the holder has no screening at all, and the condition counts as met.
 */
export const isScreened = (self: Pick<Holder, "screening">): boolean =>
  self.screening === null || self.screening.state === "clear"

/** Whether all three facts that make a pending holder active are there. */
export const isReady = (self: Holder): boolean =>
  self.state === "pending" &&
  self.registrationCid !== null &&
  self.terms !== null &&
  isScreened(self)

/** The holder after `fact`. Decides nothing: it only remembers. */
export const evolve = (self: Holder, fact: Fact): Holder =>
  match(fact)
    .with({ on: "describe" }, ({ on: _, ...known }) => ({ ...self, ...known }))
    .with({ on: "accept" }, (accepted) => ({ ...self, ...registration(accepted) }))
    .with({ on: "decline" }, () => ({ ...self, invitationCid: null }))
    .with({ on: "sign" }, ({ signedTermsCid }) => ({ ...self, signedTermsCid }))
    .with({ on: "accept-terms" }, ({ terms }) => ({ ...self, terms, signedTermsCid: null }))
    .with({ on: "screen" }, ({ screening }) => ({ ...self, screening }))
    .with({ on: "activate" }, { on: "lapse" }, ({ on }) => moved(self, on))
    .with({ on: "renew" }, (renewed) => ({
      ...moved(self, renewed.on),
      ...registration(renewed)
    }))
    .with({ on: "succeed" }, ({ on, at }) => ({ ...moved(self, on), endedAt: at }))
    .with({ on: "close" }, ({ on, at }) => ({
      ...moved(self, on),
      endedAt: at,
      invitationCid: null,
      registrationCid: null
    }))
    .exhaustive()

const moved = (self: Holder, on: Machine.TriggerOf<typeof HolderMachine>): Holder => ({
  ...self,
  state: Machine.follow(HolderMachine, self.state, on)
})

const registration = (from: Pick<typeof Accept.Type, "registrationCid" | "at" | "validUntil">) => ({
  invitationCid: null,
  registrationCid: from.registrationCid,
  acceptedAt: from.at,
  validUntil: from.validUntil
})
