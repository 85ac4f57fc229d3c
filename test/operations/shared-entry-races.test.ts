/**
 * Orders that name two copies of one bank entry at the same time, on two engines over one store: exactly
 * one is paid.
 */
import { Engine, Records, Workers } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Bulk, WorkQueue } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Redacted, Stream } from "effect"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import { cashLines } from "#core/orders/order/CashTaking.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { movedClock } from "../engine/moved-clock.ts"
import { ports } from "../engine/world.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

const orders = ["s1", "s2"] as const
const hundred = "100000"

/** Number of times a delivery looks whether the other one has come as far as itself. */
const looks = 20

/** Where two deliveries meet: each has looked up the copies of its entry, and has taken nothing yet. */
interface Meeting {
  isOpen: boolean
  readonly arrived: Set<number>
}

/** Storage of one engine: it leases one operation at a time, and waits at the meeting for the other. */
const meeting = <E>(storage: Layer.Layer<Memory.Storage, E>, at: Meeting) =>
  Layer.mergeAll(
    Layer.effect(
      Bulk,
      Effect.map(Bulk, (bulk) => ({
        ...bulk,
        entries: (wanted: Parameters<typeof bulk.entries>[0]) =>
          Effect.gen(function* () {
            const found = yield* bulk.entries(wanted)
            const fiber = yield* Effect.fiberId
            if (!at.isOpen || at.arrived.has(fiber)) return found
            at.arrived.add(fiber)
            // The other one never comes where the store keeps it waiting for this one's end.
            for (let look = 0; look < looks && at.arrived.size < orders.length; look++) {
              yield* Effect.sleep("10 millis")
            }
            return found
          })
      }))
    ),
    Layer.effect(
      WorkQueue,
      Effect.map(WorkQueue, (work) => ({
        ...work,
        lease: (request: Parameters<typeof work.lease>[0]) => work.lease({ ...request, limit: 1 })
      }))
    )
  ).pipe(Layer.provideMerge(storage))

/** Two views of one store, as two hosts have them. */
const stores = [
  {
    name: "memory",
    open: Effect.map(Layer.build(Memory.layer), (context) => {
      const shared = Layer.succeedContext(context)
      return [shared, shared] as const
    })
  },
  {
    name: "PostgreSQL",
    open: Effect.map(TestDatabase.url, (url) => {
      const own = () => Layer.fresh(Layer.orDie(Postgres.layer({ url: Redacted.make(url) })))
      return [own(), own()] as const
    })
  }
]

/** Two priced orders of 100,000 each, and an entry of as much that two statements state. */
const priced = Effect.gen(function* () {
  const stage = yield* Fund.opened()
  yield* Fund.market(stage)
  yield* Fund.admitted(stage)
  for (const subscriptionId of orders) {
    const order = { subscriptionId, instrumentId: "fund-a", holderId: "h1", payment: "wire" }
    yield* Calls.write("subscription.claim", {}, { ...order, amount: 100000 })
  }
  yield* Cycles.at(Cycles.friday)
  yield* Fund.publishes(stage, "1.0437", Cycles.friday)
  for (const id of orders) {
    yield* Cycles.attests(stage, { id, units: "95812.973076", price: "1.0437" })
  }
  const entries = [{ amount: hundred, bankReference: "A" }]
  yield* Bank.states({ id: "st-1", entries })
  yield* Bank.states({ id: "st-2", source: "feed", entries })
})

/** Signed and queued; no step has run. */
const queued = (subscriptionId: string, statementId: string) =>
  Effect.gen(function* () {
    const cash = [{ statementId, line: 1, amount: 100000 }]
    const key = yield* Calls.openAction("subscription.deliver", { subscriptionId }, { cash })
    if (typeof key === "string") yield* Calls.approve(key, Calls.person("ada", "approver"))
  })

describe("two orders that name two copies of one entry at the same time", () => {
  it.live.each(stores)("are never both paid ($name)", ({ open }) =>
    Effect.gen(function* () {
      const at: Meeting = { isOpen: false, arrived: new Set() }
      const [first, second] = yield* open
      const others = yield* Layer.build(ports())
      const engineOn = (storage: typeof first | typeof second) =>
        Layer.build(
          Layer.fresh(
            Engine.layer.pipe(
              Layer.provideMerge(meeting(storage, at)),
              Layer.provideMerge(Layer.succeedContext(others))
            )
          )
        )
      const engines = [yield* engineOn(first), yield* engineOn(second)] as const
      yield* Effect.gen(function* () {
        yield* priced
        yield* queued("s1", "st-1")
        yield* queued("s2", "st-2")
        at.isOpen = true
        const ran = yield* Effect.all(
          engines.map(
            (engine) => Context.get(engine, Workers.Workers).runnerOf("operations").runOnce
          ),
          { concurrency: "unbounded" }
        )
        at.isOpen = false
        // Each engine had one of the two orders.
        assert.deepStrictEqual(ran, [1, 1])
        yield* Calls.settle
        const records = yield* Records
        const shown = yield* Effect.forEach(orders, (id) => records.get(subscriptions, id))
        assert.deepStrictEqual(shown.map(({ state }) => state).toSorted(), ["delivered", "priced"])
        const lines = yield* records.list(cashLines, { limit: 10 })
        const taken = Decimal.sum(lines.map(({ record }) => record.taken))
        assert.strictEqual(Decimal.formatPlain(taken), hundred)
        const ended = yield* Stream.runCollect(
          records.stream(operations, { where: { kind: ["subscription.deliver"] } })
        )
        const checks = ended.map(
          ({ record: { problem } }) => (problem as { readonly check?: string } | null)?.check
        )
        assert.deepStrictEqual(checks.toSorted(), ["line-left", undefined])
      }).pipe(Effect.provide(engines[0]))
    }).pipe(Effect.provideService(Clock.Clock, movedClock().clock), Effect.scoped)
  )
})
