/**
 * Checks of several processes on one store: locks, leases, heads, epochs, keys and budgets hold across
 * two openings of it.
 */
import {
  Atomically,
  Blobs,
  Bulk,
  type BulkRow,
  Documents,
  type EventRow,
  FactLog,
  Feed,
  Keys,
  ProjectionLog,
  RateWindow,
  WorkQueue
} from "@bursar/engine-core/ports"
import { Context, Deferred, Effect, Fiber, Option } from "effect"
import { ending, ends, fresh, instant, type OpeningsCheck, openingsCheck, same } from "../Check.ts"
import type { Storage } from "../../storage/memory/Memory.ts"
import { everything, nothing, writes } from "./atomically.ts"
import { audit, entries, event, fact, item, update, version } from "./rows.ts"

type StoreContext = Context.Context<Storage>

/** Runs an effect on an opening of the store. */
const on = <A, E>(opening: StoreContext, effect: Effect.Effect<A, E, Storage>) =>
  Effect.provideContext(effect, opening)

const both = <Port extends Storage, Service>(
  { first, second }: { readonly first: StoreContext; readonly second: StoreContext },
  port: Context.Key<Port, Service>
): readonly [Service, Service] => [Context.getUnsafe(first, port), Context.getUnsafe(second, port)]

/** Numbers from 0, spread over the two openings in turn and at once. */
const inTurns = <A, E>(
  count: number,
  act: (n: number) => Effect.Effect<A, E>
): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => n),
    (n) => Effect.andThen(Effect.yieldNow, act(n)),
    { concurrency: 8 }
  )

const rowOf = (n: number): BulkRow => ({
  key: `k${n}`,
  match: `m${n}`,
  group: "g",
  amounts: ["1"],
  body: "{}"
})

