/** A whole engine in memory with a ledger beside it: what tests of the core run against. */
import { Engine, settingsDefaults, Settings } from "@bursar/engine-core"
import type { Operation, FromLedger, Timely } from "@bursar/engine-core"
import type { Collection } from "@bursar/engine-core/kernel"
import { type Ids, Ledger, ScreeningSource, WorkQueue } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import * as Statements from "@bursar/storage-adapters/statements"
import { Effect, Layer } from "effect"

/** A node with one party, the venue, and the venue's port on it. */
export const ledgerOf = (faults?: SimulatedLedger.Faults.Faults) => {
  const node = SimulatedLedger.layerMemory({
    ledgerId: "test",
    participantId: "participant-1",
    ...(faults === undefined ? {} : { faults })
  })
  const venue = Layer.unwrap(
    Effect.gen(function* () {
      const participant = yield* SimulatedLedger.Participant
      const added = yield* participant.admin.addParty({
        hint: "venue",
        kind: "local",
        userId: "bursar-engine"
      })
      return SimulatedLedger.Venue.layer({ token: added.token })
    })
  )
  return venue.pipe(Layer.provideMerge(node), Layer.orDie)
}

export interface WorldOptions {
  readonly operations?: ReadonlyArray<Operation.Operation>
  readonly fromLedger?: ReadonlyArray<FromLedger.FromLedger>
  /** The collections whose clock moves are noted, beside actions. */
  readonly clocked?: ReadonlyArray<Collection.Collection>
  /** The writes that the engine opens by itself. */
  readonly timely?: ReadonlyArray<Timely.Timely>
  readonly settings?: Partial<typeof settingsDefaults>
  readonly faults?: SimulatedLedger.Faults.Faults
  /** Source of screening; absent: nobody is screened. */
  readonly screening?: Layer.Layer<ScreeningSource.ScreeningSource>
  /** Storage ports in place of those in memory. */
  readonly storage?: Layer.Layer<Memory.Storage>
  /** Ids in place of those by chance. */
  readonly ids?: Layer.Layer<Ids>
  /** Wrapper between the engine and its port to the ledger. */
  readonly tamper?: (ledger: Ledger.Ledger["Service"]) => Ledger.Ledger["Service"]
}

/** Ports of the engine without the engine: two engines may be built over one of these. */
export const ports = (options: WorldOptions = {}) =>
  Layer.mergeAll(
    options.storage ?? Memory.layer,
    NodeCrypto.layerCrypto,
    options.ids ?? NodeCrypto.layerIds,
    Statements.layer,
    options.screening ?? ScreeningSource.layerNone,
    tampered(ledgerOf(options.faults), options.tamper ?? ((ledger) => ledger)),
    Layer.succeed(Settings, { ...settingsDefaults, ...options.settings })
  )

/**
 * Storage in memory in which an operation waits for its next poll between two ledger steps, so that a
 * test acts in between: the projection does not make it due.
 */
export const polled = Layer.effect(
  WorkQueue,
  Effect.map(WorkQueue, (work) => ({ ...work, hasten: () => Effect.void }))
).pipe(Layer.provideMerge(Memory.layer))

const tampered = (
  ledger: ReturnType<typeof ledgerOf>,
  tamper: (ledger: Ledger.Ledger["Service"]) => Ledger.Ledger["Service"]
) => Layer.effect(Ledger.Ledger, Effect.map(Ledger.Ledger, tamper)).pipe(Layer.provideMerge(ledger))

/** The engine over memory; where operations are given, it has only those. */
export const world = (options: WorldOptions = {}) => {
  const engine =
    options.operations === undefined
      ? Engine.layer
      : Engine.layerOf({
          operations: options.operations,
          fromLedger: options.fromLedger ?? [],
          clocked: options.clocked ?? [],
          timely: options.timely ?? []
        })
  return engine.pipe(Layer.provideMerge(ports(options)))
}

export { Ledger }
