/**
 * Types of requests and answers as JSON has them, derived from those of the façade `Venue` and of the
 * declarations: a decimal is text, a whole number a number, an instant its text.
 */
import type {
  ApprovalView,
  EventQueries,
  RunRequest,
  RunView,
  Venue,
  Vocabulary,
  WriteAnswer
} from "@bursar/engine-core"
import type { Duration, PlainJson, PlainNumber, ProgramInput } from "@bursar/engine-core/kernel"

/** A value of JSON whose form nobody declares: a whole number is a number, a decimal is its text. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | ReadonlyArray<JsonValue>
  | { readonly [member: string]: JsonValue }

/**
 * Form in JSON of an input that the façade takes: without the values that only a program of the engine
 * has, such as a Decimal.
 */
export type InputJson<A> = [PlainJson.Printable] extends [A]
  ? JsonValue
  : A extends bigint
    ? never
    : true extends Same<A, PlainNumber.PlainNumber>
      ? never
      : A extends string | number | boolean | null | undefined
        ? A
        : A extends ReadonlyArray<infer U>
          ? ReadonlyArray<InputJson<U>>
          : { readonly [M in keyof A]: InputJson<A[M]> }

type IsUnion<A, B = A> = A extends unknown ? ([B] extends [A] ? false : true) : never

/** Type-level predicate: whether a text is a literal or a word of a room, and no `string` or branded text. */
type IsWord<W extends string> = W extends Vocabulary.OwnWord.OwnWord
  ? true
  : Record<never, never> extends { [K in W]: 1 }
    ? false
    : true

/** A set of words may gain one: a text that this release does not know. */
type UnknownWord<W extends string> = [W] extends [never]
  ? never
  : IsWord<W> extends true
    ? true extends IsUnion<W>
      ? string & Record<never, never>
      : never
    : never

type Same<A, B> = [A, B] extends [B, A] ? true : false

type Each<T> = T extends string
  ? IsWord<T> extends true
    ? T
    : string
  : T extends bigint
    ? string
    : T extends number
      ? number
      : T extends null | undefined | boolean
        ? T
        : true extends Same<T, Duration.Duration> | Same<T, PlainNumber.PlainNumber>
          ? string
          : T extends ReadonlyArray<infer U>
            ? ReadonlyArray<ValueJson<U>>
            : { readonly [M in keyof T]: ValueJson<T[M]> }

/**
 * Form in JSON of a decoded value: decimals, instants and durations are texts, and a set of words may
 * have others than those that this release knows.
 */
export type ValueJson<T> = [PlainJson.Plain] extends [T]
  ? JsonValue
  : Each<T> | UnknownWord<Extract<T, string>>

/** Kind of a write. */
export type WriteKind = Venue.WriteKind
/** Name of a read. */
export type ReadName = Venue.ReadName
/** Name of a read that answers a list. */
export type ListName = Venue.ListName
/** Name of a read that answers one value. */
export type ValueName = Venue.ValueName

/** Body of a write, with the ids of its path and the member of If-Match; members with a default are optional. */
export type BodyJson<K extends WriteKind> = InputJson<Venue.WriteBody<K>>

/** Result of a write that succeeded. */
export type ResultJson<K extends WriteKind> = ValueJson<Venue.WriteResult<K>>

/** Parameters of a read: the ids of its path and the filters of its query. */
export type ParamsJson<R extends ReadName> = InputJson<Venue.ReadParams<R>>

/** Value that a read answers. */
export type AnswerJson<R extends ValueName> = ValueJson<Venue.ReadValue<R>>

/** Record of a list. */
export type RowJson<R extends ListName> = ValueJson<Venue.RowOf<R>>

/** A write as it stands: an operation, or an action that awaits its approvers. */
export type ActionJson<K extends WriteKind = WriteKind> = Omit<
  ValueJson<WriteAnswer>,
  "kind" | "result"
> & {
  readonly kind: K
  /** Result of the write; null until it has succeeded. */
  readonly result: ResultJson<K> | null
}

