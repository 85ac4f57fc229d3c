/** Checks of Feed: one gapless sequence in commit order, of which no reader misses a number. */
import {
  Atomically,
  type EventRow,
  Feed,
  type FeedHead,
  type FeedQuery
} from "@bursar/engine-core/ports"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { type Check, check, ends, fresh, instant, same, woken } from "../Check.ts"
import { entries, event } from "./rows.ts"

const PORT = "Feed"

/** Appends events in a transaction of their own. */
const append = Effect.fnUntraced(function* (...rows: ReadonlyArray<Partial<EventRow>>) {
  const { run } = yield* Atomically
  const feed = yield* Feed
  return yield* run(
    Effect.gen(function* () {
      const head = yield* feed.take(instant(0))
      yield* feed.append(head, entries(numbered(head, rows)))
      return head
    })
  )
})

const numbered = (
  head: FeedHead,
  rows: ReadonlyArray<Partial<EventRow>>
): ReadonlyArray<EventRow> =>
  rows.map((row, index) => event({ at: head.at, ...row, seq: head.seq + index + 1 }))

/**
 * Parallel writers, some of which fail, and a reader that continues after the last number it
 * scanned.
 */
const gapless = (writers: number) =>
  Effect.gen(function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const type = yield* fresh("type")
    const start = (yield* feed.head).seq
    const perWriter = Math.max(4, Math.floor(160 / writers))
    const write = (n: number) =>
      Effect.exit(
        run(
          Effect.gen(function* () {
            const head = yield* feed.take(instant(n))
            yield* feed.append(
              head,
              entries(numbered(head, [{ type }, { type }].slice(0, 1 + (n % 2))))
            )
            if (n % 5 === 0) yield* Effect.fail("no")
            return head.at
          })
        )
      )
    const writing = yield* Effect.forkChild(
      Effect.forEach(
        Array.from({ length: writers }, (_, n) => n),
        (w) =>
          Effect.forEach(
            Array.from({ length: perWriter }, (_, n) => w * perWriter + n),
            write
          ),
        { concurrency: "unbounded" }
      )
    )
    const read: Array<EventRow> = []
    let after = start
    const readOn = Effect.gen(function* () {
      const page = yield* feed.read({ order: "asc", limit: 7, after, type: [type] })
      read.push(...page.events)
      after = page.scanned
      return page.events.length
    })
    while (writing.pollUnsafe() === undefined) {
      yield* readOn
      yield* Effect.sleep("1 millis")
    }
    while ((yield* readOn) > 0) {}
    const exits = (yield* Fiber.join(writing)).flat()
    const count = exits.reduce(
      (sum, exit, n) => sum + (exit._tag === "Success" ? 1 + (n % 2) : 0),
      0
    )
    yield* same(
      "the numbers that were read",
      read.map((row) => row.seq),
      Array.from({ length: count }, (_, n) => start + 1 + n)
    )
    yield* same("the head", (yield* feed.head).seq, start + count)
    const stamps = exits.flatMap((exit) => (exit._tag === "Success" ? [exit.value] : []))
    yield* same("stamps that are not alone", stamps.length - new Set(stamps).size, 0)
    const at = read.map((row) => String(row.at))
    yield* same("stamps in the order of numbers", at, at.toSorted())
  })

