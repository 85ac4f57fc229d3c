/** Record of a hold on an instrument: blocked acts, source, reason, findings, release. */
import { Schema, Result } from "effect"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import type { Announcement } from "../../kernel/Announcement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import { PlainNumber } from "../../kernel/PlainNumber.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as sets from "../../vocabulary/sets.ts"
import { match } from "ts-pattern"
import * as Machine from "../../kernel/Machine.ts"
import * as Integer from "../../kernel/Integer.ts"
import { about, announcing, type ShownPayloads } from "../../records/EventDeclaration.ts"

export const HoldMachine = Machine.declare("HoldState", {
  doc: "A hold on an instrument. Many may be open at once; what is blocked is their union.",
  states: {
    open: "Blocks what it names.",
    released: "Ended by two approvers."
  },
  triggers: {
    release: { by: ["hold.release"], announces: ["hold.released"] }
  },
  initial: "open",
  opens: {
    by: ["instrument.pause", "run"],
    announces: ["instrument.paused", "reconciliation.hold", "reserve.cover-low"]
  },
  moves: {
    open: { release: "released" },
    released: {}
  },
  forward: ["release"]
})

/** Events of a hold. */
export const holdEvents = {
  "reconciliation.hold": about(
    "hold",
    Schema.Struct({
      runId: Schema.String,
      blocks: Schema.Array(sets.HoldBlock.schema),
      findings: Integer.schema
    })
  ),
  "hold.released": about(
    "hold",
    Schema.Struct({
      source: sets.HoldSource.schema,
      operationId: Schema.String,
      accepted: Integer.schema
    })
  ),
  "instrument.paused": about(
    "instrument",
    Schema.Struct({
      holdId: Schema.String,
      blocks: Schema.Array(sets.HoldBlock.schema),
      until: Schema.NullOr(Instant.schema)
    })
  ),
  "reserve.cover-low": about(
    "reserve",
    Schema.Struct({
      ratio: Schema.NullOr(Decimal.schema),
      minCover: Decimal.schema,
      holdId: Schema.String,
      runId: Schema.String
    })
  )
} as const

const makeEvent = announcing(holdEvents)

const zero = new PlainNumber("0")

/**
 * Payloads of these events as investors and apps read them: they count no findings, which may be those
 * of concealed checks, as the hold lists none to them.
 */
export const shownPayloads: ShownPayloads = {
  "reconciliation.hold": (payload) => ({ ...payload, findings: zero }),
  "hold.released": (payload) => ({ ...payload, accepted: zero })
}

const Findings = Schema.Array(Schema.String)

/** Override of a release: the findings that were still open, and the reason. */
const Override = Schema.Struct({ findings: Findings, reason: Schema.String })

/** A later run added findings; the state does not change. */
const Join = Schema.Struct({ on: Schema.Literal("join"), runId: Schema.String, findings: Findings })
const Release = Schema.Struct({
  on: Schema.Literal("release"),
  at: Instant.schema,
  /** Subject claims of the approvers, in the order of their signatures. */
  by: Schema.Array(Schema.String),
  override: Schema.NullOr(Override),
  operationId: Schema.String
})

export const Fact = Schema.Union([Join, Release])
export type Fact = typeof Fact.Type

/** Decides whether the hold's state allows its release. */
export const decide = (self: Pick<Hold, "state">, on: "release") =>
  Machine.admit(HoldMachine, self, on).pipe(Result.map(() => on))

/** Fold: the hold after `fact`. */
export const evolve = (self: Hold, fact: Fact): Hold =>
  match(fact)
    .with({ on: "join" }, ({ findings }) => ({
      ...self,
      findings: [...new Set([...self.findings, ...findings])]
    }))
    .with({ on: "release" }, ({ on, at, by, override }) => ({
      ...self,
      state: Machine.follow(HoldMachine, self.state, on),
      releasedAt: at,
      releasedBy: by,
      override
    }))
    .exhaustive()

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

const concerning = ({ instrumentId }: Hold) => ({ instrumentId, party: null, holderIds: [] })

/** Event of a new hold, by its source. */
const opened = (self: Hold): Announcement => {
  const { holdId, blocks, until, runId, cover, instrumentId, findings } = self
  if (runId === null) {
    return {
      ...makeEvent("instrument.paused", { holdId, blocks, until }),
      ...concerning(self),
      resourceKind: "instrument",
      resourceId: instrumentId
    }
  }
  if (cover === null) {
    return {
      ...makeEvent("reconciliation.hold", { runId, blocks, findings: findings.length }),
      ...concerning(self),
      resourceKind: "hold",
      resourceId: holdId
    }
  }
  const { reserveId, ratio, minCover } = cover
  return {
    ...makeEvent("reserve.cover-low", { ratio, minCover, holdId, runId }),
    ...concerning(self),
    resourceKind: "reserve",
    resourceId: reserveId
  }
}

const released = (
  self: Hold,
  { operationId, override }: Extract<Fact, { on: "release" }>
): Announcement => ({
  ...makeEvent("hold.released", {
    source: self.source,
    operationId,
    accepted: override?.findings.length ?? 0
  }),
  ...concerning(self),
  resourceKind: "hold",
  resourceId: self.holdId
})
