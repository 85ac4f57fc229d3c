/**
 * Parts of a deployment that are exchanged for one's own: its ledger, its storage, its source of
 * screening.
 */
import type { Engine } from "@bursar/engine-core"
import type {
  Crypto,
  Ids,
  Ledger,
  ScreeningSource,
  StatementSource
} from "@bursar/engine-core/ports"
import { Context, Effect, Layer, type Scope } from "effect"
import type { DatabaseForm } from "../BackupSet.ts"
import type { HostConfig, KeeperConfig } from "../HostConfig.ts"

/** Failure of a part, whose message is the one line that a person reads. */
export interface PartFault {
  readonly message: string
}

/** The ports of the engine that a storage implements. */
export type StoragePorts = Exclude<
  Engine.Ports,
  Ledger.Ledger | Ids | Crypto | StatementSource.StatementSource | ScreeningSource.ScreeningSource
>

/** Earlier use of a storage, read without changing anything. */
interface EarlierRecords {
  /** True: records were written. */
  readonly isUsed: boolean
  /** Text of the audit record of the latest start (`config.loaded`); null where there is none. */
  readonly configLoaded: string | null
}

/**
 * A storage as one start or one command uses it. `S` are the services that it offers to a ledger kept
 * in it, such as a client of its database.
 */
export interface OpenedStorage<S = never> {
  /** The ports; building the layer brings the storage up to date. */
  readonly layer: Layer.Layer<StoragePorts | S, PartFault>
  /** The services for a ledger alone, before the storage is brought up to date. */
  readonly beside: Layer.Layer<S, PartFault>
  /** Brings the storage up to date and returns the names of what was made; empty where it has nothing to migrate. */
  readonly migrate: Effect.Effect<ReadonlyArray<string>, PartFault>
  /** Reads what earlier starts left; fails where a newer program wrote it. */
  readonly existing: Effect.Effect<EarlierRecords, PartFault>
  /** Waits until no other start makes its secrets, and keeps others waiting until the scope ends. */
  readonly startTurn: Effect.Effect<void, PartFault, Scope.Scope>
}

/** A storage as one backup reaches it. */
interface BackedUpStorage {
  /** Form in which the database stands in a backup. */
  readonly form: DatabaseForm
  /** Reads how far the feed and the audit log are; fails where there is no venue. */
  readonly heads: Effect.Effect<{ readonly eventSeq: number; readonly auditSeq: number }, PartFault>
  /** Writes the database, as of one moment after the heads were read, while hosts write. */
  readonly write: (path: string) => Effect.Effect<void, PartFault>
}

/** Backups of a storage, taken while the venue runs, and the way back from them. */
export interface StorageBackups {
  readonly reach: (config: KeeperConfig) => Effect.Effect<BackedUpStorage, PartFault, Scope.Scope>
  /**
   * Restores the database of a backup into the storage that the settings name, which has no venue yet;
   * one that is killed has changed nothing that a start takes for a venue.
   */
  readonly restore: (
    config: KeeperConfig,
    backedUp: { readonly form: DatabaseForm; readonly path: string }
  ) => Effect.Effect<void, PartFault>
}

/** A storage of deployments. */
export interface StoragePart<S = never> {
  /** Absent: the storage is backed up by means of its own. */
  readonly backups?: StorageBackups
  /** Reaches the storage that the settings name, or starts it until the scope ends. */
  readonly open: (config: KeeperConfig) => Effect.Effect<OpenedStorage<S>, PartFault, Scope.Scope>
}

/** A storage that nothing survives and nobody shares, or that has nothing to migrate. */
export const storageOf = (layer: Layer.Layer<StoragePorts, PartFault>): StoragePart => ({
  open: () =>
    Effect.succeed({
      layer,
      beside: Layer.empty,
      migrate: Effect.succeed([]),
      existing: Effect.succeed({ isUsed: false, configLoaded: null }),
      startTurn: Effect.void
    })
})

/** Address of a door beside the API, at which outside parties reach the ledger; null: there is none. */
export const LedgerDoor = Context.Reference<{ readonly url: string } | null>(
  "@bursar/http-host/parts/LedgerDoor",
  { defaultValue: () => null }
)

/**
 * A ledger of deployments. `S` are the services of the storage that it needs, `D` those that its door
 * needs beside the ledger.
 */
export interface LedgerPart<S = never, D = never> {
  /** The ledger as the venue's own party reaches it. */
  readonly layer: (config: HostConfig) => Layer.Layer<Ledger.Ledger | D, PartFault, S>
  /** Brings what the ledger keeps in the storage up to date; returns the names of what was made. */
  readonly migrate: Effect.Effect<ReadonlyArray<string>, PartFault, S>
  /**
   * Reads whether the ledger gave out a token for the venue; null for a ledger that gives none to keep
   * in the data folder. Fails where a newer program wrote what the ledger keeps in the storage.
   */
  readonly hasVenueToken: Effect.Effect<boolean | null, PartFault, S>
  /** Opens a door beside the API and says where (`LedgerDoor`); absent: there is none. */
  readonly door?: (config: HostConfig) => Layer.Layer<never, PartFault, D>
}

/** A ledger that keeps nothing in the deployment's storage or data folder. */
export const ledgerOf = (
  layer: (config: HostConfig) => Layer.Layer<Ledger.Ledger, PartFault>
): LedgerPart => ({
  layer,
  migrate: Effect.succeed([]),
  hasVenueToken: Effect.succeed(null)
})

/** A source of screening; of a venue that screens nobody it is `ScreeningSource.layerNone`. */
export type ScreeningPart = (
  config: HostConfig
) => Layer.Layer<ScreeningSource.ScreeningSource, PartFault>
