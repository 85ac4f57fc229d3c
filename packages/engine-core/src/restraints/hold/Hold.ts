/** Record of a hold on an instrument: blocked acts, source, reason, findings, release. */
import { Schema } from "effect"
import * as events from "../events.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import type { Announcement } from "../../kernel/Announcement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as sets from "../../vocabulary/sets.ts"
import { evolve, Fact, HoldMachine, Override } from "./HoldMachine.ts"

export const HoldId = RecordId.make("HoldId")
export type HoldId = typeof HoldId.Type

const { NullOr, String: Text } = Schema

/** Reserve whose cover was below its minimum, with the run's figures. */
export const Cover = Schema.Struct({
  reserveId: Text,
  ratio: NullOr(Decimal.schema),
  minCover: Decimal.schema
})
export type Cover = typeof Cover.Type

export const Hold = Schema.Struct({
  holdId: HoldId,
  instrumentId: InstrumentId,
  /** Registrar of the instrument, which reads the holds on it. */
  registrar: Party.schema,
  source: sets.HoldSource.schema,
  blocks: Schema.Array(sets.HoldBlock.schema),
  reason: Text,
  /** Ids of the blocking findings of the hold; a manual hold has none. */
  findings: Schema.Array(Text),
  /** The run that opened it; null for a manual one. */
  runId: NullOr(Text),
  /** Cover figures of a cover hold; null for other sources. */
  cover: NullOr(Cover),
  state: HoldMachine.schema,
  openedAt: Instant.schema,
  /** Subject claim (`sub`) of its maker; null where a run opened it. */
  by: NullOr(Text),
  /** Expected end, informative only: no hold ends by the clock. */
  until: NullOr(Instant.schema),
  releasedAt: NullOr(Instant.schema),
  /** Subject claims of the approvers of its release. */
  releasedBy: Schema.Array(Text),
  override: NullOr(Override)
}).annotate({ identifier: "Hold", description: "A hold on an instrument, and what it blocks." })
export type Hold = typeof Hold.Type

export const holds = Collection.define<Hold, Fact>("hold", {
  doc: "A hold on an instrument, and what it blocks.",
  id: (self) => self.holdId,
  record: Hold,
  fact: Fact,
  evolve,
  keptBy: "engine",
  sortKey: (self, createdAt) => `${Instant.sortable(createdAt)} ${self.holdId}`,
  filters: {
    state: (self) => self.state,
    instrumentId: (self) => self.instrumentId,
    source: (self) => self.source,
    registrar: (self) => self.registrar
  },
  waitingOn: (self) =>
    self.state === "open"
      ? (["operator", "risk"] as const).map((role) => ({ role, action: "hold.release", by: null }))
      : [],
  announce: (self, fact) => {
    if (fact === undefined) return [opened(self)]
    return fact.on === "release" ? [released(self, fact)] : []
  },
  invariants: {
    "a hold that was released says when": (self) =>
      (self.state === "released") === (self.releasedAt !== null),
    "only a released one was overridden, and only what stood behind it": (self) =>
      self.override === null ||
      (self.state === "released" &&
        self.override.findings.every((id) => self.findings.includes(id))),
    "a manual hold is somebody's, any other a run's": (self) =>
      (self.source === "manual") === (self.by !== null) &&
      (self.source === "manual") === (self.runId === null),
    "a cover hold names the reserve": (self) => (self.source === "cover") === (self.cover !== null),
    "findings are behind it once": (self) => new Set(self.findings).size === self.findings.length
  }
})

const about = ({ instrumentId }: Hold) => ({ instrumentId, party: null, holderIds: [] })

/** Event of a new hold, by its source. */
const opened = (self: Hold): Announcement => {
  const { holdId, blocks, until, runId, cover, instrumentId, findings } = self
  if (runId === null) {
    return {
      ...events.make("instrument.paused", { holdId, blocks, until }),
      ...about(self),
      resourceKind: "instrument",
      resourceId: instrumentId
    }
  }
  if (cover === null) {
    return {
      ...events.make("reconciliation.hold", { runId, blocks, findings: findings.length }),
      ...about(self),
      resourceKind: "hold",
      resourceId: holdId
    }
  }
  const { reserveId, ratio, minCover } = cover
  return {
    ...events.make("reserve.cover-low", { ratio, minCover, holdId, runId }),
    ...about(self),
    resourceKind: "reserve",
    resourceId: reserveId
  }
}

const released = (
  self: Hold,
  { operationId, override }: Extract<Fact, { on: "release" }>
): Announcement => ({
  ...events.make("hold.released", {
    source: self.source,
    operationId,
    accepted: override?.findings.length ?? 0
  }),
  ...about(self),
  resourceKind: "hold",
  resourceId: self.holdId
})
