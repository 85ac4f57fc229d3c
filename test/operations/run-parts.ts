/**
 * Kit of reconciliation runs on two engines over one store: instruments with planted differences, an
 * engine that stops or dies where it would lock an instrument, and runs of either engine.
 */
import { Engine, Records, Workers } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Documents, WorkQueue } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Context, Deferred, Effect, Layer, Redacted } from "effect"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import { findings } from "#core/findings/Finding.ts"
import { idOf, registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { instrumentLockName } from "#core/reconciliation/run/PartsRunner.ts"
import * as Calls from "../engine/calls.ts"
import { ports } from "../engine/world.ts"
import * as Story from "./story.ts"

export const funds = ["fund-a", "fund-b", "fund-c"] as const
export type Fund = (typeof funds)[number]

/** Milliseconds of the leases of both engines: those of a dead one end soon. */
export const leaseMillis = 1_000

/** Where an engine stops, and whether it is dead: then its calls to the queue never answer. */
export interface Life {
  stopsAt: Fund | null
  /** Whether it has the lock of the instrument where it stops. */
  side: "before" | "after"
  isDead: boolean
  readonly stopped: Deferred.Deferred<void>
  readonly wakes: Deferred.Deferred<void>
}

const lifeOf = Effect.map(
  Effect.all([Deferred.make<void>(), Deferred.make<void>()]),
  ([stopped, wakes]): Life => ({ stopsAt: null, side: "before", isDead: false, stopped, wakes })
)

/** Storage of an engine with this life. */
const living = <E>(storage: Layer.Layer<Memory.Storage, E>, life: Life) => {
  const asleep = <A, E>(call: Effect.Effect<A, E>) =>
    Effect.suspend(() => (life.isDead ? Effect.andThen(Deferred.await(life.wakes), call) : call))
  const stops = Effect.suspend(() => {
    life.stopsAt = null
    return Effect.andThen(Deferred.succeed(life.stopped, undefined), Deferred.await(life.wakes))
  })
  return Layer.mergeAll(
    Layer.effect(
      WorkQueue,
      Effect.map(WorkQueue, (work): WorkQueue["Service"] => ({
        ...work,
        renew: (lease, millis) => asleep(work.renew(lease, millis)),
        release: (lease, next) => asleep(work.release(lease, next)),
        lease: (request) =>
          life.side === "before" &&
          life.stopsAt !== null &&
          request.queue === instrumentLockName(life.stopsAt)
            ? Effect.andThen(stops, work.lease(request))
            : asleep(work.lease(request))
      }))
    ),
    Layer.effect(
      Documents,
      Effect.map(Documents, (documents): Documents["Service"] => ({
        ...documents,
        // A run reads the verdict of an instrument once it has its lock.
        get: (lookup) =>
          life.side === "after" &&
          life.stopsAt !== null &&
          lookup.collection === "instrument-verdict" &&
          lookup.recordIds.includes(life.stopsAt)
            ? Effect.andThen(stops, documents.get(lookup))
            : documents.get(lookup)
      }))
    )
  ).pipe(Layer.provideMerge(storage))
}

/** Two views of one store, as two hosts have them. */
export const stores = [
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

/** Two engines over one store and one ledger, each with a life of its own. */
export const engines = Effect.fnUntraced(function* (open: (typeof stores)[number]["open"]) {
  const [first, second] = yield* open
  const others = yield* Layer.build(ports({ settings: { lease: leaseMillis } }))
  const engineOn = Effect.fnUntraced(function* (storage: typeof first | typeof second) {
    const life = yield* lifeOf
    const context = yield* Layer.build(
      Layer.fresh(
        Engine.layer.pipe(
          Layer.provideMerge(living(storage, life)),
          Layer.provideMerge(Layer.succeedContext(others))
        )
      )
    )
    return {
      life,
      context,
      runner: Context.get(context, Workers.Workers).runnerOf("venue-reconciliation")
    }
  })
  return [yield* engineOn(first), yield* engineOn(second)] as const
})

/** Records the instruments; each has units on the register of which the ledger knows nothing. */
export const planted = (units: Readonly<Partial<Record<Fund, number>>>) =>
  Effect.gen(function* () {
    const cast = yield* Story.cast
    for (const instrumentId of funds) yield* Story.recorded(cast, { instrumentId })
    const registrar = cast.registrar.party
    for (const fund of funds) yield* plant(registrar, fund, units[fund] ?? 0)
    return registrar
  })

/** Sets the units on the register of an instrument that no holding has. */
export const plant = (registrar: Story.Cast["venue"], instrumentId: Fund, units: number) =>
  Effect.gen(function* () {
    const records = yield* Records
    const { offset } = yield* Calls.catchUp
    const now = yield* Instant.now
    const act = { cause: { by: "run", runId: "fault" } as const, now, offset: offset as never }
    const line = { registrar, instrumentId, party: registrar }
    const entry = {
      ...line,
      units: Decimal.of(String(units)),
      locked: Decimal.zero,
      since: now,
      emptySince: null
    }
    yield* records.transact(
      Effect.gen(function* () {
        const [before] = yield* records.many(registerEntries, [idOf(line)])
        if (before !== undefined) yield* records.forget(registerEntries, [idOf(line)])
      })
    )
    if (units > 0) yield* records.transact(records.open(registerEntries, entry, act))
  })

/** Findings of the supply, as `instrument state seenRuns`. */
export const supplies = Effect.flatMap(Records, (records) =>
  Effect.map(
    records.list(findings, { where: { check: ["register-supply"] }, limit: 100 }),
    (rows) =>
      rows
        .map(
          ({ record: { instrumentId, state, seenRuns } }) => `${instrumentId} ${state} ${seenRuns}`
        )
        .toSorted()
  )
)
