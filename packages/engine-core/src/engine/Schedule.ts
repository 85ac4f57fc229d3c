/** Scheduled task: a name, an interval, and what one turn does. */
import type { Effect } from "effect"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"

/** One turn of a task, which no other instance has at the same time. */
export interface Turn {
  /** State left by the last turn; empty at the first. */
  readonly state: string
  /**
   * Fences the transaction around it, or fails where another instance has taken it
   * over.
   */
  readonly fence: Effect.Effect<void, LeaseLost | Unavailable>
  /**
   * Ends the turn: the next one comes after so many milliseconds of the store's clock, with this
   * state. Inside a transaction it commits or rolls back with the turn's writes. A task that does
   * not end its turn has the next one after its own interval, with the state it had.
   */
  readonly next: (turn: {
    readonly delay: number
    readonly state: string
  }) => Effect.Effect<void, LeaseLost | Unavailable>
}

/** A scheduled task. Of several instances one runs a turn at a time. */
export interface Task<R = never> {
  /** Unique and stable: the queue finds a waiting turn by it. */
  readonly name: string
  /** One sentence: what it does. */
  readonly doc: string
  /** Milliseconds between turns; the first one comes as long after the first start. */
  readonly every: number
  readonly run: (turn: Turn) => Effect.Effect<void, LeaseLost | Unavailable, R>
}
