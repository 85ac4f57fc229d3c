/** Audit log in SQLite: a hash chain that is pruned at its front alone. */
import type { AuditQuery, AuditRow } from "@bursar/engine-core/ports"
import { CHECKPOINT } from "../memory/MemoryAudit.ts"
import * as Restores from "../Restores.ts"
import { scannedTo } from "../ScannedTo.ts"
import * as Columns from "./Columns.ts"
import type { Database } from "./Database.ts"
import * as FeedSql from "./FeedSql.ts"

export const append = (db: Database, records: ReadonlyArray<AuditRow>): void => {
  for (const record of records) {
    db.run(
      `insert into audit (seq, at, action, actor, resource_kind, resource_id, text, prev_hash, hash)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        record.seq,
        record.at,
        record.action,
        record.actor,
        record.resourceKind,
        record.resourceId,
        record.text,
        record.prevHash,
        record.hash
      ]
    )
  }
}

export const read = (db: Database, query: AuditQuery) => {
  const front = db.get(
    `select audit_seq, restores, coalesce((select min(seq) from audit), 1) - 1 as pruned_to
     from head where id = 1`
  )
  const head = Columns.number(front ?? {}, "audit_seq")
  const page = FeedSql.page(query)
  page.anyOf("action", query.action)
  page.is("actor =", query.actor)
  const { sql, values } = page.done({ from: "audit e" })
  const records = db.all(sql, values).map(recordOf)
  return {
    records,
    scanned: scannedTo(query, { rows: records, head }),
    prunedTo: Columns.number(front ?? {}, "pruned_to"),
    end: head,
    restores: Restores.parse(Columns.text(front ?? {}, "restores"))
  }
}

/** Deletes the records before a checkpoint; anything else there is a defect. */
export const prune = (db: Database, before: number): number => {
  const row = db.get("select action from audit where seq = ?", [before])
  if (row?.["action"] !== CHECKPOINT) {
    throw new Error(`Feed.pruneAudit: ${before} is no checkpoint of the log`)
  }
  return db.run("delete from audit where seq < ?", [before])
}

const recordOf = (row: Columns.Row): AuditRow => ({
  seq: Columns.number(row, "seq"),
  at: Columns.text(row, "at"),
  action: Columns.text(row, "action"),
  actor: Columns.textOrNull(row, "actor"),
  resourceKind: Columns.textOrNull(row, "resource_kind"),
  resourceId: Columns.textOrNull(row, "resource_id"),
  text: Columns.text(row, "text"),
  prevHash: Columns.text(row, "prev_hash"),
  hash: Columns.text(row, "hash")
})
