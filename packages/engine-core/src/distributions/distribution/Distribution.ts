/** Record and collection of distributions: the income of one instrument and month, executed. */
import { Schema, Struct } from "effect"
import { awaitedKey } from "../../findings/AwaitedStatements.ts"
import type { Announcement } from "../../kernel/Announcement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import { fields, idLengthMax, Totals } from "./DistributionTerms.ts"
import { match } from "ts-pattern"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Month from "../../kernel/Month.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"

export const DistributionMachine = Machine.declare("DistributionState", {
  doc: "An executed distribution. Carried, suspended and void lines do not keep it from paid.",
  states: {
    executed: "Its lines are computed.",
    held: "Its instrument is under a hold.",
    payable: "A reconciliation run found nothing that stops it.",
    paid: "Every line that was delivered is rolled."
  },
  triggers: {
    clear: { by: ["run"], announces: ["distribution.payable"] },
    hold: {
      by: ["instrument.pause", "run", "distribution.execute"],
      announces: ["distribution.held"]
    },
    pay: { by: ["distribution.roll", "run"], announces: ["distribution.paid"] }
  },
  initial: "executed",
  opens: {
    by: ["distribution.execute"],
    announces: ["distribution.rate-changed", "distribution.carried"]
  },
  moves: {
    executed: { clear: "payable", hold: "held" },
    held: { clear: "payable" },
    payable: { hold: "held", pay: "paid" },
    paid: {}
  },
  forward: ["clear", "pay"]
})

/** Events of a distribution. */
export const distributionEvents = {
  "distribution.payable": about(
    "distribution",
    Schema.Struct({ state: DistributionMachine.schema, month: Month.schema, runId: Schema.String })
  ),
  "distribution.held": about(
    "distribution",
    Schema.Struct({ state: DistributionMachine.schema, month: Month.schema, holdId: Schema.String })
  ),
  "distribution.paid": about(
    "distribution",
    Schema.Struct({
      state: DistributionMachine.schema,
      month: Month.schema,
      rolled: Integer.schema
    })
  ),
  "distribution.rate-changed": about(
    "distribution",
    Schema.Struct({
      month: Month.schema,
      rate: Decimal.schema,
      ratesSeen: Schema.Array(Decimal.schema)
    })
  ),
  "distribution.carried": about(
    "distribution",
    Schema.Struct({ month: Month.schema, carried: Integer.schema })
  )
} as const

const makeEvent = announcing(distributionEvents)

export { DistributionId } from "./DistributionTerms.ts"

const { NullOr, String: Text } = Schema

const { standingApprovalId, ...terms } = fields

/** Names of the members that a distribution takes from the plan of its execution. */
export const planned = Struct.keys(terms)

export const Distribution = Schema.Struct({
  ...terms,
  state: DistributionMachine.schema,
  executedBy: Schema.Struct({
    /** Null for a distribution that a snapshot of the ledger showed. */
    operationId: NullOr(Text),
    standingApprovalId
  }),
  executedAt: Instant.schema,
  /** Null until every line is added on the ledger. */
  sealedAt: NullOr(Instant.schema),
  /** The last run that cleared it; null before. */
  clearedByRun: NullOr(Text),
  /** The hold that it is held by; null where it is not. */
  holdId: NullOr(Text)
}).annotate({
  identifier: "Distribution",
  description: "The income of one instrument and month, paid to the holders on its record date."
})
export type Distribution = typeof Distribution.Type

/** Every line was added on the ledger; no further one can be added. */
const Seal = Schema.Struct({
  on: Schema.Literal("seal"),
  at: Instant.schema,
  /** Sums of the lines as the ledger sealed them, and the net of those that are suspended. */
  totals: Totals
})
const Clear = Schema.Struct({
  on: Schema.Literal("clear"),
  at: Instant.schema,
  runId: Schema.String
})
const Held = Schema.Struct({
  on: Schema.Literal("hold"),
  at: Instant.schema,
  holdId: Schema.String
})
const Pay = Schema.Struct({
  on: Schema.Literal("pay"),
  at: Instant.schema,
  /** Number of lines that are rolled. */
  rolled: Integer.schema
})

export const Fact = Schema.Union([Seal, Clear, Held, Pay])
export type Fact = typeof Fact.Type

/** Fold: the distribution after `fact`. */
export const evolve = (self: Distribution, fact: Fact): Distribution =>
  match(fact)
    .with({ on: "seal" }, ({ at, totals }) => ({ ...self, sealedAt: at, totals }))
    .with({ on: "clear" }, ({ on, runId }) => ({
      ...self,
      state: Machine.follow(DistributionMachine, self.state, on),
      clearedByRun: runId,
      holdId: null
    }))
    .with({ on: "hold" }, ({ on, holdId }) => ({
      ...self,
      state: Machine.follow(DistributionMachine, self.state, on),
      holdId
    }))
    .with({ on: "pay" }, ({ on }) => ({
      ...self,
      state: Machine.follow(DistributionMachine, self.state, on)
    }))
    .exhaustive()

