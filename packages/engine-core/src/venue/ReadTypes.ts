/** Types of the catalogue's reads, by their name: parameters, values, rows and pages. */
import type { Effect, Stream } from "effect"
import type { DeclaredRead } from "../catalogue.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { ProgramInput } from "../kernel/ProgramInput.ts"
import type { Refused, Slug, Unavailable } from "../kernel/Refusal.ts"
import type { Around } from "../reads/Queries.ts"

/** Names of all reads. */
export type ReadName = DeclaredRead["name"]

type DeclaredOf<R extends ReadName> = Extract<DeclaredRead, { readonly name: R }>
type NamesOf<D> = D extends { readonly name: infer R extends ReadName } ? R : never

/** Names of the reads that answer a list of records, page by page. */
export type ListName = NamesOf<Extract<DeclaredRead, { readonly shape: "list" }>>

/** Names of the reads that answer one value. */
export type ValueName = Exclude<ReadName, ListName>

/** Names of the values whose rows can be read as a stream as well, since they may be very many. */
export type RowsName = NamesOf<Extract<DeclaredRead, { readonly shape: "export" | "streamed" }>>

type ParamsOf<
  D extends { readonly params: { readonly Type: unknown; readonly Encoded: unknown } }
> = ProgramInput<D["params"]["Type"], D["params"]["Encoded"]>

/**
 * Parameters of a read: the ids of its path and the filters of its query, in one object. The format
 * is none of them: a table is asked for as `csv`.
 */
export type ReadParams<R extends ReadName> = Omit<ParamsOf<DeclaredOf<R>>, "format">

/** Filters of a list, with the ids of its path. */
export type ListWhere<R extends ListName> = ReadParams<R>

/** Record of a list, or row of a value whose rows can be streamed. */
export type RowOf<R extends ListName | RowsName> =
  DeclaredOf<R> extends { readonly shape: "list"; readonly item: { readonly Type: infer V } }
    ? V
    : DeclaredOf<R> extends { readonly shape: "streamed"; readonly row: { readonly Type: infer V } }
      ? V
      : DeclaredOf<R> extends { readonly rows: { readonly item: { readonly Type: infer V } } }
        ? V
        : never

/** Answer of a read: its value, or the records of a list. */
export type ReadValue<R extends ReadName> =
  DeclaredOf<R> extends { readonly value: { readonly Type: infer V } }
    ? V
    : DeclaredOf<R> extends { readonly item: { readonly Type: infer V } }
      ? ReadonlyArray<V>
      : never

/** Slugs by which a read can be refused. */
export type ReadRefusal<R extends ReadName> =
  | (DeclaredOf<R> extends { readonly refuses: ReadonlyArray<infer S extends Slug> } ? S : never)
  | "invalid-request"
  | "permission-denied"
  | "not-found"
  | "offset-unavailable"
  | "before-horizon"

type ReadError<R extends ReadName> = Refused<ReadRefusal<R>> | Unavailable

/** Point of the past that a read answers at; both at once are refused. */
export interface PastPoint {
  /** An offset of the ledger, such as an earlier answer has. */
  readonly at?: number
  /** An instant, such as the `now` of an earlier answer. */
  readonly asOf?: Instant.Instant | string
}

/** Page of a list, with the point that it was read at. */
export interface ListPage<R extends ListName> extends Around {
  readonly value: ReadonlyArray<RowOf<R>>
  /** Cursor of the next page, for `after`; null: this is the last one. */
  readonly next: string | null
}

/** Filter, order, page and point of a list. */
export interface ListOptions<R extends ListName> extends PastPoint {
  readonly where?: ListWhere<R>
  /** Records of a page, 1 to 1000; 100 by default. */
  readonly limit?: number
  /** Cursor of an earlier page. */
  readonly after?: string
  /** Window of changes: records that changed from this instant on, and before that one. */
  readonly updatedFrom?: Instant.Instant | string
  readonly updatedTo?: Instant.Instant | string
}

/** Options of a list; those that name its path's ids or a filter it requires cannot be left out. */
export type ListCall<R extends ListName> =
  Record<never, never> extends ListWhere<R>
    ? readonly [options?: ListOptions<R>]
    : readonly [options: ListOptions<R> & { readonly where: ListWhere<R> }]

/** Text of a table, line by line; a list without one refuses it. */
type Csv<R extends ReadName> = Stream.Stream<string, ReadError<R>>

/** A list: run as an effect it is a page; all records are a stream in constant memory, or a table. */
export interface Listing<R extends ListName> extends Effect.Effect<ListPage<R>, ReadError<R>> {
  readonly stream: Stream.Stream<RowOf<R>, ReadError<R>>
  readonly csv: Csv<R>
}

/** A value: run as an effect it is the value; its rows, where it has any, are a stream or a table. */
export interface ValueReading<R extends ValueName>
  extends Effect.Effect<ReadValue<R>, ReadError<R>> {
  readonly rows: R extends RowsName ? Stream.Stream<RowOf<R>, ReadError<R>> : never
  readonly csv: Csv<R>
  /** The value with the point that it was read at, by which it can be read again. */
  readonly answer: Effect.Effect<Around & { readonly value: ReadValue<R> }, ReadError<R>>
}
