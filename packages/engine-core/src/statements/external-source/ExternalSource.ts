/** Record of a source of statements: its party, kind, form, business dates and due time. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import { SourceConfiguration } from "../../engine/ConfiguredSource.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as sets from "../../vocabulary/sets.ts"

export const ExternalSourceId = RecordId.make("ExternalSourceId")
export type ExternalSourceId = typeof ExternalSourceId.Type

const { NullOr, Struct } = Schema

export const ExternalSource = Struct({
  externalSourceId: ExternalSourceId,
  ...SourceConfiguration.fields,
  state: sets.SourceState.schema,
  /** Newest business date that a statement in force is of; null: none came yet. */
  lastBusinessDate: NullOr(Date.schema)
}).annotate({
  identifier: "ExternalSource",
  description: "A source of statements: an administrator, a bank or a custodian."
})
export type ExternalSource = typeof ExternalSource.Type

/** The configuration changed the source, or names it again. */
const Configure = Struct({ on: Schema.Literal("configure"), configured: SourceConfiguration })
/** The configuration no longer names the source. */
const Deactivate = Struct({ on: Schema.Literal("deactivate") })
/** A statement of a newer business date came. */
const Receive = Struct({ on: Schema.Literal("receive"), businessDate: Date.schema })

export const Fact = Schema.Union([Configure, Deactivate, Receive])
export type Fact = typeof Fact.Type

/** Fold: the source after `fact`. */
const evolve = (self: ExternalSource, fact: Fact): ExternalSource =>
  match(fact)
    .with({ on: "configure" }, ({ configured: members }) => ({
      ...self,
      ...members,
      state: "active" as const
    }))
    .with({ on: "deactivate" }, () => ({ ...self, state: "inactive" as const }))
    .with({ on: "receive" }, ({ businessDate }) => ({
      ...self,
      lastBusinessDate:
        self.lastBusinessDate === null || Date.isBefore(self.lastBusinessDate, businessDate)
          ? businessDate
          : self.lastBusinessDate
    }))
    .exhaustive()

export const externalSources = Collection.define<ExternalSource, Fact>("external-source", {
  doc: "A source of statements, as the configuration of the deployment names it.",
  id: (self) => self.externalSourceId,
  record: ExternalSource,
  fact: Fact,
  evolve,
  keptBy: "engine",
  filters: {
    state: (self) => self.state,
    kind: (self) => self.kind
  },
  invariants: {
    "it is of an instrument": ({ instruments }) => instruments.length > 0,
    "a source of cash names its account": ({ kind, account }) =>
      kind !== "cash" || account !== null,
    "a source of NAVs says how long one lives": ({ kind, validFor }) =>
      kind !== "nav" || validFor !== null
  }
})
