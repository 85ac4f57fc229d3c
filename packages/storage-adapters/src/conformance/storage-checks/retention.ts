/**
 * Checks of Feed's pruning: the oldest control events are deleted, and nothing under a legal hold.
 */
import { Atomically, type EventRow, Feed, type LegalHold } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Check, check, ends, fresh, same } from "../Check.ts"
import { entries, event } from "./rows.ts"

const PORT = "Feed"
const nobody: LegalHold = { holderIds: [], instrumentIds: [] }
/** Later than the instants of all other checks, so that stamps increase with sequence numbers. */
const now = "2026-02-01T00:00:00.000000000Z"

/** Appends events in a transaction of their own and with a stamp, which it returns. */
const append = Effect.fnUntraced(function* (...rows: ReadonlyArray<Partial<EventRow>>) {
  const { run } = yield* Atomically
  const feed = yield* Feed
  return yield* run(
    Effect.gen(function* () {
      const head = yield* feed.take(now)
      const events = rows.map((row, index) =>
        event({ at: head.at, ...row, seq: head.seq + index + 1 })
      )
      yield* feed.append(head, entries(events))
      return head
    })
  )
})

/** Prunes every event before a stamp, without a legal hold. */
const clear = Effect.fnUntraced(function* (before: string) {
  const feed = yield* Feed
  for (;;) {
    const { passed } = yield* feed.prune({ before, hold: nobody, limit: 1000 })
    if (passed === 0) return
  }
})

const left = Effect.fnUntraced(function* (resourceId: string) {
  const feed = yield* Feed
  const { events } = yield* feed.read({ order: "asc", limit: 100, resourceId })
  return events.map((row) => row.type).join("")
})

