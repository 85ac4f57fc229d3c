/** In-memory audit log: a hash chain that is pruned at its front alone. */
import type {
  AuditHead,
  AuditQuery,
  AuditRow,
  Feed,
  FeedEntries,
  StoreRestore
} from "@bursar/engine-core/ports"
import type { Transaction, Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"

/** Head of an empty log. */
export const EMPTY: AuditHead = { seq: 0, hash: "0".repeat(64), checkpoint: 0 }

/** Action of the only records with which a pruned log may begin. */
export const CHECKPOINT = "audit.checkpoint"

interface MemoryAudit {
  /** Appends the records and returns the new head. */
  readonly append: (transaction: Transaction, entries: FeedEntries) => AuditHead
  readonly read: Feed["Service"]["readAudit"]
  readonly prune: Feed["Service"]["pruneAudit"]
}

export const make = ({
  transactions,
  head
}: {
  readonly transactions: Transactions
  readonly head: { readonly audit: AuditHead; readonly restores: ReadonlyArray<StoreRestore> }
}): MemoryAudit => {
  const records: Array<AuditRow> = []
  /** Index of a record: its sequence number less that of the first record. */
  const placeOf = (seq: number): number => seq - (records[0]?.seq ?? 1)

  return {
    append: (transaction, { audit, checkpoint }) => {
      const fault = faultOf(head.audit, audit)
      if (fault !== undefined) throw new Error(`Feed.append: ${fault}`)
      for (const record of audit) Undo.push(transaction, records, { ...record })
      return after(head.audit, { audit, checkpoint })
    },
    read: (query) =>
      transactions.read(() => {
        const step = query.order === "asc" ? 1 : -1
        const first = step === 1 ? 0 : records.length - 1
        const next = query.after === undefined ? first : placeOf(query.after) + step
        const found: Array<AuditRow> = []
        let scanned = query.after ?? 0
        let at = step === 1 ? Math.max(0, next) : Math.min(records.length - 1, next)
        for (; at >= 0 && at < records.length && found.length < query.limit; at += step) {
          const record = records[at]
          if (record === undefined) break
          scanned = record.seq
          if (matches(record, query)) found.push(record)
        }
        return {
          records: found,
          scanned,
          prunedTo: (records[0]?.seq ?? 1) - 1,
          end: head.audit.seq,
          restores: head.restores
        }
      }),
    prune: ({ before }) =>
      transactions.write((transaction) => {
        const count = placeOf(before)
        if (records[count]?.action !== CHECKPOINT) {
          throw new Error(`Feed.pruneAudit: ${before} is no checkpoint of the log`)
        }
        Undo.cut(transaction, records, { from: 0, count })
        return count
      })
  }
}

/** Returns the fault of records that do not follow the head; undefined where they do. */
export const faultOf = (head: AuditHead, records: ReadonlyArray<AuditRow>): string | undefined => {
  let { seq, hash } = head
  for (const record of records) {
    if (record.seq !== seq + 1) return `audit record ${record.seq} does not follow ${seq}`
    if (record.prevHash !== hash) return `audit record ${record.seq} does not follow the hash`
    seq = record.seq
    hash = record.hash
  }
  return undefined
}

/** Head of the log after appending these entries. */
export const after = (
  head: AuditHead,
  {
    audit,
    checkpoint
  }: { readonly audit: ReadonlyArray<AuditRow>; readonly checkpoint?: number | undefined }
): AuditHead => {
  const last = audit[audit.length - 1]
  return {
    seq: last?.seq ?? head.seq,
    hash: last?.hash ?? head.hash,
    checkpoint: checkpoint ?? head.checkpoint
  }
}

const matches = (record: AuditRow, query: AuditQuery): boolean =>
  (query.actor === undefined || query.actor === record.actor) &&
  (query.action === undefined || query.action.includes(record.action)) &&
  (query.resourceKind === undefined ||
    (record.resourceKind !== null && query.resourceKind.includes(record.resourceKind))) &&
  (query.resourceId === undefined || query.resourceId === record.resourceId) &&
  (query.from === undefined || record.at >= query.from) &&
  (query.to === undefined || record.at < query.to)
