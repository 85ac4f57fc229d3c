/** Checks of Atomically: all or nothing, and exclusive locks. */
import {
  Atomically,
  Blobs,
  Bulk,
  Documents,
  FactLog,
  Feed,
  Keys,
  ProjectionLog,
  RateWindow,
  StoreIdentity,
  Terms,
  WorkQueue
} from "@bursar/engine-core/ports"
import { Deferred, Effect, Fiber, Option } from "effect"
import { type Check, check, ends, fresh, instant, same } from "../Check.ts"
import { audit, entries, event, fact, hash, item, version } from "./rows.ts"

const PORT = "Atomically"

/**
 * One write through each port under a common name, and a function that counts which of them exist.
 */
export const writes = Effect.fnUntraced(function* (name: string) {
  const facts = yield* FactLog
  const documents = yield* Documents
  const keys = yield* Keys
  const work = yield* WorkQueue
  const feed = yield* Feed
  const blobs = yield* Blobs
  const terms = yield* Terms
  const binding = { scope: name, key: "k", fingerprint: "f", target: "t", bindsUntil: null }
  const now = instant(0)
  const steps: ReadonlyArray<readonly [step: string, Effect.Effect<unknown, unknown>]> = [
    ["FactLog.append", facts.append([fact({ collection: name })])],
    ["Documents.put", documents.put([version({ collection: name })])],
    ["Keys.bind", keys.bind({ ...binding, now })],
    ["Keys.retarget", keys.retarget({ scope: name, key: "k", target: "u" })],
    ["Keys.useNonce", keys.useNonce({ scope: name, nonce: "n", keep: 60_000 })],
    ["WorkQueue.enqueue", work.enqueue([item({ queue: name })])],
    ["Blobs.put", blobs.put({ hash: hash(name), bytes: new Uint8Array([1]) })],
    [
      "Terms.put",
      terms.put([{ collection: name, rank: "whole", text: "t", recordId: "r", shown: null }])
    ],
    [
      "Feed.append",
      Effect.flatMap(feed.take(now), (head) =>
        feed.append(
          head,
          entries([event({ seq: head.seq + 1, resourceId: name, source: name })], {
            audit: audit(head, [{ resourceId: name }])
          })
        )
      )
    ]
  ]
  const seen = Effect.gen(function* () {
    return {
      facts: (yield* facts.read({ collection: name, recordId: "r" })).length,
      versions: (yield* documents.list({
        collection: name,
        pin: { by: "latest" },
        where: [],
        direction: "asc",
        limit: 9
      })).length,
      keys: Option.isSome(yield* keys.find({ scope: name, key: "k", now })) ? 1 : 0,
      items: (yield* work.depth(name)).waiting,
      blobs: Option.isSome(yield* blobs.get(hash(name))) ? 1 : 0,
      terms: (yield* terms.page({
        ranges: [{ collection: name, rank: "whole" }],
        prefix: "t",
        limit: 9
      })).length,
      events: (yield* feed.read({ order: "asc", limit: 9, resourceId: name })).events.length,
      sources: (yield* feed.published([name])).length,
      audited: (yield* feed.readAudit({ order: "asc", limit: 9, resourceId: name })).records.length
    }
  })
  return { steps, seen }
})

const each = (n: 0 | 1) => ({
  facts: n,
  versions: n,
  keys: n,
  items: n,
  blobs: n,
  terms: n,
  events: n,
  sources: n,
  audited: n
})
export const nothing = each(0)
export const everything = each(1)

/**
 * Runs the first writes and ends the transaction as given; nothing may remain, and the head may not
 * have moved.
 */
const leavesNothing = (how: Effect.Effect<never, string>, ended: string) =>
  Effect.gen(function* () {
    const atomically = yield* Atomically
    const feed = yield* Feed
    const keys = yield* Keys
    const count = (yield* writes("")).steps.length
    for (let done = 1; done <= count; done++) {
      const name = yield* fresh("undone")
      const { steps, seen } = yield* writes(name)
      const before = yield* feed.head
      const some = Effect.forEach(steps.slice(0, done), ([, step]) => step, { discard: true })
      const after = `after ${steps[done - 1]?.[0]}`
      yield* ends(after, atomically.run(Effect.andThen(some, how)), ended)
      yield* same(`what is left ${after}`, yield* seen, nothing)
      yield* same(`the feed's head ${after}`, yield* feed.head, before)
      yield* same(
        `the nonce ${after}`,
        yield* keys.useNonce({ scope: name, nonce: "n", keep: 60_000 }),
        true
      )
    }
  })

