/** The typed client: any declared write or read, called by its own value, with every digit kept. */
import {
  ApprovalView,
  type Operation,
  type PageAsked,
  type PointAsked,
  type Read,
  WriteAnswer
} from "@bursar/engine-core"
import { Instant, Offset, PlainJson } from "@bursar/engine-core/kernel"
import { Data, Effect, Result, Schema } from "effect"
import {
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse
} from "effect/http"
import { HttpApi, HttpApiClient, type HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { wire } from "./api/Binding.ts"
import * as Endpoint from "./api/Endpoint.ts"
import { answerOf } from "./api/fromOperation.ts"
import * as Params from "./api/Params.ts"
import { Problem, slugOf } from "./api/Problem.ts"
import * as Verb from "./api/Verb.ts"

export interface Options {
  readonly httpClient: HttpClient.HttpClient
  readonly baseUrl: string
  /** The whole Authorization header, asked for on every call. */
  readonly authorization: Effect.Effect<string>
  /** A new Idempotency-Key for each write that is not given one. */
  readonly makeKey: () => string
}

/** What the service said no to. */
export class CallRefused extends Data.TaggedError("CallRefused")<{ readonly problem: Problem }> {
  get slug(): string {
    return slugOf(this.problem)
  }
  override get message(): string {
    return `${this.problem.status} ${this.slug}: ${this.problem.detail}`
  }
}

/** An answer that is not what the interface says. */
export class AnswerUnreadable extends Data.TaggedError("AnswerUnreadable")<{
  readonly status: number
  readonly detail: string
}> {}

export type CallError = CallRefused | AnswerUnreadable | HttpClientError.HttpClientError

interface Around {
  readonly offset: Offset.Offset
  readonly ledgerTime: Instant.Instant | null
  readonly now: Instant.Instant
}

export interface One<V> extends Around {
  readonly value: V
}

export interface Page<V> extends Around {
  readonly value: ReadonlyArray<V>
  readonly next: string | null
}

export type Written<R> = Omit<typeof WriteAnswer.Type, "result"> & { readonly result: R | null }

export interface Client {
  /** Makes a write; the answer is an operation, or an action that awaits its approvers. */
  readonly write: <K extends Operation.Operation["kind"], I, R>(
    operation: Writable<K, I, R>,
    input: I,
    of?: { readonly key?: string }
  ) => Effect.Effect<Written<R>, CallError>
  readonly one: <P, V>(
    read: Readable<P> & Pick<Read.One<P, V>, "value">,
    params: P,
    point?: PointAsked
  ) => Effect.Effect<One<V>, CallError>
  readonly list: <P, V>(
    read: Readable<P> & Pick<Read.List<unknown, unknown, P, V>, "item">,
    params: P,
    asked?: PointAsked & PageAsked
  ) => Effect.Effect<Page<V>, CallError>
  readonly approve: (actionKey: string) => Effect.Effect<typeof WriteAnswer.Type, CallError>
  readonly reject: (
    actionKey: string,
    of?: { readonly reason?: string; readonly key?: string }
  ) => Effect.Effect<typeof ApprovalView.Type, CallError>
}

type Writable<K extends Operation.Operation["kind"], I, R> = Pick<
  Operation.Declared<K, I, R, never>,
  "kind" | "doc" | "route" | "input" | "result"
>
type Readable<P> = Pick<Read.One<P>, "name" | "route" | "params">

export const make = (options: Options): Client => {
  const call = callOf(options)
  return {
    write: (operation, input, of) => {
      const path = Verb.parse(operation.route)
      const { params, rest } = split(path, encode(operation.input, input))
      const key = of?.key ?? options.makeKey()
      return call(answerOf(operation), { name: operation.kind, path, params, body: rest, key })
    },
    one: (read, params, point = {}) => {
      const path = Verb.parse(read.route)
      const asked = { path, name: read.name, ...split(path, encode(read.params, params)) }
      const schema = Schema.Struct({ ...around, value: read.value })
      return call(schema, { ...asked, query: { ...texts(asked.rest), ...standardOf(point) } })
    },
    list: (read, params, of = {}) => {
      const path = Verb.parse(read.route)
      const asked = { path, name: read.name, ...split(path, encode(read.params, params)) }
      const schema = Schema.Struct({
        ...around,
        value: Schema.Array(read.item),
        next: Schema.NullOr(Schema.String)
      })
      return call(schema, { ...asked, query: { ...texts(asked.rest), ...standardOf(of) } })
    },
    approve: (actionKey) =>
      call(WriteAnswer, {
        ...approvePath,
        params: { actionKey },
        body: {},
        key: options.makeKey()
      }),
    reject: (actionKey, of) =>
      call(ApprovalView, {
        ...rejectPath,
        params: { actionKey },
        body: { reason: of?.reason ?? null },
        key: of?.key ?? options.makeKey()
      })
  }
}

const approvePath = {
  name: "approvals.approve",
  path: Verb.parse("POST /v1/approvals/{actionKey}:approve")
}
const rejectPath = {
  name: "approvals.reject",
  path: Verb.parse("POST /v1/approvals/{actionKey}:reject")
}

const around = {
  offset: Offset.schema,
  ledgerTime: Schema.NullOr(Instant.schema).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(null))
  ),
  now: Instant.schema
}

