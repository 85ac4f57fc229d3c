/** Audit log in PostgreSQL: a hash chain, pruned under a database role of its own. */
import type { AuditQuery, AuditRow, Feed, StorageUnavailable } from "@bursar/engine-core/ports"
import { Cause, Effect } from "effect"
import { CHECKPOINT } from "../memory/MemoryAudit.ts"
import { scannedTo } from "../ScannedTo.ts"
import * as Restores from "../Restores.ts"
import { asking } from "./Scanned.ts"
import type { Session, Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

/** Name of the only role whose DELETE the table's trigger permits (migration 0002). */
export const PRUNER = "bursar_pruner"

const COLUMNS = "seq, at, action, actor, resource_kind, resource_id, text, prev_hash, hash"

const APPEND_ONE = `insert into bursar.audit (${COLUMNS})
values ($1::int8, $2, $3, $4, $5, $6, $7, decode($8, 'hex'), decode($9, 'hex'))`

const APPEND = `insert into bursar.audit (${COLUMNS})
select seq, at, action, actor, resource_kind, resource_id, text, decode(prev_hash, 'hex'),
  decode(hash, 'hex')
from unnest($1::int8[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
            $8::text[], $9::text[]) as r(${COLUMNS})`

/** Inserts the records in one statement. */
export const append = (session: Session, records: ReadonlyArray<AuditRow>): Effect.Effect<void> => {
  const [first, ...more] = records
  if (first === undefined) return Effect.void
  return more.length > 0
    ? session.send(APPEND, columnsOf(records))
    : session.send(APPEND_ONE, [
        String(first.seq),
        first.at,
        first.action,
        first.actor,
        first.resourceKind,
        first.resourceId,
        first.text,
        first.prevHash,
        first.hash
      ])
}

const columnsOf = (records: ReadonlyArray<AuditRow>): ReadonlyArray<unknown> => [
  Values.integers(records.map((record) => record.seq)),
  Values.texts(records.map((record) => record.at)),
  Values.texts(records.map((record) => record.action)),
  Values.texts(records.map((record) => record.actor)),
  Values.texts(records.map((record) => record.resourceKind)),
  Values.texts(records.map((record) => record.resourceId)),
  Values.texts(records.map((record) => record.text)),
  Values.texts(records.map((record) => record.prevHash)),
  Values.texts(records.map((record) => record.hash))
]

/** One statement, so that records and head are of one snapshot. */
export const read = (
  sessions: Sessions,
  query: AuditQuery
): ReturnType<Feed["Service"]["readAudit"]> => {
  const conditions = asking(query)
  conditions.anyOf("action", query.action)
  conditions.is("actor =", query.actor)
  const { where, limit, values } = conditions.done()
  const sql = `
    select h.audit_seq as head, h.restores, coalesce((select min(seq) from bursar.audit), 1) - 1 as pruned_to, a.*
    from bursar.head h
    left join lateral (
      select seq, at, action, actor, resource_kind, resource_id, text,
        encode(prev_hash, 'hex') as prev_hash, encode(hash, 'hex') as hash
      from bursar.audit where ${where}
      order by seq ${query.order} limit ${limit}
    ) a on true
    where h.id = 1
    order by a.seq ${query.order}`
  return Effect.map(sessions.look(sql, values), ({ rows }) => {
    const records = rows.filter((row) => row["seq"] !== null).map(recordOf)
    const head = Values.number(rows[0] ?? {}, "head")
    return {
      records,
      scanned: scannedTo(query, { rows: records, head }),
      prunedTo: Values.number(rows[0] ?? {}, "pruned_to"),
      end: head,
      restores: Restores.parse(Values.text(rows[0] ?? {}, "restores"))
    }
  })
}

/**
 * Sets the pruning role for one statement. A user without the right gets a defect that says what to
 * ask an administrator for, because a retry would not help.
 */
export const prune = (
  sessions: Sessions,
  { before }: { readonly before: number }
): Effect.Effect<number, StorageUnavailable> =>
  sessions.run(
    Effect.gen(function* () {
      const { rows: checkpointRows } = yield* sessions.ask(
        "select current_setting('role') as role, (select action from bursar.audit where seq = $1::int8) as action",
        [String(before)]
      )
      const found = checkpointRows[0] ?? {}
      if (found["action"] !== CHECKPOINT) {
        return yield* Effect.die(
          new Error(`Feed.pruneAudit: ${before} is no checkpoint of the log`)
        )
      }
      yield* Effect.catchCause(sessions.ask(`set local role ${PRUNER}`, []), mayNot)
      const { rows } = yield* sessions.ask(
        `with gone as (delete from bursar.audit where seq < $1::int8 returning 1)
         select count(*) as gone from gone`,
        [String(before)]
      )
      yield* sessions.send("select set_config('role', $1, true)", [Values.text(found, "role")])
      return Values.number(rows[0] ?? {}, "gone")
    })
  )

const mayNot = (
  cause: Cause.Cause<StorageUnavailable>
): Effect.Effect<never, StorageUnavailable> =>
  Cause.hasDies(cause)
    ? Effect.die(
        new Error(
          `The audit log is only pruned under the role ${PRUNER}, which the host's database role ` +
            `may not become: migration 0002's NOTE.md says how to make it and grant it.`,
          { cause: Cause.squash(cause) }
        )
      )
    : Effect.failCause(cause)

const recordOf = (row: Values.Row): AuditRow => ({
  seq: Values.number(row, "seq"),
  at: Values.text(row, "at"),
  action: Values.text(row, "action"),
  actor: Values.textOrNull(row, "actor"),
  resourceKind: Values.textOrNull(row, "resource_kind"),
  resourceId: Values.textOrNull(row, "resource_id"),
  text: Values.text(row, "text"),
  prevHash: Values.text(row, "prev_hash"),
  hash: Values.text(row, "hash")
})
