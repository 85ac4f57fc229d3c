/** Builds every answer: status, body, and the headers that all answers have. */
import { PlainJson, Problem } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import type { Stream } from "effect"
import { Headers, HttpServerResponse } from "effect/http"
import * as ProblemBody from "../api/Problem.ts"
import * as Exchange from "../observability/Exchange.ts"
import * as Body from "../wire/Body.ts"
import * as Conditional from "../wire/Conditional.ts"

export type Extra = Readonly<Record<string, string>>

/** Headers of every answer. `no-store` by default; public documents and reads with an ETag override it. */
export const headers = (requestId: string, extra: Extra | undefined): Headers.Headers =>
  Headers.fromRecordUnsafe({
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...extra
  })

export const json = ({
  text,
  status,
  requestId,
  extra
}: {
  readonly requestId: string
  readonly status: number
  readonly text: string
  readonly extra?: Extra
}): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, {
    status,
    headers: headers(requestId, extra),
    contentType: Body.mediaType
  })

/** The answer of a call that makes a record: 201 with its place, or 200 where an earlier call made it. */
export const made = (
  {
    location,
    replayed,
    value
  }: { readonly location: string; readonly replayed: boolean; readonly value: PlainJson.Plain },
  { requestId, basePath }: { readonly requestId: string; readonly basePath: string }
): HttpServerResponse.HttpServerResponse =>
  json({
    requestId,
    status: replayed ? 200 : 201,
    text: PlainJson.stringify(value),
    extra: {
      location: `${basePath}${location}`,
      ...(replayed ? { "idempotent-replayed": "true" } : {})
    }
  })

/**
 * The answer of a read that is printed already. With a validator the caller may store the answer,
 * and asks with its ETag whether it is current: then 304, without a body
 * (docs/contract/conditional-reads.md#etag).
 */
export const read = ({
  requestId,
  ifNoneMatch,
  validator,
  extra: more,
  bytes
}: {
  readonly requestId: string
  readonly ifNoneMatch: string | undefined
  readonly validator: string | undefined
  readonly extra?: Extra
  readonly bytes: () => Uint8Array
}): HttpServerResponse.HttpServerResponse => {
  // Weak: `now` and the text of a cursor are not compared.
  const etag = `W/"${validator}"`
  const extra =
    validator === undefined
      ? undefined
      : { etag, "cache-control": "private, no-cache", vary: "Authorization" }
  if (extra !== undefined && Conditional.matches(ifNoneMatch, etag)) {
    return empty({ requestId, status: 304, extra })
  }
  return HttpServerResponse.uint8Array(bytes(), {
    status: 200,
    headers: headers(requestId, { ...extra, ...more }),
    contentType: Body.mediaType
  })
}

export const stream = <E>({
  bytes,
  requestId,
  mediaType
}: {
  readonly requestId: string
  readonly bytes: Stream.Stream<Uint8Array, E>
  /** Media type; JSON by default. */
  readonly mediaType?: string
}): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(bytes, {
    status: 200,
    headers: headers(requestId, undefined),
    contentType: mediaType ?? Body.mediaType
  })

/** An answer without a body. */
export const empty = ({
  status,
  requestId,
  extra
}: {
  readonly requestId: string
  readonly status: number
  readonly extra?: Extra
}): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({ status, headers: headers(requestId, extra) })

export const html = ({
  text,
  requestId,
  extra
}: {
  readonly requestId: string
  readonly text: string
  readonly extra?: Extra
}): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, {
    status: 200,
    headers: headers(requestId, extra),
    contentType: "text/html; charset=utf-8"
  })

const encodeProblem = Schema.encodeSync(ProblemBody.Problem)

export const problemText = (problem: Problem.Problem): string =>
  PlainJson.stringify(encodeProblem(problem))

export const problem = (
  problem: Problem.Problem,
  extra?: Extra
): HttpServerResponse.HttpServerResponse =>
  Exchange.tells(
    HttpServerResponse.text(problemText(problem), {
      status: problem.status,
      headers: headers(problem.requestId, { ...ProblemBody.headers(problem), ...extra }),
      contentType: Body.problemMediaType
    }),
    Problem.slugOf(problem)
  )