export const feed: ReadonlyArray<Check> = [
  check(PORT, "gives back every event as it was written", function* () {
    const feed = yield* Feed
    const resourceId = yield* fresh("event")
    const rows: ReadonlyArray<Partial<EventRow>> = [
      {
        resourceId,
        kind: "journal",
        offset: 7,
        instrumentId: "i",
        party: "p::1",
        holderIds: ["h1", 'h"2,{}\\'],
        payload: '{"a":"ö\\u0000"}',
        source: resourceId
      },
      { resourceId, at: null }
    ]
    const head = yield* append(...rows)
    const { events } = yield* feed.read({ order: "asc", limit: 9, resourceId })
    yield* same("the events", events, numbered(head, rows))
  }),
  {
    port: PORT,
    name: "numbers events without a gap in commit order with 8 writers and a reader",
    run: gapless(8)
  },
  {
    port: PORT,
    name: "numbers events without a gap in commit order with 64 writers and a reader",
    run: gapless(64)
  },
  check(PORT, "lets no reader pass an open transaction that holds the head", function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const type = yield* fresh("type")
    const start = (yield* feed.head).seq
    const taken = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const slow = yield* Effect.forkChild(
      run(
        Effect.gen(function* () {
          const head = yield* feed.take(instant(0))
          yield* feed.append(head, entries(numbered(head, [{ type, resourceId: "slow" }])))
          yield* Deferred.succeed(taken, undefined)
          yield* Deferred.await(go)
        })
      )
    )
    yield* Deferred.await(taken)
    const quick = yield* Effect.forkChild(append({ type, resourceId: "quick" }))
    const early = yield* Effect.forkChild(
      feed.read({ order: "asc", limit: 9, after: start, type: [type] })
    )
    yield* Effect.sleep("50 millis")
    yield* Deferred.succeed(go, undefined)
    const first = yield* Fiber.join(early)
    yield* Fiber.join(slow)
    yield* Fiber.join(quick)
    const rest = yield* feed.read({ order: "asc", limit: 9, after: first.scanned, type: [type] })
    yield* same(
      "what the reader got in all",
      [...first.events, ...rest.events].map((row) => row.resourceId),
      ["slow", "quick"]
    )
  }),
  check(PORT, "stamps later than ever before, however early the caller's clock is", function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const stamps: Array<string> = []
    for (const now of [instant(50_000_000), instant(1), instant(1)]) {
      stamps.push(
        yield* run(
          Effect.gen(function* () {
            const head = yield* feed.take(now)
            yield* feed.append(head, entries([]))
            return head.at
          })
        )
      )
    }
    yield* same("the stamps", stamps, [...new Set(stamps)].toSorted())
    yield* same("the head's", (yield* feed.head).at, stamps[2])
    const text = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/
    yield* same(
      "in sortable text",
      stamps.filter((stamp) => !text.test(stamp)),
      []
    )
  }),
  check(PORT, "treats a wrong number or a head that was not taken here as a defect", function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const before = (yield* feed.head).seq
    const other = yield* append({})
    const taken = (f: (head: FeedHead) => Effect.Effect<void, unknown>) =>
      run(Effect.flatMap(feed.take(instant(0)), f))
    yield* ends("a take outside a transaction", feed.take(instant(0)), "defect")
    yield* ends("another's head", run(feed.append(other, entries(numbered(other, [{}])))), "defect")
    yield* ends(
      "a number left out",
      taken((head) => feed.append(head, entries([event({ seq: head.seq + 2 })]))),
      "defect"
    )
    yield* ends(
      "a head used twice",
      taken((head) =>
        Effect.andThen(
          feed.append(head, entries(numbered(head, [{}]))),
          feed.append(head, entries([]))
        )
      ),
      "defect"
    )
    yield* same("the head", (yield* feed.head).seq, before + 1)
  }),
  check(PORT, "stores a source once and says which ones it knows", function* () {
    const feed = yield* Feed
    const source = yield* fresh("source")
    yield* append({ source }, { source: null }, { source: null })
    yield* same("known", yield* feed.published([source, `${source}x`]), [source])
    yield* same("none asked", yield* feed.published([]), [])
    yield* ends("the source again", append({ source }), "defect")
  }),
  check(PORT, "gives a filtered reader what matches and moves it past the rest", function* () {
    const feed = yield* Feed
    const prefix = yield* fresh("own")
    const before = yield* append(
      {
        type: `${prefix}a`,
        resourceId: prefix,
        kind: "control",
        at: instant(1),
        holderIds: [prefix, "x"],
        instrumentId: prefix
      },
      { type: `${prefix}b`, resourceId: prefix, kind: "journal", at: null, resourceKind: prefix },
      { type: `${prefix}c`, resourceId: prefix, at: instant(58_000_000), holderIds: ["y", prefix] },
      { type: `${prefix}d`, resourceId: `${prefix}2`, at: instant(59_000_000) }
    )
    const end = (yield* feed.head).seq
    const found = (query: Partial<FeedQuery>) =>
      Effect.map(
        feed.read({ order: "asc", limit: 100, after: before.seq, ...query }),
        ({ events }) => events.map((row) => row.type.slice(prefix.length)).join("")
      )
    yield* same("all", yield* found({}), "abcd")
    yield* same("a kind", yield* found({ kind: ["journal", "other"] }), "b")
    yield* same("types", yield* found({ type: [`${prefix}a`, `${prefix}d`] }), "ad")
    yield* same("a resource kind", yield* found({ resourceKind: [prefix] }), "b")
    yield* same("an instrument", yield* found({ instrumentId: prefix }), "a")
    yield* same("a holder", yield* found({ holderId: prefix }), "ac")
    yield* same("a resource", yield* found({ resourceId: prefix }), "abc")
    yield* same("from", yield* found({ resourceId: prefix, from: instant(58_000_000) }), "c")
    yield* same(
      "to",
      yield* found({ type: [`${prefix}b`, `${prefix}d`], to: instant(59_000_000) }),
      ""
    )
    yield* same("backwards", yield* found({ order: "desc", after: end, resourceId: prefix }), "cba")
    const { scanned } = yield* feed.read({
      order: "asc",
      limit: 9,
      after: before.seq,
      kind: ["no"]
    })
    yield* same("scanned without a match", scanned, end)
    const full = yield* feed.read({ order: "asc", limit: 2, after: before.seq })
    yield* same("scanned with a full page", full.scanned, before.seq + 2)
    const last = yield* feed.read({ order: "desc", limit: 1 })
    yield* same("the last one first", [last.events[0]?.seq, last.scanned], [end, end])
    const past = yield* feed.read({ order: "asc", limit: 1, after: end })
    yield* same("nothing after the end", [past.events, past.scanned], [[], end])
  }),
  check(PORT, "wakes a reader when an event was committed", function* () {
    const feed = yield* Feed
    const listening = yield* Effect.forkChild(Stream.runHead(feed.wakes))
    yield* same("whether it woke", yield* woken(listening, append({})), true)
  })
]
