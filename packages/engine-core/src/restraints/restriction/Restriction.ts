/** Record of a restriction of a holder: mode, reason, period in force, end. */
import { Schema } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import type { Announcement } from "../../kernel/Announcement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as sets from "../../vocabulary/sets.ts"
import { KeptOrder } from "../CitedOrder.ts"
import { match } from "ts-pattern"
import { about, announcing } from "../../records/EventDeclaration.ts"

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

/** Events of a restriction. */
export const restrictionEvents = {
  "holder.restricted": about(
    "holder",
    Schema.Struct({
      mode: sets.RestrictionMode.schema,
      reason: sets.RestrictionReason.schema,
      holderId: Schema.String,
      orderCited: Schema.Boolean,
      operationId: Schema.String,
      autoReleaseAt: Schema.NullOr(Instant.schema),
      restrictionId: Schema.String
    })
  ),
  "holder.unrestricted": about(
    "holder",
    Schema.Struct({
      mode: sets.RestrictionMode.schema,
      holderId: Schema.String,
      restrictionId: Schema.String,
      how: Schema.Literals(["lifted", "lapsed"])
    })
  )
} as const

const makeEvent = announcing(restrictionEvents)

export const RestrictionId = RecordId.make("RestrictionId")
export type RestrictionId = typeof RestrictionId.Type

const { NullOr, String: Text } = Schema

export const Restriction = Schema.Struct({
  restrictionId: RestrictionId,
  holderId: HolderId,
  party: Party.schema,
  /** Null: the restriction covers all instruments. */
  instrumentId: NullOr(InstrumentId),
  mode: sets.RestrictionMode.schema,
  reason: sets.RestrictionReason.schema,
  /** The cited order, concealed from all but readers of restrictions. */
  order: NullOr(KeptOrder),
  state: RestrictionMachine.schema,
  /** Subject claim (`sub`) of its maker; `engine` where the engine opened it. */
  by: Text,
  /** Instant since which it is in force. */
  from: Instant.schema,
  /** Instant at which the clock ends it; null: never. */
  autoReleaseAt: NullOr(Instant.schema),
  /** Subject claims of the approvers who lifted it; null before a lift. */
  liftedBy: NullOr(Schema.Array(Text)),
  /** Reason of the lift, by its maker. */
  liftReason: NullOr(Text),
  endedAt: NullOr(Instant.schema),
  /** The predecessor's restriction that a recovery carried to this holder; null: none. */
  supersedes: NullOr(RestrictionId),
  /** The operation that opened it. */
  operationId: Text
}).annotate({
  identifier: "Restriction",
  description: "What keeps a holder from moving, receiving or redeeming units."
})
export type Restriction = typeof Restriction.Type

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

/** Reasons of restrictions that only people end, never the clock. */
export const neverReleased: ReadonlyArray<Restriction["reason"]> = ["sanctions", "court-order"]

/** Value of the filter `reach` of a restriction on all instruments; no instrument has this id. */
export const everything = "*"

export const restrictions = Collection.define<Restriction, Fact>("restriction", {
  doc: "A restriction of a holder: one person sets it at once, two approvers lift it.",
  id: (self) => self.restrictionId,
  record: Restriction,
  fact: Fact,
  evolve,
  keptBy: "engine",
  sortKey: (self, createdAt) => `${Instant.sortable(createdAt)} ${self.restrictionId}`,
  filters: {
    state: (self) => self.state,
    holderId: (self) => self.holderId,
    instrumentId: (self) => self.instrumentId,
    mode: (self) => self.mode,
    reason: (self) => self.reason,
    /** The instrument of the restriction, or `everything`. */
    reach: (self) => self.instrumentId ?? everything,
    supersedes: (self) => self.supersedes
  },
  ripens: ["state"],
  ripensTo: { state: ["lapsed"] },
  due: ({ state, autoReleaseAt: at }) =>
    state === "active" && at !== null ? { at, fact: { on: "lapse", at } } : undefined,
  // No move of a restriction is forward, so that it waits on no party
  // (docs/domain/every-record.md#waiting-on).
  waitingOn: () => [],
  announce: (self, fact) => (fact === undefined ? [set(self)] : endAnnouncements(self, fact)),
  invariants: {
    "only what may end by itself has a date": (self) =>
      self.autoReleaseAt === null || !neverReleased.includes(self.reason),
    "only what ended says when": (self) =>
      Machine.isTerminal(RestrictionMachine, self.state) === (self.endedAt !== null),
    "what lapsed had a date": (self) => self.state !== "lapsed" || self.autoReleaseAt !== null,
    "what was lifted says why, and two lifted it": (self) =>
      (self.state === "lifted") === (self.liftReason !== null) &&
      (self.state === "lifted") === (self.liftedBy !== null) &&
      (self.liftedBy === null || new Set(self.liftedBy).size >= 2),
    "what a court ordered cites the order": (self) =>
      self.reason !== "court-order" || self.order !== null
  }
})

const announcement = (
  self: Restriction,
  event: Pick<Announcement, "type" | "payload">
): Announcement => ({
  ...event,
  resourceKind: "holder",
  resourceId: self.holderId,
  instrumentId: self.instrumentId,
  party: self.party,
  holderIds: [self.holderId]
})

/** Event of a new restriction; it shows whether an order is cited, and not which one. */
const set = (self: Restriction): Announcement => {
  const { mode, reason, holderId, order, operationId, autoReleaseAt, restrictionId } = self
  return announcement(
    self,
    makeEvent("holder.restricted", {
      mode,
      reason,
      holderId,
      orderCited: order !== null,
      operationId,
      autoReleaseAt,
      restrictionId
    })
  )
}

const how = { lift: "lifted", lapse: "lapsed" } as const

/** Events of an end; none for `carried`, since the successor's restriction announces itself. */
const endAnnouncements = (self: Restriction, { on }: Fact): ReadonlyArray<Announcement> => {
  if (on === "carry") return []
  const { mode, holderId, restrictionId } = self
  return [
    announcement(
      self,
      makeEvent("holder.unrestricted", { mode, holderId, restrictionId, how: how[on] })
    )
  ]
}
