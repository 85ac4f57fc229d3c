/** Requests of the plain client over fetch: headers, texts, bodies, and the reading of answers. */
import * as Signature from "../client/Signature.ts"
import { AnswerNotJson, CallRefusal, InputFault, NoAnswer, type ProblemJson } from "./Errors.ts"
import type { JsonCodec } from "./JsonNumbers.ts"
import { type FailedCall, pauseOf, withinDefault } from "./Patience.ts"

/** Options of every request: the service's address and how its caller is authenticated. */
export interface RequestOptions {
  /** Address of the service, with its base path. */
  readonly baseUrl: string
  /** Value of the Authorization header, or a function that makes it for each request. */
  readonly authorization: string | (() => string | Promise<string>)
  /** Fetch of the platform by default. */
  readonly fetch?: typeof fetch
  /** HMAC key with which a service client signs each request, besides the bearer token. */
  readonly signing?: Signature.SigningKey
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, its waits and its retries. */
  readonly signal?: AbortSignal
  /** W3C traceparent of the caller's trace. */
  readonly traceparent?: string
}

/** A value of the query; a list is a repeated parameter. */
type QueryValue = string | number | boolean | null | undefined | ReadonlyArray<string | number>

/** Request to the service. */
export interface Request extends CallOptions {
  readonly method: string
  /** Path below the base path, without a query. */
  readonly path: string
  readonly query?: Readonly<Record<string, unknown>>
  /** Body that is sent as JSON. */
  readonly body?: unknown
  /** Body that is sent as it is. */
  readonly file?: FileBody
  readonly headers?: Readonly<Record<string, string>>
  /** The Idempotency-Key; null: none is sent. */
  readonly key?: string | null
  /** Tag of If-Match, without its quotes. */
  readonly ifMatch?: string | null
  /** Whole seconds that the service may hold its answer back (Prefer: wait). */
  readonly wait?: number
}

/** A file, whole or as a stream of bytes. */
export interface FileBody {
  readonly bytes: Uint8Array | string | ReadableStream<Uint8Array>
  /** Media type, with its charset where that is to be said. */
  readonly mediaType: string
  /** Lower-case hex SHA-256 of the bytes: a client that signs needs it of a stream. */
  readonly sha256?: string
}

/** Answer whose body is parsed. */
export interface ParsedAnswer {
  readonly status: number
  /** JSON of the answer; null: it has no body. */
  readonly value: unknown
  readonly location: string | null
  readonly retryAfter: number | null
  /** True: the service held the answer back as the call preferred. */
  readonly hasWaited: boolean
}

export interface Requests {
  /** Sends a request and answers the response as it came; throws `NoAnswer` where there is none. */
  readonly send: (request: Request) => Promise<Response>
  /** Sends a request and parses its answer, with the numbers of `root`. */
  readonly call: (request: Request, root: string) => Promise<ParsedAnswer>
  /** Error of an answer that is no success. */
  readonly refusalOf: (response: Response) => Promise<Error>
  /** Calls again, as the answers' Retry-After says, while they are 429, 503 or none. */
  readonly patiently: (request: Request, root: string, within?: number) => Promise<ParsedAnswer>
}

const json = "application/json"
const encoder = new TextEncoder()

