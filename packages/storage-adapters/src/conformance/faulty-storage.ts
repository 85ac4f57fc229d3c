/** Faulty stores that each break one promise on purpose, and that the suite must catch. */
import { Effect, Layer } from "effect"
import * as Memory from "../storage/memory/Memory.ts"
import type { Storage } from "../storage/memory/Memory.ts"
import * as Atomically from "./storage-faults/atomically.ts"
import * as Facts from "./storage-faults/facts.ts"
import * as Documents from "./storage-faults/documents.ts"
import * as Waits from "./storage-faults/waits.ts"
import * as Keys from "./storage-faults/keys.ts"
import * as Work from "./storage-faults/work.ts"
import * as Feed from "./storage-faults/feed.ts"
import * as Audit from "./storage-faults/audit.ts"
import * as Projection from "./storage-faults/projection.ts"
import * as Blobs from "./storage-faults/blobs.ts"
import * as Bulk from "./storage-faults/bulk.ts"
import * as Rate from "./storage-faults/rate.ts"
import * as Terms from "./storage-faults/terms.ts"
import type { Fault } from "./storage-faults/Fault.ts"

/** Planted faults of a storage, by which the suite is tested itself. */
export const faults = {
  ...Atomically.faults,
  ...Facts.faults,
  ...Documents.faults,
  ...Waits.faults,
  ...Keys.faults,
  ...Work.faults,
  ...Feed.faults,
  ...Audit.faults,
  ...Projection.faults,
  ...Blobs.faults,
  ...Bulk.faults,
  ...Rate.faults,
  ...Terms.faults
} satisfies Record<string, Fault>

/** Name of a planted fault of a storage. */
export type FaultName = keyof typeof faults

/** Layer of a memory store with one fault. */
export const layer = (name: FaultName): Layer.Layer<Storage> =>
  Layer.effectContext(
    Effect.map(Layer.build(Layer.fresh(Memory.layer)), (sound) => faults[name].spoil(sound))
  )
