/** Declaration of a read: route, audience and sight, parameters, answer. */
import type { Effect, Schema, Stream } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import type * as Pin from "../kernel/Pin.ts"
import type * as Party from "../kernel/Party.ts"
import type { Zone } from "../kernel/Zone.ts"
import type { Refused, Slug, Unavailable } from "../kernel/Refusal.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { Ledger } from "../ports/Ledger.ts"
import type { Feed } from "../ports/storage/Feed.ts"
import type { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import type { Blobs } from "../ports/storage/Blobs.ts"
import type { Bulk } from "../ports/storage/Bulk.ts"
import type { LedgerReach } from "../records/LedgerReach.ts"
import type { Range, Records, Stored } from "../records/Records.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type { ResponseFormat } from "../vocabulary/sets.ts"
import type { Role } from "../vocabulary/Role.ts"
import type { Caller } from "../writes/Caller.ts"
import type { Operations } from "../writes/Operations.ts"
import type { Export as Table } from "./Export.ts"

/** Route of a read. */
export type ReadRoute = `GET /v1/${string}`

/**
 * Records that a role sees: all, what is its own (an investor's holder, an app's operations),
 * what is near (a registrar's instruments), or a redacted view (the monitor).
 */
export type Sight = "all" | "own" | "near" | "redacted"

/** Roles that may make a read, each with how much of it they see. */
export type Audience = { readonly [R in Role]?: Sight }

/** The caller and the point of a read; every clock state is judged at `pin.judgedAt`. */
export interface ReadContext {
  readonly caller: Caller
  /** The role the read is answered under: the first of the audience that the caller holds. */
  readonly role: Role
  readonly sight: Sight
  /** The party the engine acts as, and would act as. */
  readonly venue: Party.Party
  readonly pin: Pin.ResolvedPin
  readonly now: Instant.Instant
}

/** The caller of a read whose point is not resolved yet. */
export type ReadCaller = Omit<ReadContext, "pin">

/** Filter columns that must hold for a caller who does not see everything. */
export type Scope = Readonly<Record<string, ReadonlyArray<string>>>

interface ReadDeclaration {
  /**
   * `standing-approvals.list`: the records, as the route spells them, and what of them is answered.
   */
  readonly name: `${string}.${string}`
  readonly doc: string
  readonly route: ReadRoute
  readonly audience: Audience
  /**
   * Present where each answer is logged in the audit log, or with `only` each answer in that format:
   * the record that its path names, or with null the kind alone; or of a search the kinds and the
   * number of its results.
   */
  readonly audited?:
    | {
        readonly resourceKind: ResourceKind
        readonly named: string | null
        readonly only?: ResponseFormat
      }
    | { readonly as: "search"; detail(params: unknown): Readonly<Record<string, string>> }
  /** True: the read takes at and asOf and answers with the ledger time; else its offset is 0. */
  readonly pinned: boolean
  /**
   * Present where it reads records of the engine's own that no offset dates, such as statements: `offset`
   * of the answer is 0, also where the read takes at and asOf, which then select what was there.
   */
  readonly dated?: "never"
}

/** Records whose reads the API's first release published under camelCase. */
const publishedInCamelCase: ReadonlySet<string> = new Set([
  "distribution-calendar",
  "external-accounts",
  "standing-approvals",
  "standing-settlements"
])

const camelCase = (words: string): string =>
  words.replaceAll(/-([a-z])/g, (_, first: string) => first.toUpperCase())

/**
 * Name under which a read is published for good: the operationId of the document, to which cursors of
 * its lists are bound. It has camelCase after the dot, and before the dot for a few records.
 */
export const publishedName = (name: string): string => {
  const [records = "", answer = ""] = name.split(".")
  return `${publishedInCamelCase.has(records) ? camelCase(records) : records}.${camelCase(answer)}`
}

/** Ranges of filter columns: from ≤ value < to, as texts that sort as what they stand for. */
export type Ranges = Readonly<Record<string, Range>>

/** The answer is one value. */
export interface One<P = unknown, V = unknown, S extends Slug = Slug> extends ReadDeclaration {
  readonly shape: "one"
  /** Path parameters and query parameters in one struct of texts. */
  readonly params: Schema.Codec<P, unknown>
  readonly value: Schema.Codec<V, unknown>
  readonly refuses: ReadonlyArray<S>
  /** Whole seconds after which to poll again; null: the answer is final. */
  lookAgain?(value: NoInfer<V>, now: Instant.Instant): number | null
  /** Id of the operation by whose end the value becomes final; null: it is. */
  awaitedOperation?(value: NoInfer<V>): string | null
  /** Present where the answer can be exported as a table. */
  readonly csv?: Table<NoInfer<P>, NoInfer<V>>
  run(
    params: P,
    asking: ReadContext
  ): Effect.Effect<V, Refused<S> | Unavailable, ViewServices | Bulk | Crypto | LedgerReach>
}

/** Services that views are made from: records, and the declared writes, which summarise them. */
export type ViewServices = Records | Operations

/** Services that rows are computed from: records, and what a reconciliation compares them with. */
export type RowServices = ViewServices | Bulk | Crypto | Ledger | Feed | ProjectionLog

/** A row that is computed from its key. */
export interface ComputedRow<R> {
  readonly sortKey: string
  readonly row: R
}

/** The answer is a page of a collection's records, or all of them. */
export interface List<R = unknown, F = unknown, P = unknown, V = unknown> extends ReadDeclaration {
  readonly shape: "list"
  readonly collection: Collection<R, F>
  /**
   * Present where some roles read another collection instead, with the same ids, sort keys and filter
   * columns: so that its versions, and the window of changes over them, count what those roles are
   * shown and nothing else.
   */
  collectionFor?(role: Role): Collection<R, F>
  /**
   * Further collections that are merged into the list: they have the filter columns of `collection`,
   * and no two records of any of them share a sort key.
   */
  readonly beside?: ReadonlyArray<Collection<R, F>>
  /**
   * Present where the rows are not stored but computed from keys, such as months: returns at most
   * `limit` rows after the sort key `after`, in the order of their sort keys. `collection` then says
   * the id of a row, and the filters of `where` and `ranges` only bind the cursor.
   */
  rows?(
    query: { readonly after: string | undefined; readonly limit: number },
    asking: ReadContext,
    params: P
  ): Effect.Effect<ReadonlyArray<ComputedRow<R>>, Unavailable, RowServices>
  /** Computed rows that are held together while a whole list is streamed; absent: 500. */
  readonly rowsAtOnce?: number
  readonly params: Schema.Codec<P, unknown>
  /**
   * Present where days and months are counted in a zone: the one used, which stands beside the rows,
   * also where there are none.
   */
  zone?(params: P): Zone
  readonly item: Schema.Codec<V, unknown>
  /** Present where the whole list can be exported as a table. */
  readonly csv?: Table<NoInfer<P>, ReadonlyArray<NoInfer<V>>>
  /** Direction of the collection's sort key; `order` describes it in the docs. */
  readonly direction: "asc" | "desc"
  readonly order: string
  /** True: the list takes updatedFrom and updatedTo. */
  readonly changes: boolean
  /** `never`: no write acts on records of the list, so no four-eyes action ever awaits them. */
  readonly acted?: "never"
  /**
   * Checks the record that the path names: refuses `not-found` where the caller cannot see one, and
   * `invalid-request` for parameters that are wrong at the point of the read.
   */
  parent?(
    params: P,
    asking: ReadContext
  ): Effect.Effect<void, Refused<"not-found" | "invalid-request"> | Unavailable, Records>
  /** Filter columns that the parameters ask for, as of the instant at which clock states are judged. */
  where(params: P): Scope
  /** The ranges of filter columns that the parameters ask for. */
  ranges?(params: P): Ranges
  /** Ranges of filter columns that follow from the instant at which clock states are judged. */
  judged?(judgedAt: Instant.Instant): Ranges
  /** Filter columns that follow from other records at the point of the read. */
  narrow?(params: P, asking: ReadContext): Effect.Effect<Scope, Unavailable, Records>
  /**
   * Filter columns that must hold for this caller; absent: every caller sees all records. Evaluated
   * before the point is resolved, so that missing access is refused first.
   */
  scope?(
    who: ReadCaller,
    params: P
  ): Effect.Effect<Scope, Refused<"permission-denied"> | Unavailable, Records>
  /** Views of a page's records for the caller, in the same order, with one look-up for all. */
  view(
    records: ReadonlyArray<Stored<R>>,
    asking: ReadContext,
    params: P
  ): Effect.Effect<ReadonlyArray<V>, Unavailable, ViewServices>
}

/** The answer is a record and every row of a list, both at one point: the rows are streamed. */
export interface Export<
  P = unknown,
  H = unknown,
  R = unknown,
  F = unknown,
  V = unknown,
  A = unknown
> extends ReadDeclaration {
  readonly shape: "export"
  readonly params: Schema.Codec<P, unknown>
  /** The whole answer, for the document and the client: the record, and then the rows. */
  readonly value: Schema.Codec<A, unknown>
  readonly refuses: ReadonlyArray<Slug>
  /** Member of the answer that holds the record, and the read that answers it. */
  readonly recordIn: string
  readonly record: One<NoInfer<P>, H>
  /** Member of the answer that holds the rows, and the list that answers them. */
  readonly rowsIn: string
  readonly rows: List<R, F, NoInfer<P>, V>
  readonly csv: Table<NoInfer<P>, ReadonlyArray<NoInfer<V>>>
}

/**
 * Parts of an answer that is streamed: a record, then its rows, and then the text of a file, or the
 * totals that the rows come to.
 */
export interface StreamedParts<H, V, T = unknown> {
  readonly record: H
  /** Null: deleted by retention, which is not the same as none. */
  readonly rows: Stream.Stream<V, Unavailable> | null
  /** Pieces of the text, none of which ends within a character; null: deleted by retention. */
  readonly text?: Stream.Stream<string, Unavailable> | null
  /** Evaluated once the rows have ended. */
  readonly totals?: Effect.Effect<T, Unavailable>
}

/**
 * The answer is a record with rows and a text that are too large for the memory: both are streamed.
 * The record's rows and text never change once the record is there, or the read is pinned.
 */
export interface StreamedRead<
  P = unknown,
  H = unknown,
  V = unknown,
  A = unknown,
  S extends Slug = Slug,
  T = unknown
> extends ReadDeclaration {
  readonly shape: "streamed"
  readonly params: Schema.Codec<P, unknown>
  /** The whole answer, for the document and the client: record, rows, and text or totals. */
  readonly value: Schema.Codec<A, unknown>
  readonly refuses: ReadonlyArray<S>
  /** Member of the answer that holds the record; absent: the record's members stand beside the rows. */
  readonly recordIn?: string
  readonly record: Schema.Codec<H, unknown>
  /** Member of the answer that holds the rows. */
  readonly rowsIn: string
  readonly row: Schema.Codec<V, unknown>
  /** Member of the answer that holds the text; absent: it has none. */
  readonly textIn?: string
  /** Member of the answer that holds the totals of the rows; absent: it has none. */
  readonly totalsIn?: { readonly member: string; readonly value: Schema.Codec<T, unknown> }
  /** Present where the rows can be exported as a table. */
  readonly csv?: Table<NoInfer<P>, ReadonlyArray<NoInfer<V>>>
  /**
   * True: the rows are so few that an answer without text and totals is printed whole and has a
   * validator, as that of one value has. Absent: no answer has one.
   */
  isSmall?(record: H): boolean
  run(
    params: P,
    asking: ReadContext
  ): Effect.Effect<
    StreamedParts<H, V, T>,
    Refused<S> | Unavailable,
    Records | Bulk | Blobs | Crypto | LedgerReach
  >
}

/** Read of any kind: one value, a list, an export or a stream. */
export type Read = One | List | Export | StreamedRead

/**
 * Parts of a declaration whose exact types the typed calls of a read are derived from: its name, and
 * the form in which a caller gives its parameters.
 */
export interface ReadTypes<P, E, N> {
  readonly name: N
  readonly params: Schema.Codec<P, E>
}

/** A read of one value with the exact types of its call. */
export interface TypedOne<P, E, V, S extends Slug, N> extends One<P, V, S> {
  readonly name: N & ReadDeclaration["name"]
  readonly params: Schema.Codec<P, E>
}

/** A list with the exact types of its call; its records are those of its collection. */
export interface TypedList<P, E, V, N> extends List<unknown, unknown, P, V> {
  readonly name: N & ReadDeclaration["name"]
  readonly params: Schema.Codec<P, E>
}

/** A record with all rows of a list, with the exact types of its call. */
export interface TypedExport<P, E, V, A, N> extends Export<P, unknown, unknown, unknown, V, A> {
  readonly name: N & ReadDeclaration["name"]
  readonly params: Schema.Codec<P, E>
}

/** A streamed answer with the exact types of its call. */
export interface TypedStream<P, E, H, V, A, T, S extends Slug, N>
  extends StreamedRead<P, H, V, A, S, T> {
  readonly name: N & ReadDeclaration["name"]
  readonly params: Schema.Codec<P, E>
}

type DerivedMembers = "shape" | "name"

/** Declares a read of one value. */
export const one = <P, E, V, const S extends Slug, const N extends ReadDeclaration["name"]>(
  declaration: Omit<One<P, V, S>, DerivedMembers> & ReadTypes<P, E, N>
): TypedOne<P, E, V, S, N> => ({ shape: "one", ...declaration })

/** Declares a read of a list. */
export const list = <R, F, P, E, V, const N extends ReadDeclaration["name"]>(
  declaration: Omit<List<R, F, P, V>, DerivedMembers> & ReadTypes<P, E, N>
): TypedList<P, E, V, N> => ({ shape: "list", ...declaration })

/**
 * Declares an export: the record as its own read answers it, and all rows as their list answers
 * them, for the same callers and at the same point.
 */
export const exported = <P, E, H, R, F, V, A, const N extends ReadDeclaration["name"]>(
  declaration: Omit<Export<P, H, R, F, V, A>, DerivedMembers> & ReadTypes<P, E, N>
): TypedExport<P, E, V, A, N> => ({ shape: "export", ...declaration })

/** Declares an answer that is streamed: a record, its rows, and a text or the totals of the rows. */
export const streamed = <
  P,
  E,
  H,
  V,
  A,
  T,
  const S extends Slug,
  const N extends ReadDeclaration["name"]
>(
  declaration: Omit<StreamedRead<P, H, V, A, S, T>, DerivedMembers> & ReadTypes<P, E, N>
): TypedStream<P, E, H, V, A, T, S, N> => ({ shape: "streamed", ...declaration })