export const make = (options: RequestOptions, codec: JsonCodec): Requests => {
  const { authorization, signing } = options
  // An address that is none ends the program where it is given, and not at the first call.
  const base = new URL(options.baseUrl).href.replace(/\/$/, "")
  const fetching = options.fetch ?? ((...call: Parameters<typeof fetch>) => fetch(...call))

  const send = async (request: Request): Promise<Response> => {
    const { file, method } = request
    const body =
      file === undefined
        ? request.body === undefined
          ? undefined
          : encoder.encode(codec.print(request.body))
        : typeof file.bytes === "string"
          ? encoder.encode(file.bytes)
          : file.bytes
    const url = new URL(base + request.path + queryOf(request.query))
    const headers: Record<string, string> = {
      accept: json,
      authorization: typeof authorization === "string" ? authorization : await authorization(),
      ...(body === undefined ? {} : { "content-type": file?.mediaType ?? json }),
      ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent }),
      ...((request.key ?? null) === null ? {} : { "idempotency-key": String(request.key) }),
      ...((request.ifMatch ?? null) === null ? {} : { "if-match": `"${request.ifMatch}"` }),
      ...(request.wait === undefined ? {} : { prefer: `wait=${Math.floor(request.wait)}` }),
      ...request.headers
    }
    if (signing !== undefined) {
      const hashed = body instanceof ReadableStream ? file?.sha256 : (body ?? new Uint8Array())
      if (hashed === undefined) {
        throw new InputFault("", "a signed stream needs the hash of its bytes")
      }
      const signed = await Signature.headersOf(signing, {
        method,
        target: url.pathname + url.search,
        body: hashed,
        timestamp: Math.floor(Date.now() / 1000),
        nonce: Signature.makeNonce()
      })
      Object.assign(headers, signed)
    }
    try {
      return await fetching(url.href, {
        method,
        headers,
        // The service redirects nobody: a redirect is an answer of something else.
        redirect: "manual",
        ...(body === undefined ? {} : { body: body as NonNullable<RequestInit["body"]> }),
        ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
        ...(request.signal === undefined ? {} : { signal: request.signal })
      })
    } catch (error) {
      throw failureOf(error, request)
    }
  }

  const call = async (request: Request, root: string): Promise<ParsedAnswer> => {
    const response = await send(request)
    const { headers, status } = response
    let value: unknown = null
    if (status !== 204) {
      const text = await response.text().catch((error: unknown) => {
        throw failureOf(error, request)
      })
      value = parsed(status, () => codec.parse(text, status < 400 ? root : "problem"))
    }
    if (!response.ok) throw problemOf(status, value)
    const seconds = headers.get("retry-after")
    return {
      status,
      value,
      location: headers.get("location"),
      retryAfter: seconds === null ? null : Number(seconds),
      hasWaited: headers.get("preference-applied")?.startsWith("wait=") === true
    }
  }

  const patiently: Requests["patiently"] = async (request, root, within = withinDefault) => {
    for (let tries = 0; ; tries++) {
      try {
        return await call(request, root)
      } catch (error) {
        const failed = failedCallOf(error)
        const pause = failed === null ? null : pauseOf(failed, { tries, within })
        if (pause === null) throw error
        await sleep(pause, request.signal)
      }
    }
  }

  const refusalOf = async (response: Response): Promise<Error> => {
    const text = await response.text()
    return problemOf(
      response.status,
      parsed(response.status, () => codec.parse(text, "problem"))
    )
  }

  return { send, call, patiently, refusalOf }
}

const parsed = (status: number, parse: () => unknown): unknown => {
  try {
    return parse()
  } catch (error) {
    throw new AnswerNotJson(status, String(error))
  }
}

/** An end by the caller's own signal is thrown as its reason; every other failure is a missing answer. */
const failureOf = (error: unknown, { method, path, signal }: Request): unknown =>
  signal?.aborted === true
    ? signal.reason
    : new NoAnswer(`${method} ${path} has no answer`, { cause: error })

/** Error of an answer that is no success: a refusal, or one of something else than the service. */
const problemOf = (status: number, value: unknown): Error =>
  typeof value === "object" && value !== null && "type" in value && "detail" in value
    ? new CallRefusal(value as ProblemJson)
    : new AnswerNotJson(status, "it is no problem of RFC 9457")

const failedCallOf = (error: unknown): FailedCall | null =>
  error instanceof NoAnswer
    ? { status: null, retryAfter: null }
    : error instanceof CallRefusal && error.operationId === null
      ? { status: error.status, retryAfter: error.retryAfter }
      : null

/** Waits some seconds, or until the signal ends it, which throws the signal's reason. */
export const sleep = (seconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end)
      resolve()
    }, seconds * 1000)
    if (signal?.aborted === true) end()
    else signal?.addEventListener("abort", end, { once: true })
  })

const queryOf = (query: Readonly<Record<string, unknown>> = {}): string => {
  const texts = new URLSearchParams()
  for (const [name, value] of Object.entries(query) as ReadonlyArray<[string, QueryValue]>) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) texts.append(name, String(one))
    }
  }
  return texts.size === 0 ? "" : `?${texts}`
}
