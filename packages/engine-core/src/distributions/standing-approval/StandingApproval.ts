/** Record of a standing approval: executions of an instrument's due distributions that need no signature. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import type { Announcement } from "../../kernel/Announcement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as sets from "../../vocabulary/sets.ts"
import * as Judged from "../../kernel/Judged.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"
import { OperationKind } from "../../vocabulary/OperationKind.ts"

/** Events of a standing approval. */
export const standingApprovalEvents = {
  "standing-approval.granted": about(
    "standing-approval",
    Schema.Struct({ action: OperationKind.schema, rateChange: sets.RateChange.schema })
  ),
  "standing-approval.revoked": about(
    "standing-approval",
    Schema.Struct({ action: OperationKind.schema })
  )
} as const

const makeEvent = announcing(standingApprovalEvents)

export interface Subject {
  readonly from: Instant.Instant
  readonly until: Instant.Instant
  readonly maxUses: number | null
  readonly maxNet: Decimal.Decimal | null
  readonly uses: number
  readonly usedNet: Decimal.Decimal
  readonly revokedAt: Instant.Instant | null
  readonly now: Instant.Instant
}

const isExhausted = ({ maxNet, maxUses, usedNet, uses }: Subject): boolean =>
  (maxUses !== null && uses >= maxUses) || (maxNet !== null && Decimal.atLeast(usedNet, maxNet))

export const StandingApprovalState = Judged.declare<Subject>()("StandingApprovalState", {
  doc: "A standing approval: the scheduler executes due distributions under it while it is active.",
  states: {
    scheduled: "Not yet in force.",
    active: "In force.",
    exhausted: "Its uses or its amount are used up.",
    lapsed: "Its time is over.",
    revoked: "One person ended it, at once."
  },
  // An exhausted or lapsed approval cannot be revoked, so judging the revocation first is unambiguous.
  judge: (subject) => {
    if (subject.revokedAt !== null) return "revoked"
    if (isExhausted(subject)) return "exhausted"
    if (Instant.atOrAfter(subject.now, subject.until)) return "lapsed"
    return Instant.isBefore(subject.now, subject.from) ? "scheduled" : "active"
  }
})

export const StandingApprovalId = RecordId.make("StandingApprovalId")
export type StandingApprovalId = typeof StandingApprovalId.Type

const { NullOr, String: Text } = Schema

/** Kinds of operations that a standing approval can stand for. */
export const Action = Schema.Literals(["distribution.execute"])

export const StandingApproval = Schema.Struct({
  standingApprovalId: StandingApprovalId,
  instrumentId: InstrumentId,
  action: Action,
  /** As of `judgedAt`; reads ripen it to their pin. */
  state: StandingApprovalState.schema,
  from: Instant.schema,
  /** First instant at which it is no longer in force. */
  until: Instant.schema,
  /** Largest number of executions; null: any. */
  maxUses: NullOr(Integer.schema),
  /** Largest sum of the nets of all executions, in `currency`; null: any. */
  maxNet: NullOr(Decimal.schema),
  currency: Text,
  rateChange: sets.RateChange.schema,
  partial: sets.PartialDistribution.schema,
  /** Number of executions that were read off the ledger. */
  uses: Integer.schema,
  /** Sum of their nets as planned, suspended lines included. */
  usedNet: Decimal.schema,
  /** Subject claim (`sub`) of the maker. */
  grantedBy: Text,
  /** Subject claim of the approver. */
  approvedBy: Text,
  grantedAt: Instant.schema,
  /** Subject claim of the person who revoked it; null: it is not revoked. */
  revokedBy: NullOr(Text),
  revokedAt: NullOr(Instant.schema),
  /** Instant of the last fact or clock move, at which `state` was judged. */
  judgedAt: Instant.schema
}).annotate({
  identifier: "StandingApproval",
  description: "An approval under which the scheduler executes an instrument's due distributions."
})
export type StandingApproval = typeof StandingApproval.Type

/** An execution under the approval was read off the ledger. */
const Use = Schema.Struct({
  on: Schema.Literal("use"),
  at: Instant.schema,
  distributionId: Text,
  net: Decimal.schema
})
const Revoke = Schema.Struct({ on: Schema.Literal("revoke"), at: Instant.schema, by: Text })
/** The clock reached the begin or the end of the approval. */
const Pass = Schema.Struct({ on: Schema.Literal("pass"), at: Instant.schema })

export const Fact = Schema.Union([Use, Revoke, Pass])
export type Fact = typeof Fact.Type

/** Judges the state at the instant of the last fact. */
export const judged = (self: Omit<StandingApproval, "state">): StandingApproval => ({
  ...self,
  state: StandingApprovalState.judge({ ...self, now: self.judgedAt })
})

/** Fold: the approval after `fact`. */
export const evolve = (self: StandingApproval, fact: Fact): StandingApproval =>
  judged({
    ...self,
    ...match(fact)
      .with({ on: "use" }, ({ net }) => ({
        uses: self.uses + 1,
        usedNet: Decimal.add(self.usedNet, net)
      }))
      .with({ on: "revoke" }, ({ at, by }) => ({ revokedAt: at, revokedBy: by }))
      .with({ on: "pass" }, () => ({}))
      .exhaustive(),
    judgedAt: Instant.max(self.judgedAt, fact.at)
  })

/** Checks whether executions may still come under it, now or later. */
export const isOpen = ({ state }: Pick<StandingApproval, "state">): boolean =>
  state === "scheduled" || state === "active"

const due = ({ state, from, until }: StandingApproval): Collection.DueMove<Fact> | undefined => {
  if (state === "scheduled") return { at: from, fact: { on: "pass", at: from } }
  return state === "active" ? { at: until, fact: { on: "pass", at: until } } : undefined
}

export const standingApprovals = Collection.define<StandingApproval, Fact>("standing-approval", {
  doc: "An approval under which the scheduler executes an instrument's due distributions.",
  id: (self) => self.standingApprovalId,
  record: StandingApproval,
  fact: Fact,
  evolve,
  keptBy: "engine",
  filters: {
    state: (self) => self.state,
    instrumentId: (self) => self.instrumentId
  },
  ripens: ["state"],
  ripensTo: { state: ["active", "lapsed"] },
  due,
  waitingOn: (self) =>
    self.state === "scheduled"
      ? [{ role: "engine", action: "standing-approval.begin", by: self.from }]
      : [],
  announce: (self, fact) => {
    if (fact === undefined) {
      const { action, rateChange } = self
      return [announcement(self, makeEvent("standing-approval.granted", { action, rateChange }))]
    }
    return fact.on === "revoke"
      ? [announcement(self, makeEvent("standing-approval.revoked", { action: self.action }))]
      : []
  },
  invariants: {
    "it ends after it begins": ({ from, until }) => Instant.isAfter(until, from),
    "one that is revoked says when and by whom": ({ state, revokedAt, revokedBy }) =>
      (state === "revoked") === (revokedAt !== null) &&
      (revokedAt === null) === (revokedBy === null),
    "its limits are above 0": ({ maxNet, maxUses }) =>
      (maxUses === null || maxUses > 0) && (maxNet === null || Decimal.isPositive(maxNet))
  }
})

const announcement = (
  { standingApprovalId, instrumentId }: StandingApproval,
  event: Pick<Announcement, "type" | "payload">
): Announcement => ({
  ...event,
  resourceKind: "standing-approval",
  resourceId: standingApprovalId,
  instrumentId,
  party: null,
  holderIds: []
})
