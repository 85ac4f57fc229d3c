/**
 * How the feed is followed: from before the session's first read, by one cursor whose filters stay, and
 * anew where the cursor no longer holds. What it needs of the page and of time is given to it.
 */

/** An event, as far as following needs it. */
interface FollowedEvent {
  readonly seq: number | string
  readonly at: string | null
  /** `journal` for a fact of the ledger, whose `at` is its effective time. */
  readonly kind: string
  readonly resourceKind: string
}

export interface FollowedPage<E extends FollowedEvent> {
  readonly value: ReadonlyArray<E>
  readonly next: string
}

export interface Ports<E extends FollowedEvent> {
  /** Asks for a page of the feed; `wait`: true where the service may hold its answer back. */
  readonly ask: (
    query: Readonly<Record<string, unknown>>,
    wait: boolean
  ) => Promise<{ readonly hasWaited: boolean; readonly page: FollowedPage<E> }>
  readonly now: () => number
  readonly isEnded: () => boolean
  /** How soon to ask again after an answer: at once by a call that waits, or after a pause. */
  readonly pace: () => "wait" | "slowed" | "hidden"
  /** Ends after the pause, or as soon as the page is seen again or the session ends. */
  readonly pause: (seconds: number) => Promise<void>
  /** New events, the oldest first. */
  readonly take: (events: ReadonlyArray<E>) => void
  readonly markStale: (kinds: ReadonlySet<string>) => void
  readonly readAnew: () => void
  readonly live: () => void
  readonly away: () => void
  /** Seconds after which a failed call is made again; null: its place in the feed no longer holds. */
  readonly againAfter: (error: unknown) => number | null
}

/**
 * Milliseconds before the session at which the feed is taken up: an event of the ledger has its effective
 * time, which lies before its place in the feed.
 */
const before = 900_000

/** Milliseconds by which an answer of a whole second may lie before an event of the same second. */
const grain = 2_000

const pauses = { wait: 2, slowed: 20, hidden: 60 } as const

export const follow = async <E extends FollowedEvent>(ports: Ports<E>): Promise<void> => {
  let start = ports.now()
  let from = new Date(start - before).toISOString()
  let after: string | undefined
  let newest = -1n
  let isAway = false
  let isCaughtUp = false
  while (!ports.isEnded()) {
    const pace = ports.pace()
    try {
      // The cursor is bound to its filters: a page after it is asked for with the same.
      const query = { order: "asc", limit: 500, from, ...(after === undefined ? {} : { after }) }
      const { hasWaited, page } = await ports.ask(query, isCaughtUp && pace === "wait")
      if (ports.isEnded()) return
      if (isAway) ports.readAnew()
      isAway = false
      after = page.next
      const fresh = page.value.filter(({ seq }) => BigInt(seq) > newest)
      if (fresh.length > 0) {
        newest = BigInt(fresh.at(-1)?.seq ?? 0)
        ports.take(fresh)
        // Acts of before the session are in every answer that it has read. Of a fact of the ledger the
        // time says nothing of when it was recorded.
        const unread = fresh.filter(
          ({ at, kind }) =>
            isCaughtUp || at === null || kind !== "control" || Date.parse(at) >= start - grain
        )
        ports.markStale(new Set(unread.map(({ resourceKind }) => resourceKind)))
      }
      ports.live()
      if (page.value.length > 0) continue
      isCaughtUp = true
      if (pace !== "wait" || !hasWaited) await ports.pause(pauses[pace])
    } catch (error) {
      if (ports.isEnded()) return
      const again = ports.againAfter(error)
      if (again === null) {
        // What came since the place that no longer holds is not known: everything is read anew.
        start = ports.now()
        from = new Date(start - before).toISOString()
        after = undefined
        isCaughtUp = false
      }
      isAway = true
      ports.away()
      await ports.pause(again ?? 1)
    }
  }
}
