/** A deployment as the commands use it: served, migrated, and its records without a ledger. */
import type { Catalogue, Records } from "@bursar/engine-core"
import type { Instant } from "@bursar/engine-core/kernel"
import type { Crypto, Ids } from "@bursar/engine-core/ports"
import type { Effect, Layer } from "effect"
import type { Manifest } from "../BackupSet.ts"
import type { HostConfig, KeeperConfig } from "../HostConfig.ts"
import type { PartFault, StoragePorts } from "../parts/Parts.ts"

/** Addresses of a running venue. */
export interface Addresses {
  readonly api: string
  readonly docs: string
  readonly management: string
  /** Absent where the ledger has no door beside the API. */
  readonly ledgerDoor?: string
}

/** Venue of a deployment, as the commands of `bursar` start, migrate and read it. */
export interface DeployedVenue {
  /** Everything that the venue declares, with the rooms of its own. */
  readonly catalogue: Catalogue.Catalogue
  /** Runs a venue until it is interrupted; fails when a background fiber ends. */
  readonly serve: (
    config: HostConfig,
    ready: (at: Addresses) => Effect.Effect<void>
  ) => Effect.Effect<never, PartFault>
  /** Runs the migrations of the storage and of the ledger. Returns the names of those that ran. */
  readonly migrated: (config: KeeperConfig) => Effect.Effect<ReadonlyArray<string>, PartFault>
  /** Layer of the records alone: no ledger, no background fibers. */
  readonly records: (
    config: KeeperConfig
  ) => Layer.Layer<Records | StoragePorts | Crypto | Ids, PartFault>
  /** Layer for verifying the audit log: its store, and the public keys that exist. */
  readonly auditLog: (config: KeeperConfig) => Layer.Layer<StoragePorts | Crypto, PartFault>
  /** Makes a backup of the venue in a new folder, while its hosts run. */
  readonly backedUp: (config: KeeperConfig, to: string) => Effect.Effect<Manifest, PartFault>
  /** Restores the venue of a backup, and proves it before a start may take it. */
  readonly restored: (config: KeeperConfig, from: string) => Effect.Effect<RestoredVenue, PartFault>
}

/** How far a restored venue was found to be. */
export interface RestoredVenue {
  readonly tenantId: string
  readonly takenAt: Instant.Instant
  readonly eventSeq: number
  readonly auditSeq: number
}

/** The deployment that a command is run on, made when the command needs it. */
export type VenueDeployment = Effect.Effect<DeployedVenue, PartFault>
