/** JSON bodies over HTTP: read within limits, printed digit for digit. */
import { Refusal } from "@bursar/engine-core"
import { Codec, PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Result, Schema, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiSchema } from "effect/http-api"
import { Times } from "./Times.ts"

export const mediaType = "application/json"
export const problemMediaType = "application/problem+json"

/** Type guard: codecs of the engine encode to values that PlainJson prints. */
const isPrintable = (value: unknown): value is PlainJson.Printable => value !== undefined

/** Codec between JSON text and a codec's encoded form, which keeps every digit. */
const jsonText = Codec.make({
  from: Schema.String,
  to: Schema.declare(isPrintable, { expected: "a JSON value" }),
  parse: (text) => PlainJson.parse(text),
  print: (value: PlainJson.Printable) => PlainJson.stringify(value)
})

/** Text codec of a schema for HttpApi, whose own JSON codec would convert numbers to doubles. */
export const of = (schema: Schema.Codec<unknown, unknown>, contentType: string = mediaType) =>
  jsonText.pipe(Schema.decodeTo(schema), HttpApiSchema.asText({ contentType }))

/**
 * Reads a body and counts its bytes as they arrive, because Content-Length may be absent. Refuses
 * at the first byte too many, and reads no further.
 */
export const read = (
  request: HttpServerRequest.HttpServerRequest,
  max: number
): Effect.Effect<
  Uint8Array,
  Refusal.Refused<"body-too-large" | "request-timeout" | "invalid-request">
> => {
  const announced = Number(request.headers["content-length"] ?? Number.NaN)
  if (announced > max) return Effect.fail(tooLarge(max))
  return Effect.flatMap(Times, ({ requestWithin }) =>
    Effect.timeoutOrElse(collect(request, max), {
      duration: requestWithin,
      orElse: () => Effect.fail(Refusal.refused("request-timeout"))
    })
  )
}

/**
 * Streams a body that is a file, and counts its bytes as they arrive. Fails at the first byte too
 * many; the caller reads no further and holds one chunk at a time.
 */
export const stream = (
  request: HttpServerRequest.HttpServerRequest,
  max: number
): Stream.Stream<Uint8Array, Refusal.Refused<"body-too-large" | "invalid-request">> => {
  const announced = Number(request.headers["content-length"] ?? Number.NaN)
  if (announced > max) return Stream.fail(tooLarge(max))
  return Stream.suspend(() => {
    let size = 0
    return Stream.mapError(request.stream, () => broken).pipe(
      Stream.mapEffect((chunk) => {
        size += chunk.length
        return size > max ? Effect.fail(tooLarge(max)) : Effect.succeed(chunk)
      })
    )
  })
}

/**
 * Collects the chunks of a body. The library's own functions either read on after their limit or
 * destroy the socket before the answer is sent.
 */
const collect = (
  request: HttpServerRequest.HttpServerRequest,
  max: number
): Effect.Effect<Uint8Array, Refusal.Refused<"body-too-large" | "invalid-request">> =>
  Effect.suspend(() => {
    const parts: Array<Uint8Array> = []
    let size = 0
    return Stream.mapError(request.stream, () => broken).pipe(
      Stream.runForEachArray((chunk) => {
        for (const part of chunk) {
          parts.push(part)
          size += part.length
        }
        return size > max ? Effect.fail(tooLarge(max)) : Effect.void
      }),
      Effect.map(() => (parts.length === 1 ? (parts[0] ?? none) : Buffer.concat(parts)))
    )
  })

const none = new Uint8Array(0)

/** Refusal of a body that ended early, in case its sender is still connected. */
const broken = Refusal.refused("invalid-request", {
  detail: "The body did not arrive whole.",
  errors: [{ pointer: "/body", detail: "the body did not arrive whole" }]
})

const tooLarge = (max: number) =>
  Refusal.refused("body-too-large", { detail: `A body has at most ${max} bytes.` })

/** Checks whether the request has a body. */
export const isPresent = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.headers["transfer-encoding"] !== undefined ||
  (request.headers["content-length"] ?? "0") !== "0"

/** Parses the JSON of a body; undefined for an empty one. */
export const parse = (
  bytes: Uint8Array
): Result.Result<PlainJson.Plain | undefined, Refusal.Refused<"invalid-request">> => {
  if (bytes.length === 0) return Result.succeed(undefined)
  const json = PlainJson.parse(bytes)
  if (Result.isSuccess(json)) return Result.succeed(json.success)
  const fault = { pointer: `/body${json.failure.pointer}`, detail: json.failure.detail }
  return Refusal.refuse("invalid-request", { detail: fault.detail, errors: [fault] })
}
