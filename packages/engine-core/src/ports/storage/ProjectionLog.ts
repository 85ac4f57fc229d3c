/** Port: the projection's position on the ledger, and the updates it has read. */
import { Context, type Effect, type Option } from "effect"
import type { StorageUnavailable, WriterFenced } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** Point of the ledger that the engine has read to. */
export interface ProjectionHead {
  readonly offset: number
  /** The running maximum of effective times up to `offset` (sortable text); null before the first. */
  readonly ledgerTime: string | null
  /** Horizon: the offset after which the kept history begins; no earlier point can be read. */
  readonly horizonOffset: number
  /**
   * The first instant an asOf may name that no answer was given for (sortable text); null: from the
   * first update on.
   */
  readonly horizonTime: string | null
  readonly writerEpoch: number
  /** The node the offsets belong to; null before the first start. */
  readonly participant: string | null
  readonly ledgerEpoch: number
}

/** Update of the ledger that the engine has read, as the storage has it. */
export interface UpdateRow {
  readonly offset: number
  readonly prevOffset: number
  readonly updateId: string
  readonly commandId: string | null
  readonly workflowId: string | null
  readonly effectiveAt: string
  readonly recordTime: string
  /** The running maximum (sortable text). */
  readonly ledgerTime: string
  /** The received update, as JSON text. */
  readonly raw: string
}

/** Offset at which a read as of an instant is answered: the last one effective at or before it. */
export interface AsOf {
  readonly offset: number
  /**
   * True: no future update can change it, because the ledger time is past the instant, or an answer
   * was given for it or for a later one.
   */
  readonly settled: boolean
  /**
   * True: answers at this offset were given for the instant, or for instants on both sides of it.
   * Then the writes up to the offset were stamped at or before the instant, and all others after.
   */
  readonly answered: boolean
}

/** Port of what the engine has read of the ledger. */
export class ProjectionLog extends Context.Service<
  ProjectionLog,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    readonly head: Effect.Effect<ProjectionHead, StorageUnavailable>
    /** Fencing: makes the caller the only writer by raising the epoch, and answers the head under it. */
    readonly takeOver: (writer: {
      readonly participant: string
    }) => Effect.Effect<ProjectionHead, StorageUnavailable>
    /**
     * Stores updates and moves the head from `from` to `to`, within the caller's transaction.
     * MUST change nothing and fail `WriterFenced` unless the epoch is the current one and the head
     * stands at `from`. Answers at `to` are of later instants than those at `from`, though nothing
     * else was written.
     */
    readonly advance: (move: {
      readonly epoch: number
      readonly from: number
      readonly to: number
      readonly ledgerTime: string | null
      readonly updates: ReadonlyArray<UpdateRow>
    }) => Effect.Effect<void, WriterFenced | StorageUnavailable>
    /** Sets ledger epoch, horizon and position after a snapshot, under the writer's epoch. */
    readonly bootstrap: (snapshot: {
      readonly epoch: number
      /** The same as before, or the next one where a kept store continues from the snapshot. */
      readonly ledgerEpoch: number
      readonly offset: number
      readonly ledgerTime: string | null
      readonly horizonTime: string | null
    }) => Effect.Effect<void, WriterFenced | StorageUnavailable>
    /**
     * Moves the horizon up after the ledger was pruned: nothing before `offset` can be read back
     * any more, and no asOf before the ledger time there. Never moves it down, nor past the head.
     * Updates at or before the horizon may be deleted, at most `limit` a call; answers how many were.
     */
    readonly prune: (deletion: {
      readonly offset: number
      readonly limit: number
    }) => Effect.Effect<number, StorageUnavailable>
    /** The running ledger time at an offset: that of the last update at or before it. */
    readonly ledgerTimeAt: (
      offset: number
    ) => Effect.Effect<Option.Option<string>, StorageUnavailable>
    /**
     * The greatest offset (of an update, or the head) whose ledger time is at or before the instant;
     * but never less than the offset of an answer given for an instant at or before it, nor more than
     * that of an answer given for one at or after it (`Feed.answer`). None where the history begins
     * later: before the horizon's time and before the first answer from the horizon on.
     */
    readonly offsetAsOf: (instant: string) => Effect.Effect<Option.Option<AsOf>, StorageUnavailable>
    /**
     * The last offset (of an update, or the head) whose ledger time is before the instant, whatever
     * was answered meanwhile: `horizonOffset` where no update after it is, None where the history
     * begins at that instant or later. MUST stay the same once the ledger time has reached it. With
     * `through` it is no later offset than that one.
     */
    readonly offsetBefore: (bounds: {
      readonly instant: string
      readonly through?: number | undefined
    }) => Effect.Effect<Option.Option<number>, StorageUnavailable>
    /** Checks whether an update of this command is in the log; loads no payload. */
    readonly hasCommand: (commandId: string) => Effect.Effect<boolean, StorageUnavailable>
    readonly read: (page: {
      readonly after: number
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<UpdateRow>, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/ProjectionLog") {}
