/** Record of one version of an instrument's policy: terms, setter, period in force. */
import { Effect, Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Offset from "../../kernel/Offset.ts"
import { TermChange } from "../../writes/TermChange.ts"
import { InstrumentId, Manifest } from "../instrument/Manifest.ts"

export const PolicyVersionMachine = Machine.declare("PolicyVersionState", {
  doc: "One version of an instrument's policy. Every order keeps the version it was judged under.",
  states: {
    scheduled: "Accepted, not yet in force.",
    current: "In force.",
    superseded: "Replaced by the next.",
    withdrawn: "Replaced before it took effect."
  },
  triggers: {
    begin: { by: ["clock"] },
    replace: { by: ["policy.set"] },
    supersede: { by: ["clock", "policy.set"] }
  },
  initial: "scheduled",
  opensIn: ["scheduled", "current"],
  opens: { by: ["instrument.record", "policy.set"] },
  moves: {
    scheduled: { begin: "current", replace: "withdrawn" },
    current: { supersede: "superseded" },
    superseded: {},
    withdrawn: {}
  },
  forward: ["begin"]
})

const { NullOr, String: Text } = Schema

export const PolicyVersion = Schema.Struct({
  instrumentId: InstrumentId,
  policyVersion: Integer.schema,
  state: PolicyVersionMachine.schema,
  effectiveFrom: Instant.schema,
  /** Instant at which the next version replaces it; null while none is accepted. */
  until: NullOr(Instant.schema),
  /** Subject claim (`sub`) of the maker. */
  setBy: Text,
  /** Changes against the terms accepted before it, with directions; empty for the first version. */
  changes: Schema.Array(TermChange).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  manifest: Manifest
})
export type PolicyVersion = typeof PolicyVersion.Type

/** A later version was accepted, which replaces this one at a future instant. */
const Limit = Schema.Struct({ on: Schema.Literal("limit"), until: Instant.schema })
const Begin = Schema.Struct({ on: Schema.Literal("begin") })
const Replace = Schema.Struct({ on: Schema.Literal("replace") })
const Supersede = Schema.Struct({ on: Schema.Literal("supersede"), until: Instant.schema })

export const Fact = Schema.Union([Limit, Begin, Replace, Supersede])
export type Fact = typeof Fact.Type

/** Fold: the version after `fact`. */
export const evolve = (self: PolicyVersion, fact: Fact): PolicyVersion =>
  match(fact)
    .with({ on: "limit" }, ({ until }) => ({ ...self, until }))
    .with({ on: "begin" }, { on: "replace" }, ({ on }) => ({
      ...self,
      state: Machine.follow(PolicyVersionMachine, self.state, on)
    }))
    .with({ on: "supersede" }, ({ on, until }) => ({
      ...self,
      until,
      state: Machine.follow(PolicyVersionMachine, self.state, on)
    }))
    .exhaustive()

export const idOf = ({
  instrumentId,
  policyVersion
}: Pick<PolicyVersion, "instrumentId" | "policyVersion">): string =>
  `${instrumentId}:${policyVersion}`

/** The version's next clock move. */
const due = ({
  state,
  effectiveFrom,
  until
}: PolicyVersion): Collection.DueMove<Fact> | undefined => {
  if (state === "scheduled") return { at: effectiveFrom, fact: { on: "begin" } }
  return state === "current" && until !== null
    ? { at: until, fact: { on: "supersede", until } }
    : undefined
}

export const policyVersions = Collection.define<PolicyVersion, Fact>("policy-version", {
  doc: "One version of an instrument's policy.",
  id: idOf,
  record: PolicyVersion,
  fact: Fact,
  evolve,
  keptBy: "engine",
  sortKey: (self) => `${self.instrumentId}:${Offset.sortable(Offset.of(self.policyVersion))}`,
  filters: {
    instrumentId: (self) => self.instrumentId,
    state: (self) => self.state,
    /** Oracle whose points price orders claimed under the version. */
    oracle: (self) => self.manifest.oracle
  },
  ripens: ["state"],
  due,
  waitingOn: (self) =>
    self.state === "scheduled"
      ? [{ role: "engine", action: "policy.begin", by: self.effectiveFrom }]
      : [],
  invariants: {
    "a version that was replaced says when": ({ state, until }) =>
      state !== "superseded" || until !== null,
    "a version ends no sooner than it begins": ({ effectiveFrom, until }) =>
      until === null || Instant.atOrAfter(until, effectiveFrom)
  }
})
