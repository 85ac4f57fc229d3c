/**
 * Desk of a signed-in person: the plain client of the host with the person's tokens, and the waits for
 * what wallets and banks do.
 */
import { setTimeout as sleep } from "node:timers/promises"
import * as PlainClient from "@bursar/http-host/plain-client"
import { DemoFailed } from "#demo/DemoFailed.ts"
import type { Person } from "#demo/People.ts"
import type { Venue } from "#demo/Stack.ts"

export class NotAnswered extends DemoFailed {
  override readonly name = "NotAnswered"
}

/** Tokens are valid for an hour; a new one is requested well before. */
const tokenMillis = 30 * 60_000
/** Timeout of a wait for an outcome. */
const patienceMillis = 180_000

/** The plain client, whose calls are made again while the venue is busy, and calls that wait for an end. */
export interface Desk extends PlainClient.Client {
  /** Makes a write without approvers, and waits until it has succeeded. */
  readonly complete: <K extends PlainClient.WriteKind>(
    kind: K,
    body: PlainClient.BodyJson<K>
  ) => Promise<PlainClient.SucceededActionJson<K>>
  /** Makes a write that must be refused, at once or when it runs; returns its refusal. */
  readonly refused: <K extends PlainClient.WriteKind>(
    kind: K,
    body: PlainClient.BodyJson<K>
  ) => Promise<PlainClient.CallRefusal>
}

export const open = (venue: Venue, person: Person): Desk => {
  let token: { readonly text: string; readonly until: number } | undefined
  const client = PlainClient.make({
    baseUrl: venue.api,
    authorization: async () => {
      if (token === undefined || Date.now() > token.until) {
        token = { text: await tokenOf(venue, person), until: Date.now() + tokenMillis }
      }
      return `Bearer ${token.text}`
    }
  })
  const keyed = <O extends PlainClient.KeyedOptions>(options?: O) => ({
    key: crypto.randomUUID(),
    ...options
  })
  const write: Desk["write"] = (kind, body, options) => {
    const given = keyed(options)
    return whenFree(() => client.write(kind, body, given))
  }
  const complete: Desk["complete"] = async (kind, body) => client.done(await write(kind, body))
  return {
    ...client,
    write,
    complete,
    read: (...call) => whenFree(() => client.read(...call)),
    reading: (...call) => whenFree(() => client.reading(...call)),
    // Cast: the compiler does not take the rest of a generic call for the rest of the same call.
    list: ((...call: Parameters<Desk["list"]>) =>
      whenFree(() => client.list(...call))) as Desk["list"],
    receive: (source, file, options) => {
      const given = keyed(options)
      return whenFree(() => client.receive(source, file, given))
    },
    reconcile: (request, options) => {
      const given = keyed(options)
      return whenFree(() => client.reconcile(request, given))
    },
    refused: async (kind, body) => {
      try {
        await complete(kind, body)
      } catch (error) {
        if (PlainClient.isRefusal(error)) return error
        throw error
      }
      throw new NotAnswered(`${kind} was not refused`)
    }
  }
}

/** Makes a call again while the venue is busy: runs of reconciliation follow one another. */
const whenFree = async <A>(call: () => Promise<A>): Promise<A> => {
  const tooLate = Date.now() + patienceMillis
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!PlainClient.isRefusal(error) || error.status !== 503 || Date.now() > tooLate) throw error
      await sleep(1_000 * (error.retryAfter ?? 1))
    }
  }
}

/** Repeats a read until its answer fulfils a predicate. */
export const until = async <A>(read: () => Promise<A>, is: (answer: A) => boolean): Promise<A> => {
  const tooLate = Date.now() + patienceMillis
  for (let wait = 20; ; wait = Math.min(wait * 1.5, 500)) {
    const answer = await read()
    if (is(answer)) return answer
    if (Date.now() > tooLate) {
      throw new NotAnswered(`${read} stays ${JSON.stringify(answer).slice(0, 500)}`)
    }
    await sleep(wait)
  }
}

/** Records of a list, all of them. */
export const all = async <A>(records: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const record of records) found.push(record)
  return found
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
