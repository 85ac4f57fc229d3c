/** Types of the calls that rooms of a venue's own add: writes by their kinds, and reads by their names. */
import type { Effect, Stream } from "effect"
import type { ProgramInput } from "../kernel/ProgramInput.ts"
import type { Refused, Slug, Unavailable } from "../kernel/Refusal.ts"
import type * as Room from "../nouns/Room.ts"
import type { Around } from "../reads/Queries.ts"
import type { SlugOf } from "../writes/CallRefusals.ts"
import type { WriteAnswer } from "../writes/WriteAnswer.ts"
import type { ListOptions, ListName, PastPoint } from "./ReadTypes.ts"
import type { KeyOption } from "./WriteCalls.ts"

/** A write as a room declares it. */
export interface OwnWrite {
  readonly kind: string
  readonly on: string
  readonly approvers: 0 | 1 | 2
  readonly refuses: ReadonlyArray<Slug>
  readonly input: { readonly Type: unknown; readonly Encoded: unknown }
  readonly result: { readonly Type: unknown }
}

/** A read as a room declares it. */
export interface OwnRead {
  readonly name: string
  readonly params: { readonly Type: unknown; readonly Encoded: unknown }
}

/** Body of a write of a room: the ids of its path and the members of its body. */
export type OwnWriteBody<W extends OwnWrite> = ProgramInput<
  W["input"]["Type"],
  W["input"]["Encoded"]
>

/** A write of a room as it stands: an operation, or an action that awaits its approvers. */
export type OwnAction<W extends OwnWrite> = W extends OwnWrite
  ? Omit<WriteAnswer, "kind" | "result"> & {
      readonly kind: W["kind"]
      /** Result of the write; null until it has succeeded. */
      readonly result: W["result"]["Type"] | null
    }
  : never

/** A write of a room that has succeeded. */
export type OwnSucceeded<A extends { readonly result: unknown }> = Omit<A, "state" | "result"> & {
  readonly state: "succeeded"
  readonly result: NonNullable<A["result"]>
}

/** Slugs by which a write of a room can be refused. */
export type OwnRefusal<W extends OwnWrite> = W extends OwnWrite ? SlugOf<W> : never

/** Failure of a write of a room. */
export type OwnWriteError<W extends OwnWrite> = Refused<OwnRefusal<W>> | Unavailable

/** Parameters of a read of a room. */
export type OwnReadParams<R extends OwnRead> = Omit<
  ProgramInput<R["params"]["Type"], R["params"]["Encoded"]>,
  "format"
>

/** Value, or record of a list, that a read of a room answers. */
export type OwnReadValue<R extends OwnRead> = R extends {
  readonly value: { readonly Type: infer V }
}
  ? V
  : R extends { readonly item: { readonly Type: infer V } }
    ? V
    : never

type OfKind<W, K> = Extract<W, { readonly kind: K }>
type OfName<R, N> = Extract<R, { readonly name: N }>
type NamesOf<R> = R extends { readonly name: infer N extends string } ? N : never

/** Names of the lists of rooms, and of their values. */
type ListNames<R> = NamesOf<Extract<R, { readonly shape: "list" }>>
type ValueNames<R> = NamesOf<Exclude<R, { readonly shape: "list" }>>

interface OwnListOptions<R extends OwnRead> extends Omit<ListOptions<ListName>, "where"> {
  readonly where?: OwnReadParams<R>
}

type OwnListCall<R extends OwnRead> =
  Record<never, never> extends OwnReadParams<R>
    ? readonly [options?: OwnListOptions<R>]
    : readonly [options: OwnListOptions<R> & { readonly where: OwnReadParams<R> }]

type ReadFailure = Refused | Unavailable

/** A value that a room answers: run as an effect it is the value. */
export interface OwnReading<R extends OwnRead> extends Effect.Effect<OwnReadValue<R>, ReadFailure> {
  readonly csv: Stream.Stream<string, ReadFailure>
  /** The value with the point that it was read at, by which it can be read again. */
  readonly answer: Effect.Effect<Around & { readonly value: OwnReadValue<R> }, ReadFailure>
}

/** Page of a list of a room. */
export interface OwnListPage<R extends OwnRead> extends Around {
  readonly value: ReadonlyArray<OwnReadValue<R>>
  readonly next: string | null
}

