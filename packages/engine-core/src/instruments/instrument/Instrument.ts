/**
 * Record of an instrument: configured in its registrar's registry, recorded in the venue's
 * manifest.
 */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { InstrumentId, Manifest } from "./Manifest.ts"

export { InstrumentId } from "./Manifest.ts"

/** Contracts of the registrar's live configurations. */
const Configurations = Schema.Array(Field.contractId)
export const configurationsMax = 16

/** A version of the policy that was accepted and is not yet in force. */
const Next = Schema.Struct({
  policyVersion: Integer.schema,
  effectiveFrom: Instant.schema,
  manifest: Manifest
})

export const Instrument = Schema.Struct({
  instrumentId: InstrumentId,
  registrar: Party.schema,
  configurations: Configurations,
  /** Terms; null while the instrument is only configured in a registry. */
  manifest: Schema.NullOr(Manifest),
  /** The version of those terms; null until the manifest records the instrument as version 1. */
  policyVersion: Schema.NullOr(Integer.schema),
  /** Start of the terms in force. */
  termsSince: Field.optional(Instant.schema),
  /** Scheduled terms, and their start. */
  next: Field.optional(Next),
  /** Reserve that backs it, which is proposed, active or closing. */
  backedBy: Field.optional(Schema.String)
})
export type Instrument = typeof Instrument.Type

/** An instrument whose terms the venue has recorded. */
export type RecordedInstrument = Instrument & {
  readonly manifest: Manifest
  readonly policyVersion: number
}

/** Number of the latest accepted version: the scheduled one, else the one in force. */
export const lastVersion = (self: RecordedInstrument): number =>
  self.next?.policyVersion ?? self.policyVersion

export const isRecorded = <I extends Instrument>(self: I): self is I & RecordedInstrument =>
  self.manifest !== null && self.policyVersion !== null

/** Whether the instrument's registrar has a live configuration of it. */
export const isOnRegistry = (self: Instrument): boolean => self.configurations.length > 0

/** Contract of the registrar's latest live configuration; null: none. */
export const configurationOf = (self: Instrument): string | null =>
  self.configurations.at(-1) ?? null

/** Identifier of the instrument on the ledger. */
export const assetOf = (self: Pick<Instrument, "instrumentId" | "registrar">): Field.Asset => ({
  admin: self.registrar,
  id: self.instrumentId
})

/** The venue recorded its manifest, which names its registrar. */
const Record = Schema.Struct({
  on: Schema.Literal("record"),
  registrar: Party.schema,
  configurations: Configurations,
  manifest: Manifest,
  policyVersion: Integer.schema,
  termsSince: Field.optional(Instant.schema)
})
/** A policy was set that is in force at once; scheduled terms are withdrawn. */
const Amend = Schema.Struct({
  on: Schema.Literal("set"),
  manifest: Manifest,
  policyVersion: Integer.schema,
  termsSince: Instant.schema
})
const Schedule = Schema.Struct({ on: Schema.Literal("schedule"), next: Next })
/** The clock brought the scheduled terms into force. */
const Begin = Schema.Struct({ on: Schema.Literal("begin") })
const Configure = Schema.Struct({ on: Schema.Literal("configure"), contractId: Field.contractId })
const Reconfigure = Schema.Struct({
  on: Schema.Literal("reconfigure"),
  from: Field.contractId,
  to: Field.contractId
})
const Retire = Schema.Struct({ on: Schema.Literal("retire"), contractId: Field.contractId })

/** A reserve of it was proposed; null: the last one ended. */
const Back = Schema.Struct({
  on: Schema.Literal("back"),
  reserveId: Schema.NullOr(Schema.String)
})

export const Fact = Schema.Union([
  Record,
  Amend,
  Schedule,
  Begin,
  Configure,
  Reconfigure,
  Retire,
  Back
])
export type Fact = typeof Fact.Type

/** Fold: the instrument after `fact`. */
export const evolve = (self: Instrument, fact: Fact): Instrument => ({
  ...self,
  ...match(fact)
    .with({ on: "record" }, ({ on: _, ...recorded }) => recorded)
    .with({ on: "set" }, ({ on: _, ...inForce }) => ({ ...inForce, next: null }))
    .with({ on: "schedule" }, ({ next }) => ({ next }))
    .with({ on: "begin" }, () => begun(self))
    .with({ on: "configure" }, ({ contractId }) => ({
      configurations: [...self.configurations, contractId]
    }))
    .with({ on: "reconfigure" }, ({ from, to }) => ({
      configurations: self.configurations.map((cid) => (cid === from ? to : cid))
    }))
    .with({ on: "retire" }, ({ contractId }) => ({
      configurations: self.configurations.filter((cid) => cid !== contractId)
    }))
    .with({ on: "back" }, ({ reserveId }) => ({ backedBy: reserveId }))
    .exhaustive()
})

const begun = ({ next }: Instrument) => {
  if (next === null) throw new Error("instrument: corrupt history, no terms are scheduled")
  const { effectiveFrom, ...inForce } = next
  return { ...inForce, termsSince: effectiveFrom, next: null }
}

export const instruments = Collection.define<Instrument, Fact>("instrument", {
  doc: "An instrument that a registry configures or the venue's manifest records.",
  id: (self) => self.instrumentId,
  record: Instrument,
  fact: Fact,
  evolve,
  keptBy: "engine",
  filters: {
    instrumentId: (self) => self.instrumentId,
    registrar: (self) => self.registrar,
    /**
     * List filter: an instrument that its registry dropped and no manifest records is not listed.
     */
    listed: (self) => (isListed(self) ? "yes" : null)
  },
  due: ({ next }) =>
    next === null ? undefined : { at: next.effectiveFrom, fact: { on: "begin" } },
  waitingOn: (self) => waitingOn(self),
  // What its registry dropped before anyone recorded it is in no list.
  indexedWaits: (self) => (isListed(self) ? waitingOn(self) : []),
  invariants: {
    "a recorded instrument has a policy": (self) =>
      (self.manifest === null) === (self.policyVersion === null),
    "what is scheduled comes after what is in force": ({ next, policyVersion, termsSince }) =>
      next === null ||
      (policyVersion !== null &&
        next.policyVersion > policyVersion &&
        (termsSince === null || next.effectiveFrom > termsSince)),
    "configurations are distinct and limited": (self) =>
      new Set(self.configurations).size === self.configurations.length &&
      self.configurations.length <= configurationsMax
  }
})

const isListed = (self: Instrument): boolean => isOnRegistry(self) || isRecorded(self)

const waitingOn = (self: Instrument): ReadonlyArray<Collection.WaitingOn> => {
  if (!isRecorded(self)) return [{ role: "operator", action: "instrument.record", by: null }]
  if (isOnRegistry(self)) return []
  return [{ party: self.registrar, action: "InstrumentConfiguration", by: null }]
}
