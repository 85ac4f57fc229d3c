/** Record of the snapshot that a projection began with; a projection that read every update has none. */
import { Effect, Option, Schema } from "effect"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Offset from "../kernel/Offset.ts"
import * as Party from "../kernel/Party.ts"
import { Records } from "../records/Records.ts"
import { updateId } from "./Snapshot.ts"

export const SnapshotTaken = Schema.Struct({
  snapshotId: Schema.Literal(updateId),
  /** The party that the engine acts as: only contracts that name it are read. */
  venue: Party.schema,
  offset: Offset.schema,
  takenAt: Instant.schema,
  /** Number of active contracts. */
  contracts: Integer.schema
})
export type SnapshotTaken = typeof SnapshotTaken.Type

export const snapshotsTaken = Collection.define<SnapshotTaken, never>("snapshot-taken", {
  doc: "The snapshot of the ledger that the projection began with.",
  id: ({ snapshotId }) => snapshotId,
  record: SnapshotTaken,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "ledger"
})

/** Finds the snapshot that the projection began with; null: it began before the first update. */
export const taken = Effect.flatMap(Records, (records) =>
  Effect.map(records.find(snapshotsTaken, updateId), Option.getOrNull)
)
