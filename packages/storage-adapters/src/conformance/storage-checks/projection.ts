/** Checks of ProjectionLog: one writer, one line of offsets, and offsets of instants. */
import { type AsOf, Atomically, Feed, ProjectionLog } from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import { type Check, check, ends, fresh, instant, same } from "../Check.ts"
import { entries, update } from "./rows.ts"

const PORT = "ProjectionLog"

/** Takes over the projection and starts it from a snapshot well after the stored offsets. */
const setUp = Effect.gen(function* () {
  const log = yield* ProjectionLog
  const { writerEpoch: epoch, offset } = yield* log.takeOver({ participant: "p" })
  const base = offset + 100
  yield* log.bootstrap({
    epoch,
    ledgerEpoch: 1,
    offset: base,
    ledgerTime: instant(10),
    horizonTime: instant(10)
  })
  return { ...log, epoch, base }
})

/** Distance between the base and the offset of an instant. */
const offsetOf =
  (base: number) =>
  (found: Option.Option<AsOf>): number =>
    Option.match(found, { onNone: () => 0, onSome: ({ offset }) => offset }) - base

export const projection: ReadonlyArray<Check> = [
  check(PORT, "raises the epoch for each writer and keeps the place", function* () {
    const log = yield* ProjectionLog
    const first = yield* log.takeOver({ participant: "p" })
    const second = yield* log.takeOver({ participant: "q" })
    yield* same("the second head", second, {
      ...first,
      participant: "q",
      writerEpoch: first.writerEpoch + 1
    })
    yield* same("as it is read", yield* log.head, second)
  }),
  check(
    PORT,
    "moves the head and keeps the updates, within the caller's transaction",
    function* () {
      const { run } = yield* Atomically
      const feed = yield* Feed
      const { advance, base, hasCommand, epoch, head, read } = yield* setUp
      const commandId = yield* fresh("command")
      const updates = [
        update({ offset: base + 1, ledgerTime: instant(11), commandId, workflowId: "w" }),
        update({ offset: base + 4, ledgerTime: instant(12) })
      ]
      const move = { epoch, from: base, to: base + 6, ledgerTime: instant(12), updates }
      yield* ends("a run that fails", run(Effect.andThen(advance(move), Effect.fail("no"))), "no")
      yield* same("the offset after it", (yield* head).offset, base)
      yield* same("the updates after it", yield* read({ after: base, limit: 9 }), [])
      yield* run(
        Effect.gen(function* () {
          yield* advance(move)
          const taken = yield* feed.take(instant(0))
          yield* same("the offset the feed's head tells", taken.projectionOffset, base + 6)
          yield* feed.append(taken, entries([]))
        })
      )
      const { offset, ledgerTime } = yield* head
      yield* same("the head", [offset, ledgerTime], [base + 6, instant(12)])
      yield* same("the updates", yield* read({ after: base, limit: 9 }), updates)
      yield* same("by page", (yield* read({ after: base + 1, limit: 1 })).length, 1)
      yield* same("has the command", yield* hasCommand(commandId), true)
      yield* same("has no other", yield* hasCommand(`${commandId}x`), false)
      yield* same("the feed's", (yield* feed.head).projectionOffset, base + 6)
    }
  ),
  check(PORT, "refuses a writer that was taken over, and one at another place", function* () {
    const { advance, base, bootstrap, epoch, head, read, takeOver } = yield* setUp
    const move = {
      from: base,
      to: base + 1,
      ledgerTime: null,
      updates: [update({ offset: base + 1 })]
    }
    yield* ends("from behind", advance({ ...move, epoch, from: base - 1 }), "WriterFenced")
    yield* takeOver({ participant: "p" })
    yield* ends("the old writer", advance({ ...move, epoch }), "WriterFenced")
    const snapshot = {
      epoch,
      ledgerEpoch: 1,
      offset: base + 9,
      ledgerTime: null,
      horizonTime: null
    }
    yield* ends("its snapshot", bootstrap(snapshot), "WriterFenced")
    yield* same("the offset", (yield* head).offset, base)
    yield* same("the updates", yield* read({ after: base, limit: 9 }), [])
  }),
  check(PORT, "lets one of 20 parallel moves from a place win", function* () {
    const { advance, base, epoch, read } = yield* setUp
    const exits = yield* Effect.forEach(
      Array.from({ length: 20 }),
      () =>
        Effect.exit(
          advance({
            epoch,
            from: base,
            to: base + 1,
            ledgerTime: null,
            updates: [update({ offset: base + 1 })]
          })
        ),
      { concurrency: "unbounded" }
    )
    yield* same("the winners", exits.filter((exit) => exit._tag === "Success").length, 1)
    yield* same("the updates", (yield* read({ after: base, limit: 9 })).length, 1)
  }),
  check(PORT, "tells the ledger time at an offset, and the offset as of an instant", function* () {
    const { advance, base, epoch, ledgerTimeAt, offsetAsOf } = yield* setUp
    yield* advance({
      epoch,
      from: base,
      to: base + 9,
      ledgerTime: instant(30),
      updates: [
        update({ offset: base + 2, ledgerTime: instant(20) }),
        update({ offset: base + 5, ledgerTime: instant(20) }),
        update({ offset: base + 7, ledgerTime: instant(30) })
      ]
    })
    const times = yield* Effect.forEach([0, 1, 2, 6, 7, 9], (n) => ledgerTimeAt(base + n))
    yield* same("the times", times.map(Option.getOrNull), [10, 10, 20, 20, 30, 30].map(instant))
    const offsets = yield* Effect.forEach([10, 19, 20, 29, 30, 99], (n) => offsetAsOf(instant(n)))
    yield* same("the offsets", offsets.map(offsetOf(base)), [0, 0, 5, 5, 9, 9])
  }),
  check(PORT, "tells the last offset before an instant, whatever is answered", function* () {
    const { advance, base, epoch, offsetBefore, prune } = yield* setUp
    const { answer } = yield* Feed
    const before = (...times: ReadonlyArray<number>) =>
      Effect.map(
        Effect.forEach(times, (n) => offsetBefore({ instant: instant(n) })),
        (found) => found.map((offset) => Option.getOrNull(Option.map(offset, (at) => at - base)))
      )
    yield* same("at the horizon", yield* before(10, 11), [null, 0])
    // An answer for a later instant moves the offset as of that instant, never this one.
    yield* answer({ now: instant(25), since: instant(25) })
    yield* advance({
      epoch,
      from: base,
      to: base + 9,
      ledgerTime: instant(30),
      updates: [
        update({ offset: base + 2, ledgerTime: instant(20) }),
        update({ offset: base + 5, ledgerTime: instant(20) }),
        update({ offset: base + 7, ledgerTime: instant(30) })
      ]
    })
    const offsets = [null, 0, 0, 5, 5, 9]
    yield* same("the offsets", yield* before(10, 11, 20, 21, 30, 31), offsets)
    const through = (offset: number) =>
      Effect.map(
        Effect.forEach([10, 11, 21, 31], (n) =>
          offsetBefore({ instant: instant(n), through: base + offset })
        ),
        (found) => found.map((last) => Option.getOrNull(Option.map(last, (at) => at - base)))
      )
    yield* same("up to an update", yield* through(5), [null, 0, 5, 5])
    yield* same("up to an offset between updates", yield* through(3), [null, 0, 3, 3])
    yield* prune({ offset: base + 5, limit: 99 })
    yield* same("after the horizon rose", yield* before(20, 21, 30, 31), [null, 5, 5, 9])
  }),
  check(PORT, "starts anew from a snapshot with its horizon", function* () {
    const { base, bootstrap, epoch, head } = yield* setUp
    const shown = Effect.map(
      head,
      ({ horizonOffset, horizonTime, ledgerEpoch, ledgerTime, offset }) => ({
        ...{ horizonOffset, horizonTime, ledgerEpoch, ledgerTime, offset }
      })
    )
    const first = { horizonTime: instant(10), ledgerTime: instant(10), ledgerEpoch: 1 }
    yield* same("the head", yield* shown, { ...first, horizonOffset: base, offset: base })
    const next = { horizonTime: instant(20), ledgerTime: instant(15), ledgerEpoch: 2 }
    yield* bootstrap({ epoch, ...next, offset: base + 4 })
    const behind = { horizonOffset: base + 4, offset: base + 4 }
    yield* same("the next ledger epoch", yield* shown, { ...next, ...behind })
    yield* bootstrap({ epoch, ...next, ledgerEpoch: 1, offset: base + 4 })
  }),
  check(
    PORT,
    "moves the horizon up to what was pruned, never down nor past the head",
    function* () {
      const { advance, base, epoch, head, ledgerTimeAt, offsetAsOf, prune, read } = yield* setUp
      // Removes the rows of other checks.
      while ((yield* prune({ offset: base, limit: 1000 })) > 0) {}
      const updates = [2, 3, 5, 7].map((n) =>
        update({ offset: base + n, ledgerTime: instant(10 + n), commandId: `c${base + n}` })
      )
      yield* advance({ epoch, from: base, to: base + 9, ledgerTime: instant(17), updates })
      const horizon = Effect.map(head, (at) => [at.horizonOffset - base, at.horizonTime])
      const times = Effect.map(
        Effect.forEach([6, 7, 9], (n) => ledgerTimeAt(base + n)),
        (found) => found.map(Option.getOrNull)
      )
      const offsets = Effect.map(
        Effect.forEach([15, 16, 17, 99], (n) => offsetAsOf(instant(n))),
        (found) => found.map(offsetOf(base))
      )
      const before = yield* times
      yield* same("the offsets before", yield* offsets, [5, 5, 9, 9])
      const stored = Effect.map(read({ after: base, limit: 9 }), (rows) =>
        rows.map((row) => row.offset - base)
      )
      yield* same("with a limit", yield* prune({ offset: base + 6, limit: 2 }), 2)
      yield* same("the horizon", yield* horizon, [6, instant(15)])
      yield* same("what is left", yield* stored, [5, 7])
      yield* same("the rest", yield* prune({ offset: base + 6, limit: 9 }), 1)
      yield* same("no more", yield* prune({ offset: base + 6, limit: 9 }), 0)
      yield* same("the updates from the horizon on", yield* stored, [7])
      yield* same("the times from the horizon on", yield* times, before)
      yield* same("the offsets then", yield* offsets, [6, 6, 9, 9])
      yield* same("of one before it", yield* prune({ offset: base + 2, limit: 9 }), 0)
      yield* same("the horizon then", yield* horizon, [6, instant(15)])
      yield* prune({ offset: base + 99, limit: 9 })
      yield* same("the horizon at the head", yield* horizon, [9, instant(17)])
      const { offset, ledgerTime } = yield* head
      yield* same("the head", [offset - base, ledgerTime], [9, instant(17)])
      yield* same(
        "as of later",
        yield* offsetAsOf(instant(99)),
        Option.some({ offset: base + 9, settled: false, answered: false })
      )
      const next = update({ offset: base + 10, ledgerTime: instant(20) })
      yield* advance({
        epoch,
        from: offset,
        to: base + 10,
        ledgerTime: instant(20),
        updates: [next]
      })
      yield* same("what comes next", yield* stored, [10])
      yield* same(
        "as of then",
        yield* offsetAsOf(instant(20)),
        Option.some({ offset: base + 10, settled: false, answered: false })
      )
      const earlier = Option.some({ offset: base + 9, settled: true, answered: false })
      yield* same("as of before", yield* offsetAsOf(instant(19)), earlier)
    }
  ),
  check(PORT, "prunes updates within the caller's transaction", function* () {
    const { run } = yield* Atomically
    const { advance, base, epoch, head, prune, read } = yield* setUp
    const updates = [update({ offset: base + 1, ledgerTime: instant(11) })]
    yield* advance({ epoch, from: base, to: base + 1, ledgerTime: instant(11), updates })
    const before = yield* head
    const all = prune({ offset: base + 1, limit: 9 })
    yield* ends("a run that fails", run(Effect.andThen(all, Effect.fail("no"))), "no")
    yield* same("the head", yield* head, before)
    yield* same("the updates", yield* read({ after: base, limit: 9 }), updates)
  }),
  check(PORT, "reads again what a snapshot before it makes unread", function* () {
    const { advance, base, bootstrap, epoch, read } = yield* setUp
    const move = { epoch, from: base, to: base + 2, ledgerTime: null }
    const updates = [update({ offset: base + 1 }), update({ offset: base + 2 })]
    yield* advance({ ...move, updates })
    yield* bootstrap({
      epoch,
      ledgerEpoch: 1,
      offset: base,
      ledgerTime: instant(10),
      horizonTime: null
    })
    yield* same("the updates", yield* read({ after: base, limit: 9 }), [])
    yield* advance({ ...move, updates })
    yield* same("the updates again", yield* read({ after: base, limit: 9 }), updates)
  })
]
