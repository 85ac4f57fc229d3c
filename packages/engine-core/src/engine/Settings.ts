/** Settings of the engine and their defaults. */
import { Context } from "effect"
import type { AuditKey } from "../feeds/Checkpoint.ts"
import * as Retention from "./Retention.ts"
import type { SigningKey } from "../records/webhook/DeliveryRules.ts"
import type { ConfiguredWebhook } from "../records/webhook/Webhook.ts"
import { type Duration, of as parseDuration } from "../kernel/Duration.ts"
import type { LegalHold } from "../ports/storage/Feed.ts"
import type { SealingKey } from "../writes/Secrets.ts"

export interface Settings {
  /** The venue's id: 1 to 64 of [A-Za-z0-9-]. */
  readonly tenantId: string
  /** Milliseconds for which a write without a key is the same write when its body repeats. */
  readonly bodyKeyWindow: number
  /** Milliseconds after which an awaiting action lapses; null: never. */
  readonly approvalExpiry: number | null
  /** How many operations one instance runs at a time. */
  readonly operationsAtOnce: number
  /**
   * The keys that sign cursors, shared by every instance; the first one signs, the others still
   * verify. Empty: an instance makes one for itself when it starts, and with it every place that a
   * caller kept is lost.
   */
  readonly cursorKeys: ReadonlyArray<{ readonly id: number; readonly secret: Uint8Array }>
  /** Milliseconds a worker holds an operation without renewing. */
  readonly lease: number
  /** Milliseconds between looks at the queue when nothing wakes it. */
  readonly poll: number
  /** Milliseconds for which a ledger that is busy or away is asked again before an operation fails. */
  readonly giveUpAfter: number
  /**
   * The keys that seal the secrets a deployment keeps; the first one seals, the others still open.
   * Without one nothing that holds a secret can be written.
   */
  readonly sealingKeys: ReadonlyArray<SealingKey>
  /** The keys that sign deliveries; the public parts are told to receivers. */
  readonly webhookKeys: ReadonlyArray<SigningKey>
  /** The webhooks of the configuration; what it no longer names is removed when an engine starts. */
  readonly webhooks: ReadonlyArray<ConfiguredWebhook>
  /**
   * The keys that sign checkpoints of the audit log; the public parts are told to everybody. Without
   * one the log is chained and not signed.
   */
  readonly auditKeys: ReadonlyArray<AuditKey>
  /** How long what has ended is kept. */
  readonly retention: Retention.Periods
  /** How long the audit log is kept: what `bursar audit prune` prunes; null: for ever. */
  readonly auditLogKept: Duration | null
  /** Holders and instruments whose records retention never deletes. */
  readonly legalHold: LegalHold
  /** How long after its registration a successor may be used. */
  readonly successorCooling: Duration
  /** How long a clear screening counts, where the source does not say so; null: as long as its lists do. */
  readonly rescreenAfter: Duration | null
  /** Ledger updates projected in one transaction. */
  readonly batchMax: number
  /**
   * Largest number of contracts of earlier transactions that one ledger transaction uses
   * (docs/domain/ledger-writes.md#size-of-a-transaction).
   */
  readonly inputsMax: number
}

export const defaults: Settings = {
  tenantId: "venue-1",
  bodyKeyWindow: 24 * 3_600_000,
  approvalExpiry: null,
  operationsAtOnce: 8,
  cursorKeys: [],
  lease: 30_000,
  poll: 1_000,
  giveUpAfter: 15 * 60_000,
  sealingKeys: [],
  webhookKeys: [],
  webhooks: [],
  auditKeys: [],
  retention: Retention.periods,
  auditLogKept: null,
  legalHold: Retention.nobody,
  successorCooling: parseDuration("PT24H"),
  rescreenAfter: null,
  batchMax: 500,
  inputsMax: 2_000
}

export const Settings = Context.Reference<Settings>("@bursar/engine-core/engine/Settings", {
  defaultValue: () => defaults
})
