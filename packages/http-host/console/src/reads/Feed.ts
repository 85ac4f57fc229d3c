/**
 * The live feed: waits for the next events and marks stale what they name. A hidden page asks once a
 * minute, a role without a feed reads its screen anew every 15 seconds.
 */
import { effect, signal } from "@preact/signals"
import table from "virtual:interface"
import * as Session from "../shell/Session.ts"
import { againAfter, client, isSlowed } from "./Api.ts"
import * as Cache from "./Cache.ts"

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
  readonly now: string
  readonly value: ReadonlyArray<FeedEvent>
  readonly next: string
}

const hiddenPause = 60
const slowedPause = 20
const readAnewEvery = 15

const pause = (seconds: number, ended: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000)
    ended.addEventListener("abort", () => {
      clearTimeout(timer)
      resolve()
    })
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

/** Follows the feed from its present end until the session ends. */
const follow = async (ended: AbortSignal): Promise<void> => {
  let after: string | null = null
  let from: string | null = null
  while (!ended.aborted) {
    try {
      if (from === null) {
        const { page } = await ask({ order: "desc", limit: 50 }, { ended, wait: 0 })
        events.value = page.value
        from = page.now
        light.value = { state: isSlowed.value ? "slowed" : "live" }
      }
      const isHidden = document.hidden
      const query =
        after === null ? { order: "asc", limit: 200, from } : { order: "asc", limit: 200, after }
      const { hasWaited, page } = await ask(query, {
        ended,
        wait: isHidden || isSlowed.value ? 0 : waitFor
      })
      after = page.next
      if (page.value.length > 0) {
        events.value = [...page.value.toReversed(), ...events.value].slice(0, eventsMax)
        Cache.markStale(new Set(page.value.map(({ resourceKind }) => resourceKind)))
      }
      light.value = { state: isSlowed.value ? "slowed" : "live" }
      if (isHidden) await pause(hiddenPause, ended)
      else if (isSlowed.value) await pause(slowedPause, ended)
      else if (!hasWaited && page.value.length === 0) await pause(2, ended)
    } catch (error) {
      if (ended.aborted) return
      if (light.value.state !== "away")
        light.value = { state: "away", since: new Date().toISOString() }
      await pause(againAfter(error) ?? 10, ended)
    }
  }
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
