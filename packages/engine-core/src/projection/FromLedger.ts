/** Declaration of a reading: the facts that a template's creation and choices make. */
import type { Effect, Option } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type * as Offset from "../kernel/Offset.ts"
import type * as Party from "../kernel/Party.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Created, Event, Exercised, LfRecord, LfValue, TypeRef } from "../ports/Ledger.ts"
import type { Act } from "../records/Act.ts"
import type { Records } from "../records/Records.ts"

/** Position of an update in the ledger's history, and the act its facts are recorded under. */
export interface Position {
  /** Its cause is the update. */
  readonly act: Act
  /** The party the engine acts as: only contracts of this venue move its records. */
  readonly venue: Party.Party
  readonly offset: Offset.Offset
  readonly updateId: string
  /** The operation whose step the venue submitted as this update; null: nothing of the venue's. */
  readonly operationId: string | null
  readonly effectiveAt: Instant.Instant
  /** The latest effective time of this and all earlier updates. */
  readonly ledgerTime: Instant.Instant
}

/** Position of one node of an update. */
export interface Node extends Position {
  readonly nodeId: number
  readonly contractId: string
}

/** A whole update, for facts that no single node shows. */
export interface Whole extends Position {
  readonly events: ReadonlyArray<Event>
  /**
   * A snapshot holds what was active where the projection began, without what led to it. A gap is the
   * difference between what the projection had last and a snapshot that begins a new ledger epoch:
   * contracts that came and contracts that went, without the acts.
   */
  readonly from: "update" | "snapshot" | "gap"
}

/** Position from which a follower starts. */
export interface Start {
  readonly offset: Offset.Offset
  /** Horizon: the offset after which the kept history begins. */
  readonly horizonOffset: Offset.Offset
  /** The ledger time of `offset`; null before the first update. */
  readonly ledgerTime: Instant.Instant | null
  /** The ledger time at an offset; none where the projection records none. */
  readonly ledgerTimeAt: (
    offset: Offset.Offset
  ) => Effect.Effect<Option.Option<Instant.Instant>, Unavailable>
}

/** A record that a reading will look up. */
export interface Look {
  readonly collection: { readonly name: string }
  readonly id: string
}

/**
 * Facts of outside parties cannot be refused: a reading asks the machine whether its table has the
 * move, and hands any other fact to `Unexpected`, which keeps it.
 */
export interface FromLedger {
  readonly template: TypeRef
  /**
   * The records that the reading looks up for a contract with this payload. They are prefetched for
   * many events of a large update together; a record that is not named here costs a look-up of its
   * own.
   */
  looks?(payload: LfRecord, contractId: string): ReadonlyArray<Look>
  /**
   * `first` and then `second`: contracts of this template are read before all others of a snapshot,
   * since other readings need the records that they open. All others are read in the order in which
   * they were created, as those of one such rank are.
   */
  readonly inSnapshot?: "first" | "second"
  /**
   * Collections that the reading folds from the difference of two snapshots as from one update (`whole`
   * with `from: "gap"`). Records of any other collection are compared as each snapshot opens them.
   */
  readonly inGap?: ReadonlyArray<{ readonly name: string }>
  /** A contract of this template came into the venue's sight. */
  created?(payload: LfRecord, node: Node, event: Created): Effect.Effect<void, Unavailable, Records>
  /** A choice was exercised on a contract with this payload. */
  exercised?(
    choice: string,
    payload: LfRecord,
    node: Node,
    event: Exercised
  ): Effect.Effect<void, Unavailable, Records>
  /**
   * The same, run once every node of the update has been read: for events about a choice that
   * follow the events of the records it moved.
   */
  concluded?(
    choice: string,
    payload: LfRecord,
    node: Node,
    event: Exercised
  ): Effect.Effect<void, Unavailable, Records>
  /**
   * Reads every update as a whole, after its nodes and their conclusions. Returns the findings that
   * `batch` reads, if the reading has such.
   */
  whole?(update: Whole): Effect.Effect<ReadonlyArray<unknown> | void, Unavailable, Records>
  /**
   * Reads the findings of `whole` of a batch of updates, in their order, in the transaction that
   * folded these: for look-ups that are made once a batch.
   */
  batch?(findings: ReadonlyArray<unknown>): Effect.Effect<void, Unavailable, Records>
  /**
   * Runs each time a follower starts, before it follows: computes what an earlier version of the
   * engine did not keep of the updates that it folded. A start that was stopped midway MUST lead to
   * the same records as one that was not.
   */
  start?(from: Start): Effect.Effect<void, Unavailable, Records>
}

export type { LfValue }
