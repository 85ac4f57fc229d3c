/** The typed client: calls any declared write or read, and keeps every digit of its decimals. */
import {
  ApprovalView,
  Catalogue,
  EventQueries,
  type Operation,
  type PointParams,
  type Read,
  WriteAnswer
} from "@bursar/engine-core"
import { Instant, Offset, PlainJson } from "@bursar/engine-core/kernel"
import type { Room } from "@bursar/engine-core/rooms"
import { type Cause, Duration, Effect, Option, Result, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { answerOf } from "./api/answerOf.ts"
import * as Params from "./api/Params.ts"
import * as Verb from "./api/Verb.ts"
import * as Call from "./client/Call.ts"
import { AnswerUnreadable, type CallError, InputInvalid } from "./client/Errors.ts"
import { withinDefault, withRetries } from "./client/RetryPolicy.ts"
import type { PointAndPage } from "./client/Repeat.ts"
import type { DecodedValue, Input } from "./client/OpenSets.ts"
import * as Waiting from "./client/Waiting.ts"
import { heldFor } from "./plain-client/Patience.ts"

export type { File, Options } from "./client/Call.ts"
export {
  ActionEnded,
  AnswerUnreadable,
  type CallError,
  CallRefused,
  InputInvalid,
  OperationFailed
} from "./client/Errors.ts"
export {
  named,
  type NamedClient,
  type NamedClientWith,
  type NamedOptions,
  type NamedOwnCalls
} from "./client/NamedClient.ts"
export { type PointAndPage, repeat, type Repeatable } from "./client/Repeat.ts"
export { isUnknown, type DecodedValue, type Input, type UnknownValue } from "./client/OpenSets.ts"
export * as Signature from "./client/Signature.ts"
export * as WebhookReceiver from "./client/WebhookReceiver.ts"

interface AnswerPoint {
  readonly offset: Offset.Offset
  readonly ledgerTime: Instant.Instant | null
  readonly now: Instant.Instant
  /**
   * Point and page that the call asked for, from which `repeat` derives the parameters that repeat
   * the answer.
   */
  readonly pointAndPage: PointAndPage
}

/** Answer with one value, and the point that it was read at. */
export interface One<V> extends AnswerPoint {
  readonly value: DecodedValue<V>
}

/** Answer with a page of a list, and the point that it was read at. */
export interface Page<V> extends AnswerPoint {
  readonly value: ReadonlyArray<DecodedValue<V>>
  readonly next: string | null
}

/** Page of the feed of events. */
export interface FeedPage {
  readonly events: ReadonlyArray<DecodedValue<EventQueries.Event>>
  /**
   * Cursor after the last of these events. A caller stores it once the events are handled, and
   * passes it as `after` at its next start.
   */
  readonly cursor: string
}

/** Answer to a write, with the result of its kind. */
export type TypedWriteAnswer<R> = Omit<DecodedValue<WriteAnswer>, "result"> & {
  readonly result: DecodedValue<R | null>
}

/** Client of a venue: a method for every write and read. */
export interface Client {
  /**
   * Makes a write; the answer is an operation, or an action that awaits its approvers. An approver
   * approves another person's action by the same write under its maker's key, or under no key
   * (`key: null`).
   */
  readonly write: <K extends Operation.Operation["kind"], I, R>(
    operation: Writable<K, I, R>,
    input: Input<NoInfer<I>>,
    settings?: WriteSettings & {
      /** ETag of the state that the caller saw and replaces, where the write takes If-Match. */
      readonly ifMatch?: string | null
    }
  ) => Effect.Effect<TypedWriteAnswer<R>, CallError>
  /**
   * Waits until the operation of a write has ended: the service holds its answer back until then, and
   * one that does not is polled as often as its Retry-After says. An action is polled until it is
   * approved. Calls that end with 429, 503 or no answer are retried,
   * never sooner than their Retry-After says; where that is longer than `within`, the wait fails
   * with the refusal. Fails with the problem of the operation, or where the action ended without an
   * operation.
   */
  readonly wait: <R>(
    written: TypedWriteAnswer<R>,
    settings?: Waiting.Options<TypedWriteAnswer<R>>
  ) => Effect.Effect<TypedWriteAnswer<R>, CallError | Waiting.WaitError | Cause.TimeoutError>
  readonly one: <P, V>(
    read: Readable<P> & Pick<Read.One<P, V>, "value">,
    params: Input<NoInfer<P>>,
    point?: PointParams
  ) => Effect.Effect<One<V>, CallError>
  /** Returns a page; without a limit the whole list in one answer. */
  readonly list: <P, V>(
    read: Readable<P> & Pick<Read.List<unknown, unknown, P, V>, "item">,
    params: Input<NoInfer<P>>,
    pointAndPage?: PointAndPage
  ) => Effect.Effect<Page<V>, CallError>
  /**
   * Streams all pages at one point; the next page is requested when the previous one has been
   * consumed. Calls that end with 429, 503 or no answer are retried as the service's Retry-After
   * says; one longer than a day fails the stream with the refusal.
   */
  readonly pages: <P, V>(
    read: Readable<P> & Pick<Read.List<unknown, unknown, P, V>, "item">,
    params: Input<NoInfer<P>>,
    pointAndPage?: PointAndPage
  ) => Stream.Stream<Page<V>, CallError>
  /** Streams all records at one point. */
  readonly records: <P, V>(
    read: Readable<P> & Pick<Read.List<unknown, unknown, P, V>, "item">,
    params: Input<NoInfer<P>>,
    pointAndPage?: PointAndPage
  ) => Stream.Stream<DecodedValue<V>, CallError>
  /**
   * Streams the event feed without an end: pages with at least one event, each with the cursor
   * after it. Delivery is at least once: a stream that starts at the stored cursor repeats the
   * events that were not handled.
   */
  readonly events: (
    params: EventQueries.EventParams,
    settings?: FeedOptions
  ) => Stream.Stream<FeedPage, CallError>
  /**
   * Approves an action with the figures that `action` shows, and no others. Once they have moved,
   * the call is refused (`rule-refused`, check `figures-moved`), and the action has to be read
   * again.
   */
  readonly approve: (
    action: Approvable,
    settings?: WriteSettings
  ) => Effect.Effect<DecodedValue<WriteAnswer>, CallError>
  readonly reject: (
    actionKey: string,
    settings?: WriteKey & { readonly reason?: string }
  ) => Effect.Effect<DecodedValue<ApprovalView>, CallError>
  /**
   * Calls a write that ends in the call: `reconciliationRun` of the engine runs a reconciliation, and
   * is refused with `overloaded` after some seconds while another one runs.
   */
  readonly immediate: <I, V>(
    declaration: Immediate<I, V>,
    request: Input<NoInfer<I>>,
    settings?: WriteKey
  ) => Effect.Effect<DecodedValue<V>, CallError>
  /**
   * Sends a file, whole or as a stream: `Intake.statementFile` of the engine hands a statement in, and
   * is answered its record, or a receipt where the caller may not read it. A stream is read once. A
   * client that signs its requests needs the hash of a stream.
   */
  readonly upload: <P, V>(
    declaration: Uploadable<P, V>,
    params: Input<NoInfer<P>>,
    settings: WriteKey & { readonly file: Call.File }
  ) => Effect.Effect<DecodedValue<V>, CallError>
}

/** A call whose body is a file. */
export interface Uploadable<P, V> {
  /** Method and path. */
  readonly route: string
  readonly params: Schema.Codec<P, unknown>
  readonly result: Schema.Codec<V, unknown>
}

/** A write that ends in its call and opens no operation. */
export interface Immediate<I, V> {
  /** Method and path. */
  readonly route: string
  readonly input: Schema.Codec<I, unknown>
  readonly result: Schema.Codec<V, unknown>
}

/**
 * Idempotency key of a write. Absent: a new key; null: no key is sent, and the write is identified
 * by its body.
 */
export interface WriteKey {
  readonly key?: string | null
}

/** Key of a write that opens an operation, and for how long its call waits for the operation's end. */
export interface WriteSettings extends WriteKey {
  /**
   * Time for which the service holds the answer back until the operation has ended, in whole seconds
   * and at most 60; absent: it answers at once.
   */
  readonly wait?: Duration.Input
}

/**
 * An action as its maker's call returned it, or as it was read; without figures an approval signs
 * none.
 */
export interface Approvable {
  readonly actionKey: string | null
  readonly figuresHash: string | null
}

/** Options of a walk through the feed. */
export interface FeedOptions {
  /** Cursor that the caller stored last; absent: the first event that is kept. */
  readonly after?: string
  readonly limit?: number
  /**
   * Interval between polls at the end of the feed where the service does not hold its answer back until
   * an event comes; one second by default.
   */
  readonly every?: Duration.Input
}

type Writable<K extends Operation.Operation["kind"], I, R> = Pick<
  Operation.OperationDeclaration<K, I, R, never>,
  "kind" | "doc" | "input" | "ifMatch" | "result"
> & { readonly route: Operation.Route }
type Readable<P> = Pick<Read.One<P>, "name" | "route" | "params">

/** Union of the declared writes, and of the declared reads, with those of rooms. */
type WritesWith<R> = Catalogue.DeclaredOperation | Room.WriteOf<R>
type ReadsWith<R> = Catalogue.DeclaredRead | Room.QueryOf<R>

/**
 * Look-ups of a venue with rooms of its own, lowest first: `operation` and `read` as those of this module,
 * with the writes and reads of the rooms beside those of the engine.
 */
export const ofRooms = <const R extends ReadonlyArray<Room.Room>>(rooms: R) => {
  const { operations, queries } = Catalogue.withRooms(rooms)
  return {
    operation: <K extends WritesWith<R[number]>["kind"]>(
      kind: K
    ): Extract<WritesWith<R[number]>, { readonly kind: K }> => {
      const found = operations.find((operation) => operation.kind === kind)
      if (found === undefined) throw new Error(`no operation is called ${kind}`)
      return found as Extract<WritesWith<R[number]>, { readonly kind: K }>
    },
    read: <N extends ReadsWith<R[number]>["name"]>(
      name: N
    ): Extract<ReadsWith<R[number]>, { readonly name: N }> => {
      const found = queries.find((read) => read.name === name)
      if (found === undefined) throw new Error(`no read is called ${name}`)
      return found as Extract<ReadsWith<R[number]>, { readonly name: N }>
    }
  }
}

/** Finds the declaration of a write by its kind: `operation("subscription.claim")`. */
export const operation = <K extends Catalogue.DeclaredOperation["kind"]>(
  kind: K
): Extract<Catalogue.DeclaredOperation, { readonly kind: K }> => ofRooms([]).operation(kind)

/** Finds the declaration of a read by its name: `read("holders.get")`. */
export const read = <N extends Catalogue.DeclaredRead["name"]>(
  name: N
): Extract<Catalogue.DeclaredRead, { readonly name: N }> => ofRooms([]).read(name)

/** Makes a client over the platform's fetch, in Node and in browsers. */
export const overFetch = (options: Omit<Call.Options, "httpClient">): Client =>
  make({
    ...options,
    httpClient: Effect.runSync(
      Effect.provide(Effect.service(HttpClient.HttpClient), FetchHttpClient.layer)
    )
  })

/** Page size of streams where the caller gives no limit. */
const pageLimit = 500

/** Client of the venue at an address, for one caller. */
export const make = (options: Call.Options): Client => {
  const ask = Call.make(options)
  const makeKey = options.makeKey ?? (() => crypto.randomUUID())
  const keyed = ({ key = makeKey() }: WriteKey = {}): Pick<Call.RequestParts, "key"> =>
    key === null ? {} : { key }
  const opening = ({
    wait,
    ...key
  }: WriteSettings = {}): Pick<Call.RequestParts, "key" | "wait"> =>
    wait === undefined
      ? keyed(key)
      : { ...keyed(key), wait: Math.max(0, Math.floor(Duration.toSeconds(wait))) }
  const call: Plain = (schema, parts) => Effect.map(ask(schema, parts), ({ value }) => value)

  const list: Client["list"] = (declaration, params, paging = {}) => {
    const schema = Schema.Struct({
      ...around,
      value: Schema.Array(declaration.item),
      next: Schema.NullOr(Schema.String)
    })
    return Effect.flatMap(reading(declaration, params, standardOf(paging)), (parts) =>
      Effect.map(call(schema, parts), (page) => ({ ...page, pointAndPage: paging }))
    )
  }

  const pages: Client["pages"] = (declaration, params, paging = {}) =>
    Stream.paginate(paging, (pointAndPage) =>
      Effect.map(
        withRetries(list(declaration, params, { limit: pageLimit, ...pointAndPage })),
        (page) =>
          [
            [page],
            page.next === null ? Option.none() : Option.some({ ...pointAndPage, after: page.next })
          ] as const
      )
    )

  const operationOf = (operationId: string) =>
    Effect.map(
      ask(one(WriteAnswer), { ...operationPath, params: { operationId }, wait: heldFor }),
      ({ value, ...answer }) => ({ ...answer, value: value.value })
    )

  return {
    write: <K extends Operation.Operation["kind"], I, R>(
      declaration: Writable<K, I, R>,
      input: Input<I>,
      settings: Parameters<Client["write"]>[2]
    ) =>
      Effect.gen(function* () {
        const path = Verb.parse(declaration.route)
        const { params, rest } = split(path, yield* encode(declaration.input, input))
        const { body, ifMatch } = yield* Effect.fromResult(
          matched(declaration, rest, settings?.ifMatch)
        )
        const parts = { path, params, body, ...ifMatch, ...opening(settings) }
        const { location, value } = yield* ask(Schema.NullOr(answerOf(declaration)), parts)
        if (value !== null) return value as TypedWriteAnswer<R>
        // A removal that this call completed has no body; its Location names the operation.
        const operationId = location?.split("/").at(-1)
        if (operationId === undefined) {
          return yield* new AnswerUnreadable({ status: 204, detail: "no Location" })
        }
        return (yield* operationOf(operationId)).value as TypedWriteAnswer<R>
      }),
    wait: (written, settings = {}) =>
      Waiting.wait(
        {
          operation: (operationId) =>
            operationOf(operationId) as Effect.Effect<
              Call.DecodedAnswer<typeof written>,
              CallError
            >,
          action: (actionKey) =>
            Effect.map(
              call(one(ApprovalView), { ...approvalPath, params: { actionKey } }),
              ({ value }) => value
            )
        },
        written,
        settings
      ).pipe(Effect.timeout(settings.within ?? withinDefault)),
    one: (declaration, params, point = {}) =>
      Effect.flatMap(reading(declaration, params, standardOf(point)), (parts) =>
        Effect.map(call(one(declaration.value), parts), (answer) => ({
          ...answer,
          pointAndPage: point
        }))
      ),
    list,
    pages,
    records: (declaration, params, paging) =>
      Stream.flatMap(pages(declaration, params, paging), ({ value }) => Stream.fromIterable(value)),
    events: (params, settings = {}) => feed(ask, params, settings),
    approve: ({ actionKey, figuresHash }, settings) =>
      actionKey === null
        ? Effect.fail(new InputInvalid({ detail: "a write of one person awaits no approval" }))
        : call(WriteAnswer, {
            ...approvePath,
            params: { actionKey },
            body: {},
            ...(figuresHash === null ? {} : { ifMatch: figuresHash }),
            ...opening(settings)
          }),
    reject: (actionKey, settings) =>
      call(ApprovalView, {
        ...rejectPath,
        params: { actionKey },
        body: { reason: settings?.reason ?? null },
        ...keyed(settings)
      }),
    immediate: (declaration, request, settings) =>
      Effect.flatMap(encode(declaration.input, request), (encoded) => {
        const path = Verb.parse(declaration.route)
        const { params, rest } = split(path, encoded)
        return call(declaration.result, { path, params, body: rest, ...keyed(settings) })
      }),
    upload: (declaration, params, { file, ...settings }) =>
      Effect.gen(function* () {
        if (
          options.signing !== undefined &&
          !(file.bytes instanceof Uint8Array) &&
          file.sha256 === undefined
        ) {
          return yield* new InputInvalid({ detail: "a signed stream needs the hash of its bytes" })
        }
        const path = Verb.parse(declaration.route)
        const { params: inPath, rest } = split(path, yield* encode(declaration.params, params))
        const parts = { path, params: inPath, query: texts(rest), file, ...keyed(settings) }
        return yield* call(declaration.result, parts)
      })
  }
}

/** A call that returns the value alone. */
type Plain = <A>(
  schema: Schema.Codec<A, unknown>,
  parts: Call.RequestParts
) => Effect.Effect<DecodedValue<A>, CallError>

const feed = (ask: Call.Call, params: EventQueries.EventParams, settings: FeedOptions) => {
  const page = (after: string | undefined) =>
    Effect.flatMap(encode(EventQueries.EventParams, params), (encoded) =>
      withRetries(
        ask(EventPage, {
          path: eventsPath,
          params: {},
          wait: heldFor,
          query: {
            ...texts(encoded),
            ...standardOf({
              limit: settings.limit ?? pageLimit,
              ...(after === undefined ? {} : { after })
            })
          }
        })
      )
    )
  return Stream.paginate(settings.after, (after) =>
    Effect.gen(function* () {
      const { hasWaited, value: answer } = yield* page(after)
      const { next, value } = answer
      // An empty page repeats the cursor: the end of the feed, which is polled after a pause.
      if (value.length === 0 && !hasWaited) {
        yield* Effect.sleep(settings.every ?? Duration.seconds(1))
      }
      const pages: ReadonlyArray<FeedPage> =
        value.length === 0 && next === after ? [] : [{ events: value, cursor: next }]
      return [pages, Option.some(next)] as const
    })
  )
}

const EventPage = Schema.Struct({
  offset: Offset.schema,
  now: Instant.schema,
  value: Schema.Array(EventQueries.Event),
  next: Schema.String
})

const eventsPath = Verb.parse("GET /v1/events")
const operationPath = { path: Verb.parse("GET /v1/operations/{operationId}") }
const approvalPath = { path: Verb.parse("GET /v1/approvals/{actionKey}") }
const approvePath = { path: Verb.parse("POST /v1/approvals/{actionKey}:approve") }
const rejectPath = { path: Verb.parse("POST /v1/approvals/{actionKey}:reject") }

const around = {
  offset: Offset.schema,
  ledgerTime: Schema.NullOr(Instant.schema).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(null))
  ),
  now: Instant.schema
}