export const atomically: ReadonlyArray<Check> = [
  check(PORT, "says in each port that it is of the same opening of the store", function* () {
    const ports = {
      Atomically: yield* Atomically,
      Blobs: yield* Blobs,
      Bulk: yield* Bulk,
      Documents: yield* Documents,
      FactLog: yield* FactLog,
      Feed: yield* Feed,
      Keys: yield* Keys,
      ProjectionLog: yield* ProjectionLog,
      RateWindow: yield* RateWindow,
      Terms: yield* Terms,
      WorkQueue: yield* WorkQueue
    }
    const named = Object.entries(ports).map(([port, { store }]) => ({ port, store }))
    yield* same("the mix", StoreIdentity.mixOf(named), null)
  }),
  check(PORT, "makes all of a transaction visible when it succeeds", function* () {
    const { run } = yield* Atomically
    const { steps, seen } = yield* writes(yield* fresh("done"))
    yield* run(Effect.forEach(steps, ([, step]) => step, { discard: true }))
    yield* same("what is there", yield* seen, everything)
  }),
  {
    port: PORT,
    name: "leaves nothing behind when it fails after any step",
    run: leavesNothing(Effect.fail("refused"), "refused")
  },
  {
    port: PORT,
    name: "leaves nothing behind when it dies after any step",
    run: leavesNothing(Effect.die("broken"), "defect")
  },
  {
    port: PORT,
    name: "leaves nothing behind when it is interrupted after any step",
    run: leavesNothing(Effect.interrupt, "interrupt")
  },
  check(
    PORT,
    "leaves nothing behind when it is interrupted from outside while it waits",
    function* () {
      const { run } = yield* Atomically
      const { steps, seen } = yield* writes(yield* fresh("cut"))
      const started = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        run(
          Effect.forEach(steps, ([, step]) => step, { discard: true }).pipe(
            Effect.andThen(Deferred.succeed(started, undefined)),
            Effect.andThen(Effect.never)
          )
        )
      )
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      yield* same("what is left", yield* seen, nothing)
    }
  ),
  check(PORT, "shows others nothing of an open transaction that is then taken back", function* () {
    const { run } = yield* Atomically
    const name = yield* fresh("open")
    const { steps, seen } = yield* writes(name)
    const started = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const writer = yield* Effect.forkChild(
      Effect.exit(
        run(
          Effect.forEach(steps, ([, step]) => step, { discard: true }).pipe(
            Effect.andThen(Deferred.succeed(started, undefined)),
            Effect.andThen(Deferred.await(go)),
            Effect.andThen(Effect.fail("no"))
          )
        )
      )
    )
    yield* Deferred.await(started)
    // In a fiber of its own: a store may block the reader until the writer ends.
    const reader = yield* Effect.forkChild(seen)
    yield* Effect.sleep("30 millis")
    yield* Deferred.succeed(go, undefined)
    yield* same("what another saw", yield* Fiber.join(reader), nothing)
    yield* Fiber.join(writer)
  }),
  check(
    PORT,
    "joins a run inside another: the outer one's failure takes it back too",
    function* () {
      const { run } = yield* Atomically
      const { steps, seen } = yield* writes(yield* fresh("joined"))
      const inner = run(Effect.forEach(steps, ([, step]) => step, { discard: true }))
      yield* ends("the outer run", run(Effect.andThen(inner, Effect.fail("no"))), "no")
      yield* same("what is left", yield* seen, nothing)
    }
  ),
  check(PORT, "leaves nothing of a run that failed inside another that went on", function* () {
    const { run } = yield* Atomically
    const outerWrites = yield* writes(yield* fresh("kept"))
    const lost = yield* writes(yield* fresh("lost"))
    const all = (writes: typeof outerWrites) =>
      Effect.forEach(writes.steps, ([, step]) => step, { discard: true })
    yield* run(
      Effect.gen(function* () {
        yield* Effect.exit(run(Effect.andThen(all(lost), Effect.fail("no"))))
        yield* all(outerWrites)
      })
    )
    yield* same("what the failed run left", yield* lost.seen, nothing)
    yield* same("what the outer run wrote", yield* outerWrites.seen, everything)
  }),
  check(PORT, "serves 64 transactions at a time, each of them whole", function* () {
    const { run } = yield* Atomically
    const names = yield* Effect.forEach(Array.from({ length: 64 }), () => fresh("many"))
    const all = yield* Effect.forEach(names, writes)
    yield* Effect.forEach(
      all,
      ({ steps }, index) =>
        Effect.exit(
          run(
            Effect.andThen(
              Effect.forEach(steps, ([, step]) => step, { discard: true }),
              index % 3 === 0 ? Effect.fail("no") : Effect.void
            )
          )
        ),
      { concurrency: "unbounded" }
    )
    for (const [index, { seen }] of all.entries()) {
      yield* same(`transaction ${index}`, yield* seen, index % 3 === 0 ? nothing : everything)
    }
  }),
  check(PORT, "gives a lock to one transaction at a time", function* () {
    const { run, lock } = yield* Atomically
    const keys = yield* Keys
    const name = yield* fresh("lock")
    const at = { scope: name, key: "count" }
    const now = instant(0)
    yield* keys.bind({ ...at, fingerprint: "", target: "0", bindsUntil: null, now })
    // Two transactions under the lock may not read the same count.
    const countUp = Effect.gen(function* () {
      yield* lock(name)
      const held = Option.getOrThrow(yield* keys.find({ ...at, now }))
      yield* Effect.yieldNow
      yield* keys.retarget({ ...at, target: String(Number(held.target) + 1) })
    })
    yield* Effect.forEach(Array.from({ length: 30 }), () => run(countUp), {
      concurrency: "unbounded"
    })
    const held = Option.getOrThrow(yield* keys.find({ ...at, now }))
    yield* same("what thirty counted together", held.target, "30")
  }),
  check(PORT, "gives a lock back when its transaction fails", function* () {
    const { run, lock } = yield* Atomically
    const name = yield* fresh("lock")
    yield* ends("the first", run(Effect.andThen(lock(name), Effect.fail("no"))), "no")
    yield* ends("the second", Effect.timeout(run(lock(name)), "5 seconds"), "success")
  }),
  check(PORT, "ends the wait of a call that is interrupted, and serves the next", function* () {
    const { run, lock } = yield* Atomically
    const name = yield* fresh("lock")
    const isLocked = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(
      run(
        Effect.andThen(
          lock(name),
          Effect.andThen(Deferred.succeed(isLocked, undefined), Deferred.await(go))
        )
      )
    )
    yield* Deferred.await(isLocked)
    const waiting = yield* Effect.forkChild(run(lock(name)))
    yield* Effect.sleep("20 millis")
    yield* ends(
      "the interruption",
      Effect.timeout(Fiber.interrupt(waiting), "5 seconds"),
      "success"
    )
    yield* Deferred.succeed(go, undefined)
    yield* Fiber.join(holder)
    yield* ends("the next", Effect.timeout(run(lock(name)), "5 seconds"), "success")
  }),
  check(PORT, "refuses a lock outside of a transaction as a defect", function* () {
    const { lock } = yield* Atomically
    yield* ends("the lock", lock("nowhere"), "defect")
  }),
  check(PORT, "keeps the projection's head and the feed's in one transaction", function* () {
    const { run } = yield* Atomically
    const projection = yield* ProjectionLog
    const feed = yield* Feed
    const { writerEpoch, offset } = yield* projection.takeOver({ participant: "p" })
    const advance = projection.advance({
      epoch: writerEpoch,
      from: offset,
      to: offset + 3,
      ledgerTime: null,
      updates: []
    })
    yield* ends("the run", run(Effect.andThen(advance, Effect.fail("no"))), "no")
    yield* same("the offset", (yield* projection.head).offset, offset)
    yield* same("the feed's offset", (yield* feed.head).projectionOffset, offset)
  })
]
