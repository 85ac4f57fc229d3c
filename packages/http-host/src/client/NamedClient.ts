/**
 * The client by name, for Effect: the calls of the plain client as effects and streams, with the slugs of
 * each write in its error. Like that client it has no schema at run time, and no catalogue in its bundle.
 */
import type { Venue } from "@bursar/engine-core"
import { Effect, Stream } from "effect"
import * as PlainClient from "../plain-client.ts"
import { traceparentOfSpan } from "./SpanTrace.ts"

/**
 * Options of the client for Effect: those of the plain client, with an authorization that is an
 * effect.
 */
export interface NamedOptions<
  W extends Venue.OwnWrite = never,
  R extends PlainClient.OwnRead = never
> extends Omit<PlainClient.ClientOptions<W, R>, "authorization"> {
  /** Value of the Authorization header, evaluated for every call. */
  readonly authorization: Effect.Effect<string>
}

/** Error of a call that no write of a kind was, such as a read. */
type NamedCallError =
  | PlainClient.CallRefusal
  | PlainClient.NoAnswer
  | PlainClient.AnswerNotJson
  | PlainClient.InputFault

/** Error of a write: its refusal has the slugs of the kind, and those of every call. */
type NamedWriteError<K extends PlainClient.WriteKind> =
  | Exclude<NamedCallError, PlainClient.CallRefusal>
  | PlainClient.CallRefusal<Venue.RefusalOf<K>>

/** Options of a call, whose signal and trace are those of the fiber. */
type FiberOptions<O> = Omit<O, keyof PlainClient.CallOptions>

type FiberList<R extends PlainClient.ListName> =
  Record<never, never> extends PlainClient.ParamsJson<R>
    ? readonly [options?: FiberOptions<PlainClient.ListOptions<R>>]
    : readonly [
        options: FiberOptions<PlainClient.ListOptions<R>> & {
          readonly where: PlainClient.ParamsJson<R>
        }
      ]

/** The calls of one caller; each does what the plain client's call of its name does. */
export interface NamedClient {
  readonly write: <K extends PlainClient.WriteKind>(
    kind: K,
    body: PlainClient.BodyJson<K>,
    options?: FiberOptions<PlainClient.WriteOptions>
  ) => Effect.Effect<PlainClient.ActionJson<K>, NamedWriteError<K>>
  readonly approve: <K extends PlainClient.WriteKind>(
    action: PlainClient.ActionJson<K>,
    options?: FiberOptions<PlainClient.WriteOptions>
  ) => Effect.Effect<PlainClient.ActionJson<K>, NamedWriteError<K>>
  readonly reject: (
    action: Pick<PlainClient.ActionJson, "actionKey">,
    options?: FiberOptions<PlainClient.KeyedOptions> & { readonly reason?: string }
  ) => Effect.Effect<PlainClient.ApprovalJson, NamedCallError>
  /** Waits until a write has ended; `Effect.timeout` limits the wait below a day. */
  readonly done: <K extends PlainClient.WriteKind>(
    action: PlainClient.ActionJson<K>,
    options?: Pick<PlainClient.DoneOptions, "progress">
  ) => Effect.Effect<
    PlainClient.SucceededActionJson<K>,
    NamedWriteError<K> | PlainClient.ActionNotRun
  >
  readonly read: <R extends PlainClient.ValueName>(
    name: R,
    params: PlainClient.ParamsJson<R>,
    point?: FiberOptions<PlainClient.PointOptions>
  ) => Effect.Effect<PlainClient.AnswerJson<R>, NamedCallError>
  readonly reading: <R extends PlainClient.ValueName>(
    name: R,
    params: PlainClient.ParamsJson<R>,
    point?: FiberOptions<PlainClient.PointOptions>
  ) => Effect.Effect<PlainClient.ReadingJson<R>, NamedCallError>
  readonly list: <R extends PlainClient.ListName>(
    name: R,
    ...options: FiberList<R>
  ) => Effect.Effect<PlainClient.PageJson<R>, NamedCallError>
  readonly pages: <R extends PlainClient.ListName>(
    name: R,
    ...options: FiberList<R>
  ) => Stream.Stream<PlainClient.PageJson<R>, NamedCallError>
  readonly records: <R extends PlainClient.ListName>(
    name: R,
    ...options: FiberList<R>
  ) => Stream.Stream<PlainClient.RowJson<R>, NamedCallError>
  readonly csv: <R extends PlainClient.ReadName>(
    name: R,
    params: PlainClient.ParamsJson<R>,
    point?: FiberOptions<PlainClient.PointOptions>
  ) => Stream.Stream<string, NamedCallError>
  readonly precheck: (
    act: PlainClient.ParamsJson<"instruments.precheck">["act"],
    params: Omit<PlainClient.ParamsJson<"instruments.precheck">, "act">,
    point?: FiberOptions<PlainClient.PointOptions>
  ) => Effect.Effect<PlainClient.AnswerJson<"instruments.precheck">, NamedCallError>
  readonly feed: (
    options?: FiberOptions<PlainClient.FeedOptions>
  ) => Stream.Stream<PlainClient.FeedEventJson, NamedCallError>
  readonly receive: (
    externalSourceId: string,
    file: PlainClient.FileBody,
    options?: FiberOptions<PlainClient.FileOptions>
  ) => Effect.Effect<PlainClient.ReceivedFileJson, NamedCallError>
  readonly reconcile: (
    request: PlainClient.RunRequestJson,
    options?: FiberOptions<PlainClient.KeyedOptions>
  ) => Effect.Effect<PlainClient.RunJson, NamedCallError>
}

