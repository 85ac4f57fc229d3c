/** Port: append-only log of the facts of each record, in order of version. */
import { Context, type Effect } from "effect"
import type { StorageUnavailable, VersionMoved } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** One fact as the store keeps it: text and integers that it does not interpret. */
export interface FactRow {
  readonly collection: string
  readonly recordId: string
  /** 1 for the fact that made the record, then one more each time. */
  readonly version: number
  /** The fact as JSON text. */
  readonly fact: string
  /** `operation:<id>`, `update:<id>`, `run:<id>`, `event:<seq>` or `clock`: every fact has exactly one cause. */
  readonly cause: string
  /** The first projection offset at which the fact holds. */
  readonly offset: number
  /** Instant at which the fact was recorded (sortable text). */
  readonly recordedAt: string
}

/** Port of the log of facts, of which every version of a record is folded. */
export class FactLog extends Context.Service<
  FactLog,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    /**
     * Appends facts. A row's version MUST be exactly one more than the record's last one (0 when
     * there is none), else `VersionMoved` and nothing is written. Rows of one record come in order.
     */
    readonly append: (
      rows: ReadonlyArray<FactRow>
    ) => Effect.Effect<void, VersionMoved | StorageUnavailable>
    /** The facts of one record in order of version, up to and including `through` if given. */
    readonly read: (range: {
      readonly collection: string
      readonly recordId: string
      readonly through?: number
    }) => Effect.Effect<ReadonlyArray<FactRow>, StorageUnavailable>
    /** Deletes every fact of these records, within the caller's transaction, when retention ends. */
    readonly forget: (records: {
      readonly collection: string
      readonly recordIds: ReadonlyArray<string>
    }) => Effect.Effect<void, StorageUnavailable>
    /** The facts of a whole collection after a position, oldest record first: for replays and audits. */
    readonly scan: (page: {
      readonly collection: string
      readonly after?: { readonly recordId: string; readonly version: number }
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<FactRow>, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/FactLog") {}
