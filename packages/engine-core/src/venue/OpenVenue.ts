/** The engine as a library of promises: the object of `Venue.make` for programs without Effect. */
import { Cause, type Context, Effect, Exit, type Layer, ManagedRuntime, Stream } from "effect"
import type { Services } from "../Engine.ts"
import type { Refused as RefusalValue, Slug, Unavailable } from "../kernel/Refusal.ts"
import type { Room } from "../nouns/Room.ts"
import type { Around } from "../reads/Queries.ts"
import type { CallerOptions } from "./Calls.ts"
import { Lazy } from "./Lazy.ts"
import type { OpenCallsWith } from "./OwnCalls.ts"
import type { FeedEvent, FeedOptions, ReadCalls } from "./ReadCalls.ts"
import type {
  ListCall,
  ListName,
  ListPage,
  PastPoint,
  ReadParams,
  ReadValue,
  RowOf,
  RowsName,
  ValueName
} from "./ReadTypes.ts"
import { Refused } from "./Refused.ts"
import type { FileOptions, ReceivedFile, StatementFile } from "./StatementCalls.ts"
import { demandRooms, make, type Person, type Venue } from "./Venue.ts"
import type { KeyOption } from "./WriteCalls.ts"
import type { Action, SucceededAction, WriteBody, WriteKind } from "./WriteTypes.ts"

/** A value: awaited it is the value; its rows, where it has any, are iterated, as is its table. */
export interface OpenReading<R extends ValueName> extends Promise<ReadValue<R>> {
  readonly rows: R extends RowsName ? AsyncIterable<RowOf<R>> : never
  readonly csv: AsyncIterable<string>
  readonly answer: () => Promise<Around & { readonly value: ReadValue<R> }>
}

/** A list: awaited it is a page; iterated it is every record at one point. */
export interface OpenListing<R extends ListName>
  extends Promise<ListPage<R>>,
    AsyncIterable<RowOf<R>> {
  readonly csv: AsyncIterable<string>
}

/** A file of a program without Effect. */
type OpenFile = Uint8Array | string | AsyncIterable<Uint8Array>

/** The calls of a person, each a promise that is rejected with `Refused` where the call is refused. */
export interface OpenPerson {
  readonly sub: string
  readonly write: <K extends WriteKind>(
    kind: K,
    body: WriteBody<K>,
    options?: KeyOption
  ) => Promise<Action<K>>
  readonly approve: <K extends WriteKind>(
    action: Action<K>,
    options?: KeyOption
  ) => Promise<Action<K>>
  readonly reject: <K extends WriteKind>(
    action: Action<K>,
    options?: KeyOption & { readonly reason?: string }
  ) => Promise<Action<K>>
  readonly withdraw: <K extends WriteKind>(
    action: Action<K>,
    options?: KeyOption & { readonly reason?: string }
  ) => Promise<Action<K>>
  readonly done: <K extends WriteKind>(action: Action<K>) => Promise<SucceededAction<K>>
  readonly read: <R extends ValueName>(
    name: R,
    params: ReadParams<R>,
    point?: PastPoint
  ) => OpenReading<R>
  readonly list: <R extends ListName>(name: R, ...options: ListCall<R>) => OpenListing<R>
  readonly precheck: (
    ...call: Parameters<ReadCalls["precheck"]>
  ) => Promise<ReadValue<"instruments.precheck">>
  readonly feed: (options?: FeedOptions) => AsyncIterable<FeedEvent>
  readonly receive: (
    externalSourceId: string,
    file: OpenFile,
    options?: FileOptions
  ) => Promise<ReceivedFile>
}

/** A venue that is open until it is disposed of: `await using venue = await Venue.open(layer)`. */
export interface OpenVenue extends AsyncDisposable {
  readonly as: (caller: CallerOptions) => OpenPerson
  readonly receive: OpenPerson["receive"]
  /** Starts the engine's work in the background, which ends as the venue is closed. */
  readonly run: () => void
  /** Projects the ledger and works until no work is left. */
  readonly settle: () => Promise<void>
  /** Stops the engine and closes what its layer opened. */
  readonly close: () => Promise<void>
}

/** An open venue whose people have the calls of its rooms beside those of the engine. */
export type OpenVenueWith<Rooms, V extends OpenVenue = OpenVenue> = Omit<V, "as"> & {
  readonly as: (caller: CallerOptions) => OpenCallsWith<OpenPerson, Rooms>
}

type Failure = RefusalValue | Unavailable

/** Errors of a call: a refusal, or an error of something that a package adds to the venue. */
type CallError = Failure | Error

const errorOf = (failure: CallError): Refused<Slug> | Error =>
  failure instanceof Error ? failure : new Refused(failure)

