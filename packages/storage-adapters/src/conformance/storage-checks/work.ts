/** Checks of WorkQueue: one worker at a time, in order for each resource, and fences that hold. */
import { Atomically, type Lease, type WorkItem, WorkQueue } from "@bursar/engine-core/ports"
import { Clock, Deferred, Effect, Fiber, Option, Result, Stream } from "effect"
import { type Check, check, ends, fresh, paced, same, within, woken } from "../Check.ts"
import { item } from "./rows.ts"

const PORT = "WorkQueue"
const LONG = 60_000

const names = (leases: ReadonlyArray<Lease>): string =>
  leases.map((lease) => lease.itemId).join(" ")

/** Makes a queue and its calls with default arguments. */
const setUp = Effect.gen(function* () {
  const work = yield* WorkQueue
  const queue = yield* fresh("queue")
  return {
    ...work,
    queue,
    add: (...items: ReadonlyArray<Partial<WorkItem>>) =>
      work.enqueue(
        items.map((fields) => item({ queue, resource: fields.itemId ?? "r", ...fields }))
      ),
    leaseDue: (limit = 10, leaseMillis = LONG) =>
      work.lease({ queue, worker: "w", limit, leaseMillis })
  }
})

const soleLease = (leases: ReadonlyArray<Lease>): Effect.Effect<Lease> => {
  const first = leases[0]
  return first === undefined
    ? Effect.die(new Error("there was nothing to lease"))
    : Effect.succeed(first)
}

/** Transaction that holds a lease, succeeds `held`, waits for `goOn`, and runs `last` at its end. */
const holding = <A, E, R>(last: (lease: Lease) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { run } = yield* Atomically
    const { fence } = yield* WorkQueue
    const held = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const transaction = (lease: Lease) =>
      run(
        Effect.gen(function* () {
          yield* fence(lease)
          yield* Deferred.succeed(held, undefined)
          yield* Deferred.await(goOn)
          yield* last(lease)
        })
      )
    return { held, goOn, transaction }
  })

/** Every write that needs a valid lease, each of which must fail with a lost one. */
const refusals = (work: WorkQueue["Service"], lease: Lease, what: string) =>
  Effect.gen(function* () {
    const { run } = yield* Atomically
    yield* ends(`fence ${what}`, run(work.fence(lease)), "LeaseLost")
    yield* ends(`renew ${what}`, work.renew(lease, LONG), "LeaseLost")
    yield* ends(`release ${what}`, work.release(lease, { delay: 0 }), "LeaseLost")
    yield* ends(`finish ${what}`, work.finish(lease), "LeaseLost")
  })

