/** The event feed and the audit log: gapless sequences, in the order in which transactions committed. */
import { Context, type Effect, type Stream } from "effect"
import type { StorageUnavailable } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** Head of the feed: the last number and stamp, and the heads of projection and audit log. */
export interface FeedHead {
  /** The last sequence number used; 0 for an empty feed. */
  readonly seq: number
  /**
   * Sortable text. Taken: the instant this transaction stamps, later than every earlier one's and
   * than every answer's. Looked at: the last stamp or the last answer's instant; empty before both.
   */
  readonly at: string
  /**
   * Counter that rises with every append at the head, and with nothing else: whoever changes a
   * document appends, so it is a key of what was read from documents.
   */
  readonly moves: number
  /** The offset the projection has reached. */
  readonly projectionOffset: number
  /** Epoch of the ledger that the offset belongs to. */
  readonly ledgerEpoch: number
  /** Counter that rises with every change of the set of webhooks: the key of its cache. */
  readonly webhooksMoved: number
  /** Control events up to this number are pruned, and cursors before it are refused. 0: none. */
  readonly prunedTo: number
  /** The last journal event that was pruned: those before it are pruned as well. 0: none. */
  readonly journalPrunedTo: number
  /** Restores of the store from a copy, the oldest first. */
  readonly restores: ReadonlyArray<StoreRestore>
  /** Head of the audit log. */
  readonly audit: AuditHead
}

/**
 * Restore of the store from a copy: what was written after these numbers is lost, and the restored
 * store uses the numbers again.
 */
export interface StoreRestore {
  /** The last event that the copy had. */
  readonly seq: number
  /** The last record of the audit log that the copy had. */
  readonly auditSeq: number
  /** Sortable text; by it a restore is told from every other. */
  readonly at: string
}

/** Where a feed begins and ends, as of the moment of a read. */
export interface FeedBounds {
  /** Numbers up to this one are pruned; 0: none. Of the event feed those of control events alone. */
  readonly prunedTo: number
  /** The last number used; 0: none. */
  readonly end: number
  /** Restores of the store, the oldest first. */
  readonly restores: ReadonlyArray<StoreRestore>
}

/** Last entry of the audit log, with its hash. */
export interface AuditHead {
  /** The last number used; 0 for an empty log. */
  readonly seq: number
  /** The hash of the last record; 64 zeros for an empty log. */
  readonly hash: string
  /** The number of the last checkpoint; 0 before the first. */
  readonly checkpoint: number
}

/** One record of the audit log. What was hashed is `text`, byte for byte; the rest is for filters. */
export interface AuditRow {
  readonly seq: number
  /** Sortable text. */
  readonly at: string
  readonly action: string
  readonly actor: string | null
  readonly resourceKind: string | null
  readonly resourceId: string | null
  /** The canonical JSON of the record without its hash. */
  readonly text: string
  /** SHA-256 of the record that it follows, in lower-case hexadecimal; of the first, 64 zeros. */
  readonly prevHash: string
  /** Its own SHA-256, in lower-case hexadecimal. */
  readonly hash: string
}

/** Rows that one transaction appends at the head. */
export interface FeedEntries {
  readonly events: ReadonlyArray<EventRow>
  readonly audit: ReadonlyArray<AuditRow>
  /** The number of the last checkpoint among `audit`, if there is one. */
  readonly checkpoint?: number
  /** `moved`: this transaction changes the set of webhooks. */
  readonly webhooks: "same" | "moved"
}

/** Range and filter of the entries that are asked for. */
export interface AuditQuery {
  readonly order: "asc" | "desc"
  readonly after?: number
  readonly limit: number
  readonly actor?: string
  readonly action?: ReadonlyArray<string>
  readonly resourceKind?: ReadonlyArray<string>
  readonly resourceId?: string
  readonly from?: string
  readonly to?: string
}

/** Records that retention never deletes, whatever their age. */
export interface LegalHold {
  readonly holderIds: ReadonlyArray<string>
  readonly instrumentIds: ReadonlyArray<string>
}

/** Event as the storage has it. */
export interface EventRow {
  readonly seq: number
  readonly kind: string
  readonly type: string
  readonly at: string | null
  readonly offset: number | null
  readonly instrumentId: string | null
  readonly party: string | null
  readonly resourceKind: string
  readonly resourceId: string
  /** Every holder the event is about, for the feed's holder filter. */
  readonly holderIds: ReadonlyArray<string>
  /** JSON text. */
  readonly payload: string
  /** Unique where given: a journal event projected twice is stored once. */
  readonly source: string | null
}

/** Range and filter of the events that are asked for. */
export interface FeedQuery {
  readonly order: "asc" | "desc"
  /** Only events after this number in `order`. */
  readonly after?: number
  readonly limit: number
  readonly kind?: ReadonlyArray<string>
  readonly type?: ReadonlyArray<string>
  readonly resourceKind?: ReadonlyArray<string>
  readonly instrumentId?: string
  readonly holderId?: string
  readonly resourceId?: string
  /** at ≥ from (sortable text). */
  readonly from?: string
  /** at < to; events without at are left out (sortable text). */
  readonly to?: string
}

