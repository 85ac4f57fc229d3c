/** Claims read off the ledger and one dealing cycle that settles them, against SQL that stores the same rows. */
import { settingsDefaults } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import { withDatabase } from "./database.ts"
import { type Bench, comparedOf, metered, timed } from "./measure.ts"
import { withHeap } from "./memory.ts"
import * as Meters from "./meter.ts"
import * as Scene from "./scene.ts"
import * as StoredRows from "./stored-rows.ts"

/** Orders of one transaction of the bound. */
const perBatch = 64
/** Orders of one holder in one ledger transaction, while the cycle is filled. */
const together = 200
const inputsMax = 1_000_000

const parts = <A>(all: ReadonlyArray<A>): ReadonlyArray<readonly [A, ...ReadonlyArray<A>]> =>
  Array.from({ length: Math.ceil(all.length / together) }, (_, n) =>
    all.slice(n * together, (n + 1) * together)
  ).flatMap(([first, ...others]) => (first === undefined ? [] : [[first, ...others] as const]))

const asVenue = (n: number, commands: readonly [Ledger.Command, ...Ledger.Command[]]) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const dedup = { _tag: "For" as const, duration: Duration.days(1) }
    yield* ledger.submit({ commandId: `bench-${n}`, commands, dedup })
  })

/** One cycle of so many orders, on a database of its own; its bound stores the same rows. */
const program = Effect.fnUntraced(function* (orders: number) {
  const rows = yield* StoredRows.make
  const meter = Meters.of(yield* SqlClient.SqlClient)
  /** Does the work, and then stores the rows it stored once more. */
  const beside = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      yield* rows.begin
      const run = () => timed(orders, work)
      const { heap, value: ours } = yield* withHeap(metered({ meter, run }, 0))
      const stored = yield* rows.take
      const write = rows.write(stored, Math.ceil(orders / perBatch))
      const bound = yield* metered({ meter, run: () => timed(orders, write) }, 0)
      return { ours, bound, heap }
    })
  yield* Scene.setClock(Fund.start)
  const stage = yield* Fund.founded({ holderCap: 100 })
  yield* Fund.market(stage)
  // The bank buys for itself: then its cash needs nobody else's signature.
  const holder = yield* Cycles.joinsAs(stage, "h1", stage.bank)
  yield* Cycles.opens("c1")
  const market = yield* Fund.newestContract(Templates.PrimaryMarket)
  const cycle = yield* Fund.newestContract(Templates.DealingCycle)
  const ids = Array.from({ length: orders }, (_, n) => `s${String(n).padStart(6, "0")}`)

  for (const part of parts(ids)) {
    const [first, ...others] = part.map((orderId) =>
      Templates.create(Templates.SubscriptionOrder, {
        venue: stage.venue,
        fund: stage.fund.party,
        holder: holder.party,
        orderId,
        instrument: stage.asset,
        paymentAsset: Cycles.cash(stage),
        amount: Decimal.of("100"),
        units: null,
        expiresAt: null
      })
    )
    if (first !== undefined) yield* holder.act(first, ...others)
  }
  const signed = yield* Cycles.active(Templates.SubscriptionOrder)
  for (const [n, [first, ...others]] of parts(signed).entries()) {
    const claim = ({ cid, payload }: typeof first) =>
      Templates.exercise(Templates.PrimaryMarket, market.cid, "ClaimSubscription", {
        orderCid: cid,
        subscriptionId: payload.orderId,
        custodian: null,
        currency: "USD",
        cycleCid: cycle.cid,
        feeRate: null,
        cashDecimals: null
      })
    yield* asVenue(n, [claim(first), ...others.map(claim)])
  }
  const claims = yield* beside(Calls.settle)
  for (const part of parts(ids)) {
    const [first, ...others] = part.map((allocationId) =>
      Templates.createAndExercise(
        Templates.Holding,
        {
          registrar: holder.party,
          owner: holder.party,
          provider: stage.venue,
          instrument: Cycles.cash(stage),
          amount: Decimal.of("100"),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        },
        "Allocate",
        {
          allocationId,
          executor: stage.venue,
          receiver: stage.fund.party,
          amount: Decimal.of("100"),
          settleBefore: Instant.of("2026-08-20T20:00:00Z")
        }
      )
    )
    if (first !== undefined) yield* holder.act(first, ...others)
  }
  yield* Scene.setClock(Cycles.friday)
  yield* Fund.publishes(stage, "1", Cycles.friday)
  const point = yield* Fund.newestContract(Templates.OraclePoint)
  for (const part of parts(yield* Cycles.active(Templates.SubscriptionClaim))) {
    const [first, ...others] = part.map(({ cid }) =>
      Templates.exercise(Templates.SubscriptionClaim, cid, "Attest", {
        attestor: stage.attestor.party,
        pointCid: point.cid,
        price: Decimal.one,
        units: Decimal.of("100")
      })
    )
    if (first !== undefined) yield* stage.attestor.act(first, ...others)
  }
  const settled = yield* beside(
    Effect.flatMap(Cycles.settles("c1"), ({ why }) =>
      why === "" ? Effect.void : Effect.die(new Error(why))
    )
  )
  return { claims, cycle: settled }
})

const onDatabase = (orders: number) =>
  withDatabase((database) =>
    Scene.on(database, { settings: { ...settingsDefaults, inputsMax } })(program(orders))
  )

export const bench: Bench = async ({ rounds, size = 10_000 }) => {
  const measured: Array<Awaited<ReturnType<typeof onDatabase>>> = []
  for (let round = 0; round < rounds; round++) measured.push(await onDatabase(size))
  const heap = (moment: "before" | "most") =>
    Math.round(Math.max(...measured.map(({ cycle }) => cycle.heap[moment])))
  const compared = (measure: "claims" | "cycle") =>
    comparedOf(
      measured.map((round) => round[measure].ours),
      measured.map((round) => round[measure].bound)
    )
  const against = `the same rows by set-based SQL, ${perBatch} orders a transaction`
  const name = size.toLocaleString("en-US")
  return [
    {
      bench: `${name} claims read off the ledger`,
      unit: "claims/s",
      against,
      goal: 0.3,
      note: `${together} claims a ledger update`,
      ...compared("claims")
    },
    {
      bench: `cycle of ${name} orders`,
      unit: "orders/s",
      against,
      goal: 0.3,
      note: `heap at most ${heap("most")} MiB, ${heap("before")} MiB of it held before, the simulated ledger among both`,
      ...compared("cycle")
    }
  ]
}
