/** An instrument that is recorded while its parties act, after a snapshot: in either order, nothing is left behind. */
import { Engine, Follower, Records, Workers } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Documents, Feed } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import type * as Memory from "@bursar/storage-adapters/memory"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Deferred, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import { pricePoints } from "#core/instruments/price/PricePoint.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as Calls from "../engine/calls.ts"
import { movedClock } from "../engine/moved-clock.ts"
import { world } from "../engine/world.ts"
import { againOn, forgets, recordsAgain } from "../operations/again.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Month from "../operations/distributions.ts"
import * as Fund from "../operations/fund.ts"

/** Role of a fiber: the follower folds updates of the ledger, the runner records the instrument. */
const Doing = Context.Reference<"follows" | "records" | null>("@bursar/test/Doing", {
  defaultValue: () => null
})

interface Gate {
  readonly reached: Deferred.Deferred<void>
  readonly opened: Deferred.Deferred<void>
}

/** Holds a transaction up once it has looked at everything, and before it writes. */
const heldUp = <R>(
  storage: Layer.Layer<Memory.Storage | R>,
  gates: Record<"follows" | "records", Gate>
) => {
  let hasScanned = false
  return Layer.mergeAll(
    Layer.effect(
      Feed,
      Effect.map(Feed, (feed) => ({
        ...feed,
        take: (now: string) =>
          Effect.gen(function* () {
            const doing = yield* Doing
            if (doing === "follows" || (doing === "records" && hasScanned)) {
              yield* Deferred.succeed(gates[doing].reached, undefined)
              yield* Deferred.await(gates[doing].opened)
            }
            return yield* feed.take(now)
          })
      }))
    ),
    Layer.effect(
      Documents,
      Effect.map(Documents, (documents) => ({
        ...documents,
        stream: (query: Parameters<typeof documents.stream>[0]) =>
          Stream.unwrap(
            Effect.map(Doing, (doing) => {
              if (doing === "records" && query.collection === "contract") hasScanned = true
              return documents.stream(query)
            })
          )
      }))
    )
  ).pipe(Layer.provideMerge(storage))
}

interface Scene {
  /** Commands that a party submits in one transaction. */
  readonly acts: Effect.Effect<unknown, unknown, never>
  readonly recorded: Effect.Effect<{ readonly why: string }, unknown, never>
  readonly states: Effect.Effect<ReadonlyArray<string>, unknown, Records>
  readonly before: string
  readonly after: string
}

const valuationTime = Instant.of("2026-07-31T12:00:00Z")
const five = ["h1", "h2", "h3", "h4", "h5"]

/** A month whose lines are due, and a registrar that delivers all of them. */
const lines = Effect.gen(function* () {
  const { holders, point, stage } = yield* Month.founded(five)
  yield* Cycles.at("2026-08-03T09:00:00Z")
  yield* Month.executes(stage, Month.termsOf(stage, point))
  const all = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
  yield* Month.adds("d-july", all)
  yield* Month.seals("d-july", all)
  yield* Month.turns("d-july", "Open")
  const distributionCid = yield* Month.contractOf("d-july")
  const cids = yield* Effect.forEach(five, (_, nth) => Month.lineContract(`d-july.${nth + 1}`))
  const delivers = cids.map((cid) =>
    Templates.exercise(Templates.DistributionLine, cid, "Deliver", {
      ...{ distributionCid, credentialCid: null, configurationCid: null },
      evidence: Month.evidence
    })
  )
  return {
    acts: stage.registrar.submit(...delivers),
    recorded: recordsAgain(stage, Month.monthly("cash")),
    states: Effect.gen(function* () {
      const records = yield* Records
      const rows = yield* records.list(distributionLines, { limit: 10 })
      return rows.map(({ record: { state } }) => state)
    }),
    before: "due",
    after: "delivered"
  }
})

/** Orders that are claimed, and an oracle that prices all of them. */
const orders = Effect.gen(function* () {
  const terms = { holderCap: 100, fees: { subscription: 0, redemption: 0 } }
  const stage = yield* Fund.opened(terms)
  yield* Cycles.joins(stage, "h1")
  for (const nth of five.keys()) {
    const order = { subscriptionId: `s${nth}`, instrumentId: "fund-a", holderId: "h1" }
    const claim = { ...order, payment: "wire", amount: 1000 }
    assert.strictEqual((yield* Calls.write("subscription.claim", {}, claim)).why, "")
  }
  yield* Cycles.at("2026-07-31T20:30:00Z")
  yield* Fund.publishes(stage, "1", "2026-07-31T20:30:00Z")
  const point = yield* Fund.newestContract(Templates.OraclePoint)
  const attests = (yield* Cycles.active(Templates.SubscriptionClaim)).map(({ cid }) =>
    Templates.exercise(Templates.SubscriptionClaim, cid, "Attest", {
      ...{ attestor: stage.oracle.party, pointCid: point.cid },
      ...{ price: Decimal.of("1"), units: Decimal.of("1000") }
    })
  )
  return {
    acts: stage.oracle.submit(...attests),
    recorded: recordsAgain(stage, terms),
    states: Effect.gen(function* () {
      const records = yield* Records
      const rows = yield* records.list(subscriptions, { limit: 10 })
      return rows.map(({ record: { state } }) => state)
    }),
    before: "claimed",
    after: "priced"
  }
})

