/** One dealing cycle of ten thousand orders: how long it takes to settle, and what the engine holds meanwhile. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Engine, Settings, settingsDefaults } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import * as Cycles from "../operations/cycles.ts"
import * as Stage from "../operations/stage.ts"
import { type Row, row } from "./measure.ts"

const orders = Number(process.env["ORDERS"] ?? 10_000)
/** Orders of one holder in one ledger transaction, while the cycle is filled. */
const together = 200
const inputsMax = 1_000_000

/** The wall clock, which the story sets to its own Friday and then to the cut-off. */
let ahead = 0
const millis = () => Date.now() + ahead
const sets = (instant: string) =>
  Effect.sync(() => {
    ahead = Instant.toEpochMillis(Instant.of(instant)) - Date.now()
  })
const clock: Clock.Clock = {
  currentTimeMillisUnsafe: millis,
  currentTimeMillis: Effect.sync(millis),
  currentTimeNanosUnsafe: () => BigInt(millis()) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => BigInt(millis()) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => process.hrtime.bigint(),
  monotonicTimeNanos: Effect.sync(() => process.hrtime.bigint()),
  sleep: (duration) =>
    Effect.callback((resume) => {
      const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
      return Effect.sync(() => clearTimeout(timer))
    })
}

const parts = <A>(all: ReadonlyArray<A>): ReadonlyArray<readonly [A, ...ReadonlyArray<A>]> =>
  Array.from({ length: Math.ceil(all.length / together) }, (_, n) =>
    all.slice(n * together, (n + 1) * together)
  ).flatMap(([first, ...others]) => (first === undefined ? [] : [[first, ...others] as const]))

const seconds = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const began = performance.now()
    const value = yield* effect
    return { value, took: (performance.now() - began) / 1_000 }
  })

/** The highest the heap stands while an effect runs, looked at ten times a second. */
const peak = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let most = 0
    const look = () => {
      most = Math.max(most, process.memoryUsage().heapUsed)
    }
    const timer = setInterval(look, 100)
    const value = yield* Effect.ensuring(
      effect,
      Effect.sync(() => clearInterval(timer))
    )
    look()
    return { value, mebibytes: most / 2 ** 20 }
  })

const asVenue = (n: number, commands: readonly [Ledger.Command, ...Ledger.Command[]]) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const dedup = { _tag: "For" as const, duration: Duration.days(1) }
    yield* ledger.submit({ commandId: `bench-${n}`, commands, dedup })
    yield* Stage.settle
  })

const program = Effect.gen(function* () {
  yield* sets(Stage.start)
  const stage = yield* Stage.founded({ holderCap: 100 })
  yield* Stage.market(stage)
  // The bank buys for itself: then its cash needs nobody else's signature.
  const holder = yield* Cycles.joinsAs(stage, "h1", stage.bank)
  yield* Cycles.opens("c1")
  const market = yield* Stage.standing(Templates.PrimaryMarket)
  const cycle = yield* Stage.standing(Templates.DealingCycle)
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
  const claimed = yield* seconds(
    Effect.forEach(parts(signed), ([first, ...others], n) => {
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
      return asVenue(n, [claim(first), ...others.map(claim)])
    })
  )
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
  yield* sets(Cycles.friday)
  yield* Stage.publishes(stage, "1", Cycles.friday)
  const point = yield* Stage.standing(Templates.OraclePoint)
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
  const settled = yield* peak(seconds(Cycles.settles("c1")))
  const { why } = settled.value.value
  if (why !== "") return yield* Effect.die(new Error(why))
  return { claimed: claimed.took, settled: settled.value.took, peak: settled.mebibytes }
})

/** Runs it against the engine on a database of its own, and a ledger that takes so large a transaction. */
const onDatabase = async () => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-bench-"))
  try {
    const storage = Layer.unwrap(
      Effect.map(Embedded.start({ dataFolder: folder }), ({ url }) =>
        Postgres.layer({ url: Redacted.make(url) })
      )
    )
    const node = SimulatedLedger.layerMemory({
      ledgerId: "bench",
      participantId: "participant-1",
      settings: { inputsMax }
    })
    const venue = Layer.unwrap(
      Effect.gen(function* () {
        const { admin } = yield* SimulatedLedger.Participant
        const { token } = yield* admin.addParty({
          hint: "venue",
          kind: "local",
          userId: "bursar-engine"
        })
        return SimulatedLedger.Venue.layer({ token })
      })
    )
    const layer = Engine.layer.pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          storage,
          NodeCrypto.layer,
          venue.pipe(Layer.provideMerge(node), Layer.orDie),
          Layer.succeed(Settings, { ...settingsDefaults, inputsMax })
        )
      )
    )
    return await Effect.runPromise(
      program.pipe(
        Effect.scoped,
        Effect.provide(layer),
        Effect.provideService(Clock.Clock, clock),
        Effect.orDie
      )
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const bench = async (): Promise<ReadonlyArray<Row>> => {
  const { claimed, settled, peak: mebibytes } = await onDatabase()
  return [
    row({
      bench: `cycle of ${orders.toLocaleString("en-US")} orders`,
      ours: orders / settled,
      unit: "orders/s",
      against: "their claims, read off the ledger",
      theirs: orders / claimed,
      target: null,
      note: `settled in ${settled.toFixed(1)} s, heap at most ${Math.round(mebibytes)} MiB`
    })
  ]
}
