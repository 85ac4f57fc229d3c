/** Declaration of a reading: the facts that a template's creation and choices make. */
import type { Effect } from "effect"
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
}

/** Position of one node of an update. */
export interface Node extends Position {
  readonly nodeId: number
  readonly contractId: string
}

/** A whole update, for facts that no single node shows. */
export interface Whole extends Position {
  /** The latest effective time of this and all earlier updates. */
  readonly ledgerTime: Instant.Instant
  readonly events: ReadonlyArray<Event>
  /** A snapshot holds what was active where the projection began, without what led to it. */
  readonly from: "update" | "snapshot"
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
export interface Reading {
  readonly template: TypeRef
  /**
   * The records that it will look up for a contract that says this, as far as the contract tells:
   * those of a whole stretch of a large update are read in one go before it. Naming one too many
   * costs little, and one too few a look-up of its own.
   */
  looks?(payload: LfRecord, contractId: string): ReadonlyArray<Look>
  /**
   * A snapshot has no order of its own. What is `first` in it is read before all else, since other
   * contracts stand on what it opens.
   */
  readonly inSnapshot?: "first"
  /** A contract of this template came into the venue's sight. */
  created?(payload: LfRecord, node: Node, event: Created): Effect.Effect<void, Unavailable, Records>
  /** A choice was exercised on it; `payload` is what the contract said. */
  exercised?(
    choice: string,
    payload: LfRecord,
    node: Node,
    event: Exercised
  ): Effect.Effect<void, Unavailable, Records>
  /**
   * The same once every node of its update has been read: what one choice did to many records is told
   * after what became of each of them.
   */
  concluded?(
    choice: string,
    payload: LfRecord,
    node: Node,
    event: Exercised
  ): Effect.Effect<void, Unavailable, Records>
  /** Told of every update once all of its nodes have been read and have concluded. */
  whole?(update: Whole): Effect.Effect<void, Unavailable, Records>
}

export type { LfValue }