export const distributions = Collection.define<Distribution, Fact>("distribution", {
  doc: "The income of one instrument and month, paid to the holders on its record date.",
  id: (self) => self.distributionId,
  record: Distribution,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  sortKey: (self, createdAt) => `${Instant.sortable(createdAt)} ${self.distributionId}`,
  filters: {
    distributionId: (self) => self.distributionId,
    state: (self) => self.state,
    instrumentId: (self) => self.instrumentId,
    registrar: (self) => self.registrar,
    month: (self) => self.month,
    /** The instrument, until the distribution is paid. */
    open: (self) => (self.state === "paid" ? null : self.instrumentId)
  },
  waitingOn: (self) => waitingOn(self),
  // While checks of its instrument wait for statements, their source is waited for (`DistributionView.ts`).
  indexedWaits: (self) =>
    waitingOn(self).map((wait) =>
      wait.action === "distribution.clear"
        ? { ...wait, condition: { key: awaitedKey(self.instrumentId), holds: false } }
        : wait
    ),
  announce: (self, fact) => announced(self, fact).map((event) => announcement(self, event)),
  invariants: {
    "its id leaves room for the number of a line": ({ distributionId }) =>
      distributionId.length <= idLengthMax,
    "only a sealed distribution is cleared": ({ sealedAt, clearedByRun }) =>
      sealedAt !== null || clearedByRun === null,
    "what is payable or paid was cleared": ({ state, clearedByRun }) =>
      (state !== "payable" && state !== "paid") || clearedByRun !== null,
    "a held distribution names its hold, and no other does": ({ state, holdId }) =>
      (state === "held") === (holdId !== null),
    "its gross is paid or withheld": ({ totals }) =>
      Decimal.equals(totals.gross, Decimal.add(totals.net, totals.withheld)),
    "only units have a payout price": ({ payout, payoutPrice }) =>
      payout === "units" || payoutPrice === null,
    "an acknowledged rate is the latest of rates that differ": ({ acknowledgedRate, ratesSeen }) =>
      acknowledgedRate === null || (ratesSeen.length > 1 && ratesSeen.at(-1) === acknowledgedRate)
  }
})

const waitingOn = (self: Distribution): ReadonlyArray<Collection.WaitingOn> => {
  if (self.sealedAt === null) {
    return [{ role: "operator", action: "distribution.execute", by: null }]
  }
  switch (self.state) {
    case "executed":
      return [{ role: "operator", action: "distribution.clear", by: null }]
    case "held":
      return (["operator", "risk"] as const).map((role) => ({
        role,
        action: "hold.release",
        by: null
      }))
    case "payable":
      return [
        { party: self.registrar, action: "DistributionLine.Deliver", by: null },
        { role: "operator", action: "distribution.roll", by: null }
      ]
    case "paid":
      return []
  }
}

/**
 * Projection of each distribution for investors and apps, as if no line of it waited for a cause that
 * is concealed from them (docs/domain/distributions.md#who-sees-a-line): it is held, cleared and paid
 * by what they are shown of its lines. A collection of its own, so that its versions, its times of
 * change and the window of changes count those moves alone. It announces nothing: the events are the
 * distribution's own.
 */
export const shownDistributions: Collection.Collection<Distribution, Fact> = {
  ...distributions,
  name: "shown-distribution",
  doc: "A distribution as investors and apps are shown it.",
  announce: () => []
}

type Event = Pick<Announcement, "type" | "payload">

const announced = (self: Distribution, fact: Fact | undefined): ReadonlyArray<Event> => {
  const { month, state } = self
  if (fact === undefined) return opened(self)
  switch (fact.on) {
    case "seal":
      return []
    case "clear":
      return [makeEvent("distribution.payable", { state, month, runId: fact.runId })]
    case "hold":
      return [makeEvent("distribution.held", { state, month, holdId: fact.holdId })]
    case "pay":
      return [makeEvent("distribution.paid", { state, month, rolled: fact.rolled })]
  }
}

/** Events of an execution: it used the latest of rates that differ, or left holders out. */
const opened = (self: Distribution): ReadonlyArray<Event> => {
  const { month, ratesSeen, acknowledgedRate, withholding, unrolled } = self
  const isChanged = ratesSeen.length > 1 && acknowledgedRate === null
  return [
    ...(isChanged
      ? [makeEvent("distribution.rate-changed", { month, rate: withholding, ratesSeen })]
      : []),
    ...(unrolled > 0 ? [makeEvent("distribution.carried", { month, carried: unrolled })] : [])
  ]
}

/** Makes an event of a distribution, which names no holder. */
const announcement = (self: Distribution, event: Event): Announcement => ({
  ...event,
  resourceKind: "distribution",
  resourceId: self.distributionId,
  instrumentId: self.instrumentId,
  party: null,
  holderIds: []
})