/** Error of a write of the venue's own: its refusal has the slugs of its declaration. */
type OwnWriteError<W extends Venue.OwnWrite> =
  | Exclude<NamedCallError, PlainClient.CallRefusal>
  | PlainClient.CallRefusal<Venue.OwnRefusal<W>>

type OwnFiberList<R extends PlainClient.OwnRead> =
  Record<never, never> extends PlainClient.OwnParamsJson<R>
    ? readonly [options?: FiberOptions<PlainClient.OwnListOptions<R>>]
    : readonly [
        options: FiberOptions<PlainClient.OwnListOptions<R>> & {
          readonly where: PlainClient.OwnParamsJson<R>
        }
      ]

type OfKind<W, K> = Extract<W, { readonly kind: K }>
type OfName<R, N> = Extract<R, { readonly name: N }>

/** Calls of the writes and reads that a venue declares itself, beside those of this release. */
export interface NamedOwnCalls<W extends Venue.OwnWrite, R extends PlainClient.OwnRead> {
  readonly write: <K extends W["kind"]>(
    kind: K,
    body: PlainClient.OwnBodyJson<OfKind<W, K>>,
    options?: FiberOptions<PlainClient.WriteOptions>
  ) => Effect.Effect<PlainClient.OwnActionJson<OfKind<W, K>>, OwnWriteError<OfKind<W, K>>>
  readonly approve: <A extends PlainClient.OwnActionJson<W>>(
    action: A,
    options?: FiberOptions<PlainClient.WriteOptions>
  ) => Effect.Effect<A, OwnWriteError<OfKind<W, A["kind"]>>>
  readonly done: <A extends PlainClient.OwnActionJson<W>>(
    action: A,
    options?: Pick<PlainClient.DoneOptions, "progress">
  ) => Effect.Effect<
    A & { readonly state: "succeeded"; readonly result: NonNullable<A["result"]> },
    OwnWriteError<OfKind<W, A["kind"]>> | PlainClient.ActionNotRun
  >
  readonly read: <N extends PlainClient.OwnValueName<R>>(
    name: N,
    params: PlainClient.OwnParamsJson<OfName<R, N>>,
    point?: FiberOptions<PlainClient.PointOptions>
  ) => Effect.Effect<PlainClient.OwnAnswerJson<OfName<R, N>>, NamedCallError>
  readonly reading: <N extends PlainClient.OwnValueName<R>>(
    name: N,
    params: PlainClient.OwnParamsJson<OfName<R, N>>,
    point?: FiberOptions<PlainClient.PointOptions>
  ) => Effect.Effect<PlainClient.OwnReadingJson<OfName<R, N>>, NamedCallError>
  readonly list: <N extends PlainClient.OwnListName<R>>(
    name: N,
    ...options: OwnFiberList<OfName<R, N>>
  ) => Effect.Effect<PlainClient.OwnPageJson<OfName<R, N>>, NamedCallError>
  readonly pages: <N extends PlainClient.OwnListName<R>>(
    name: N,
    ...options: OwnFiberList<OfName<R, N>>
  ) => Stream.Stream<PlainClient.OwnPageJson<OfName<R, N>>, NamedCallError>
  readonly records: <N extends PlainClient.OwnListName<R>>(
    name: N,
    ...options: OwnFiberList<OfName<R, N>>
  ) => Stream.Stream<PlainClient.OwnAnswerJson<OfName<R, N>>, NamedCallError>
  readonly csv: <N extends R["name"]>(
    name: N,
    params: PlainClient.OwnParamsJson<OfName<R, N>>,
    point?: FiberOptions<PlainClient.PointOptions>
  ) => Stream.Stream<string, NamedCallError>
}