/** A write that has succeeded. */
export type SucceededActionJson<K extends WriteKind = WriteKind> = Omit<
  ActionJson<K>,
  "state" | "result"
> & { readonly state: "succeeded"; readonly result: ResultJson<K> }

/** A four-eyes action as its record stands. */
export type ApprovalJson = ValueJson<ApprovalView>

/** Point that an answer was read at. */
export interface PointJson {
  readonly offset: number
  /** Absent on reads that no point of the past answers. */
  readonly ledgerTime?: string | null
  readonly now: string
}

/** Value that a read answered, with the point that it was read at. */
export interface ReadingJson<R extends ValueName> extends PointJson {
  readonly value: AnswerJson<R>
}

/** Page of a list, with the point that it was read at. */
export interface PageJson<R extends ListName> extends PointJson {
  readonly value: ReadonlyArray<RowJson<R>>
  /** Cursor of the next page, for `after`; null: this is the last one. */
  readonly next: string | null
}

/**
 * An event of the feed. The last one of each page has the cursor after it; a reader that keeps the last
 * cursor and goes on there misses none, and may read some twice.
 */
export type FeedEventJson = ValueJson<EventQueries.Event> & { readonly cursor: string | null }

/** Filters of the feed. */
export type FeedFilters = Omit<InputJson<Venue.FeedOptions>, "after" | "every" | "until">

/** Body of a call that starts a reconciliation run. */
export type RunRequestJson = DecodedInput<typeof RunRequest>
/** Reconciliation run as the wire has it. */
export type RunJson = ValueJson<RunView>
/** Answer to a file of statements. */
export type ReceivedFileJson = ValueJson<Venue.ReceivedFile>

/** A write of a venue's own, as `Operation.define` declares it. */
export interface OwnWrite {
  readonly kind: string
  readonly input: { readonly Type: unknown; readonly Encoded: unknown }
  readonly result: { readonly Type: unknown }
}

/** A read of a venue's own, as `Read.one` and `Read.list` declare it. */
export interface OwnRead {
  readonly name: string
  readonly params: { readonly Type: unknown; readonly Encoded: unknown }
}

type DecodedInput<S extends OwnWrite["input"]> = InputJson<
  ProgramInput.ProgramInput<S["Type"], S["Encoded"]>
>

/** Body of a write of the venue's own. */
export type OwnBodyJson<W extends OwnWrite> = DecodedInput<W["input"]>

/** Parameters of a read of the venue's own. */
export type OwnParamsJson<R extends OwnRead> = Omit<DecodedInput<R["params"]>, "format">

/** Value, or record of a list, that a read of the venue's own answers. */
export type OwnAnswerJson<R extends OwnRead> = R extends {
  readonly value: { readonly Type: infer V }
}
  ? ValueJson<V>
  : R extends { readonly item: { readonly Type: infer V } }
    ? ValueJson<V>
    : never

type NameOf<R> = R extends { readonly name: infer N extends string } ? N : never

/** Names of the lists of the venue's own. */
export type OwnListName<R extends OwnRead> = NameOf<Extract<R, { readonly shape: "list" }>>

/** Names of the reads of the venue's own that answer one value. */
export type OwnValueName<R extends OwnRead> = NameOf<Exclude<R, { readonly shape: "list" }>>

/** Value that a read of the venue's own answered, with the point that it was read at. */
export interface OwnReadingJson<R extends OwnRead> extends PointJson {
  readonly value: OwnAnswerJson<R>
}

/** Page of a list of the venue's own, with the point that it was read at. */
export interface OwnPageJson<R extends OwnRead> extends PointJson {
  readonly value: ReadonlyArray<OwnAnswerJson<R>>
  /** Cursor of the next page, for `after`; null: this is the last one. */
  readonly next: string | null
}

/** A write of the venue's own as it stands. */
export type OwnActionJson<W extends OwnWrite> = Omit<ActionJson, "kind" | "result"> & {
  readonly kind: W["kind"]
  readonly result: ValueJson<W["result"]["Type"]> | null
}
