/** A desk at the venue: what a person with a sign-in asks of the API, over HTTP, digits kept. */
import { Decimal, PlainJson, PlainNumber } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import type { Person } from "./people.ts"

export interface Venue {
  /** `http://host:port`, without a slash at its end. */
  readonly api: string
  /** Where tokens are asked for. */
  readonly tokens: string
  /** The clients' secrets, by their sign-in. */
  readonly secrets: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The answer's bytes, as text. */
  readonly text: string
  readonly json: PlainJson.Plain
}

export class NotAnswered extends Error {
  override readonly name = "NotAnswered"
}

/** A member of an object of JSON; what is not there is an answer nobody expected. */
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

/** A token lasts an hour; it is asked for again well before. */
const tokenMillis = 30 * 60_000
/** How long anything that was asked for may take to come about. */
const patienceMillis = 60_000

export interface Desk {
  readonly get: (path: string) => Promise<Answer>
  /** A write, answered as the API answers it: an operation, or an action that awaits. */
  readonly post: (
    path: string,
    body?: PlainJson.Printable,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Answer>
  /** A write of one person alone, read until it has succeeded. */
  readonly done: (path: string, body?: PlainJson.Printable) => Promise<PlainJson.Plain>
  /** A write that must be refused, at once or when it runs: its problem. */
  readonly refused: (path: string, body?: PlainJson.Printable) => Promise<PlainJson.Plain>
  /** Reads until the answer is as it should be. */
  readonly until: (path: string, is: (json: PlainJson.Plain) => boolean) => Promise<Answer>
}

export const open = (venue: Venue, person: Person): Desk => {
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
    const response = await fetch(`${venue.api}${path}`, {
      method,
      headers: {
        ...headers,
        authorization: await authorization(),
        ...(method === "POST" ? { "idempotency-key": crypto.randomUUID() } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: PlainJson.stringify(body) })
    })
    const answer = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      json: Result.getOrThrow(PlainJson.parse(answer))
    }
  }

  const ask = async (...of: Parameters<typeof send>): Promise<Answer> => {
    const answer = await send(...of)
    if (answer.status < 400) return answer
    throw new NotAnswered(`${of[0]} ${of[1]} answered ${answer.status}: ${answer.text}`)
  }

  const get: Desk["get"] = (path) => ask("GET", path)

  const until: Desk["until"] = async (path, is) => {
    const tooLate = Date.now() + patienceMillis
    for (let wait = 20; ; wait = Math.min(wait * 1.5, 500)) {
      const answer = await get(path)
      if (is(answer.json)) return answer
      if (Date.now() > tooLate) throw new NotAnswered(`${path} stays ${brief(answer.json)}`)
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }

  const post: Desk["post"] = (path, body, headers) => ask("POST", path, body, headers)

  return {
    get,
    post,
    until,
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

/** The operation at an address, once it has ended; one that failed is told. */
export const finished = async (
  { until }: Pick<Desk, "until">,
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
