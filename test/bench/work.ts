/**
 * A page of the list of work against one of open orders, both of orders that wait; and the writes of waiting
 * records with their index against the same writes without it.
 */
import { Queries, Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as RecordsLayer from "#core/records/layer.ts"
import * as Waits from "#core/records/Waits.ts"
import * as Subscriptions from "../machines/subscriptions.ts"
import { caller, engineOn, listOf, withDatabase } from "./database.ts"
import { type Bench, inTurns, type Options, timed } from "./measure.ts"
import * as Meters from "./meter.ts"

const pageSize = 50
const perRound = 200
const callers = 8
const perTransaction = 500

/** An order that an operator has to withdraw, since its price is wrong. */
const waiting = (n: number) =>
  Subscriptions.claimed({
    subscriptionId: Subscriptions.id<"SubscriptionId">(`work-${String(n).padStart(7, "0")}`),
    claimCid: null,
    mispricedCid: "0002"
  })

const opens = (records: Records["Service"], from: number, count: number) =>
  records.transact(
    Effect.gen(function* () {
      const act = { cause: { by: "clock" } as const, now: yield* Instant.now }
      for (let n = from; n < from + count; n++) {
        yield* Effect.orDie(records.open(subscriptions, waiting(n), act))
      }
    })
  )

const program = ({ rounds, size = 100_000 }: Options) =>
  Effect.gen(function* () {
    const records = yield* Records
    const queries = yield* Queries
    const sql = yield* SqlClient.SqlClient
    for (let from = 0; from < size; from += perTransaction) {
      yield* opens(records, from, perTransaction)
    }
    // The database runs this by itself within a minute of such growth.
    yield* sql`analyze`
    const meter = Meters.of(sql)
    const pageOf = (name: string) => ({
      meter,
      run: () =>
        timed(
          perRound,
          Effect.forEach(
            Array.from({ length: perRound }),
            () =>
              queries.page(listOf(name), {
                ...{ caller, params: {}, point: {} },
                page: { limit: pageSize }
              }),
            { concurrency: callers, discard: true }
          )
        )
    })
    const pages = yield* inTurns({
      rounds,
      ours: pageOf("work.list"),
      bound: pageOf("open-orders.list")
    })
    let next = size
    const writesOf = (service: Records["Service"]) => ({
      meter,
      run: () =>
        timed(
          perRound,
          Effect.forEach(
            Array.from({ length: perRound }),
            () => Effect.suspend(() => opens(service, next++, 1)),
            { concurrency: callers, discard: true }
          )
        )
    })
    const unindexed = Context.get(
      yield* Layer.build(
        Layer.fresh(
          RecordsLayer.layer.pipe(Layer.provide(Layer.succeed(Waits.Declared, new Map())))
        )
      ),
      Records
    )
    const writes = yield* inTurns({
      rounds,
      ours: writesOf(records),
      bound: writesOf(unindexed)
    })
    return [
      {
        bench: `page of work at ${size.toLocaleString("en-US")}`,
        unit: "pages/s",
        against: "the first page of open orders",
        goal: 0.67,
        note: `${callers} callers`,
        ...pages
      },
      {
        bench: "records that wait",
        unit: "records/s",
        against: "the same without the index of waiting records",
        goal: 0.95,
        note: `${callers} callers`,
        ...writes
      }
    ]
  })

export const bench: Bench = (options) =>
  withDatabase(({ storage }) =>
    program(options).pipe(Effect.scoped, Effect.provide(engineOn(storage)))
  )
