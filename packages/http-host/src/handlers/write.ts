/** Generic handler of writes: decodes the input, hands it to `FourEyes`, answers 202. */
import {
  type Answer as Answered,
  type Caller,
  type FourEyes,
  Operation,
  Refusal,
  type Signals
} from "@bursar/engine-core"
import { PlainJson, Shape } from "@bursar/engine-core/kernel"
import { Effect, Result } from "effect"
import type { HttpServerResponse } from "effect/http"
import * as Headers from "../api/Headers.ts"
import type { Arrival } from "../middleware/Arrival.ts"
import * as Answer from "../middleware/Answer.ts"
import type { PassedRequest } from "../middleware/Gates.ts"
import type { Wait } from "../middleware/Waits.ts"
import * as Body from "../wire/Body.ts"
import * as Query from "../wire/Query.ts"
import * as Faults from "../wire/Faults.ts"

/** Services that answer writes. */
export interface WriteServices {
  readonly fourEyes: FourEyes["Service"]
  readonly signals: Signals.Signals["Service"]
  readonly basePath: string
}

/** Handler of every declared write. */
export const write = (operation: Operation.Operation, services: WriteServices) => {
  const judge = shapeOf(operation)
  return Effect.fnUntraced(function* (
    arrival: Arrival["Service"],
    caller: Caller.Caller,
    { body: bytes, wait }: Pick<PassedRequest, "body" | "wait">
  ): Effect.fn.Return<
    HttpServerResponse.HttpServerResponse,
    Refusal.Refused | Refusal.Unavailable
  > {
    const { key, ifMatch, body } = yield* Effect.fromResult(judge(arrival, bytes))
    const answer = yield* services.fourEyes.submit(operation, {
      caller,
      identity: arrival.identity,
      key,
      ifMatch,
      path: arrival.path,
      query: arrival.query,
      body,
      params: arrival.params
    })
    const { requestId } = arrival.identity
    return yield* writeAnswerOf(answer, services, { caller, requestId, wait })
  })
}

/** Answer of a write, once its operation has ended where the caller prefers to wait for that. */
export const writeAnswerOf = Effect.fnUntraced(function* (
  first: Answered,
  { basePath, fourEyes, signals }: WriteServices,
  called: {
    readonly caller: Caller.Caller
    readonly requestId: string
    readonly wait: Wait
  }
) {
  const { caller, requestId, wait } = called
  const { answer, applied } = yield* wait.hold({
    first,
    signal: Effect.suspend(() => signals.operation(first.awaitedOperation ?? "")),
    // The write stands whether or not its operation can be read: then its first answer says so.
    read: Effect.catchTag(fourEyes.current(first, caller), "Unavailable", ({ detail }) =>
      Effect.as(
        Effect.logWarning(`an operation was not read while its caller waits: ${detail}`),
        first
      )
    ),
    isFinal: ({ awaitedOperation }) => awaitedOperation === null
  })
  return responseOf(answer, { requestId, basePath, applied })
})

const responseOf = (
  answer: Answered,
  {
    applied,
    basePath,
    requestId
  }: { readonly requestId: string; readonly basePath: string; readonly applied: Answer.Extra }
): HttpServerResponse.HttpServerResponse => {
  const { status } = answer
  const extra = {
    // A removal that ends in its call waits for nothing.
    ...(status === 204 ? {} : applied),
    location: `${basePath}${answer.location}`,
    ...(answer.retryAfter === null ? {} : { "retry-after": String(answer.retryAfter) }),
    ...(answer.replayed ? { "idempotent-replayed": "true" } : {})
  }
  return status === 204
    ? Answer.empty({ requestId, status, extra })
    : Answer.json({ requestId, status, text: PlainJson.stringify(answer.value), extra })
}

