/**
 * Engine on a database with a simulated ledger in this process, on a clock that a bench sets: the
 * clock goes on from there, so that what waits for real time still comes.
 */
import { Engine, Settings, type settingsDefaults } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Ledger, ScreeningSource, StatementSource } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Clock, Duration, Effect, Layer, type Scope } from "effect"
import type { Database } from "./database.ts"
import * as Seeded from "./seeded-register.ts"

/** Milliseconds by which the clock of a scene is ahead of the machine's. */
let ahead = 0
const millis = () => Date.now() + ahead
export const setClock = (instant: string) =>
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

/**
 * Runs a program on the engine, with a ledger in memory or in the same database that takes transactions as
 * large as the settings say.
 */
export const on = (
  { storage }: Database,
  founding: {
    readonly settings: typeof settingsDefaults
    readonly ledger?: "memory" | "postgres"
    readonly faults?: SimulatedLedger.Faults.Faults
  }
) => {
  const { settings } = founding
  const options = {
    ledgerId: "bench",
    participantId: "participant-1",
    settings: { inputsMax: settings.inputsMax },
    ...(founding.faults === undefined ? {} : { faults: founding.faults })
  }
  const node =
    founding.ledger === "postgres"
      ? SimulatedLedger.layerPostgres(options).pipe(Layer.provide(storage))
      : SimulatedLedger.layerMemory(options)
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
        StatementSource.layerNone,
        ScreeningSource.layerNone,
        Layer.effect(Ledger.Ledger, Effect.map(Ledger.Ledger, Seeded.besides)).pipe(
          Layer.provideMerge(venue.pipe(Layer.provideMerge(node), Layer.orDie))
        ),
        Layer.succeed(Settings, settings)
      )
    )
  )
  return <A, E>(program: Effect.Effect<A, E, Layer.Success<typeof layer> | Scope.Scope>) =>
    program.pipe(Effect.scoped, Effect.provide(layer), Effect.provideService(Clock.Clock, clock))
}