export const retention: ReadonlyArray<Check> = [
  check(PORT, "prunes the oldest control events up to the limit and says how far", function* () {
    const feed = yield* Feed
    const own = yield* fresh("own")
    const row = (type: string, fields: Partial<EventRow> = {}) => ({
      type,
      resourceId: own,
      ...fields
    })
    yield* clear((yield* append()).at)
    const head = yield* append(
      row("a"),
      row("b", { kind: "journal", offset: 1, at: now }),
      row("c")
    )
    const fourth = yield* append(row("d"))
    const prune = (limit: number) => feed.prune({ before: fourth.at, hold: nobody, limit })
    const prunedTo = Effect.map(feed.head, (at) => at.prunedTo - head.seq)
    yield* same("none", yield* prune(0), { deleted: 0, passed: 0 })
    yield* same("one", yield* prune(1), { deleted: 1, passed: 1 })
    yield* same("how far", yield* prunedTo, 1)
    yield* same("what is left", yield* left(own), "bcd")
    yield* same("the rest", yield* prune(9), { deleted: 1, passed: 1 })
    yield* same("how far then", yield* prunedTo, 3)
    yield* same("what is left then", yield* left(own), "bd")
    yield* same("no more", yield* prune(9), { deleted: 0, passed: 0 })
    yield* same("how far at last", yield* prunedTo, 3)
    const { prunedTo: prunedToOfPage } = yield* feed.read({ order: "asc", limit: 1 })
    yield* same("how far a page says", prunedToOfPage, head.seq + 3)
    const next = yield* append(row("e"))
    yield* same("the next number", next.seq, fourth.seq + 1)
    const page = yield* feed.read({ order: "asc", limit: 2, after: head.seq })
    yield* same("a page over the gap", [page.events.length, page.scanned], [2, fourth.seq + 1])
    const taken = (yield* append()).prunedTo
    yield* same("what a transaction is told", taken, head.seq + 3)
  }),
  check(PORT, "leaves what a legal hold names, and passes it", function* () {
    const feed = yield* Feed
    const own = yield* fresh("own")
    const row = (type: string, fields: Partial<EventRow> = {}) => ({
      type,
      resourceId: own,
      ...fields
    })
    yield* clear((yield* append()).at)
    const head = yield* append(
      row("a", { holderIds: ["x", own] }),
      row("b", { instrumentId: own }),
      row("c", { instrumentId: "x", holderIds: ["x"] }),
      row("d"),
      row("e", { holderIds: [own], instrumentId: own })
    )
    const { at } = yield* append()
    const hold = { holderIds: [own, "nobody"], instrumentIds: [own] }
    const first = yield* feed.prune({ before: at, hold, limit: 4 })
    yield* same("the first", first, { deleted: 2, passed: 4 })
    const rest = yield* feed.prune({ before: at, hold, limit: 4 })
    yield* same("the rest", rest, { deleted: 0, passed: 1 })
    yield* same("what is left", yield* left(own), "abe")
    yield* same("how far", (yield* feed.head).prunedTo, head.seq + 5)
  }),
  check(PORT, "prunes within the caller's transaction", function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const own = yield* fresh("own")
    yield* append({ type: "a", resourceId: own })
    yield* append({ type: "b", kind: "journal", offset: 1, at: null, resourceId: own, source: own })
    const { at } = yield* append()
    const before = yield* feed.head
    const all = Effect.andThen(clear(at), feed.pruneJournal({ through: 1, limit: 10_000 }))
    yield* ends("a run that fails", run(Effect.andThen(all, Effect.fail("no"))), "no")
    yield* same("what is left", yield* left(own), "ab")
    yield* same("the head", yield* feed.head, before)
    yield* same("the source", yield* feed.published([own]), [own])
    yield* run(all)
    yield* same("what a run that succeeds leaves", yield* left(own), "")
    yield* same("the source then", yield* feed.published([own]), [])
  }),
  check(PORT, "prunes journal events up to an offset and the limit, and no other", function* () {
    const feed = yield* Feed
    const own = yield* fresh("own")
    const journal = (type: string, offset: number) =>
      ({ type, kind: "journal", offset, at: null, resourceId: own }) as const
    // Offsets below those of any other check.
    const prune = (through: number, limit: number) => feed.pruneJournal({ through, limit })
    yield* prune(-1, 10_000)
    yield* append(
      journal("a", -9),
      { type: "b", resourceId: own, offset: -9 },
      journal("c", -8),
      journal("d", -7),
      journal("e", -6)
    )
    const { prunedTo, seq } = yield* feed.head
    const journalPrunedTo = Effect.gen(function* () {
      const page = yield* feed.read({ order: "asc", limit: 1 })
      return [(yield* feed.head).journalPrunedTo - seq, page.journalPrunedTo - seq]
    })
    yield* same("up to the limit", yield* prune(-7, 2), 2)
    yield* same("how far journal events are pruned", yield* journalPrunedTo, [-2, -2])
    yield* same("what is left", yield* left(own), "bde")
    yield* same("the rest", yield* prune(-7, 2), 1)
    yield* same("no more", yield* prune(-7, 2), 0)
    yield* same("what is left then", yield* left(own), "be")
    yield* same("how far journal events are pruned then", yield* journalPrunedTo, [-1, -1])
    yield* same("how far control events are pruned", (yield* feed.head).prunedTo, prunedTo)
  }),
  check(
    PORT,
    "notes a restore at its head, in the place of one without a write since",
    function* () {
      const feed = yield* Feed
      const own = yield* fresh("own")
      yield* append({ resourceId: own })
      const { audit, restores: before, seq } = yield* feed.head
      const at = (day: number) => `2026-03-0${day}T00:00:00.000000000Z`
      const restore = (day: number, number: number) => ({
        seq: number,
        auditSeq: audit.seq,
        at: at(day)
      })
      yield* feed.noteRestore(at(1))
      yield* feed.noteRestore(at(2))
      yield* append({ resourceId: own })
      yield* feed.noteRestore(at(3))
      const expected = [...before, restore(2, seq), restore(3, seq + 1)]
      const { restores } = yield* feed.head
      yield* same("the restores", restores, expected)
      const page = yield* feed.read({ order: "asc", limit: 1 })
      yield* same("the restores of a page", [page.restores, page.end], [expected, seq + 1])
      const log = yield* feed.readAudit({ order: "asc", limit: 1 })
      yield* same("the restores of the log", [log.restores, log.end], [expected, audit.seq])
      yield* same("the restores that a transaction is given", (yield* append()).restores, expected)
      const { run } = yield* Atomically
      yield* ends(
        "a run that fails",
        run(Effect.andThen(feed.noteRestore(at(4)), Effect.fail("no"))),
        "no"
      )
      yield* same("the restores after a run that failed", (yield* feed.head).restores, expected)
    }
  )
]
