/**
 * The life of an agreement, written once: the venue proposes terms, one or two parties sign the
 * proposal in their wallets, and the agreement ends by a party's choice or at its date.
 */
import { Record, Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Machine from "../kernel/Machine.ts"
import * as Offset from "../kernel/Offset.ts"
import * as Party from "../kernel/Party.ts"
import * as Field from "../templates/Field.ts"
import type { EventType } from "../vocabulary/EventType.ts"
import type { OperationKind } from "../vocabulary/OperationKind.ts"
import type { WaitingAction } from "../vocabulary/WaitingAction.ts"

/** The sentences that differ from one agreement to the next. */
type Means = Readonly<Record<"proposed" | "agreed" | "declined" | "ended", string>>

/** Declares the state set of an agreement: its states and moves are the same for every agreement. */
export const declareStates = (
  name: string,
  of: {
    readonly doc: string
    readonly means: Means
    /** The operation that proposes, and whose newer proposal replaces the one that waits. */
    readonly proposedBy: OperationKind
    /** The clock is among them exactly where the agreement may have a date. */
    readonly endedBy: ReadonlyArray<"ledger" | "clock">
    readonly announces?: ReadonlyArray<EventType>
  }
) =>
  Machine.declare(name, {
    doc: of.doc,
    states: {
      proposed: of.means.proposed,
      agreed: of.means.agreed,
      declined: of.means.declined,
      withdrawn: "A newer proposal replaced it.",
      ended: of.means.ended
    },
    triggers: {
      agree: { by: ["ledger"] },
      decline: { by: ["ledger"] },
      replace: { by: [of.proposedBy] },
      end: { by: of.endedBy }
    },
    initial: "proposed",
    // Where a projection begins from a snapshot, an agreement made before it opens as agreed.
    opensIn: ["proposed", "agreed"],
    opens: {
      by: [of.proposedBy, "ledger"],
      ...(of.announces === undefined ? {} : { announces: of.announces })
    },
    moves: {
      proposed: { agree: "agreed", decline: "declined", replace: "withdrawn" },
      agreed: { end: "ended" },
      declined: {},
      withdrawn: {},
      ended: {}
    },
    forward: ["agree"]
  })

export type States = ReturnType<typeof declareStates>
export type State = Machine.State<States>

/**
 * What every agreement's record has. The member that holds the contract agreed upon, and the one that
 * says since when, are named by the agreement (`Names`), as they are stored.
 */
export interface Life {
  readonly instrumentId: string
  readonly state: State
  /** Who has signed the proposal; absent where only one party is asked. */
  readonly acceptedBy?: ReadonlyArray<Party.Party>
  readonly proposedAt: Instant.Instant
  /** The offset of the proposal. */
  readonly offset: Offset.Offset
  /** When it ends by its date; absent where it has none. */
  readonly until?: Instant.Instant | null
  readonly endedAt: Instant.Instant | null
  readonly proposalCid: string | null
}

/** How an agreement's record names what it stores under a name of its own. */
export interface Names<C extends string, A extends string> {
  /** The contract that the agreement stands on; kept once it has ended. */
  readonly cid: C
  /** When it was agreed. */
  readonly agreedAt: A
}

/** The record of an agreement with these names. */
export type Of<C extends string, A extends string> = Life &
  Readonly<Record<C, string | null>> &
  Readonly<Record<A, Instant.Instant | null>>

const at = Instant.schema

/** The facts of an agreement. Each is stored with its contract under the agreement's own name. */
const factsOf = (cid: string) =>
  Schema.Union([
    /** One of two accepted: the proposal is made anew with that signature, and the state stays. */
    Schema.Struct({
      on: Schema.Literal("accept"),
      party: Party.schema,
      proposalCid: Field.contractId
    }),
    Schema.Struct({
      on: Schema.Literal("agree"),
      /** Who signed last; absent where only one party is asked. */
      party: Schema.optionalKey(Party.schema),
      cid: Field.contractId,
      at
    }).pipe(Schema.encodeKeys({ cid })),
    Schema.Struct({ on: Schema.Literal("decline"), at }),
    Schema.Struct({ on: Schema.Literal("replace"), at }),
    Schema.Struct({
      on: Schema.Literal("end"),
      /** The contract that goes on in its place, where its end leaves one. */
      cid: Schema.optionalKey(Schema.NullOr(Field.contractId)),
      at
    }).pipe(Schema.encodeKeys({ cid }))
  ])

export type Fact = ReturnType<typeof factsOf>["Type"]

/** Fold: the agreement after `fact`. */
const evolveOf =
  <C extends string, A extends string>(machine: States, names: Names<C, A>) =>
  <R extends Of<C, A>>(self: R, fact: Fact): R => {
    if (fact.on === "accept") {
      return { ...self, ...signed(self, fact.party), proposalCid: fact.proposalCid }
    }
    const moved = { ...self, state: Machine.follow(machine, self.state, fact.on) }
    return match(fact)
      .with({ on: "agree" }, ({ party, cid, at: agreedAt }) => ({
        ...moved,
        ...signed(self, party),
        ...Record.singleton(names.cid, cid),
        ...Record.singleton(names.agreedAt, agreedAt),
        proposalCid: null
      }))
      .with({ on: "decline" }, { on: "replace" }, ({ at: endedAt }) => ({
        ...moved,
        proposalCid: null,
        endedAt
      }))
      .with({ on: "end" }, ({ cid, at: endedAt }) => ({
        ...moved,
        ...Record.singleton(names.cid, cid ?? self[names.cid]),
        endedAt
      }))
      .exhaustive()
  }

const signed = ({ acceptedBy }: Pick<Life, "acceptedBy">, party: Party.Party | undefined) =>
  acceptedBy === undefined || party === undefined ? {} : { acceptedBy: [...acceptedBy, party] }

/** An agreement's collection, and what its readings and its proposal need besides. */
export interface Agreement<R extends Of<C, A>, C extends string, A extends string> {
  readonly collection: Collection.Collection<R, Fact>
  readonly machine: States
  readonly names: Names<C, A>
}

/** Declares the collection of an agreement: facts, lists, clock move, whom it waits for, invariants. */
export const declare = <R extends Of<C, A>, const C extends string, const A extends string>(
  name: string,
  of: {
    readonly doc: string
    readonly machine: States
    readonly record: Schema.Codec<R, unknown>
    readonly names: Names<C, A>
    id(self: R): string
    /** Whom the proposal asks; the same party is asked once. */
    signers(self: R): ReadonlyArray<Party.Party>
    /** The choice by which each of them signs. */
    readonly accept: WaitingAction
  }
): Agreement<R, C, A> => {
  const missing = (self: R): ReadonlyArray<Party.Party> =>
    [...new Set(of.signers(self))].filter((party) => !(self.acceptedBy ?? []).includes(party))
  const { machine, names } = of
  const collection = Collection.define<R, Fact>(name, {
    doc: of.doc,
    id: of.id,
    record: of.record,
    fact: factsOf(names.cid),
    evolve: evolveOf(machine, names),
    keptBy: "ledger",
    // Sorted by the proposal's offset: ids made within one millisecond have no order.
    sortKey: (self) => `${Offset.sortable(self.offset)}:${of.id(self)}`,
    filters: {
      instrumentId: (self) => self.instrumentId,
      state: (self) => self.state,
      /** Filter of the agreements shown with an instrument; replaced ones are left out. */
      shown: (self) => (self.state === "withdrawn" ? null : self.instrumentId)
    },
    ripens: ["state"],
    due: ({ state, until = null }) =>
      state === "agreed" && until !== null
        ? { at: until, fact: { on: "end", at: until } }
        : undefined,
    waitingOn: (self) =>
      self.state === "proposed"
        ? missing(self).map((party) => ({ party, action: of.accept, by: self.until ?? null }))
        : [],
    invariants: {
      "a proposal and an agreement in force stand on their contracts": (self) =>
        (self.state === "proposed") === (self.proposalCid !== null) &&
        (self.state !== "agreed" || self[names.cid] !== null),
      "nobody accepts twice": ({ acceptedBy = [] }) =>
        new Set(acceptedBy).size === acceptedBy.length,
      "an agreement in force has been accepted by all": (self) =>
        self.state !== "agreed" || self.acceptedBy === undefined || missing(self).length === 0
    }
  })
  return { collection, machine, names }
}