const one = <V>(value: Schema.Codec<V, unknown>) => Schema.Struct({ ...around, value })

const reading = <P>(declaration: Readable<P>, params: Input<P>, standard: Call.Texts) =>
  Effect.map(encode(declaration.params, params), (encoded): Call.RequestParts => {
    const path = Verb.parse(declaration.route)
    const { params: inPath, rest } = split(path, encoded)
    return { path, params: inPath, query: { ...texts(rest), ...standard } }
  })

/**
 * Encodes an input. Fails with `InputInvalid`, and sends nothing, where the declaration does not
 * accept it.
 */
const encode = <A>(
  schema: Schema.Codec<A, unknown>,
  value: Input<A>
): Effect.Effect<Readonly<Record<string, unknown>>, InputInvalid> =>
  // Cast: the schema itself validates the value.
  Schema.encodeEffect(schema)(value as A).pipe(
    Effect.mapError(({ message }) => new InputInvalid({ detail: message })),
    Effect.tap((encoded) =>
      Effect.try({
        // A value that JSON cannot represent, such as half of a surrogate pair, is refused and
        // never replaced.
        try: () => PlainJson.stringify(encoded as PlainJson.Printable),
        catch: (error) => new InputInvalid({ detail: String(error) })
      })
    ),
    Effect.map((encoded) => ({ ...(encoded as object) }))
  )

