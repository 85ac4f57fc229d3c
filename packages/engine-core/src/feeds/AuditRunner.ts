/**
 * Tasks of the audit log: signs checkpoints, copies them to the AuditAnchor port, prunes and
 * verifies the log.
 */
import { Effect } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { AuditAnchor } from "../ports/AuditAnchor.ts"
import { Crypto } from "../ports/Crypto.ts"
import { type AuditRow, Feed } from "../ports/storage/Feed.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import { Records } from "../records/Records.ts"
import * as Audit from "../records/Audit.ts"
import * as AuditVerify from "./AuditVerify.ts"
import * as Checkpoint from "./Checkpoint.ts"
import * as Retention from "../engine/Retention.ts"
import type { Task } from "../engine/Schedule.ts"

/** Decodes the checkpoint of a log record. */
const anchorOf = (tenantId: string, { text }: Pick<AuditRow, "text">): Checkpoint.Anchor => {
  const { detail } = JSON.parse(text) as { readonly detail: Omit<Checkpoint.Anchor, "tenantId"> }
  const { size, head, signature, keyId } = detail
  return { tenantId, size, head, signature, keyId }
}

/** Offers the log's last checkpoint to the AuditAnchor port, which may have it already. */
const offer = Effect.gen(function* () {
  const feed = yield* Feed
  const { tenantId } = yield* Settings
  const { audit } = yield* orUnavailable(feed.head)
  if (audit.checkpoint === 0) return
  const { records } = yield* orUnavailable(
    feed.readAudit({ order: "asc", after: audit.checkpoint - 1, limit: 1 })
  )
  const [record] = records
  if (record === undefined) throw new Error(`checkpoint ${audit.checkpoint} is not in the log`)
  const anchor = yield* AuditAnchor
  yield* anchor.keep(anchorOf(tenantId, record)).pipe(
    // The next turn offers the checkpoint again; until then the log itself holds it.
    Effect.catchTag("AnchorUnavailable", ({ detail }) =>
      Effect.logError("a checkpoint of the audit log could not be kept outside", detail)
    )
  )
})

/**
 * Signs the log where at least so many records came since its last checkpoint, and offers the last
 * checkpoint to the AuditAnchor port. A deployment without audit keys signs nothing, and one whose keys
 * all begin later signs nothing until then, which the log says.
 */
export const checkpoint = Effect.fnUntraced(function* ({
  newRecords
}: {
  readonly newRecords: number
}) {
  const feed = yield* Feed
  const records = yield* Records
  const crypto = yield* Crypto
  const { auditKeys, tenantId } = yield* Settings
  if (auditKeys.length === 0) return
  const key = Checkpoint.keyAt(auditKeys, yield* Instant.now)
  const isDue = (head: { readonly seq: number; readonly checkpoint: number }) =>
    head.seq - head.checkpoint >= Math.max(1, newRecords)
  // Reads the head first, so that a log that did not grow takes no lock.
  const { audit } = yield* orUnavailable(feed.head)
  if (isDue(audit) && key === undefined) {
    yield* Effect.logError(
      "the audit log is not signed: no key of the audit log is valid yet, each begins later (notBefore)"
    )
  }
  if (isDue(audit) && key !== undefined) {
    const entry: Audit.Late = (head) =>
      isDue(head)
        ? Checkpoint.entryOf(
            Checkpoint.sign(crypto, { tenantId, size: head.seq, head: head.hash }, key)
          )
        : null
    yield* records.transact(records.audit([entry]))
  }
  yield* offer
})

/** Task: signs a checkpoint every hour in which the log grew. */
export const hourly: Task<Records | Feed | Crypto> = {
  name: "audit-checkpoint",
  doc: "Signs the audit log when it has grown, and offers its last checkpoint to its place outside.",
  every: 3_600_000,
  run: () => checkpoint({ newRecords: 1 })
}

/**
 * New records after which the log is signed before its hour is over
 * (docs/contract/audit-log.md#checkpoints).
 */
const recordsMax = 10_000

/** Task: signs a checkpoint earlier where the log grows fast. */
export const bySize: Task<Records | Feed | Crypto> = {
  name: "audit-checkpoint-by-size",
  doc: "Signs the audit log before its hour is over where many records came.",
  every: 60_000,
  run: () => checkpoint({ newRecords: recordsMax })
}