/** Incomes that were published, and an oracle that corrects one, withdraws one and publishes more. */
const incomes = Effect.gen(function* () {
  const stage = yield* Fund.opened({ valuation: "par" })
  const publishing = (value: string) =>
    Templates.create(Templates.OraclePoint, {
      ...{ oracle: stage.oracle.party, venue: stage.venue, fund: stage.fund.party },
      ...{ registrar: stage.registrar.party, attestors: [], instrumentId: "fund-a" },
      ...{ metric: "income", value: Decimal.of(value), valuationTime },
      ...{ period: null, withholdingRate: null, statementRef: null, corrects: null }
    })
  yield* stage.oracle.submit(publishing("0.009"), publishing("0.009"))
  yield* Calls.settle
  const [wrong, needless] = (yield* Cycles.active(Templates.OraclePoint)).map(({ cid }) => cid)
  const figures = { period: null, withholdingRate: null, statementRef: null }
  return {
    acts: stage.oracle.submit(
      Templates.exercise(Templates.OraclePoint, wrong!, "Correct", {
        ...{ value: Decimal.of("0.001"), valuationTime },
        ...figures
      }),
      {
        _tag: "Exercise",
        target: Templates.OraclePoint.typeRef,
        contractId: needless!,
        choice: "Archive",
        arg: {}
      },
      ...five.slice(1).map(() => publishing("0.001"))
    ),
    recorded: recordsAgain(stage, { valuation: "par" }),
    states: Effect.gen(function* () {
      const records = yield* Records
      const rows = yield* records.list(pricePoints, { limit: 10 })
      return rows
        .filter(({ record: { correctedBy, isLive } }) => correctedBy === null && isLive)
        .map(({ record: { incomePerUnit } }) => Decimal.formatPlain(incomePerUnit!))
    }),
    before: "0.009",
    after: "0.001"
  }
})

/** Number of looks in a row that find a lock waited for: any other wait is over much sooner. */
const looks = 25

/** Waits until a fiber is held up at its gate, waits for a lock of the other one, or has ended. */
const isStopped = (fiber: Fiber.Fiber<unknown, unknown>, { reached }: Gate) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (let waits = 0; waits < looks; ) {
      if ((yield* Deferred.isDone(reached)) || fiber.pollUnsafe() !== undefined) return
      const waiting = yield* sql`select 1 from pg_locks where not granted and locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`
      waits = waiting.length > 0 ? waits + 1 : 0
      yield* Effect.sleep("20 millis")
    }
  })

const scenes = [
  { scene: lines, what: "lines that are delivered" },
  { scene: orders, what: "orders that are priced" },
  { scene: incomes, what: "incomes that are corrected, withdrawn and published" }
]

describe("an instrument that is recorded while its parties act", () => {
  it.live.each(
    scenes.flatMap(({ scene, what }) =>
      (["follows", "records"] as const).map((first) => ({
        scene,
        first,
        what
      }))
    )
  )("leaves $what as the ledger has them, where the one that $first is first", ({ first, scene }) =>
    Effect.gen(function* () {
      const race: Scene = (yield* scene) as never
      yield* forgets
      const url = Redacted.make(yield* TestDatabase.url)
      const gate = Effect.all({ reached: Deferred.make<void>(), opened: Deferred.make<void>() })
      const gates = { follows: yield* gate, records: yield* gate }
      const storage = heldUp(Layer.orDie(Postgres.layer({ url })), gates)
      yield* Effect.gen(function* () {
        yield* Calls.settle
        yield* race.acts
        const follower = yield* Follower
        // Writes of the instrument are made without the follower: it is the other fiber.
        const alone = Engine.Engine.of({
          run: Effect.never,
          settle: Effect.asVoid(Workers.runOnce("operations")) as never
        })
        const services = yield* Effect.context<Workers.Workers>()
        const does = {
          follows: Effect.asVoid(follower.catchUp),
          records: race.recorded.pipe(
            Effect.map(({ why }) => assert.strictEqual(why, "")),
            Effect.provideService(Engine.Engine, {
              ...alone,
              settle: Effect.provideContext(alone.settle, services)
            })
          )
        }
        const second = first === "follows" ? "records" : "follows"
        const forked = (doing: "follows" | "records") =>
          Effect.forkScoped(Effect.provideService(does[doing], Doing, doing))
        const one = yield* forked(first)
        yield* isStopped(one, gates[first])
        const other = yield* forked(second)
        yield* isStopped(other, gates[second])
        yield* Deferred.succeed(gates[first].opened, undefined)
        yield* Fiber.join(one)
        yield* Deferred.succeed(gates[second].opened, undefined)
        yield* Fiber.join(other)
        yield* Calls.settle
        assert.deepEqual(
          yield* race.states,
          five.map(() => race.after)
        )
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(yield* againOn(storage)))
    }).pipe(
      Effect.provide(world()),
      Effect.provideService(Clock.Clock, movedClock().clock),
      Effect.scoped
    )
  )
})
