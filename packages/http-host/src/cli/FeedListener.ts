/**
 * Listener of the event feed: posts each control event to a developer's machine as the delivery that a
 * webhook would be, one after another, and keeps its place in the feed (docs/contract/webhooks.md#listening).
 */
import { DeliveryRules, type Vocabulary } from "@bursar/engine-core"
import { PlainJson, Trace } from "@bursar/engine-core/kernel"
import { Data, Effect } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import { lookup } from "node:dns/promises"
import * as WebhookSender from "../outbound/WebhookSender.ts"
import type { Target } from "../outbound/WebhookTarget.ts"
import { CallRefusal } from "../plain-client/Errors.ts"
import * as JsonNumbers from "../plain-client/JsonNumbers.ts"
import { heldFor } from "../plain-client/Patience.ts"
import * as Requests from "../plain-client/Requests.ts"
import { callTable } from "../plain-client/table.ts"

/** Place of a listener in the feed. */
export interface FeedPlace {
  /** Instant from which its events are; null: from the first that the venue keeps. */
  readonly since: string | null
  /** Cursor after the last page of which the target took every event; null: none. */
  readonly after: string | null
  /** Number of the last event of the next page that the target took; null: it took none of it. */
  readonly taken: string | null
  /**
   * Cursor after the page that the target took in part, which is refused once a restore lost events of
   * it; null: it took no page in part, or `taken` is of a version that did not keep the cursor.
   */
  readonly pageEnd: string | null
}

export interface ListenerOptions {
  /** Address of the venue's API, and a bearer token for each call of it. */
  readonly baseUrl: string
  readonly authorization: () => Promise<string>
  readonly tenantId: string
  readonly target: URL
  /** Secret that signs, as a webhook's: `whsec_` and base64 of 24 to 64 bytes. */
  readonly secret: Uint8Array
  /** Types of the events to post; empty: every control event. */
  readonly types: ReadonlyArray<Vocabulary.EventType>
  /** True: a listener without a place begins with the first event, and not with the next one. */
  readonly isFromStart: boolean
  readonly readPlace: () => Promise<FeedPlace | null>
  readonly keepPlace: (place: FeedPlace) => Promise<void>
  /** Tells a person what was posted, and what went wrong and when it is tried again. */
  readonly tell: (progress: ListenerProgress) => void
  /** Waits between two attempts. */
  readonly sleep?: typeof Requests.sleep
}

export type ListenerProgress =
  | { readonly on: "taken"; readonly seq: string; readonly type: string; readonly status: number }
  | {
      readonly on: "missed"
      readonly seq: string
      readonly outcome: string
      readonly secondsLeft: number
    }

/** The target took no delivery of an event, however often it was posted. */
export class TargetDown extends Data.TaggedError("TargetDown")<{
  readonly target: string
  readonly seq: string
  readonly outcome: string
}> {
  override get message(): string {
    return `${this.target} took event ${this.seq} in none of ${attemptsMax} attempts, the last of which ${this.outcome}; a listener that is started again goes on with it`
  }
}

/** The venue has no tenant of this id, by which deliveries are named. */
export class NoTenant extends Data.TaggedError("NoTenant")<{ readonly tenantId: string }> {
  override get message(): string {
    return `the venue is not ${JSON.stringify(this.tenantId)}: --tenant is its id, the setting tenantId`
  }
}

/** Attempts of one delivery, after which the listener ends. */
export const attemptsMax = 10

/** Longest pause between two attempts in seconds. */
const pauseMax = 30

/** Events that are asked for together. */
const pageLimit = 100

/** Id under which a listener posts, in the place of a webhook's. */
const listenerId = "listen"

interface EventJson {
  readonly text: string
  readonly seq: string
  readonly type: string
}

