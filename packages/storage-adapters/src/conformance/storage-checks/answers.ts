/**
 * Checks of an answer's instant: updates stamped before it are visible, updates projected later are
 * not.
 */
import { Atomically, Feed, ProjectionLog } from "@bursar/engine-core/ports"
import { Instant } from "@bursar/engine-core/kernel"
import { Effect, Option } from "effect"
import { type Check, check, ends, fresh, instant, same } from "../Check.ts"
import { entries, event, update } from "./rows.ts"

const stampedAt = (now: string) =>
  Effect.gen(function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    return yield* run(
      Effect.gen(function* () {
        const head = yield* feed.take(now)
        yield* feed.append(head, entries([]))
        return head.at
      })
    )
  })

const plusMicros = (text: string, micros: number): string =>
  Instant.sortable(Instant.fromNanos(Instant.of(text) + BigInt(micros) * 1_000n))

/** Takes an answer's instant where none was given before. */
const answerAt = (now: string) =>
  Effect.flatMap(Feed, (feed) => feed.answer({ now, since: plusMicros(now, 1) }))

const afterHead = (micros: number) =>
  Effect.flatMap(Feed, (feed) =>
    Effect.map(feed.head, ({ at }) => plusMicros(at || instant(0), micros))
  )

/**
 * Sets up a projection that begins with a snapshot, and a function that projects an update with a
 * given time.
 */
const book = Effect.gen(function* () {
  const log = yield* ProjectionLog
  const { writerEpoch: epoch, offset } = yield* log.takeOver({ participant: "p" })
  const base = offset + 100
  const early = instant(10)
  yield* log.bootstrap({
    epoch,
    ledgerEpoch: 1,
    offset: base,
    ledgerTime: early,
    horizonTime: early
  })
  const read = (from: number, to: number, ledgerTime: string) =>
    log.advance({
      epoch,
      from: base + from,
      to: base + to,
      ledgerTime,
      updates: [update({ offset: base + to, ledgerTime })]
    })
  const asOf = (at: string) =>
    Effect.map(log.offsetAsOf(at), (found) =>
      Option.getOrNull(Option.map(found, (one) => ({ ...one, offset: one.offset - base })))
    )
  return { ...log, epoch, base, read, asOf }
})

