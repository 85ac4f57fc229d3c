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

/** Sentences on the states, as they differ from one agreement to the next. */
type Means = Readonly<Record<"proposed" | "agreed" | "declined" | "ended", string>>

/**
 * Declares the state set of an agreement: its states and moves are the same for every agreement.
 */
export const declareStates = (
  name: string,
  declaration: {
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
    doc: declaration.doc,
    states: {
      proposed: declaration.means.proposed,
      agreed: declaration.means.agreed,
      declined: declaration.means.declined,
      withdrawn: "A newer proposal replaced it.",
      ended: declaration.means.ended
    },
    triggers: {
      agree: { by: ["ledger"] },
      decline: { by: ["ledger"] },
      replace: { by: [declaration.proposedBy] },
      end: { by: declaration.endedBy }
    },
    initial: "proposed",
    // A projection that begins from a snapshot opens agreements made before it as agreed.
    opensIn: ["proposed", "agreed"],
    opens: {
      by: [declaration.proposedBy, "ledger"],
      ...(declaration.announces === undefined ? {} : { announces: declaration.announces })
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
 * Members that the record of every agreement has. Two more have names that differ (`Names`): the
 * contract of the agreement, and the time at which it was agreed.
 */
export interface Life {
  readonly instrumentId: string
  readonly state: State
  /** Parties that have signed the proposal; absent where only one party is asked. */
  readonly acceptedBy?: ReadonlyArray<Party.Party>
  readonly proposedAt: Instant.Instant
  /** The offset of the proposal. */
  readonly offset: Offset.Offset
  /** Date at which the agreement ends; absent where such agreements have none. */
  readonly until?: Instant.Instant | null
  readonly endedAt: Instant.Instant | null
  readonly proposalCid: string | null
}

/** Names of the members that each agreement stores under names of its own. */
export interface Names<C extends string, A extends string> {
  /** Name of the member that holds the contract, which is kept after the end. */
  readonly cid: C
  /** Name of the member that holds the time of agreement. */
  readonly agreedAt: A
}

/** The record of an agreement with these names. */
export type AgreementRecord<C extends string, A extends string> = Life &
  Readonly<Record<C, string | null>> &
  Readonly<Record<A, Instant.Instant | null>>

const at = Instant.schema

/**
 * Facts of a proposal that parties sign, stored under the triggers that a machine has for them, with the
 * contract under the name that its record gives it. A record with a longer life than an agreement
 * declares its own further facts beside these.
 */
export const signatures = <const G extends string, const W extends string>({
  cid,
  agree,
  withdraw
}: {
  readonly cid: string
  /** Trigger of the last signature. */
  readonly agree: G
  /** Trigger by which the venue takes the proposal back. */
  readonly withdraw: W
}) =>
  [
    /** The first of two signatures: the proposal is created again with it, and the state stays. */
    Schema.Struct({
      on: Schema.Literal("accept"),
      party: Party.schema,
      proposalCid: Field.contractId
    }),
    Schema.Struct({
      on: Schema.Literal(agree),
      /** The last party to sign; absent where only one party is asked. */
      party: Schema.optionalKey(Party.schema),
      cid: Field.contractId,
      at
    }).pipe(Schema.encodeKeys({ cid })),
    Schema.Struct({ on: Schema.Literal("decline"), at }),
    Schema.Struct({ on: Schema.Literal(withdraw), at })
  ] as const

/** Facts of an agreement. */
const factsOf = (cid: string) =>
  Schema.Union([
    ...signatures({ cid, agree: "agree", withdraw: "replace" }),
    Schema.Struct({
      on: Schema.Literal("end"),
      /** The contract that replaces the agreement's, where its end creates one. */
      cid: Schema.optionalKey(Schema.NullOr(Field.contractId)),
      at
    }).pipe(Schema.encodeKeys({ cid }))
  ])

export type Fact = ReturnType<typeof factsOf>["Type"]

/** Members of a record that parties sign. */
type SignatureMembers = Pick<Life, "acceptedBy" | "endedAt" | "proposalCid">

/** Fold of a signature that is not the last one. */
export const accepted = <R extends SignatureMembers>(
  self: R,
  { party, proposalCid }: { readonly party: Party.Party; readonly proposalCid: string }
): R => ({ ...self, ...signed(self, party), proposalCid })

/** Fold of the last signature, but for the state that it moves to. */
export const agreed = <
  R extends SignatureMembers & Readonly<Record<C | A, unknown>>,
  C extends string,
  A extends string
>(
  self: R,
  fact: { readonly party?: Party.Party; readonly cid: string; readonly at: Instant.Instant },
  names: Names<C, A>
): R => ({
  ...self,
  ...signed(self, fact.party),
  ...Record.singleton(names.cid, fact.cid),
  ...Record.singleton(names.agreedAt, fact.at),
  proposalCid: null
})

/** Fold of the end of a proposal that was declined or taken back, but for its state. */
export const unsigned = <R extends SignatureMembers>(
  self: R,
  { at: endedAt }: { readonly at: Instant.Instant }
): R => ({ ...self, proposalCid: null, endedAt })

const signed = ({ acceptedBy }: Pick<Life, "acceptedBy">, party: Party.Party | undefined) =>
  acceptedBy === undefined || party === undefined ? {} : { acceptedBy: [...acceptedBy, party] }

/** Fold: the agreement after `fact`. */
const evolveOf =
  <C extends string, A extends string>(machine: States, names: Names<C, A>) =>
  <R extends AgreementRecord<C, A>>(self: R, fact: Fact): R => {
    if (fact.on === "accept") return accepted(self, fact)
    const moved = { ...self, state: Machine.follow(machine, self.state, fact.on) }
    return match(fact)
      .with({ on: "agree" }, (last) => agreed(moved, last, names))
      .with({ on: "decline" }, { on: "replace" }, (end) => unsigned(moved, end))
      .with({ on: "end" }, ({ cid, at: endedAt }) => ({
        ...moved,
        ...Record.singleton(names.cid, cid ?? self[names.cid]),
        endedAt
      }))
      .exhaustive()
  }

/** Parties whose signatures are missing; one that is named twice signs once. */
export const missingOf = (
  signers: ReadonlyArray<Party.Party>,
  acceptedBy: ReadonlyArray<Party.Party>
): ReadonlyArray<Party.Party> =>
  [...new Set(signers)].filter((party) => !acceptedBy.includes(party))

/** Parties that a proposal waits for. */
export const awaiting = (
  parties: ReadonlyArray<Party.Party>,
  action: WaitingAction,
  by: Instant.Instant | null = null
): ReadonlyArray<Collection.WaitingOn> => parties.map((party) => ({ party, action, by }))

/** Invariants of every record that parties sign. */
export const invariants = {
  "a proposal stands on its contract": ({
    state,
    proposalCid
  }: SignatureMembers & { readonly state: string }) =>
    (state === "proposed") === (proposalCid !== null),
  "nobody accepts twice": ({ acceptedBy = [] }: SignatureMembers) =>
    new Set(acceptedBy).size === acceptedBy.length
} as const

/** A declared agreement: its collection, its states and the names of its members. */
export interface Agreement<R extends AgreementRecord<C, A>, C extends string, A extends string> {
  readonly collection: Collection.Collection<R, Fact>
  readonly machine: States
  readonly names: Names<C, A>
}

/**
 * Declares the collection of an agreement: facts and their fold, list filters, the clock's move at
 * `until`, the parties that it waits for, and its invariants. Gates and figures belong to its area.
 */
export const declare = <
  R extends AgreementRecord<C, A>,
  const C extends string,
  const A extends string
>(
  name: string,
  declaration: {
    readonly doc: string
    readonly machine: States
    readonly record: Schema.Codec<R, unknown>
    readonly names: Names<C, A>
    id(self: R): string
    /** Parties that the proposal asks; one that is named twice is asked once. */
    signers(self: R): ReadonlyArray<Party.Party>
    /** The choice by which each of them signs. */
    readonly accept: WaitingAction
  }
): Agreement<R, C, A> => {
  const missing = (self: R): ReadonlyArray<Party.Party> =>
    missingOf(declaration.signers(self), self.acceptedBy ?? [])
  const { machine, names } = declaration
  const evolve = evolveOf(machine, names)
  const collection = Collection.define<R, Fact>(name, {
    doc: declaration.doc,
    id: declaration.id,
    record: declaration.record,
    fact: factsOf(names.cid),
    evolve,
    keptBy: "ledger",
    // Its contract was the permission: without one it has ended, whoever ended it.
    lost: (self, { at }) => {
      if (self.state === "agreed") return evolve(self, { on: "end", cid: null, at })
      return self.state === "proposed" ? evolve(self, { on: "replace", at }) : self
    },
    // Sorted by the proposal's offset: ids made within one millisecond have no order.
    sortKey: (self) => `${Offset.sortable(self.offset)}:${declaration.id(self)}`,
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
        ? awaiting(missing(self), declaration.accept, self.until ?? null)
        : [],
    invariants: {
      ...invariants,
      "an agreement in force stands on its contract": (self) =>
        self.state !== "agreed" || self[names.cid] !== null,
      "an agreement in force has been accepted by all": (self) =>
        self.state !== "agreed" || self.acceptedBy === undefined || missing(self).length === 0
    }
  })
  return { collection, machine, names }
}