/** Follows the feed until the signal ends it. Throws `TargetDown`, `NoTenant`, and errors of the calls. */
export const follow = async (options: ListenerOptions, signal: AbortSignal): Promise<never> => {
  const { keepPlace, types } = options
  const numbers = JsonNumbers.make(callTable)
  const requests = Requests.make(options, {
    ...numbers,
    // An event is printed again byte for byte, so that its numbers stay the texts they are.
    parse: (text, root) =>
      root === "problem" ? numbers.parse(text, root) : PlainJson.parseTrusted(text)
  })
  const venue = await tenantOf(requests, { ...options, signal })
  const since = options.isFromStart ? null : textOf(venue, "now")
  const start: FeedPlace = { since, after: null, taken: null, pageEnd: null }
  let place = (await options.readPlace()) ?? start
  await keepPlace(place)
  const pageAfter = (after: string | null, limit: number) => ({
    method: "GET" as const,
    path: "/v1/events",
    query: { kind: "control", type: types, from: place.since, limit, after },
    signal
  })
  for (;;) {
    const { hasWaited, value } = await requests.patiently(
      { ...pageAfter(place.after, pageLimit), wait: heldFor },
      "events.list"
    )
    const events = eventsOf(value)
    const next = textOf(value, "next")
    const { pageEnd } = place
    // Read after the page, so that the page is of the history that this judges: without it the numbers
    // of other events may be those that the target took, and the page is posted whole.
    if (pageEnd !== null) await requests.call(pageAfter(pageEnd, 1), "events.list")
    const taken = pageEnd === null ? null : place.taken
    for (const event of events) {
      if (taken !== null && BigInt(event.seq) <= BigInt(taken)) continue
      await deliver(event, options, signal)
      place = { ...place, taken: event.seq, pageEnd: next }
      await keepPlace(place)
    }
    place = { since: place.since, after: next, taken: null, pageEnd: null }
    if (events.length > 0) await keepPlace(place)
    else if (!hasWaited) await Requests.sleep(1, signal)
  }
}

const tenantOf = async (
  requests: Requests.Requests,
  { signal, tenantId }: { readonly signal: AbortSignal; readonly tenantId: string }
): Promise<unknown> => {
  const path = `/v1/tenants/${encodeURIComponent(tenantId)}`
  try {
    // Not made again: a venue that is away at the start is told at once.
    return (await requests.call({ method: "GET", path, signal }, "tenants.one")).value
  } catch (error) {
    throw error instanceof CallRefusal && error.slug === "not-found"
      ? new NoTenant({ tenantId })
      : error
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const textOf = (value: unknown, name: string): string => String(memberOf(value, name))

const eventsOf = (page: unknown): ReadonlyArray<EventJson> => {
  const events = memberOf(page, "value")
  return Array.isArray(events)
    ? events.map((event: PlainJson.Plain) => ({
        text: PlainJson.stringify(event),
        seq: textOf(event, "seq"),
        type: textOf(event, "type")
      }))
    : []
}

/** Posts one event until the target takes it. */
const deliver = async (event: EventJson, options: ListenerOptions, signal: AbortSignal) => {
  const { sleep = Requests.sleep, target, tell } = options
  const { seq, type } = event
  for (let attempt = 1; ; attempt++) {
    const answered = await attemptOf(event, { ...options, attempt }, signal)
    if ("status" in answered && DeliveryRules.isTaken(answered.status)) {
      return tell({ on: "taken", seq, type, status: answered.status })
    }
    const outcome =
      "status" in answered
        ? `was answered ${answered.status}`
        : `had no answer (${answered.failure})`
    if (attempt >= attemptsMax) throw new TargetDown({ target: target.href, seq, outcome })
    const secondsLeft = Math.min(pauseMax, 2 ** (attempt - 1))
    tell({ on: "missed", seq, outcome, secondsLeft })
    await sleep(secondsLeft, signal)
  }
}

const attemptOf = async (
  { seq, text }: EventJson,
  {
    attempt,
    secret,
    target,
    tenantId
  }: Pick<ListenerOptions, "secret" | "target" | "tenantId"> & { readonly attempt: number },
  signal: AbortSignal
) => {
  const addresses = await addressesOf(target)
  if (addresses.length === 0) return { failure: "dns" } as const
  const id = DeliveryRules.eventId(tenantId, { seq: Number(seq), restoredAt: null })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = DeliveryRules.signatureBySecrets(nodeHmac, {
    id,
    timestamp,
    body: text,
    secrets: [secret]
  })
  const body = Buffer.from(text, "utf8")
  const trace = { traceId: randomBytes(16).toString("hex"), flags: Trace.sampled }
  const attempting = WebhookSender.send(
    { url: target, name: target.hostname, addresses },
    {
      headers: {
        ...DeliveryRules.headers({ id, timestamp, signature, webhookId: listenerId, attempt }),
        traceparent: Trace.traceparent(trace, randomBytes(8)),
        "content-length": String(body.length)
      },
      body,
      timesLeft: WebhookSender.usual
    }
  )
  return Effect.runPromise(attempting, { signal })
}

const nodeHmac = {
  hmacSha256: (key: Uint8Array, text: string | Uint8Array) =>
    new Uint8Array(createHmac("sha256", key).update(text).digest())
}

/** Addresses of the target by the machine's own resolver, so that `localhost` is one. */
const addressesOf = async ({ hostname }: URL): Promise<Target["addresses"]> => {
  try {
    const name = hostname.replace(/^\[|\]$/g, "")
    const found = await lookup(name, { all: true })
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
  } catch {
    // A name that has no address is the outcome of the attempt.
    return []
  }
}