/** A list of a room: run as an effect it is a page; all records are a stream. */
export interface OwnListing<R extends OwnRead> extends Effect.Effect<OwnListPage<R>, ReadFailure> {
  readonly stream: Stream.Stream<OwnReadValue<R>, ReadFailure>
  readonly csv: Stream.Stream<string, ReadFailure>
}

/** Calls of the writes and reads of rooms, beside those of the engine. */
export interface OwnCalls<W extends OwnWrite, R extends OwnRead> {
  readonly write: <K extends W["kind"]>(
    kind: K,
    body: OwnWriteBody<OfKind<W, K>>,
    options?: KeyOption
  ) => Effect.Effect<OwnAction<OfKind<W, K>>, OwnWriteError<OfKind<W, K>>>
  readonly approve: <A extends OwnAction<W>>(
    action: A,
    options?: KeyOption
  ) => Effect.Effect<A, OwnWriteError<OfKind<W, A["kind"]>>>
  readonly reject: <A extends OwnAction<W>>(
    action: A,
    options?: KeyOption & { readonly reason?: string }
  ) => Effect.Effect<A, OwnWriteError<OfKind<W, A["kind"]>>>
  readonly withdraw: <A extends OwnAction<W>>(
    action: A,
    options?: KeyOption & { readonly reason?: string }
  ) => Effect.Effect<A, OwnWriteError<OfKind<W, A["kind"]>>>
  readonly done: <A extends OwnAction<W>>(
    action: A
  ) => Effect.Effect<OwnSucceeded<A>, OwnWriteError<OfKind<W, A["kind"]>>>
  readonly read: <N extends ValueNames<R>>(
    name: N,
    params: OwnReadParams<OfName<R, N>>,
    point?: PastPoint
  ) => OwnReading<OfName<R, N>>
  readonly list: <N extends ListNames<R>>(
    name: N,
    ...options: OwnListCall<OfName<R, N>>
  ) => OwnListing<OfName<R, N>>
}

/** Calls of a person, with those of rooms where there are any. */
export type CallsWith<P, Rooms> = [Room.WriteOf<Rooms> | Room.QueryOf<Rooms>] extends [never]
  ? P
  : P & OwnCalls<Room.WriteOf<Rooms>, Room.QueryOf<Rooms>>

/** A value that a room answers, for programs of promises. */
export interface OpenOwnReading<R extends OwnRead> extends Promise<OwnReadValue<R>> {
  readonly csv: AsyncIterable<string>
  readonly answer: () => Promise<Around & { readonly value: OwnReadValue<R> }>
}

/** A list of a room: awaited it is a page; iterated it is every record at one point. */
export interface OpenOwnListing<R extends OwnRead>
  extends Promise<OwnListPage<R>>,
    AsyncIterable<OwnReadValue<R>> {
  readonly csv: AsyncIterable<string>
}

/** Calls of the writes and reads of rooms, for programs of promises. */
export interface OpenOwnCalls<W extends OwnWrite, R extends OwnRead> {
  readonly write: <K extends W["kind"]>(
    kind: K,
    body: OwnWriteBody<OfKind<W, K>>,
    options?: KeyOption
  ) => Promise<OwnAction<OfKind<W, K>>>
  readonly approve: <A extends OwnAction<W>>(action: A, options?: KeyOption) => Promise<A>
  readonly reject: <A extends OwnAction<W>>(
    action: A,
    options?: KeyOption & { readonly reason?: string }
  ) => Promise<A>
  readonly withdraw: <A extends OwnAction<W>>(
    action: A,
    options?: KeyOption & { readonly reason?: string }
  ) => Promise<A>
  readonly done: <A extends OwnAction<W>>(action: A) => Promise<OwnSucceeded<A>>
  readonly read: <N extends ValueNames<R>>(
    name: N,
    params: OwnReadParams<OfName<R, N>>,
    point?: PastPoint
  ) => OpenOwnReading<OfName<R, N>>
  readonly list: <N extends ListNames<R>>(
    name: N,
    ...options: OwnListCall<OfName<R, N>>
  ) => OpenOwnListing<OfName<R, N>>
}

/** Calls of a person as promises, with those of rooms where there are any. */
export type OpenCallsWith<P, Rooms> = [Room.WriteOf<Rooms> | Room.QueryOf<Rooms>] extends [never]
  ? P
  : P & OpenOwnCalls<Room.WriteOf<Rooms>, Room.QueryOf<Rooms>>
