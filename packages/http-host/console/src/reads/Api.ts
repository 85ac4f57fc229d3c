/** The plain client of the person who is signed in: one renewal after a 401, and the budget of calls. */
import { CallRefusal, make, NoAnswer } from "@bursar/http-host/plain-client"
import { signal } from "@preact/signals"
import { apiAddress } from "../shell/Place.ts"
import * as Clock from "./Clock.ts"
import * as Session from "../shell/Session.ts"

/** True: less than a fifth of the budget of calls is left. */
export const isSlowed = signal(false)

/** Digits alone, so that the comparison below is one of whole numbers. */
const whole = (text: string | null): bigint | null =>
  text !== null && /^\d{1,15}$/u.test(text) ? BigInt(text) : null

const note = (response: Response): void => {
  const { headers } = response
  const [limit, left] = ["x-ratelimit-limit", "x-ratelimit-remaining"].map((name) =>
    whole(headers.get(name))
  )
  if (typeof limit === "bigint" && typeof left === "bigint") isSlowed.value = left * 5n < limit
  Clock.note(response)
}

/** Sends a call, and after a 401 and a renewal the same call once more, with the same key. */
const send: typeof fetch = async (input, init) => {
  const caller = Session.person.value?.sub
  const first = await fetch(input, init)
  note(first)
  if (first.status !== 401 || !(await Session.renew())) return first
  // A call of one person is never made again under another's token.
  if (Session.person.value?.sub !== caller) return first
  const headers = { ...(init?.headers as Record<string, string>) }
  headers["authorization"] = Session.authorization()
  const second = await fetch(input, { ...init, headers })
  note(second)
  return second
}

export const client = make({
  baseUrl: apiAddress,
  authorization: Session.authorization,
  fetch: send
})

/** Seconds to wait before the same call is made again; null: it would be refused again. */
export const againAfter = (error: unknown): number | null =>
  error instanceof NoAnswer
    ? 2
    : error instanceof CallRefusal && (error.status === 429 || error.status === 503)
      ? (error.retryAfter ?? 2)
      : null