/** Port of the feed of events and of the audit log. */
export class Feed extends Context.Service<
  Feed,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    /**
     * Takes the head for this transaction: everybody else who writes waits until it ends, so it
     * MUST be called last, just before the writes that carry its stamp. `at` is the later of `now`
     * and one microsecond after the head's. Outside of a transaction it is a defect.
     */
    readonly take: (now: string) => Effect.Effect<FeedHead, StorageUnavailable>
    /**
     * Appends events numbered head.seq + 1, + 2, … and audit records numbered head.audit.seq + 1,
     * + 2, …, and moves the head (also when there are none: the stamp is used). Numbers MUST be
     * gapless and in commit order. An audit record MUST follow the hash that the head stands at
     * (one number or one `prevHash` is never used twice), and nothing may change or delete it later
     * but `pruneAudit`. A row that breaks this, a head that another transaction took or that was
     * used before, and a source that is there already are defects: nothing of the call is kept.
     */
    readonly append: (
      head: FeedHead,
      entries: FeedEntries
    ) => Effect.Effect<void, StorageUnavailable>
    /**
     * The matching events, the last number scanned, so that a filtered reader moves on, and where the
     * feed began and ended then: one answer of one moment. A store with replicas MUST NOT answer from
     * one that lags: a cursor after the end is taken for one of a lost history.
     */
    readonly read: (query: FeedQuery) => Effect.Effect<
      FeedBounds & {
        readonly events: ReadonlyArray<EventRow>
        readonly scanned: number
        /** The last journal event that was pruned; 0: none. */
        readonly journalPrunedTo: number
      },
      StorageUnavailable
    >
    readonly head: Effect.Effect<FeedHead, StorageUnavailable>
    /**
     * Gives out the instant that an answer stands for: `at` of the head answered is the later of
     * `now` and the head's own, and whatever was stamped by then is committed. From then on no
     * transaction is stamped at or before it, at no instance, and `ProjectionLog.offsetAsOf` names
     * this head's offset for it. Where nothing was stamped since another answer, whose instant is at
     * or after `since` (not after `now`), that one MAY be given out again. A crash may take the answer
     * back until `answersSettled`; inside a transaction it is part of that transaction.
     */
    readonly answer: (instants: {
      readonly now: string
      readonly since: string
    }) => Effect.Effect<FeedHead, StorageUnavailable>
    /**
     * Waits until everything that answers given here so far stand for is durable. Inside
     * `Atomically.reading` the adapter may wait at the end of that scope instead.
     */
    readonly answersSettled: Effect.Effect<void, StorageUnavailable>
    /**
     * From now on no transaction is stamped at or before the instant, at no instance, and whatever
     * was is committed. Which offset answers for it stays open.
     */
    readonly pass: (instant: string) => Effect.Effect<void, StorageUnavailable>
    /** Returns those of the sources whose event is in the feed already. */
    readonly published: (
      sources: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<string>, StorageUnavailable>
    /** The matching audit records, the last number scanned, and where the log began and ended then. */
    readonly readAudit: (query: AuditQuery) => Effect.Effect<
      FeedBounds & {
        readonly records: ReadonlyArray<AuditRow>
        readonly scanned: number
      },
      StorageUnavailable
    >
    /**
     * Deletes the oldest control events with `at` before this instant, but those of a record held,
     * at most `limit`, and raises `prunedTo` to the last one passed. Journal events stay. Inside the
     * caller's transaction; answers how many went and how many were passed over or deleted, 0 when
     * nothing is left to prune.
     */
    readonly prune: (deletion: {
      readonly before: string
      readonly hold: LegalHold
      readonly limit: number
    }) => Effect.Effect<{ readonly deleted: number; readonly passed: number }, StorageUnavailable>
    /**
     * Deletes the oldest journal events with an offset at or before this one, at most `limit`, and raises
     * `journalPrunedTo` to the last one deleted; answers how many.
     */
    readonly pruneJournal: (deletion: {
      readonly through: number
      readonly limit: number
    }) => Effect.Effect<number, StorageUnavailable>
    /**
     * Deletes audit records before this one, which MUST be a checkpoint and stays as the new start.
     * Anything else there is a defect and deletes nothing. The application's own role of a database
     * has no right to: it fails there.
     */
    readonly pruneAudit: (deletion: {
      readonly before: number
    }) => Effect.Effect<number, StorageUnavailable>
    /**
     * Notes at the head that the store is a restored copy, whose history ends with the head's numbers.
     * Where nothing was written since the restore that was noted before, it MUST replace that one.
     */
    readonly noteRestore: (at: string) => Effect.Effect<void, StorageUnavailable>
    /** An element whenever events may have come; it may lose some. */
    readonly wakes: Stream.Stream<void, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/Feed") {}