/** Splits an input into the members of the path and the rest. */
const split = ({ names }: Verb.Path, input: Readonly<Record<string, unknown>>) => {
  const params: Record<string, string> = {}
  const rest: Record<string, PlainJson.Plain> = {}
  for (const [name, value] of Object.entries(input)) {
    if (names.includes(name)) params[name] = String(value)
    else if (value !== undefined) rest[name] = value as PlainJson.Plain
  }
  return { params, rest }
}

/**
 * Splits off the member that is sent as If-Match. A write without If-Match is sent none, because
 * the service would ignore it.
 */
const matched = (
  { ifMatch: member, kind }: Pick<Operation.Operation, "ifMatch" | "kind">,
  rest: Readonly<Record<string, PlainJson.Plain>>,
  option: string | null = null
): Result.Result<
  { readonly body: PlainJson.Plain; readonly ifMatch: Pick<Call.RequestParts, "ifMatch"> },
  InputInvalid
> => {
  const refuse = (detail: string) => Result.fail(new InputInvalid({ detail }))
  if (member === undefined) {
    return option === null
      ? Result.succeed({ body: rest, ifMatch: {} })
      : refuse(`${kind} takes no If-Match`)
  }
  const { [member]: said = null, ...body } = rest
  if (option !== null && said !== null && option !== said) {
    return refuse(`${member} is ${String(said)} in the input and ${option} in If-Match`)
  }
  const tag = option ?? said
  return Result.succeed({ body, ifMatch: tag === null ? {} : { ifMatch: String(tag) } })
}

const texts = (rest: Readonly<Record<string, unknown>>): Call.Texts =>
  Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(String) : String(value)
    ])
  )

const encodeStandard = Schema.encodeSync(Params.Standard)

const standardOf = (pointAndPage: PointAndPage): Call.Texts =>
  Object.fromEntries(
    Object.entries(encodeStandard(pointAndPage)).filter(([, text]) => text !== undefined)
  )
