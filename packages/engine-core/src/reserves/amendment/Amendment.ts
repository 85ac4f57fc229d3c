/** Record of an amendment of a reserve's terms, from its proposal to the end of its terms. */
import { Schema } from "effect"
import { match, P } from "ts-pattern"
import * as Agreement from "../../agreements/Agreement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import { TermChange } from "../../writes/TermChange.ts"
import { StoredTerms } from "../reserve/ReserveTerms.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"
import * as sets from "../../vocabulary/sets.ts"

export const AmendmentMachine = Machine.declare("AmendmentState", {
  doc: "An amendment of a reserve's terms: a tightening takes effect at once, a loosening waits.",
  states: {
    proposed: "Asked of the issuer.",
    accepted: "The issuer accepted it; it waits out the reserve's delay.",
    effective: "In force.",
    superseded: "Another one took effect: after it, or instead of it while it waited.",
    declined: "The issuer declined it.",
    withdrawn: "The venue took it back before it took effect, or the reserve ended first."
  },
  triggers: {
    decline: { by: ["ledger"] },
    tighten: { by: ["ledger"], announces: ["reserve.amended"] },
    loosen: { by: ["ledger"], announces: ["reserve.amended"] },
    begin: { by: ["clock"] },
    // Terms that wait end with their reserve.
    withdraw: { by: ["amendment.withdraw", "reserve.close", "lock-agreement.release"] },
    overtake: { by: ["ledger"] },
    supersede: { by: ["ledger", "clock"] }
  },
  initial: "proposed",
  // A projection that begins from a snapshot opens the amendment in the state that it has.
  opensIn: ["proposed", "accepted"],
  opens: { by: ["amendment.propose", "ledger"] },
  moves: {
    proposed: {
      decline: "declined",
      tighten: "effective",
      loosen: "accepted",
      withdraw: "withdrawn"
    },
    accepted: { begin: "effective", withdraw: "withdrawn", overtake: "superseded" },
    effective: { supersede: "superseded" },
    superseded: {},
    declined: {},
    withdrawn: {}
  },
  forward: ["tighten", "loosen", "begin"]
})

/** Events of an amendment. */
export const amendmentEvents = {
  "reserve.amended": about(
    "reserve",
    Schema.Struct({
      amendmentId: Schema.String,
      direction: sets.ChangeDirection.schema,
      effectiveAt: Instant.schema
    })
  )
} as const

export const makeEvent = announcing(amendmentEvents)

export const AmendmentId = RecordId.make("AmendmentId")
export type AmendmentId = typeof AmendmentId.Type

const { NullOr, String: Text } = Schema

export const Amendment = Schema.Struct({
  amendmentId: AmendmentId,
  reserveId: Text,
  /** The instrument that the reserve backs. */
  instrumentId: Text,
  issuer: Party.schema,
  state: AmendmentMachine.schema,
  terms: StoredTerms,
  /** Changes against the terms in force at the proposal, and from its acceptance at that. */
  change: Schema.Array(TermChange),
  loosens: Schema.Boolean,
  proposedAt: Instant.schema,
  /** The offset of the proposal. */
  offset: Offset.schema,
  acceptedAt: NullOr(Instant.schema),
  /** Instant from which the terms are in force; null before the acceptance. */
  effectiveAt: NullOr(Instant.schema),
  /** Instant at which accepted terms replace these; null while none are accepted. */
  until: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  proposalCid: NullOr(Field.contractId)
}).annotate({
  identifier: "Amendment",
  description: "Other terms of a reserve: a tightening is in force at once, a loosening waits."
})
export type Amendment = typeof Amendment.Type

const at = { at: Instant.schema } as const
const judged = { change: Schema.Array(TermChange), ...at } as const

export const Fact = Schema.Union([
  Schema.Struct({ on: Schema.Literal("decline"), ...at }),
  Schema.Struct({ on: Schema.Literal("tighten"), ...judged }),
  Schema.Struct({ on: Schema.Literal("loosen"), effectiveAt: Instant.schema, ...judged }),
  Schema.Struct({ on: Schema.Literal("begin") }),
  Schema.Struct({ on: Schema.Literal("withdraw"), ...at }),
  /** A tightening was accepted while the terms waited. */
  Schema.Struct({ on: Schema.Literal("overtake"), ...at }),
  Schema.Struct({ on: Schema.Literal("supersede"), ...at }),
  /** Later terms were accepted, which replace these at an instant; null: they were taken back. */
  Schema.Struct({ on: Schema.Literal("limit"), until: NullOr(Instant.schema) })
])
export type Fact = typeof Fact.Type

/** Fold: the amendment after `fact`. */
const evolve = (self: Amendment, fact: Fact): Amendment =>
  match(fact)
    .with({ on: "tighten" }, ({ on, change, at: acceptedAt }) => ({
      ...moved(self, on),
      change,
      loosens: false,
      acceptedAt,
      effectiveAt: acceptedAt,
      proposalCid: null
    }))
    .with({ on: "loosen" }, ({ on, change, effectiveAt, at: acceptedAt }) => ({
      ...moved(self, on),
      change,
      loosens: true,
      acceptedAt,
      effectiveAt,
      proposalCid: null
    }))
    .with({ on: "begin" }, ({ on }) => moved(self, on))
    .with({ on: P.union("decline", "withdraw", "overtake", "supersede") }, (end) => ({
      ...Agreement.unsigned(moved(self, end.on), end),
      until: null
    }))
    .with({ on: "limit" }, ({ until }) => ({ ...self, until }))
    .exhaustive()

const moved = (self: Amendment, on: Machine.TriggerOf<typeof AmendmentMachine>): Amendment => ({
  ...self,
  state: Machine.follow(AmendmentMachine, self.state, on)
})

/** The next clock move: accepted terms come into force, and those in force are replaced. */
const due = ({ state, effectiveAt, until }: Amendment): Collection.DueMove<Fact> | undefined => {
  if (state === "accepted" && effectiveAt !== null) {
    return { at: effectiveAt, fact: { on: "begin" } }
  }
  return state === "effective" && until !== null
    ? { at: until, fact: { on: "supersede", at: until } }
    : undefined
}

export const amendments = Collection.define<Amendment, Fact>("amendment", {
  doc: "Other terms of a reserve: a tightening is in force at once, a loosening waits.",
  id: (self) => self.amendmentId,
  record: Amendment,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  sortKey: (self) => `${Offset.sortable(self.offset)}:${self.amendmentId}`,
  filters: {
    reserveId: (self) => self.reserveId,
    instrumentId: (self) => self.instrumentId,
    registrar: (self) => self.issuer,
    state: (self) => self.state
  },
  ripens: ["state"],
  due,
  waitingOn: (self) => {
    if (self.state === "proposed") {
      return Agreement.awaiting([self.issuer], "AmendmentProposal.Accept")
    }
    return self.state === "accepted"
      ? [{ role: "engine", action: "amendment.begin", by: self.effectiveAt }]
      : []
  },
  invariants: {
    ...Agreement.invariants,
    "accepted terms say from when they are in force": (self) =>
      (self.acceptedAt === null) === (self.effectiveAt === null),
    "an amendment that ended says when": (self) =>
      Machine.isTerminal(AmendmentMachine, self.state) === (self.endedAt !== null)
  }
})
