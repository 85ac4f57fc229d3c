/** A whole engine in memory with a ledger beside it: what tests of the core run against. */
import { Engine, settingsDefaults } from "@bursar/engine-core"
import type { Operation, FromLedger, Timely } from "@bursar/engine-core"
import type { Collection } from "@bursar/engine-core/kernel"
import { type Ids, Ledger, type ScreeningSource, WorkQueue } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Venue } from "@bursar/storage-adapters/venue"
import { Context, Effect, Layer } from "effect"

export interface WorldOptions extends Pick<Venue.PortsOptions, "settings" | "storage"> {
  readonly operations?: ReadonlyArray<Operation.Operation>
  readonly fromLedger?: ReadonlyArray<FromLedger.FromLedger>
  /** The collections whose clock moves are noted, beside actions. */
  readonly clocked?: ReadonlyArray<Collection.Collection>
  /** The writes that the engine opens by itself. */
  readonly timely?: ReadonlyArray<Timely.Timely>
  readonly faults?: SimulatedLedger.Faults.Faults
  /** Source of screening; absent: nobody is screened. */
  readonly screening?: Layer.Layer<ScreeningSource.ScreeningSource>
  /** Ids in place of those by chance. */
  readonly ids?: Layer.Layer<Ids>
  /** Wrapper between the engine and its port to the ledger. */
  readonly tamper?: (ledger: Ledger.Ledger["Service"]) => Ledger.Ledger["Service"]
}

/**
 * Ports of the engine without the engine: two engines may be built over one of these. No key seals, since
 * tests say whether one is there.
 */
export const ports = ({ storage, settings, faults, ...options }: WorldOptions = {}) =>
  Layer.mergeAll(
    options.ids ?? Layer.empty,
    options.screening ?? Layer.empty,
    Layer.effect(Ledger.Ledger, Effect.map(Ledger.Ledger, options.tamper ?? ((port) => port)))
  ).pipe(
    Layer.provideMerge(
      Venue.ports({
        storage: storage ?? Memory.layer,
        settings: { ...settingsDefaults, ...settings },
        ledger: { ledgerId: "test", ...(faults === undefined ? {} : { faults }) }
      })
    )
  )

/** Ports over a store that has further services, or may fail to open. */
export const portsOn = <R, E>(
  storage: Layer.Layer<Memory.Storage | R, E>,
  options: Omit<WorldOptions, "storage"> = {}
) => storage.pipe(Layer.provideMerge(ports(options)))

/**
 * Storage in memory in which an operation waits for its next poll between two ledger steps, so that a
 * test acts in between: the projection does not make it due.
 */
export const polled = Layer.effect(
  WorkQueue,
  Effect.map(WorkQueue, (work) => ({ ...work, hasten: () => Effect.void }))
).pipe(Layer.provideMerge(Memory.layer))

/** The engine over memory; where operations are given, it has only those. */
export const world = (options: WorldOptions = {}) => {
  const { operations, fromLedger = [], clocked = [], timely = [] } = options
  const engine =
    operations === undefined
      ? Engine.layer
      : Engine.layerOf({ operations, fromLedger, clocked, timely })
  return engine.pipe(Layer.provideMerge(ports(options)))
}

/**
 * An engine with a store of its own on a ledger that is there, at whose participant the parties stay. Cast:
 * the store in memory has no further service.
 */
export const instanceOn = <R = never>(
  ledger: Ledger.Ledger["Service"],
  {
    storage = Memory.layer as Layer.Layer<Memory.Storage | R>,
    settings
  }: {
    readonly storage?: Layer.Layer<Memory.Storage | R>
    readonly settings?: NonNullable<WorldOptions["settings"]>
  } = {}
) => {
  const over = portsOn(storage, {
    tamper: () => ledger,
    ...(settings === undefined ? {} : { settings })
  })
  return Layer.effectContext(
    Effect.map(
      Layer.build(Layer.fresh(Engine.layer.pipe(Layer.provideMerge(over)))),
      Context.omit(SimulatedLedger.Participant)
    )
  )
}

export { Ledger }