/** A client by name, with the calls of a venue's own declarations where it has any. */
export type NamedClientWith<W extends Venue.OwnWrite, R extends PlainClient.OwnRead> = [
  W | R
] extends [never]
  ? NamedClient
  : NamedClient & NamedOwnCalls<W, R>

type Failure = NamedCallError | PlainClient.ActionNotRun

const isFailure = (error: unknown): error is Failure =>
  error instanceof PlainClient.CallRefusal ||
  error instanceof PlainClient.NoAnswer ||
  error instanceof PlainClient.AnswerNotJson ||
  error instanceof PlainClient.InputFault ||
  error instanceof PlainClient.ActionNotRun

/** Options of the call that a fiber makes: its trace, and a signal that ends the call with the fiber. */
const optionsOf = (signal: AbortSignal, traceparent: string | null): PlainClient.CallOptions =>
  traceparent === null ? { signal } : { signal, traceparent }

const effectOf = <A>(
  call: (options: PlainClient.CallOptions) => Promise<A>
): Effect.Effect<A, Failure> =>
  Effect.flatMap(traceparentOfSpan, (traceparent) =>
    Effect.tryPromise({
      try: (signal) => call(optionsOf(signal, traceparent)),
      catch: (error) => error
    })
  ).pipe(Effect.catch(failedOrDead))

const failedOrDead = (error: unknown): Effect.Effect<never, Failure> =>
  isFailure(error) ? Effect.fail(error) : Effect.die(error)

const streamOf = <A>(
  iterate: (options: PlainClient.CallOptions) => AsyncIterable<A>
): Stream.Stream<A, Failure> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const controller = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (left) => Effect.sync(() => left.abort())
      )
      const options = optionsOf(controller.signal, yield* traceparentOfSpan)
      return Stream.fromAsyncIterable(iterate(options), (error) => error)
    })
  ).pipe(Stream.catch((error) => Stream.fromEffect(failedOrDead(error))))

/**
 * Makes a client by name over the platform's fetch. Throws on an address that is none. A venue with rooms
 * of its own gives their table, which types their calls: `named({ table: ClientTable.ofRooms(rooms), … })`.
 */
export const named = <W extends Venue.OwnWrite = never, R extends PlainClient.OwnRead = never>({
  authorization,
  ...options
}: NamedOptions<W, R>): NamedClientWith<W, R> => {
  const client: PlainClient.Client = PlainClient.make({
    ...options,
    authorization: () => Effect.runPromise(authorization)
  })
  // Cast: each name has the types that the plain client's call of it has.
  return {
    write: (kind: "holder.close", body: never, callOptions: object) =>
      effectOf((fiber) => client.write(kind, body, { ...callOptions, ...fiber })),
    approve: (action: PlainClient.ActionJson, callOptions: object) =>
      effectOf((fiber) => client.approve(action, { ...callOptions, ...fiber })),
    reject: (action: PlainClient.ActionJson, callOptions: object) =>
      effectOf((fiber) => client.reject(action, { ...callOptions, ...fiber })),
    done: (action: PlainClient.ActionJson, callOptions: object) =>
      effectOf((fiber) => client.done(action, { ...callOptions, ...fiber })),
    read: (name: "holders.get", params: never, callOptions: object) =>
      effectOf((fiber) => client.read(name, params, { ...callOptions, ...fiber })),
    reading: (name: "holders.get", params: never, callOptions: object) =>
      effectOf((fiber) => client.reading(name, params, { ...callOptions, ...fiber })),
    list: (name: "holders.list", callOptions: object) =>
      effectOf((fiber) => client.list(name, { ...callOptions, ...fiber })),
    pages: (name: "holders.list", callOptions: object) =>
      streamOf((fiber) => client.pages(name, { ...callOptions, ...fiber })),
    records: (name: "holders.list", callOptions: object) =>
      streamOf((fiber) => client.records(name, { ...callOptions, ...fiber })),
    csv: (name: "holders.list", params: never, callOptions: object) =>
      streamOf((fiber) => client.csv(name, params, { ...callOptions, ...fiber })),
    precheck: (act: "claim", params: never, callOptions: object) =>
      effectOf((fiber) => client.precheck(act as never, params, { ...callOptions, ...fiber })),
    feed: (callOptions: object) => streamOf((fiber) => client.feed({ ...callOptions, ...fiber })),
    receive: (externalSourceId: string, file: PlainClient.FileBody, callOptions: object) =>
      effectOf((fiber) => client.receive(externalSourceId, file, { ...callOptions, ...fiber })),
    reconcile: (request: PlainClient.RunRequestJson, callOptions: object) =>
      effectOf((fiber) => client.reconcile(request, { ...callOptions, ...fiber }))
  } as unknown as NamedClientWith<W, R>
}
