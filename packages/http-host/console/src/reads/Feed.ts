/**
 * The live feed: waits for the next events and marks stale what they name. A hidden page asks once a
 * minute, a role without a feed reads its screen anew every 15 seconds.
 */
import { CallRefusal } from "@bursar/http-host/plain-client"
import { effect, signal } from "@preact/signals"
import table from "virtual:interface"
import * as Session from "../shell/Session.ts"
import { againAfter, client, isSlowed } from "./Api.ts"
import * as Cache from "./Cache.ts"
import * as Clock from "./Clock.ts"
import * as Following from "./Following.ts"

/** State of the feed, for its light. */
export type FeedLight =
  | { readonly state: "live" | "slowed" | "none" }
  | { readonly state: "away"; readonly since: string }

export const light = signal<FeedLight>({ state: "none" })

/** An event as the page shows it. */
export interface FeedEvent {
  readonly seq: number
  readonly kind: string
  readonly type: string
  readonly at: string | null
  readonly resourceKind: string
  readonly resourceId: string | null
  readonly instrumentId: string | null
  readonly payload: unknown
}

/** Newest first, at most 500. */
export const events = signal<ReadonlyArray<FeedEvent>>([])
const eventsMax = 500

interface Page {
  readonly value: ReadonlyArray<FeedEvent>
  readonly next: string
}

const hiddenPause = 60
const readAnewEvery = 15

/** Ends after some seconds, as soon as a hidden page is seen again, or with the session. */
const pause = (seconds: number, ended: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      document.removeEventListener("visibilitychange", seen)
      ended.removeEventListener("abort", end)
      resolve()
    }
    const seen = () => {
      if (!document.hidden) end()
    }
    const timer = setTimeout(end, seconds * 1000)
    document.addEventListener("visibilitychange", seen)
    ended.addEventListener("abort", end)
    if (ended.aborted) end()
  })

const canRead = (roles: ReadonlyArray<string>): boolean =>
  table.reads["events.list"]?.roles.some((role) => roles.includes(role)) === true

const ask = async (
  query: Readonly<Record<string, unknown>>,
  { ended, wait }: { readonly ended: AbortSignal; readonly wait: number }
) => {
  const { hasWaited, value } = await client.call({
    method: "GET",
    path: "/v1/events",
    query,
    signal: ended,
    ...(wait > 0 ? { wait } : {})
  })
  return { hasWaited, page: value as Page }
}

const waitFor = 25

/** Shows the newest events before the first come, so that the page of the feed is not empty. */
const showNewest = async (ended: AbortSignal): Promise<void> => {
  const { page } = await ask({ order: "desc", limit: 50 }, { ended, wait: 0 })
  if (!ended.aborted) events.value = merged(events.value, page.value)
}

/** Events of both, newest first, each once. */
const merged = (
  left: ReadonlyArray<FeedEvent>,
  right: ReadonlyArray<FeedEvent>
): ReadonlyArray<FeedEvent> =>
  [...new Map([...left, ...right].map((event) => [String(event.seq), event])).values()]
    .toSorted((a, b) => (BigInt(a.seq) < BigInt(b.seq) ? 1 : -1))
    .slice(0, eventsMax)

const follow = (ended: AbortSignal): Promise<void> => {
  // Without the newest the feed is followed all the same.
  void showNewest(ended).catch(() => undefined)
  return Following.follow<FeedEvent>({
    ask: (query, wait) => ask(query, { ended, wait: wait ? waitFor : 0 }),
    now: Clock.now,
    isEnded: () => ended.aborted,
    pace: () => (document.hidden ? "hidden" : isSlowed.value ? "slowed" : "wait"),
    pause: (seconds) => pause(seconds, ended),
    take: (fresh) => {
      events.value = merged(events.value, fresh)
    },
    markStale: Cache.markStale,
    readAnew: Cache.readAnew,
    live: () => {
      const state = isSlowed.value ? "slowed" : "live"
      if (light.value.state !== state) light.value = { state }
    },
    away: () => {
      if (light.value.state !== "away")
        light.value = { state: "away", since: new Date(Clock.now()).toISOString() }
    },
    againAfter: (error) =>
      error instanceof CallRefusal && (error.status === 400 || error.status === 410)
        ? null
        : (againAfter(error) ?? 10)
  })
}

const readByTime = async (ended: AbortSignal): Promise<void> => {
  light.value = { state: "none" }
  while (!ended.aborted) {
    await pause(document.hidden || isSlowed.value ? hiddenPause : readAnewEvery, ended)
    if (!ended.aborted) Cache.readAnew()
  }
}

/** Starts with each session, and ends with it. */
export const run = (): void => {
  let leave: AbortController | null = null
  let sub: string | null = null
  effect(() => {
    const person = Session.person.value
    if (person?.sub === sub) return
    sub = person?.sub ?? null
    leave?.abort()
    leave = null
    events.value = []
    if (person === null || person === undefined) return
    leave = new AbortController()
    void (canRead(person.roles) ? follow : readByTime)(leave.signal)
  })
}
