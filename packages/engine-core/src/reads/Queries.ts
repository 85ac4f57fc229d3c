/** Service that answers declared reads: scope, point, page, cursor. */
import { Context, type Effect, type Stream } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type * as Offset from "../kernel/Offset.ts"
import type { Refused, Slug, Unavailable } from "../kernel/Refusal.ts"
import type { Caller } from "../writes/Caller.ts"
import type { PointParams } from "./Point.ts"
import type { PrintedValue } from "./KeptAnswers.ts"
import type { Export, List, One, StreamedRead, StreamedParts } from "./Read.ts"

/** Parameters of a page of a list. */
export interface PageParams {
  /** 1 to 1000; absent means every record. */
  readonly limit?: number
  readonly after?: string
  readonly updatedFrom?: Instant.Instant
  readonly updatedTo?: Instant.Instant
}

/** Members of the read envelope around its value. */
export interface Around {
  readonly offset: Offset.Offset
  /** Absent on reads that do not take at or asOf. */
  readonly ledgerTime?: Instant.Instant | null
  readonly now: Instant.Instant
}

/** A printed answer, around which the host prints the envelope. */
export interface PrintedAnswer {
  readonly printed: PrintedValue
  /**
   * Validator of the answer, for an ETag: two answers to one request share it only where the caller
   * would read the same in both, but for `now` and the text of `next`. Undefined where the answer
   * depends on the clock, and where a change of the validator would reveal writes of others.
   */
  readonly validator: string | undefined
}

/** A record with all its rows. */
export interface Whole<H, V> {
  readonly record: H
  readonly rows: ReadonlyArray<V>
}

/** Service of every read: one record, a page, a stream or a table. */
export class Queries extends Context.Service<
  Queries,
  {
    /** One value at a point. Refuses `permission-denied`, `offset-unavailable`, `before-horizon`. */
    readonly one: <P, V>(
      read: One<P, V>,
      question: { readonly caller: Caller; readonly params: P; readonly point: PointParams }
    ) => Effect.Effect<Around & { readonly value: V }, Refused | Unavailable>
    /** A page at a point; `next` is null on the last. A cursor the list did not issue is refused. */
    readonly page: <R, F, P, V>(
      read: List<R, F, P, V>,
      question: {
        readonly caller: Caller
        readonly params: P
        readonly point: PointParams
        readonly page: PageParams & { readonly limit: number }
      }
    ) => Effect.Effect<
      Around & { readonly value: ReadonlyArray<V>; readonly next: string | null },
      Refused | Unavailable
    >
    /**
     * As `one`, printed: from the cache of answers, while nothing that the value was read from has
     * changed.
     */
    readonly onePrinted: <P, V>(
      read: One<P, V>,
      question: {
        readonly caller: Caller
        readonly params: P
        readonly point: PointParams
        readonly target: string
        readonly print: (value: V) => Effect.Effect<PrintedValue>
      }
    ) => Effect.Effect<Around & PrintedAnswer, Refused | Unavailable>
    /** As `page`, printed, as `onePrinted` does. */
    readonly pagePrinted: <R, F, P, V>(
      read: List<R, F, P, V>,
      question: {
        readonly caller: Caller
        readonly params: P
        readonly point: PointParams
        readonly page: PageParams & { readonly limit: number }
        readonly target: string
        readonly print: (value: ReadonlyArray<V>) => Effect.Effect<PrintedValue>
      }
    ) => Effect.Effect<
      Around & PrintedAnswer & { readonly next: string | null },
      Refused | Unavailable
    >
    /** A record, and every row of its list as a stream in constant memory, at one point. */
    readonly exported: <P, H, R, F, V>(
      read: Export<P, H, R, F, V>,
      question: { readonly caller: Caller; readonly params: P; readonly point: PointParams }
    ) => Effect.Effect<
      Around & { readonly record: H; readonly rows: Stream.Stream<V, Unavailable> },
      Refused | Unavailable
    >
    /** A record, its rows, and a text or totals, which are streams in constant memory. */
    readonly streamed: <P, H, V, A, S extends Slug, T>(
      read: StreamedRead<P, H, V, A, S, T>,
      question: { readonly caller: Caller; readonly params: P; readonly point: PointParams }
    ) => Effect.Effect<Around & StreamedParts<H, V, T>, Refused | Unavailable>
    /**
     * As `streamed`; printed whole, with a validator, where the read says that its rows are few.
     */
    readonly streamedPrinted: <P, H, V, A, S extends Slug, T>(
      read: StreamedRead<P, H, V, A, S, T>,
      question: {
        readonly caller: Caller
        readonly params: P
        readonly point: PointParams
        readonly print: (whole: Whole<H, V>) => Effect.Effect<PrintedValue>
      }
    ) => Effect.Effect<Around & (StreamedParts<H, V, T> | PrintedAnswer), Refused | Unavailable>
    /** Every record at a point, as a stream in constant memory. */
    readonly all: <R, F, P, V>(
      read: List<R, F, P, V>,
      question: {
        readonly caller: Caller
        readonly params: P
        readonly point: PointParams
        readonly page: Omit<PageParams, "limit">
      }
    ) => Effect.Effect<
      Around & { readonly value: Stream.Stream<V, Unavailable> },
      Refused | Unavailable
    >
  }
>()("@bursar/engine-core/reads/Queries") {}
