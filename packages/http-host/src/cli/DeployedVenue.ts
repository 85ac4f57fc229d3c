/** A deployment as the commands use it: served, migrated, and its records without a ledger. */
import type { Records } from "@bursar/engine-core"
import type { Crypto, Ids } from "@bursar/engine-core/ports"
import type { Effect, Layer } from "effect"
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

export interface DeployedVenue {
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
}

/** The deployment that a command is run on, made when the command needs it. */
export type VenueDeployment = Effect.Effect<DeployedVenue, PartFault>