export const answers: ReadonlyArray<Check> = [
  check("Feed", "counts the appends at its head, and no answer", function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const { moves: start } = yield* feed.head
    const since = Effect.map(feed.head, ({ moves }) => moves - start)
    const answer = yield* answerAt(yield* afterHead(5))
    yield* same("the head of an answer", answer.moves - start, 0)
    yield* stampedAt(yield* afterHead(10))
    yield* same("after an append of nothing", yield* since, 1)
    const append = Effect.flatMap(feed.take(instant(0)), (head) =>
      feed.append(head, entries([event({ seq: head.seq + 1 })]))
    )
    yield* ends("a run that fails", run(Effect.andThen(append, Effect.fail("no"))), "no")
    yield* same("after one that failed", yield* since, 1)
    yield* run(append)
    yield* same("after an event", yield* since, 2)
  }),
  check("Feed", "gives an answer an instant before every later stamp", function* () {
    const feed = yield* Feed
    const stamp = yield* stampedAt(instant(0))
    const first = yield* answerAt(plusMicros(stamp, 10))
    yield* same("the instant", first.at, plusMicros(stamp, 10))
    yield* same("the head", (yield* feed.head).at, first.at)
    const next = yield* stampedAt(instant(0))
    yield* same("a stamp after it", next > first.at, true)
    yield* same("an answer by a slow clock", (yield* answerAt(instant(0))).at, next)
    yield* same("a stamp after that", (yield* stampedAt(instant(0))) > next, true)
    const place = yield* afterHead(50)
    yield* feed.pass(place)
    yield* same("a stamp after what is passed", (yield* stampedAt(instant(0))) > place, true)
    yield* feed.pass(instant(0))
    yield* same("passed before", (yield* feed.head).at > place, true)
  }),
  check("Feed", "gives an instant again only while nothing was stamped since", function* () {
    const feed = yield* Feed
    const since = yield* afterHead(10)
    const first = yield* feed.answer({ now: since, since })
    const again = yield* feed.answer({ now: plusMicros(since, 5), since })
    yield* same("the instant", again, first)
    const late = { now: plusMicros(since, 5), since: plusMicros(since, 1) }
    yield* same("one that is too old", (yield* feed.answer(late)).at, plusMicros(since, 5))
    const stamp = yield* stampedAt(instant(0))
    const after = yield* feed.answer({ now: plusMicros(stamp, 5), since })
    yield* same("one after a stamp", after.at, plusMicros(stamp, 5))
  }),
  check("Feed", "answers with all that was stamped by then, while others write", function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const type = yield* fresh("type")
    const start = (yield* feed.head).seq
    const base = yield* afterHead(0)
    const write = (n: number) =>
      run(
        Effect.gen(function* () {
          // The clocks of the two callers differ by one second.
          const head = yield* feed.take(plusMicros(base, n % 2 === 0 ? 1_000_000 + n : n))
          const rows = [event({ seq: head.seq + 1, at: head.at, type })]
          yield* feed.append(head, entries(rows))
        })
      )
    const ask = (n: number) => answerAt(plusMicros(base, n % 3 === 0 ? 1_000_000 + 5 * n : n))
    const turns = Array.from({ length: 40 }, (_, n) => n)
    const inTurn = <A, E, R>(act: (n: number) => Effect.Effect<A, E, R>) =>
      Effect.forEach(turns, (n) => Effect.andThen(Effect.yieldNow, act(n)), { concurrency: 4 })
    const [, stamps] = yield* Effect.all([inTurn(write), inTurn(ask)], { concurrency: 2 })
    const { events } = yield* feed.read({ order: "asc", after: start, limit: 99, type: [type] })
    yield* same("the events", events.length, 40)
    const wrong = stamps.filter(({ at, seq }) =>
      events.some((row) => (row.at ?? "") <= at !== row.seq <= seq)
    )
    yield* same("the answers that a stamp contradicts", wrong, [])
  }),
  check("ProjectionLog", "names the offset that was answered with, for ever", function* () {
    const { read, asOf, base } = yield* book
    const at = yield* afterHead(10)
    const none = { offset: 0, settled: false, answered: false }
    yield* same("before an answer", yield* asOf(at), none)
    yield* same("the answer's offset", (yield* answerAt(at)).projectionOffset, base)
    const answered = { offset: 0, settled: true, answered: true }
    yield* same("what was answered", yield* asOf(at), answered)
    // An update whose effective time is long before the answer that did not include it.
    yield* read(0, 3, instant(11))
    yield* same("after an early update", yield* asOf(at), answered)
    yield* same("just after the answer", yield* asOf(plusMicros(at, 1)), { ...none, offset: 3 })
    yield* same("before the answer", yield* asOf(plusMicros(at, -1)), { ...none, settled: true })
    const second = yield* afterHead(10)
    yield* answerAt(second)
    const third = plusMicros(second, 10)
    yield* answerAt(third)
    yield* read(3, 7, plusMicros(third, 1_000))
    const between = { offset: 3, settled: true, answered: true }
    yield* same("the second", yield* asOf(second), between)
    yield* same("between two at one offset", yield* asOf(plusMicros(second, 5)), between)
    yield* same("the third", yield* asOf(third), between)
    yield* same("the first", yield* asOf(at), answered)
    const past = { offset: 3, settled: true, answered: false }
    yield* same("after the third", yield* asOf(plusMicros(third, 1)), past)
    // The ledger's clock is ahead of the caller's; the caller saw the update nevertheless.
    const ahead = yield* answerAt(plusMicros(third, 20))
    yield* same("ahead", yield* asOf(ahead.at), { ...answered, offset: 7 })
  }),
  check("ProjectionLog", "is answered at another instant for another offset", function* () {
    const { advance, asOf, base, epoch } = yield* book
    const { at } = yield* answerAt(yield* afterHead(10))
    yield* advance({ epoch, from: base, to: base + 4, ledgerTime: null, updates: [] })
    const feed = yield* Feed
    // The caller's clock is slow, and an earlier answer is recent enough for it.
    const next = yield* feed.answer({ now: instant(0), since: instant(0) })
    yield* same("whether it is later", next.at > at, true)
    const answered = { settled: true, answered: true }
    yield* same("the first", yield* asOf(at), { ...answered, offset: 0 })
    yield* same("the second", yield* asOf(next.at), { ...answered, offset: 4 })
  }),
  check("ProjectionLog", "answers from the first answer on, where it begins later", function* () {
    const { bootstrap, epoch, base, asOf, prune, read } = yield* book
    const at = yield* afterHead(10)
    const horizonTime = plusMicros(at, 60_000_000)
    yield* bootstrap({ epoch, ledgerEpoch: 1, offset: base, ledgerTime: null, horizonTime })
    yield* same("before an answer", yield* asOf(at), null)
    yield* answerAt(at)
    yield* same("the answer", yield* asOf(at), { offset: 0, settled: true, answered: true })
    yield* same("before it", yield* asOf(plusMicros(at, -1)), null)
    yield* read(0, 2, instant(11))
    yield* prune({ offset: base + 1, limit: 9 })
    yield* same("once its offset is pruned", yield* asOf(at), null)
  }),
  check("ProjectionLog", "forgets an answer's offset with the run that left it", function* () {
    const { run } = yield* Atomically
    const { read, asOf } = yield* book
    const { at } = yield* answerAt(yield* afterHead(10))
    yield* ends(
      "a run that fails",
      run(Effect.andThen(read(0, 2, instant(11)), Effect.fail("no"))),
      "no"
    )
    const { at: again } = yield* answerAt(plusMicros(at, 5))
    const answered = { offset: 0, settled: true, answered: true }
    yield* same("the first", yield* asOf(at), answered)
    yield* same("the second", yield* asOf(again), answered)
    yield* same("between", yield* asOf(plusMicros(at, 1)), answered)
  })
]