/** The texts of a query; a list is a repeated parameter. */
type Texts = Readonly<Record<string, string | ReadonlyArray<string>>>

interface Asked {
  readonly name: string
  readonly path: Verb.Path
  readonly params: Readonly<Record<string, string>>
  readonly query?: Texts
  readonly body?: PlainJson.Plain
  readonly key?: string
}

const encode = <A>(
  schema: Schema.Codec<A, unknown>,
  value: A
): Readonly<Record<string, unknown>> => {
  const encoded = Schema.encodeSync(schema)(value)
  return { ...(encoded as object) }
}

/** What the path names, apart from the rest of the input. */
const split = ({ names }: Verb.Path, input: Readonly<Record<string, unknown>>) => {
  const params: Record<string, string> = {}
  const rest: Record<string, PlainJson.Plain> = {}
  for (const [name, value] of Object.entries(input)) {
    if (names.includes(name)) params[name] = String(value)
    else if (value !== undefined) rest[name] = value as PlainJson.Plain
  }
  return { params, rest }
}

const texts = (rest: Readonly<Record<string, PlainJson.Plain>>): Texts =>
  Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(String) : String(value)
    ])
  )

const encodeStandard = Schema.encodeSync(Params.Standard)

const standardOf = (asked: PointAsked & PageAsked): Texts =>
  Object.fromEntries(Object.entries(encodeStandard(asked)).filter(([, text]) => text !== undefined))

const callOf = (options: Options) => {
  const { baseUrl } = options
  const httpClient = options.httpClient.pipe(
    HttpClient.mapRequestEffect((request) =>
      Effect.map(options.authorization, (authorization) =>
        HttpClientRequest.setHeader(request, "authorization", authorization)
      )
    )
  )
  const of = { group: "call", httpClient, baseUrl } as const
  const responseMode = "response-only"

  const send = (
    asked: Asked
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> => {
    const { name, path, params } = asked
    const parts = { name, path, success: {}, query: Schema.Unknown, input: Schema.Unknown }
    const headers = asked.key === undefined ? {} : { "idempotency-key": asked.key }
    switch (path.method) {
      case "GET":
        return HttpApiClient.endpoint(apiOf(Endpoint.get(parts, wire)), {
          ...of,
          endpoint: name
        }).pipe(Effect.flatMap((get) => get({ params, query: asked.query ?? {}, responseMode })))
      case "POST":
        return HttpApiClient.endpoint(apiOf(Endpoint.post(parts, wire)), {
          ...of,
          endpoint: name
        }).pipe(
          Effect.flatMap((post) =>
            post({ params, headers, payload: asked.body ?? {}, responseMode })
          )
        )
      case "DELETE":
        return HttpApiClient.endpoint(apiOf(Endpoint.remove(parts, wire)), {
          ...of,
          endpoint: name
        }).pipe(Effect.flatMap((remove) => remove({ params, headers, responseMode })))
    }
  }

  return <A>(schema: Schema.Codec<A, unknown>, asked: Asked): Effect.Effect<A, CallError> =>
    Effect.flatMap(send(asked), (response) => read(schema, response))
}

const apiOf = <E extends HttpApiEndpoint.ConstraintRequest>(endpoint: E) =>
  HttpApi.make("bursar").add(HttpApiGroup.make("call").add(endpoint))

const read = <A>(
  schema: Schema.Codec<A, unknown>,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<A, CallError> =>
  Effect.flatMap(response.text, (text) => {
    const json = PlainJson.parse(text, answerLimits)
    const { status } = response
    const unreadable = (detail: string) => Effect.fail(new AnswerUnreadable({ status, detail }))
    if (Result.isFailure(json)) return unreadable(json.failure.detail)
    const decode = <B>(to: Schema.Codec<B, unknown>) =>
      Effect.catch(Schema.decodeUnknownEffect(to)(json.success), (error) =>
        unreadable(error.message)
      )
    if (status < 400) return decode(schema)
    return Effect.flatMap(decode(Problem), (problem) => Effect.fail(new CallRefused({ problem })))
  })

/** An answer is the service's own: a list may be long, and only its depth is bounded. */
const answerLimits: PlainJson.Limits = {
  ...PlainJson.limits,
  tokens: Number.MAX_SAFE_INTEGER,
  members: Number.MAX_SAFE_INTEGER,
  items: Number.MAX_SAFE_INTEGER,
  string: Number.MAX_SAFE_INTEGER
}
