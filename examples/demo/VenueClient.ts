/** A signed-in person's HTTP client of the venue; decimals keep every digit. */
import { Decimal, PlainJson, PlainNumber } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { DemoFailed } from "#demo/DemoFailed.ts"
import type { Person } from "#demo/People.ts"
import type { Venue } from "#demo/Stack.ts"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Body of the answer. */
  readonly text: string
  readonly json: PlainJson.Plain
}

export class NotAnswered extends DemoFailed {
  override readonly name = "NotAnswered"
}

/** Returns a member of a JSON object; throws where it is missing. */
export const member = (json: PlainJson.Plain, ...path: ReadonlyArray<string | number>) =>
  path.reduce<PlainJson.Plain>((value, name) => {
    const inner =
      typeof value === "object" && value !== null && !PlainNumber.isPlainNumber(value)
        ? Object.entries(value).find(([key]) => key === String(name))?.[1]
        : undefined
    if (inner === undefined) throw new NotAnswered(`no ${path.join(".")} in ${brief(json)}`)
    return inner
  }, json)

export const text = (json: PlainJson.Plain, ...path: ReadonlyArray<string | number>): string => {
  const value = member(json, ...path)
  if (typeof value === "string") return value
  if (PlainNumber.isPlainNumber(value)) return value.text
  throw new NotAnswered(`${path.join(".")} is no text in ${brief(json)}`)
}

export const decimal = (
  json: PlainJson.Plain,
  ...path: ReadonlyArray<string | number>
): Decimal.Decimal => Decimal.of(text(json, ...path))

export const list = (
  json: PlainJson.Plain,
  ...path: ReadonlyArray<string | number>
): ReadonlyArray<PlainJson.Plain> => {
  const value = member(json, ...path)
  if (Array.isArray(value)) return value
  throw new NotAnswered(`${path.join(".")} is no list in ${brief(json)}`)
}

const brief = (json: PlainJson.Plain): string => PlainJson.stringify(json).slice(0, 500)