/**
 * Opens a venue over a layer of the engine and its ports; `rooms` of the engine type their own calls, and
 * one that it does not have is a defect. A refusal is thrown as `Refused`; any other
 * error is a defect.
 *
 * @example
 * ```ts
 * import { Venue } from "@bursar/engine-core"
 * import { Venue as Ready } from "@bursar/storage-adapters/venue"
 *
 * const venue = await Venue.open(Ready.memory())
 * const olive = venue.as({ sub: "olive", roles: ["operator"] })
 * const refused = await olive.read("instruments.get", { instrumentId: "elf" }).catch((error) => error)
 * refused.slug // => "not-found"
 * await venue.close()
 * ```
 */
export const open = <E, const R extends ReadonlyArray<Room> = readonly []>(
  layer: Layer.Layer<Services, E>,
  { rooms = [] }: { readonly rooms?: R | readonly [] } = {}
): Promise<OpenVenueWith<R[number]>> =>
  // Cast: a person's calls find writes and reads by name in the catalogue, which has those of the rooms.
  openWith(layer, {
    make: Effect.andThen(demandRooms(rooms), make),
    members: () => ({})
  }) as unknown as Promise<OpenVenueWith<R[number]>>

/** Runs a call; the promise is rejected with its error, which of a refusal is `Refused`. */
export type PromiseOf = <A, E extends CallError>(effect: Effect.Effect<A, E>) => Promise<A>

/** Opens a venue with further members, which are made of it and of what its layer provides. */
export const openWith = async <V extends Venue, R, E, M extends object>(
  layer: Layer.Layer<Services | R, E>,
  extension: {
    readonly make: Effect.Effect<V, never, Services | R>
    readonly members: (venue: V, promise: PromiseOf) => M
  }
): Promise<OpenVenue & M> => {
  const runtime = ManagedRuntime.make(layer)
  const venue = await runtime.runPromise(extension.make)
  const context = await runtime.context()
  const calls = callsOf(runtime, context)
  return {
    ...extension.members(venue, calls.promise),
    as: (caller) => personOf(venue.as(caller), calls),
    receive: receiving(venue, calls),
    run: () => {
      runtime.runFork(venue.run)
    },
    settle: () => calls.promise(venue.settle),
    close: () => runtime.dispose(),
    [Symbol.asyncDispose]: () => runtime.dispose()
  }
}

interface CallRunner {
  readonly promise: PromiseOf
  readonly iterable: <A, E extends Failure>(stream: Stream.Stream<A, E>) => AsyncIterable<A>
}

const callsOf = <R, E>(
  runtime: ManagedRuntime.ManagedRuntime<Services | R, E>,
  context: Context.Context<Services>
): CallRunner => ({
  promise: async (effect) => {
    const exit = await runtime.runPromiseExit(Effect.mapError(effect, errorOf))
    if (Exit.isSuccess(exit)) return exit.value
    throw Cause.squash(exit.cause)
  },
  iterable: (stream) => Stream.toAsyncIterableWith(Stream.mapError(stream, errorOf), context)
})

const receiving =
  ({ receive }: Pick<Venue, "receive">, { promise }: CallRunner): OpenPerson["receive"] =>
  (externalSourceId, file, options) =>
    promise(receive(externalSourceId, fileOf(file), options))

/** An iteration that fails is a defect: the bytes are the program's own. */
const fileOf = (file: OpenFile): StatementFile =>
  typeof file === "string" || file instanceof Uint8Array
    ? file
    : Stream.orDie(Stream.fromAsyncIterable(file, (error) => error))

const personOf = (person: Person, calls: CallRunner): OpenPerson => {
  const { iterable, promise } = calls
  return {
    sub: person.sub,
    write: (kind, body, options) => promise(person.write(kind, body, options)),
    approve: (action, options) => promise(person.approve(action, options)),
    reject: (action, options) => promise(person.reject(action, options)),
    withdraw: (action, options) => promise(person.withdraw(action, options)),
    done: (action) => promise(person.done(action)),
    read: <R extends ValueName>(name: R, params: ReadParams<R>, point?: PastPoint) => {
      const reading = person.read(name, params, point)
      // Cast: a value without rows has none to iterate, as its type says.
      const rows = reading.rows as Stream.Stream<unknown, Failure>
      return Object.assign(new Lazy(() => promise(reading)), {
        rows: iterable(rows),
        csv: iterable(reading.csv),
        answer: () => promise(reading.answer)
      }) as unknown as OpenReading<R>
    },
    list: <R extends ListName>(name: R, ...options: ListCall<R>) => {
      const listing = person.list(name, ...options)
      const all = iterable(listing.stream)
      return Object.assign(new Lazy(() => promise(listing)), {
        csv: iterable(listing.csv),
        [Symbol.asyncIterator]: () => all[Symbol.asyncIterator]()
      })
    },
    precheck: (...call) => promise(person.precheck(...call)),
    feed: (options) => iterable(person.feed(options)),
    receive: receiving(person, calls)
  }
}