/** Refuses query parameters, which no write has. */
export const noQuery = (
  arrival: Arrival["Service"]
): Result.Result<void, Refusal.Refused<"invalid-request">> => {
  const query = Query.parse(arrival.query)
  if (Result.isFailure(query)) return Result.fail(query.failure)
  const errors = Object.keys(query.success).map((name) => ({
    pointer: Query.pointer(name),
    detail: "no such parameter"
  }))
  return errors.length === 0 ? Result.void : Refusal.refuse("invalid-request", { errors })
}

type ParsedWrite = Result.Result<
  {
    readonly key: string | null
    readonly ifMatch: string | null
    readonly body: PlainJson.Plain | undefined
  },
  Refusal.Refused<"invalid-request">
>

/**
 * Decodes header, query, path and body of a call together, so that one refusal names every fault.
 */
const shapeOf = (operation: Operation.Operation) => {
  const input = Shape.decoder(operation.input)
  const inPath = new Set([...operation.route.matchAll(/\{([A-Za-z]+)\}/g)].map((match) => match[1]))
  const elsewhere = new Map([...inPath].map((name) => [name, "path"]))
  if (operation.ifMatch !== undefined) elsewhere.set(operation.ifMatch, "If-Match header")
  const place = (member: string | undefined) => (inPath.has(member) ? "/path" : "/body")

  return (arrival: Arrival["Service"], bytes: Uint8Array): ParsedWrite => {
    const key = Headers.idempotencyKey(arrival.idempotencyKeys)
    // A write that declares no use of If-Match ignores it, as it does other headers.
    const ifMatch =
      operation.ifMatch === undefined ? Result.succeed(null) : Headers.ifMatch(arrival.ifMatches)
    const query = noQuery(arrival)
    const body = Body.parse(bytes)
    const members = Result.flatMap(body, (json) => objectOf(json, elsewhere))
    const whole = Result.flatMap(Result.all([members, ifMatch]), ([body, ifMatch]) =>
      input.decode(Operation.membersOf(operation, { body, params: arrival.params, ifMatch }), place)
    )
    const refused = Faults.together([
      key,
      ifMatch,
      query,
      members,
      ...(Result.isSuccess(members) && Result.isSuccess(ifMatch) ? [whole] : [])
    ])
    if (refused !== undefined) return Result.fail(refused)
    return Result.map(Result.all([key, ifMatch, body]), ([key, ifMatch, body]) => ({
      key,
      ifMatch,
      body
    }))
  }
}

const inBody = () => "/body"
const nothingInPath: ReadonlyMap<string, string> = new Map()

/**
 * Decodes a body; a missing one reads as an empty object. Returns the JSON as sent too, by which
 * the call is fingerprinted.
 */
export const bodyOf = <A>(bytes: Uint8Array, decoder: Shape.Decoder<A>) =>
  Result.gen(function* () {
    const json = yield* Body.parse(bytes)
    const said = yield* decoder.decode(yield* objectOf(json, nothingInPath), inBody)
    return { said, sent: json === undefined ? {} : { body: json } }
  })

/** Members of a body, which must be an object without members that the path or a header names. */
const objectOf = (
  body: PlainJson.Plain | undefined,
  elsewhere: ReadonlyMap<string | undefined, string>
): Result.Result<object, Refusal.Refused<"invalid-request">> => {
  if (body === undefined) return Result.succeed({})
  if (!isObject(body)) return refuseBody("/body", "an object is expected")
  const doubled = Object.keys(body).find((name) => elsewhere.has(name))
  return doubled === undefined
    ? Result.succeed(body)
    : refuseBody(
        `/body/${doubled}`,
        `this is named by the ${elsewhere.get(doubled)}, not by the body`
      )
}

const isObject = (body: PlainJson.Plain): body is { readonly [member: string]: PlainJson.Plain } =>
  typeof body === "object" &&
  body !== null &&
  !Array.isArray(body) &&
  !(body instanceof PlainJson.PlainNumber)

const refuseBody = (pointer: string, detail: string) =>
  Refusal.refuse("invalid-request", { detail, errors: [{ pointer, detail }] })