interface Sent {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** Tokens are valid for an hour; a new one is requested well before. */
const tokenMillis = 30 * 60_000
/** Timeout of a wait for an outcome. */
const patienceMillis = 180_000

/** Body that is sent as it is, such as the file of a statement. */
export interface File {
  readonly mediaType: string
  readonly text: string
}

export interface VenueClient {
  readonly get: (path: string) => Promise<Answer>
  /** Makes a write and returns its answer: an operation, or an action that awaits its approvers. */
  readonly post: (
    path: string,
    body?: PlainJson.Printable,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Answer>
  /** Hands in the file of a statement, and returns its receipt; the query says what it is of. */
  readonly file: (query: string, file: File) => Promise<PlainJson.Plain>
  /** Makes a write without approvers, and waits until it has succeeded. */
  readonly done: (path: string, body?: PlainJson.Printable) => Promise<PlainJson.Plain>
  /** Makes a write that must be refused, at once or when it runs; returns its problem. */
  readonly refused: (path: string, body?: PlainJson.Printable) => Promise<PlainJson.Plain>
  /** Repeats a read until its answer fulfils a predicate. */
  readonly until: (path: string, is: (json: PlainJson.Plain) => boolean) => Promise<Answer>
}

export const open = (venue: Venue, person: Person): VenueClient => {
  let token: { readonly text: string; readonly until: number } | undefined

  const authorization = async (): Promise<string> => {
    if (token === undefined || Date.now() > token.until) {
      token = { text: await tokenOf(venue, person), until: Date.now() + tokenMillis }
    }
    return `Bearer ${token.text}`
  }

  const send = async (
    method: "GET" | "POST",
    path: string,
    body?: PlainJson.Printable,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Answer> => {
    const file = { mediaType: "application/json", text: PlainJson.stringify(body ?? {}) }
    return sendFile({ method, path, headers }, body === undefined ? undefined : file)
  }

  /** Sends a call, again under its key while the venue is busy: runs of reconciliation follow one another. */
  const sendFile = async (sent: Sent, file: File | undefined): Promise<Answer> => {
    const key = crypto.randomUUID()
    const tooLate = Date.now() + patienceMillis
    for (;;) {
      const answer = await sendOnce(sent, file, key)
      if (answer.status !== 503 || Date.now() > tooLate) return answer
      const seconds = Number(answer.headers.get("retry-after") ?? 1)
      await new Promise((resolve) => setTimeout(resolve, 1_000 * seconds))
    }
  }

  const sendOnce = async (
    { headers, method, path }: Sent,
    file: File | undefined,
    key: string
  ): Promise<Answer> => {
    const response = await fetch(`${venue.api}${path}`, {
      method,
      headers: {
        ...headers,
        authorization: await authorization(),
        ...(method === "POST" ? { "idempotency-key": key } : {}),
        ...(file === undefined ? {} : { "content-type": file.mediaType })
      },
      ...(file === undefined ? {} : { body: file.text })
    })
    const answer = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      json: Result.getOrThrow(PlainJson.parse(answer))
    }
  }

  const taken = (answer: Answer, call: string): Answer => {
    if (answer.status < 400) return answer
    throw new NotAnswered(`${call} answered ${answer.status}: ${answer.text}`)
  }

  const ask = async (...args: Parameters<typeof send>): Promise<Answer> =>
    taken(await send(...args), `${args[0]} ${args[1]}`)

  const get: VenueClient["get"] = (path) => ask("GET", path)

  const until: VenueClient["until"] = async (path, is) => {
    const tooLate = Date.now() + patienceMillis
    for (let wait = 20; ; wait = Math.min(wait * 1.5, 500)) {
      const answer = await get(path)
      if (is(answer.json)) return answer
      if (Date.now() > tooLate) throw new NotAnswered(`${path} stays ${brief(answer.json)}`)
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }

  const post: VenueClient["post"] = (path, body, headers) => ask("POST", path, body, headers)

  return {
    get,
    post,
    until,
    file: async (query, file) => {
      const path = `/v1/external-statements?${query}`
      return taken(await sendFile({ method: "POST", path, headers: {} }, file), `POST ${path}`).json
    },
    done: async (path, body) => {
      const { headers } = await post(path, body)
      return finished({ until }, headers.get("location") ?? "")
    },
    refused: async (path, body) => {
      const { headers, json, status } = await send("POST", path, body)
      if (status >= 400) return json
      const { json: ended } = await until(headers.get("location") ?? "", isFinal)
      if (text(ended, "value", "state") === "failed") return member(ended, "value", "problem")
      throw new NotAnswered(`${path} was not refused: ${brief(ended)}`)
    }
  }
}

const isFinal = (json: PlainJson.Plain): boolean =>
  ["succeeded", "failed"].includes(text(json, "value", "state"))

/** Waits until the operation at an address has ended; throws where it failed. */
export const finished = async (
  { until }: Pick<VenueClient, "until">,
  location: string
): Promise<PlainJson.Plain> => {
  const { json } = await until(location, isFinal)
  const operation = member(json, "value")
  if (text(operation, "state") === "succeeded") return operation
  throw new NotAnswered(`${text(operation, "kind")} failed: ${brief(member(operation, "problem"))}`)
}

export const tokenOf = async (venue: Venue, { sub }: Person): Promise<string> => {
  const secret = venue.secrets[sub] ?? ""
  const response = await fetch(venue.tokens, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`${sub}:${secret}`).toString("base64")}`,
      "content-type": "application/x-www-form-urlencoded"
    },
    body: "grant_type=client_credentials"
  })
  const answer: unknown = await response.json()
  if (
    typeof answer === "object" &&
    answer !== null &&
    "access_token" in answer &&
    typeof answer.access_token === "string"
  ) {
    return answer.access_token
  }
  throw new NotAnswered(`no token for ${sub}: ${response.status} ${JSON.stringify(answer)}`)
}
