/** The event feed: one gapless sequence, in the order in which transactions committed. */
import { Context, type Effect, type Stream } from "effect"
import type { StorageUnavailable } from "./StorageError.ts"

/** Where the feed stood when this transaction took it. */
export interface FeedHead {
  /** The last sequence number used; 0 for an empty feed. */
  readonly seq: number
  /** The instant this transaction stamps (sortable text): later than every earlier one's. */
  readonly at: string
  /** The offset the projection has reached. */
  readonly projectionOffset: number
}

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

export class Feed extends Context.Service<
  Feed,
  {
    /**
     * Takes the head for this transaction: everybody else who writes waits until it ends, so it
     * MUST be called last, just before the writes that carry its stamp. `at` is the later of `now`
     * and one microsecond after the last stamp.
     */
    readonly take: (now: string) => Effect.Effect<FeedHead, StorageUnavailable>
    /**
     * Appends events numbered head.seq + 1, + 2, … and moves the head (also when `rows` is empty:
     * the stamp is used). Numbers MUST be gapless and in commit order.
     */
    readonly append: (
      head: FeedHead,
      rows: ReadonlyArray<EventRow>
    ) => Effect.Effect<void, StorageUnavailable>
    /** The matching events, and the last number scanned, so that a filtered reader moves on. */
    readonly read: (
      query: FeedQuery
    ) => Effect.Effect<
      { readonly events: ReadonlyArray<EventRow>; readonly scanned: number },
      StorageUnavailable
    >
    readonly head: Effect.Effect<FeedHead, StorageUnavailable>
    /** Of these sources, the ones already in the feed. */
    readonly known: (
      sources: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<string>, StorageUnavailable>
    /** An element whenever events may have come; it may lose some. */
    readonly wakes: Stream.Stream<void, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/Feed") {}