export const checks: ReadonlyArray<OpeningsCheck> = [
  openingsCheck(
    "Atomically",
    "gives a lock to one transaction of either at a time",
    function* (openings) {
      const atomically = both(openings, Atomically)
      const keys = both(openings, Keys)
      const name = yield* fresh("lock")
      const at = { scope: name, key: "count" }
      const now = instant(0)
      yield* keys[0].bind({ ...at, fingerprint: "", target: "0", bindsUntil: null, now })
      yield* inTurns(24, (n) => {
        const { lock, run } = atomically[n % 2]!
        const { find, retarget } = keys[n % 2]!
        return run(
          Effect.gen(function* () {
            yield* lock(name)
            const { target } = Option.getOrThrow(yield* find({ ...at, now }))
            yield* Effect.sleep("1 millis")
            yield* retarget({ ...at, target: String(Number(target) + 1) })
          })
        )
      })
      const { target } = Option.getOrThrow(yield* keys[1].find({ ...at, now }))
      yield* same("what both counted together", target, "24")
    }
  ),
  openingsCheck(
    "Atomically",
    "shows the other all of a transaction or nothing",
    function* (openings) {
      const [{ run }] = both(openings, Atomically)
      for (const end of ["commits", "fails"] as const) {
        const name = yield* fresh("seen")
        const { steps } = yield* on(openings.first, writes(name))
        const isWritten = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        const writer = yield* Effect.forkChild(
          Effect.exit(
            run(
              Effect.forEach(steps, ([, step]) => step, { discard: true }).pipe(
                Effect.andThen(Deferred.succeed(isWritten, undefined)),
                Effect.andThen(Deferred.await(go)),
                Effect.andThen(end === "fails" ? Effect.fail("no") : Effect.void)
              )
            )
          )
        )
        yield* Deferred.await(isWritten)
        const seen = on(
          openings.second,
          Effect.flatMap(writes(name), (other) => other.seen)
        )
        // A store may let the reader wait until the writer has ended.
        const early = yield* Effect.forkChild(seen)
        yield* Effect.sleep("30 millis")
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(writer)
        const after = end === "commits" ? everything : nothing
        const before = yield* Fiber.join(early)
        // The reads of one that commits may be on both sides of its commit.
        if (end === "fails") yield* same("before it fails", before, nothing)
        yield* same(`once it ${end}`, yield* seen, after)
      }
    }
  ),
  openingsCheck("FactLog", "lets one append of a version win, of both", function* (openings) {
    const logs = both(openings, FactLog)
    const collection = yield* fresh("facts")
    const exits = yield* inTurns(20, (n) =>
      Effect.exit(logs[n % 2]!.append([fact({ collection, cause: `operation:${n}` })]))
    )
    const won = exits.flatMap((exit, n) => (ending(exit) === "success" ? [`operation:${n}`] : []))
    yield* same("how many won", won.length, 1)
    for (const { read } of logs) {
      const facts = yield* read({ collection, recordId: "r" })
      yield* same(
        "who won",
        facts.map(({ cause }) => cause),
        won
      )
    }
  }),
  openingsCheck("Documents", "closes a version that the other opened, once", function* (openings) {
    const [first, second] = both(openings, Documents)
    const collection = yield* fresh("documents")
    yield* first.put([version({ collection, filters: { state: "open" } })])
    const next = version({ collection, version: 2, filters: { state: "shut" }, fromOffset: 1 })
    yield* second.put([next])
    yield* ends("the version again", first.put([next]), "defect")
    const query = { collection, pin: { by: "latest" }, direction: "asc", limit: 9 } as const
    const where = [{ column: "state", anyOf: ["open", "shut"] }]
    for (const { list } of [first, second]) {
      const found = yield* list({ ...query, where })
      yield* same(
        "the list",
        found.map((row) => row.version),
        [2]
      )
    }
  }),
  openingsCheck(
    "Keys",
    "lets one call bind a key and one use a nonce, of both",
    function* (openings) {
      const keys = both(openings, Keys)
      const scope = yield* fresh("scope")
      const row = { scope, key: "k", fingerprint: "f", bindsUntil: null, now: instant(0) }
      const answers = yield* inTurns(20, (n) => keys[n % 2]!.bind({ ...row, target: `t${n}` }))
      const firsts = answers.flatMap((answer, n) => (answer.isBound ? [`t${n}`] : []))
      yield* same("how many bound it", firsts.length, 1)
      const others = answers.flatMap((answer) => (answer.isBound ? [] : [answer.earlier.target]))
      yield* same("what the others read", others, Array(19).fill(firsts[0]))
      const uses = yield* inTurns(20, (n) =>
        keys[n % 2]!.useNonce({ scope, nonce: "n", keep: 60_000 })
      )
      yield* same("the first uses", uses.filter((isFirst) => isFirst).length, 1)
    }
  ),
  openingsCheck(
    "WorkQueue",
    "leases no item to both, and fences the one that lost it",
    function* (openings) {
      const queues = both(openings, WorkQueue)
      const [{ run }] = both(openings, Atomically)
      const queue = yield* fresh("queue")
      const items = Array.from({ length: 60 }, (_, n) =>
        item({ queue, itemId: `i${n}`, resource: `i${n}` })
      )
      yield* queues[0].enqueue(items)
      const request = { queue, worker: "w", leaseMillis: 60_000 }
      const leases = yield* inTurns(40, (n) => queues[n % 2]!.lease({ ...request, limit: 1 }))
      const leasedIds = leases.flat().map(({ itemId }) => itemId)
      yield* same("items leased", [leasedIds.length, new Set(leasedIds).size], [40, 40])
      for (const lease of leases.flat()) yield* queues[1].finish(lease)
      const [brief] = yield* queues[0].lease({ ...request, limit: 1, leaseMillis: 1 })
      yield* Effect.sleep("10 millis")
      const taken = (yield* queues[1].lease({ ...request, limit: 60 })).find(
        ({ itemId }) => itemId === brief!.itemId
      )
      yield* same("whether the fence rose", taken!.fence > brief!.fence, true)
      yield* ends("the fence of before", run(queues[0].fence(brief!)), "LeaseLost")
      yield* ends("its end", queues[0].finish(brief!), "LeaseLost")
      yield* queues[0].finish(taken!)
    }
  ),
  openingsCheck("WorkQueue", "holds an item for a transaction of the other", function* (openings) {
    const queues = both(openings, WorkQueue)
    const [{ run }] = both(openings, Atomically)
    const queue = yield* fresh("queue")
    yield* queues[0].enqueue([item({ queue })])
    const isThere = Option.isSome(yield* queues[1].find({ queue, itemId: "i" }))
    yield* same("whether the other has the item", isThere, true)
    const request = { queue, worker: "w", limit: 1, leaseMillis: 60_000 }
    const [lease] = yield* queues[0].lease(request)
    const isFenced = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(
      run(
        Effect.gen(function* () {
          yield* queues[0].fence(lease!)
          yield* queues[0].renew(lease!, 1)
          yield* Deferred.succeed(isFenced, undefined)
          yield* Deferred.await(go)
          yield* queues[0].finish(lease!)
        })
      )
    )
    yield* Effect.raceFirst(Deferred.await(isFenced), Fiber.join(holder))
    yield* Effect.sleep("20 millis")
    const other = yield* Effect.forkChild(queues[1].lease(request))
    yield* Effect.sleep("30 millis")
    yield* Deferred.succeed(go, undefined)
    yield* Fiber.join(holder)
    yield* same("what the other leased", yield* Fiber.join(other), [])
  }),
  openingsCheck("Feed", "numbers and stamps the events of both in one line", function* (openings) {
    const atomically = both(openings, Atomically)
    const feeds = both(openings, Feed)
    const type = yield* fresh("type")
    const start = yield* feeds[0].head
    yield* inTurns(40, (n) =>
      atomically[n % 2]!.run(
        Effect.gen(function* () {
          const feed = feeds[n % 2]!
          const head = yield* feed.take(instant(n))
          const rows = [event({ seq: head.seq + 1, at: head.at, type })]
          yield* feed.append(head, entries(rows, { audit: audit(head, [{}]) }))
        })
      )
    )
    const numbers = Array.from({ length: 40 }, (_, n) => start.seq + 1 + n)
    for (const feed of feeds) {
      const read: Array<EventRow> = []
      for (let after = start.seq; ; ) {
        const page = yield* feed.read({ order: "asc", limit: 7, after, type: [type] })
        if (page.events.length === 0) break
        read.push(...page.events)
        after = page.scanned
      }
      yield* same(
        "the numbers",
        read.map(({ seq }) => seq),
        numbers
      )
      const stamps = read.map(({ at }) => at ?? "")
      yield* same("the stamps", stamps, [...new Set(stamps)].toSorted())
      yield* same("the audit log", (yield* feed.head).audit.seq, start.audit.seq + 40)
    }
  }),
  openingsCheck("Feed", "stamps nothing at or before an answer of the other", function* (openings) {
    const [{ run }] = both(openings, Atomically)
    const [first, second] = both(openings, Feed)
    const { at } = yield* first.head
    const far = `${Number((at === "" ? instant(0) : at).slice(0, 4)) + 1}${instant(0).slice(4)}`
    const answer = yield* second.answer({ now: far, since: far })
    const stamp = yield* run(
      Effect.flatMap(first.take(instant(0)), (head) =>
        Effect.as(first.append(head, entries([])), head.at)
      )
    )
    yield* same("whether the stamp is later", stamp > answer.at, true)
    const next = yield* second.answer({ now: instant(0), since: instant(0) })
    yield* same("whether the next answer has it", next.at >= stamp, true)
  }),
  openingsCheck(
    "ProjectionLog",
    "fences the writer that the other took over",
    function* (openings) {
      const [first, second] = both(openings, ProjectionLog)
      const before = yield* first.takeOver({ participant: "p" })
      const after = yield* second.takeOver({ participant: "p" })
      yield* same("the epoch", after.writerEpoch, before.writerEpoch + 1)
      const from = after.offset
      const updates = [update({ offset: from + 1, ledgerTime: instant(0) })]
      const move = { from, to: from + 1, ledgerTime: null, updates }
      const fenced = first.advance({ ...move, epoch: before.writerEpoch })
      yield* ends("the writer of before", fenced, "WriterFenced")
      yield* second.advance({ ...move, epoch: after.writerEpoch })
      yield* same("the offset", (yield* first.head).offset, from + 1)
      yield* same("the updates", yield* first.read({ after: from, limit: 9 }), updates)
    }
  ),
  openingsCheck("Blobs", "seals chunks that both appended, for both", function* (openings) {
    const [first, second] = both(openings, Blobs)
    const file = yield* fresh("file")
    const bytes = new Uint8Array([1])
    yield* first.append({ file, chunk: 0, bytes })
    yield* second.append({ file, chunk: 1, bytes })
    yield* second.seal({ file, chunks: 2 })
    yield* ends("an append", first.append({ file, chunk: 2, bytes }), "defect")
    yield* ends("a second seal", first.seal({ file, chunks: 2 }), "defect")
    for (const { chunk } of [first, second]) {
      yield* same("the chunk", Option.isSome(yield* chunk({ file, chunk: 1 })), true)
    }
  }),
  openingsCheck("Bulk", "appends to no owner that the other is sealing", function* (openings) {
    const [first, second] = both(openings, Bulk)
    const [{ run }] = both(openings, Atomically)
    for (const end of ["commits", "fails"] as const) {
      const owner = yield* fresh("owner")
      yield* first.append(owner, [rowOf(1)])
      yield* second.append(owner, [rowOf(2)])
      const isSealed = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const sealing = yield* Effect.forkChild(
        Effect.exit(
          run(
            first
              .seal({ owner, rows: 2 })
              .pipe(
                Effect.andThen(Deferred.succeed(isSealed, undefined)),
                Effect.andThen(Deferred.await(go)),
                Effect.andThen(end === "fails" ? Effect.fail("no") : Effect.void)
              )
          )
        )
      )
      yield* Deferred.await(isSealed)
      const late = yield* Effect.forkChild(Effect.exit(second.append(owner, [rowOf(3)])))
      yield* Effect.sleep("30 millis")
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(sealing)
      const appended = ending(yield* Fiber.join(late))
      yield* same(`a late append where it ${end}`, appended, end === "fails" ? "success" : "defect")
      const rows = end === "fails" ? 3 : 2
      if (end === "fails") yield* first.seal({ owner, rows })
      for (const { count, read } of [first, second]) {
        yield* same("the count", yield* count(owner), Option.some(rows))
        yield* same("the rows", (yield* read({ owner, limit: 9 })).length, rows)
      }
    }
  }),
  openingsCheck("RateWindow", "admits one budget of the calls of both", function* (openings) {
    const windows = both(openings, RateWindow)
    const subject = yield* fresh("subject")
    const interval = 60_000_000
    const answers = yield* inTurns(30, (n) =>
      windows[n % 2]!.take({ subject, cost: 1, interval, tolerance: interval * 10.5 })
    )
    yield* same("admitted", answers.filter(({ admitted }) => admitted).length, 10)
  })
]
