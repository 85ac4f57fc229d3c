/** Act: the cause, time and actor of the facts that a transaction records. */
import type { Cause } from "../kernel/Fact.ts"
import type * as Instant from "../kernel/Instant.ts"
import type * as Offset from "../kernel/Offset.ts"
import type * as Party from "../kernel/Party.ts"
import type { Trace } from "../kernel/Trace.ts"
import type { Role } from "../vocabulary/Role.ts"
import type { LedgerEnd } from "../kernel/LedgerEnd.ts"

export interface Act {
  readonly cause: Cause
  /** The engine's clock when the act was judged. */
  readonly now: Instant.Instant
  /**
   * The first offset at which the fact holds. Absent: the update's own offset where an update is the
   * cause, else one past what the projection has reached, so that a read pinned to an offset that
   * has been read already never changes.
   */
  readonly offset?: Offset.Offset
  /** Trace of the call that causes the facts; their events are delivered under it. */
  readonly trace?: Trace | null
}

/** Encrypted texts of a request, by member. */
export type SealedSecrets = Readonly<Record<string, string>>

/** The act of an operation, for its `run` and `plan`. */
export interface OperationAct extends Act {
  readonly operationId: string
  /** The party the engine acts as; it has no other. */
  readonly venue: Party.Party
  /** Subject claim of the caller; `engine` for an operation that the engine opened itself. */
  readonly actor: string
  /** Role in which the caller, or the maker of an action, acts; null: the engine opened it itself. */
  readonly role: Role | null
  /** The distinct approvers, in the order they signed. */
  readonly signedBy: ReadonlyArray<string>
  /** The sealed secrets of the request; null: it has none. */
  readonly sealed: SealedSecrets | null
  /**
   * End of the ledger by which the act was judged first, where it was asked: the projection had
   * reached it, so that it suffices for each later judgement. Absent before the first.
   */
  readonly ledgerEnd?: LedgerEnd
}
