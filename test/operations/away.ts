/** Instances of a venue over one ledger, each with a store of its own, that read it up to a point and may be away. */
import { type Collection, Records } from "@bursar/engine-core"
import type { Offset } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import type * as Memory from "@bursar/storage-adapters/memory"
import { Effect, type Layer, Stream } from "effect"
import { instanceOn } from "../engine/world.ts"

/** How far an instance may read its ledger, and up to where the ledger has forgotten. */
export interface Sight {
  end: number
  horizon: number
  /** Offset of the last contract that it shows, where the ledger has gone on without any. */
  seen?: number
}

/** An instance over the ledger that may begin the second ledger epoch. */
export const instance = <R>(
  ledger: Ledger.Ledger["Service"],
  options: {
    readonly sight: Sight
    readonly storage: Layer.Layer<Memory.Storage | R>
    readonly rebootstrap?: number | null
  }
) =>
  instanceOn(
    {
      ...ledger,
      acs: ({ at, filter }) =>
        ledger.acs({ at: Math.min(at, options.sight.seen ?? at) as Offset.Offset, filter }),
      horizon: Effect.sync(() => options.sight.horizon as Offset.Offset),
      ledgerEnd: Effect.sync(() => options.sight.end as Offset.Offset)
    },
    {
      storage: options.storage,
      settings: { rebootstrap: options.rebootstrap === undefined ? 2 : options.rebootstrap }
    }
  )

/** All records of a collection, as they are now. */
export const all = <R, F>(collection: Collection<R, F>) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(Stream.runCollect(records.stream(collection, {})), (rows) =>
      rows.map(({ record }) => record)
    )
  )