/** Outcome of a pruning of the log. */
export type PruningOutcome =
  | { readonly was: "pruned"; readonly deleted: number; readonly start: number }
  /** No checkpoint is old enough, or the log begins with the one that is. */
  | { readonly was: "nothing due" }
  /** The settings keep the log for ever. */
  | { readonly was: "kept for ever" }

/**
 * Retention of the audit log: deletes the records older than its setting, up to a checkpoint that
 * stays as the new start, and logs that it did. The store lets only its pruning role delete: under
 * another role this dies and nothing is deleted (docs/contract/audit-log.md#pruning).
 */
export const prune: Effect.Effect<PruningOutcome, Unavailable, Records | Feed> = Effect.gen(
  function* () {
    const feed = yield* Feed
    const records = yield* Records
    const { auditLogKept } = yield* Settings
    const before = Retention.dueBefore(yield* Instant.now, auditLogKept)
    if (before === undefined) return { was: "kept for ever" }
    const found = yield* orUnavailable(
      feed.readAudit({
        order: "desc",
        limit: 1,
        action: ["audit.checkpoint"],
        to: Instant.sortable(before)
      })
    )
    const [checkpoint] = found.records
    if (checkpoint === undefined || checkpoint.seq <= found.prunedTo + 1) {
      return { was: "nothing due" }
    }
    const start = checkpoint.seq
    return yield* records.transactAlone(
      Effect.gen(function* () {
        const deleted = yield* orUnavailable(feed.pruneAudit({ before: start }))
        yield* records.audit([
          Audit.entry({
            action: "retention.prune",
            stage: "succeeded",
            detail: { auditLog: deleted, auditStart: start }
          })
        ])
        return { was: "pruned", deleted, start } as const
      })
    )
  }
)

/** Records that are read at a time while the log is checked. */
const readAtOnce = 1_000

/** The public keys of a deployment's own audit keys. */
export const publicKeysOf = (
  { ed25519 }: Pick<Crypto["Service"], "ed25519">,
  keys: ReadonlyArray<Checkpoint.AuditKey>
): Checkpoint.PublicKeys => {
  const byKeyId = new Map(keys.map(({ keyId, seed }) => [keyId, ed25519.publicKey(seed)]))
  return (keyId) => byKeyId.get(keyId)
}

/**
 * Checks the log of this store from its first record, or from a number on, against checkpoints kept
 * elsewhere (`bursar audit verify`, docs/contract/audit-log.md#verifying). Records that come
 * meanwhile are checked as well. Where the log is pruned meanwhile past the records that were checked,
 * the check begins again at its new start, which must be a checkpoint that the log says it was pruned to.
 */
export const verifyLog = Effect.fnUntraced(function* ({
  fromSeq,
  anchors
}: {
  readonly fromSeq?: number
  readonly anchors: ReadonlyArray<Checkpoint.Anchor>
}) {
  const feed = yield* Feed
  const crypto = yield* Crypto
  const { auditKeys, tenantId } = yield* Settings
  let trust: AuditVerify.Trust = {
    tenantId,
    crypto,
    publicKeys: publicKeysOf(crypto, auditKeys),
    anchors,
    from: fromSeq === undefined ? "start" : "middle"
  }
  // The head is read before the records: records that come in the meantime are no fault.
  const { audit: head } = yield* orUnavailable(feed.head)
  let at = AuditVerify.start
  for (let after = (fromSeq ?? 1) - 1; at.fault === null; ) {
    const { prunedTo, records } = yield* orUnavailable(
      feed.readAudit({ order: "asc", after, limit: readAtOnce })
    )
    if (at.last !== null && prunedTo > at.last.seq) {
      // Pruned past this place meanwhile: the log is judged by its new start, as one pruned before.
      at = AuditVerify.start
      trust = { ...trust, from: "start" }
    }
    const last = records.at(-1)
    if (last === undefined) break
    for (const record of records) at = AuditVerify.step(trust, at, record)
    after = last.seq
  }
  const { audit: then } = yield* orUnavailable(feed.head)
  return AuditVerify.end(trust, at, { ...head, atEnd: then.seq })
})