export const work: ReadonlyArray<Check> = [
  check(PORT, "leases the oldest first and one of each resource at a time", function* () {
    const { add, leaseDue, finish } = yield* setUp
    yield* add({ itemId: "a", resource: "x" }, { itemId: "b", resource: "x" })
    yield* add({ itemId: "c", resource: "y" }, { itemId: "d", resource: "z" })
    const first = yield* leaseDue(2)
    yield* same("the first two", names(first), "a c")
    yield* same("the rest", names(yield* leaseDue()), "d")
    yield* finish(yield* soleLease(first))
    yield* same("after the first is done", names(yield* leaseDue()), "b")
  }),
  check(PORT, "leases of several queues up to the limit of each and of all", function* () {
    const { add, finish, leaseEach, queue } = yield* setUp
    const other = yield* fresh("queue")
    const third = yield* fresh("queue")
    const unasked = yield* fresh("queue")
    yield* add({ itemId: "a" }, { itemId: "b" }, { itemId: "c" }, { itemId: "d" })
    yield* add({ itemId: "e", queue: other }, { itemId: "f", queue: other })
    yield* add({ itemId: "g", queue: third }, { itemId: "h", queue: third })
    yield* add({ itemId: "i", queue: unasked })
    const queues = [
      { queue: unasked, limit: 0 },
      { queue: third, limit: 4 },
      { queue, limit: 2 },
      { queue: other, limit: 4 }
    ]
    const each = (limit: number) => leaseEach({ queues, worker: "w", limit, leaseMillis: LONG })
    const first = yield* each(5)
    yield* same("at most five", names(first), "g h a b e")
    yield* same("their queues", first.at(-1)?.queue, other)
    yield* Effect.forEach(first, finish)
    yield* same("the rest", names(yield* each(5)), "c d f")
    yield* same(
      "of no queue",
      names(yield* leaseEach({ queues: [], worker: "w", limit: 5, leaseMillis: LONG })),
      ""
    )
  }),
  check(PORT, "tells a worker what it leased", function* () {
    const { add, leaseDue, queue } = yield* setUp
    yield* add({ itemId: "a", resource: "x", payload: '{"n":1.10}' })
    const lease = yield* soleLease(yield* leaseDue())
    yield* same(
      "the lease",
      { ...lease, fence: 0, startedAt: "" },
      {
        queue,
        itemId: "a",
        resource: "x",
        payload: '{"n":1.10}',
        fence: 0,
        attempt: 1,
        startedAt: ""
      }
    )
    const text = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/
    yield* same("the start in sortable text", text.test(lease.startedAt), true)
  }),
  check(PORT, "leases no item twice to 50 parallel workers", function* () {
    const { add, leaseDue } = yield* setUp
    const all = Array.from({ length: 200 }, (_, n) => `i${n}`)
    yield* add(...all.map((itemId) => ({ itemId })))
    const leases = yield* Effect.forEach(
      Array.from({ length: 50 }),
      () => Effect.forEach(Array.from({ length: 5 }), () => leaseDue(1)),
      { concurrency: "unbounded" }
    )
    const leasedIds = leases.flat(2).map((lease) => lease.itemId)
    yield* same("items leased twice", leasedIds.length - new Set(leasedIds).size, 0)
    const rest = yield* leaseDue(1000)
    yield* same("items in all", leasedIds.length + rest.length, 200)
  }),
  check(PORT, "runs the items of a resource one after another with many workers", function* () {
    const { add, leaseDue, finish } = yield* setUp
    const all = Array.from({ length: 60 }, (_, n) => ({ itemId: `i${n}`, resource: `r${n % 3}` }))
    yield* add(...all)
    const busy = new Set<string>()
    const done = new Map<string, Array<string>>()
    const clashes: Array<string> = []
    const worker = Effect.gen(function* () {
      for (let idle = 0; idle < 20; ) {
        const [lease] = yield* leaseDue(1)
        if (lease === undefined) {
          idle += 1
          yield* Effect.sleep("2 millis")
          continue
        }
        if (busy.has(lease.resource)) clashes.push(lease.itemId)
        busy.add(lease.resource)
        yield* Effect.yieldNow
        done.set(lease.resource, [...(done.get(lease.resource) ?? []), lease.itemId])
        busy.delete(lease.resource)
        yield* finish(lease)
      }
    })
    yield* Effect.forEach(Array.from({ length: 8 }), () => worker, { concurrency: "unbounded" })
    yield* same("items that ran beside another", clashes, [])
    for (const resource of ["r0", "r1", "r2"]) {
      const wanted = all
        .filter((queued) => queued.resource === resource)
        .map((queued) => queued.itemId)
      yield* same(`the order of ${resource}`, done.get(resource), wanted)
    }
  }),
  check(PORT, "does not lease ahead of an older item that has not committed yet", function* () {
    const { run } = yield* Atomically
    const { add, leaseDue, finish } = yield* setUp
    const added = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const first = yield* Effect.forkChild(
      run(
        add({ itemId: "a", resource: "x" }).pipe(
          Effect.andThen(Deferred.succeed(added, undefined)),
          Effect.andThen(Deferred.await(go))
        )
      )
    )
    yield* Deferred.await(added)
    const second = yield* Effect.forkChild(add({ itemId: "b", resource: "x" }))
    yield* Effect.sleep("30 millis")
    const early = yield* Effect.forkChild(leaseDue())
    yield* Effect.sleep("30 millis")
    yield* Deferred.succeed(go, undefined)
    yield* Effect.all([Fiber.join(first), Fiber.join(second)])
    const leased = [...(yield* Fiber.join(early)), ...(yield* leaseDue())]
    yield* same("how many run at a time", leased.length, 1)
    const order = [...leased]
    yield* finish(yield* soleLease(leased))
    order.push(...(yield* leaseDue()))
    yield* same("how many in all", order.length, 2)
  }),
  paced(
    PORT,
    "gives an item to another when its lease has run out, under a higher fence",
    40,
    function* (millis) {
      const { add, leaseDue, ...work } = yield* setUp
      yield* add({ itemId: "a" })
      const [paused, beside] = yield* within(
        millis,
        Effect.all([Effect.flatMap(leaseDue(1, millis), soleLease), leaseDue()])
      )
      yield* same("while it is leased", names(beside), "")
      yield* Effect.sleep(millis * 2)
      yield* refusals(work, paused, "after its end")
      const next = yield* soleLease(yield* leaseDue())
      yield* same("the item", [next.itemId, next.attempt], ["a", 2])
      yield* same("whether the fence rose", next.fence > paused.fence, true)
      yield* same("the start", next.startedAt, paused.startedAt)
      yield* refusals(work, paused, "after it was taken over")
      yield* work.finish(next)
      yield* refusals(work, paused, "after the item was done")
    }
  ),
  check(PORT, "refuses an old lease of an item that left and came back", function* () {
    const { add, leaseDue, ...work } = yield* setUp
    yield* add({ itemId: "a" })
    const old = yield* soleLease(yield* leaseDue())
    yield* work.finish(old)
    yield* add({ itemId: "a" })
    const next = yield* soleLease(yield* leaseDue())
    yield* refusals(work, old, "of the item's earlier life")
    yield* work.finish(next)
  }),
  paced(PORT, "keeps an item for a worker that renews its lease", 100, function* (millis) {
    const { add, leaseDue, finish, renew } = yield* setUp
    yield* add({ itemId: "a" })
    const lease = yield* within(
      millis,
      Effect.tap(Effect.flatMap(leaseDue(1, millis), soleLease), (leased) => renew(leased, LONG))
    )
    yield* Effect.sleep(millis + 100)
    yield* same("for another", names(yield* leaseDue()), "")
    yield* finish(lease)
  }),
  paced(
    PORT,
    "gives an item back in its place, not before its delay is over",
    150,
    function* (millis) {
      const { add, leaseDue, queue, find, release } = yield* setUp
      yield* add({ itemId: "a", resource: "x" }, { itemId: "b", resource: "x" })
      yield* add({ itemId: "c" })
      const lease = yield* soleLease(yield* leaseDue(1))
      const [, another, nextOfResource] = yield* within(
        millis,
        Effect.all([release(lease, { delay: millis, payload: "again" }), leaseDue(1), leaseDue(1)])
      )
      yield* same("before its delay", names(another), "c")
      yield* same("the next of its resource", names(nextOfResource), "")
      yield* Effect.sleep(millis + 50)
      const again = yield* soleLease(yield* leaseDue())
      yield* same("after it", [again.itemId, again.payload, again.attempt], ["a", "again", 2])
      yield* same(
        "found",
        yield* find({ queue, itemId: "a" }),
        Option.some({ payload: "again", attempt: 2 })
      )
    }
  ),
  paced(PORT, "leases what was due first, then what was queued first", 200, function* (millis) {
    const { add, leaseDue, release } = yield* setUp
    yield* add({ itemId: "a" }, { itemId: "b" }, { itemId: "c" })
    const lease = yield* soleLease(yield* leaseDue(1))
    // `e` is due at once, and must be so before `a` is.
    yield* within(
      millis,
      Effect.andThen(
        release(lease, { delay: millis }),
        add({ itemId: "d", delay: millis * 2 }, { itemId: "e" })
      )
    )
    yield* Effect.sleep(millis * 2 + 200)
    yield* same("all that is due", names(yield* leaseDue()), "b c e a d")
  }),
  check(PORT, "hastens an item that waits, and none under a lease", function* () {
    const { add, leaseDue, queue, hasten, release } = yield* setUp
    yield* add({ itemId: "a" }, { itemId: "b" }, { itemId: "c" })
    const [a, b] = yield* leaseDue(2)
    yield* release(a!, { delay: 60_000 })
    yield* hasten({ queue, itemIds: [] })
    yield* same("before", names(yield* leaseDue(9)), "c")
    yield* hasten({ queue, itemIds: ["a", "b", "nobody"] })
    const again = yield* leaseDue(9)
    yield* same("after", names(again), "a")
    yield* release(b!, { delay: 60_000 })
    yield* same("released after it was hastened", names(yield* leaseDue(9)), "")
  }),
  check(PORT, "lets a released lease write no more", function* () {
    const { add, leaseDue, release, ...work } = yield* setUp
    yield* add({ itemId: "a" })
    const lease = yield* soleLease(yield* leaseDue())
    yield* release(lease, { delay: 0 })
    yield* refusals({ ...work, release }, lease, "after its release")
  }),
  paced(
    PORT,
    "holds an item for a transaction even if its lease runs out in it",
    200,
    function* (millis) {
      const { add, leaseDue, finish } = yield* setUp
      yield* add({ itemId: "a" })
      const { goOn, held, transaction } = yield* holding((lease) => finish(lease))
      const slow = yield* within(
        millis,
        Effect.gen(function* () {
          const lease = yield* soleLease(yield* leaseDue(1, millis))
          const fiber = yield* Effect.forkChild(transaction(lease))
          yield* Effect.raceFirst(Deferred.await(held), Fiber.join(fiber))
          return fiber
        })
      )
      yield* Effect.sleep(millis + 50)
      const another = yield* Effect.forkChild(leaseDue())
      // A store may let the other wait until the transaction has ended.
      yield* Effect.sleep("50 millis")
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(slow)
      yield* same("for another", names(yield* Fiber.join(another)), "")
      yield* same("afterwards", names(yield* leaseDue()), "")
    }
  ),
  paced(
    PORT,
    "renews a lease that a transaction holds, within it and beside it, even if it runs out in it",
    200,
    function* (millis) {
      const { add, leaseDue, finish, renew } = yield* setUp
      yield* add({ itemId: "a" })
      const { goOn, held, transaction } = yield* holding((lease) => renew(lease, LONG))
      const { beside, lease, slow } = yield* within(
        millis,
        Effect.gen(function* () {
          const lease = yield* soleLease(yield* leaseDue(1, millis))
          const slow = yield* Effect.forkChild(transaction(lease))
          yield* Effect.raceFirst(Deferred.await(held), Fiber.join(slow))
          return { lease, slow, beside: yield* Effect.forkChild(renew(lease, LONG)) }
        })
      )
      yield* Effect.sleep(millis + 50)
      const late = yield* Effect.forkChild(renew(lease, LONG))
      // A store may let a renewal wait until the transaction has ended.
      yield* Effect.sleep("50 millis")
      yield* Deferred.succeed(goOn, undefined)
      yield* Effect.forEach([slow, beside, late], Fiber.join)
      yield* same("for another", names(yield* leaseDue()), "")
      yield* finish(lease)
    }
  ),
  check(PORT, "refuses to hold an item outside of a transaction as a defect", function* () {
    const { add, leaseDue, fence } = yield* setUp
    yield* add({ itemId: "a" })
    yield* ends("the fence", fence(yield* soleLease(yield* leaseDue())), "defect")
  }),
  check(PORT, "leaves an item that is there already alone", function* () {
    const { add, leaseDue, depth, queue } = yield* setUp
    yield* add({ itemId: "a", payload: "first" })
    yield* add({ itemId: "a", payload: "second" }, { itemId: "b" })
    yield* same("how many", (yield* depth(queue)).waiting, 2)
    yield* same(
      "the payload",
      (yield* leaseDue()).map((lease) => lease.payload),
      ["first", "{}"]
    )
  }),
  paced(PORT, "does not lease an item before its delay is over", 200, function* (millis) {
    const { add, leaseDue } = yield* setUp
    const [, atOnce] = yield* within(
      millis,
      Effect.all([add({ itemId: "a", delay: millis }, { itemId: "b" }), leaseDue()])
    )
    yield* same("at once", names(atOnce), "b")
    yield* Effect.sleep(millis + 100)
    yield* same("after its delay", names(yield* leaseDue()), "a")
  }),
  check(PORT, "settles an item whoever holds a lease on it", function* () {
    const { add, leaseDue, queue, settle, ...work } = yield* setUp
    yield* add({ itemId: "a" }, { itemId: "b" }, { itemId: "c" })
    const lease = yield* soleLease(yield* leaseDue(1))
    yield* settle({ queue, itemIds: ["a", "b", "nobody"] })
    yield* same("what is left", names(yield* leaseDue()), "c")
    yield* refusals({ ...work, settle }, lease, "after it was settled")
  }),
  check(PORT, "counts what waits and what is leased, and how long the oldest waits", function* () {
    const { add, leaseDue, depth, queue } = yield* setUp
    yield* same("nothing", yield* depth(queue), { waiting: 0, leased: 0, oldestMillis: null })
    const began = yield* Clock.currentTimeMillis
    yield* add({ itemId: "a" }, { itemId: "b" }, { itemId: "later", delay: LONG })
    yield* leaseDue(1)
    yield* Effect.sleep("50 millis")
    const { waiting, leased, oldestMillis } = yield* depth(queue)
    yield* same("waiting and leased", [waiting, leased], [2, 1])
    const age = oldestMillis ?? -1
    const since = (yield* Clock.currentTimeMillis) - began
    yield* same(`whether ${age} ms is its age`, age >= 45 && age <= since + 5, true)
  }),
  check(PORT, "keeps queues apart", function* () {
    const left = yield* setUp
    const right = yield* setUp
    yield* left.add({ itemId: "a", resource: "x" })
    yield* right.add({ itemId: "a", resource: "x" })
    yield* same("the one", names(yield* left.leaseDue()), "a")
    yield* same("the other", names(yield* right.leaseDue()), "a")
  }),
  check(
    PORT,
    "judges each of the leases that a transaction holds or finishes at once",
    function* () {
      const { run } = yield* Atomically
      const { add, leaseDue, fence, finish, queue } = yield* setUp
      yield* add({ itemId: "a" }, { itemId: "b" }, { itemId: "c" })
      const [a, b, c] = yield* leaseDue()
      if (a === undefined || b === undefined || c === undefined) return yield* Effect.die("none")
      const lost = { ...b, fence: b.fence - 1_000_000 }
      const outcomes = (each: typeof fence) =>
        run(
          Effect.forEach([a, lost, c], (lease) => Effect.result(each(lease)), {
            concurrency: "unbounded"
          })
        )
      for (const each of [fence, finish]) {
        yield* same("which leases are valid", (yield* outcomes(each)).map(Result.isSuccess), [
          true,
          false,
          true
        ])
      }
      yield* finish(b)
      yield* same("what is left", yield* leaseDue(), [])
      yield* add({ itemId: "d", queue }, { itemId: "e", queue })
      const expired = yield* leaseDue(2, 20)
      yield* Effect.sleep("40 millis")
      const ended = yield* run(
        Effect.forEach(expired, (lease) => Effect.result(finish(lease)), {
          concurrency: "unbounded"
        })
      )
      yield* same("leases that expired", ended.map(Result.isSuccess), [false, false])
    }
  ),
  check(PORT, "wakes a worker when work was committed", function* () {
    let items = 0
    const { run } = yield* Atomically
    const { add, queue, wakes } = yield* setUp
    const listening = yield* Effect.forkChild(Stream.runHead(wakes(queue)))
    yield* Effect.sleep("20 millis")
    yield* Effect.exit(run(Effect.andThen(add({ itemId: "a" }), Effect.fail("no"))))
    yield* Effect.sleep("20 millis")
    yield* same("by what was taken back", listening.pollUnsafe() === undefined, true)
    const addAnother = Effect.suspend(() => add({ itemId: `a${items++}` }))
    yield* same("whether it woke", yield* woken(listening, addAnother), true)
  })
]
