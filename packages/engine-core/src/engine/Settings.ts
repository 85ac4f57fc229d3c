/** Settings of the engine and their defaults. */
import { Context } from "effect"
import { type Duration, of as parseDuration } from "../kernel/Duration.ts"
import * as TimeOfDay from "../kernel/TimeOfDay.ts"
import * as Zone from "../kernel/Zone.ts"
import type { LegalHold } from "../ports/storage/Feed.ts"
import type { EventType } from "../vocabulary/EventType.ts"
import type { PartialDistribution, RateChange } from "../vocabulary/sets.ts"
import type { ConfiguredSource } from "./ConfiguredSource.ts"
import type { SealingKey, SigningKey } from "./Keys.ts"
import * as Retention from "./Retention.ts"

/** Largest number of lines of a statement that a deployment may set. */
export const statementLinesLimit = 10_000_000

/** A webhook that the configuration names. */
export interface ConfiguredWebhook {
  readonly webhookId: string
  readonly url: string
  /** Empty: every control event. */
  readonly events: ReadonlyArray<EventType>
  /** Up to three, so that receivers rotate secrets in their own time; each signs every attempt. */
  readonly secrets: ReadonlyArray<Uint8Array>
}

/** Time of day of the daily reconciliation run, on the wall clock of a zone. */
export interface DailyAt {
  readonly time: TimeOfDay.TimeOfDay
  readonly zone: Zone.Zone
}

/**
 * Settings of an engine: limits, times and rules that a venue chooses and a program may leave at
 * their defaults.
 */
export interface Settings {
  /** The venue's id: 1 to 64 of [A-Za-z0-9-]. */
  readonly tenantId: string
  /** Milliseconds for which a write without a key is the same write when its body repeats. */
  readonly bodyKeyWindow: number
  /** Milliseconds after which an awaiting action lapses; null: never. */
  readonly approvalExpiry: number | null
  /** Number of operations that one instance runs at a time. */
  readonly operationsAtOnce: number
  /**
   * Keys that sign cursors, shared by all instances; the first one signs, the others verify. Empty:
   * each instance makes a key when it starts, and cursors of an earlier start are refused.
   */
  readonly cursorKeys: ReadonlyArray<{ readonly id: number; readonly secret: Uint8Array }>
  /** Milliseconds of a lease of an operation, which its worker renews. */
  readonly lease: number
  /** Milliseconds between polls of the queue without a wake-up. */
  readonly poll: number
  /** Milliseconds for which a busy or unavailable ledger is retried before an operation fails. */
  readonly giveUpAfter: number
  /**
   * Keys that encrypt stored secrets; the first one encrypts, the others decrypt. Without a key, a
   * write that holds a secret is a defect.
   */
  readonly sealingKeys: ReadonlyArray<SealingKey>
  /** Keys that sign deliveries; their public parts are published to receivers. */
  readonly webhookKeys: ReadonlyArray<SigningKey>
  /** Webhooks of the configuration; an engine that starts removes the ones it no longer names. */
  readonly webhooks: ReadonlyArray<ConfiguredWebhook>
  /**
   * Keys that sign checkpoints of the audit log; their public parts are published. Without a key,
   * the log is chained and not signed.
   */
  readonly auditKeys: ReadonlyArray<SigningKey>
  /** Retention periods of ended records. */
  readonly retention: Retention.Periods
  /** Period of the audit log, which `bursar audit prune` applies; null: no end. */
  readonly auditLogKept: Duration | null
  /** Holders and instruments whose records retention never deletes. */
  readonly legalHold: LegalHold
  /** Delay after its registration until a successor may be used. */
  readonly successorCooling: Duration
  /**
   * Validity of a clear screening whose source names none; null: as long as the source's lists are
   * valid.
   */
  readonly rescreenAfter: Duration | null
  /** Bytes of the cache of printed answers; 0 switches it off. */
  readonly answersKept: number
  /**
   * Ledger epoch that an operator lets begin in a kept store, from a snapshot of a ledger that has
   * forgotten updates which the engine has not read (docs/domain/ledger-epochs.md); null: the
   * projection refuses to start on such a ledger.
   */
  readonly rebootstrap: number | null
  /** Largest number of ledger updates projected in one transaction. */
  readonly batchMax: number
  /**
   * Largest number of contracts of earlier transactions that one ledger transaction uses
   * (docs/domain/ledger-writes.md#size-of-a-transaction).
   */
  readonly inputsMax: number
  /** Largest number of lines that one ledger transaction adds to a distribution, rolls or directs. */
  readonly batchLines: number
  /**
   * Word of the deployment for a period whose points state more than one withholding rate; the
   * strictest word wins (docs/domain/distributions.md#rate-changes).
   */
  readonly rateChange: RateChange
  /** Word of the deployment for a period with holders whose earlier line is not rolled. */
  readonly partialDistribution: PartialDistribution
  /** Largest number of lines of a distribution. */
  readonly linesMax: number
  /** Longest period for which a standing approval may be granted. */
  readonly standingApprovalLongest: Duration
  /** Time from the start of a mint or a reserve redemption to its deadline, where the caller names none. */
  readonly reserveOrderDeadline: Duration
  /** Time of day of the daily reconciliation run of the venue; null: there is none. */
  readonly reconciliationAt: DailyAt | null
  /** Period of the scheduled reports of reserves; null: none is scheduled. */
  readonly reserveReportEvery: Duration | null
  /** Sources of statements; one that is no longer named becomes inactive at the next start. */
  readonly statementSources: ReadonlyArray<ConfiguredSource>
  /** Largest number of lines of a statement; at most `statementLinesLimit`. */
  readonly statementLinesMax: number
}

/** Settings of an engine whose program chooses none. */
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
  answersKept: 32 * 1024 * 1024,
  rebootstrap: null,
  batchMax: 500,
  inputsMax: 2_000,
  batchLines: 500,
  rateChange: "alert",
  partialDistribution: "carry",
  linesMax: 200_000,
  standingApprovalLongest: parseDuration("P400D"),
  reserveOrderDeadline: parseDuration("PT24H"),
  reconciliationAt: { time: TimeOfDay.of("02:00"), zone: Zone.utc },
  reserveReportEvery: parseDuration("P1D"),
  statementSources: [],
  statementLinesMax: 1_000_000
}

export const Settings = Context.Reference<Settings>("@bursar/engine-core/engine/Settings", {
  defaultValue: () => defaults
})
