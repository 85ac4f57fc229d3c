/** A database of an earlier version becomes one of this version, and nothing in it is lost. */
import {
  Atomically,
  Blobs,
  Documents,
  FactLog,
  Feed,
  Keys,
  ProjectionLog,
  Terms,
  WorkQueue
} from "@bursar/engine-core/ports"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "@effect/vitest"
import * as Storage from "#adapters/storage/postgres/migrations/0001-storage/up.ts"
import * as AuditAndRetention from "#adapters/storage/postgres/migrations/0002-audit-and-retention/up.ts"
import { migrationFolders } from "./migration-folders.ts"

const now = "2026-01-01T00:00:00.000000000Z"
const oneSecondLater = "2026-01-01T00:00:01.000000000Z"

/** Rows of a host of the first version, as its statements wrote them. */
const rows = [
  `insert into bursar.fact (collection, record_id, version, fact, cause, "offset", recorded_at)
   values ('c', 'r', 1, '{"n":1}', 'operation:o', 4, '${now}')`,
  `insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
     from_offset, from_instant, to_offset, to_instant)
   values ('c', 'r', 1, 'r', '{"n":1}', '{"state":"s"}', '${now}', 4, '${now}', 5, '${oneSecondLater}'),
          ('c', 'r', 2, 'r', '{"n":2}', '{"state":"t"}', '${now}', 5, '${oneSecondLater}', null, null)`,
  `insert into bursar.key (scope, key, fingerprint, target, binds_until)
   values ('s', 'k', 'f', 'op_1', null)`,
  `insert into bursar.nonce (scope, nonce, until) values ('s', 'n', '${oneSecondLater}')`,
  `insert into bursar.work (queue, item_id, resource, payload, run_at)
   values ('operations', 'op_1', 'holder/h', 'p', now())`,
  `insert into bursar.event (seq, kind, type, at, "offset", instrument_id, party, resource_kind,
     resource_id, holder_ids, payload, source)
   values (1, 'control', 'a', '${now}', null, 'i', null, 'holder', 'h', '{h}', '{}', null),
          (2, 'journal', 'b', null, 4, null, 'p', 'holder', 'h', '{}', '{}', 'u:0:b')`,
  `insert into bursar.ledger_update ("offset", prev_offset, update_id, command_id, workflow_id,
     effective_at, record_time, ledger_time, raw)
   values (4, 0, 'u', 'op_1:1', null, '${now}', '${now}', '${now}', '{}')`,
  `update bursar.head set seq = 2, at = '${oneSecondLater}', projection_offset = 4, ledger_time = '${now}',
     writer_epoch = 3, participant = 'p'`,
  `insert into bursar.blob (hash, bytes) values ('${"a".repeat(64)}', '\\x01')`,
  `insert into bursar.rate (subject, arrival, admitted) values ('s', 1, true)`
]

let made = 0

const versions = [
  { name: "storage", statements: Storage.statements },
  { name: "audit-and-retention", statements: AuditAndRetention.statements }
]

/** Creates a database of the first or the second version with these rows. */
const earlier = Effect.fnUntraced(function* (options: {
  readonly version: 1 | 2
  readonly rows: ReadonlyArray<string>
}) {
  const server = new URL(yield* TestDatabase.url)
  const admin = yield* PgConnection.make({ url: Redacted.make(server.href) })
  const name = `earlier_${process.pid}_${++made}`
  yield* admin.query(`create database ${name}`, [], false)
  yield* Effect.addFinalizer(() =>
    Effect.ignore(admin.query(`drop database ${name} with (force)`, [], false))
  )
  server.pathname = `/${name}`
  const connection = yield* PgConnection.make({ url: Redacted.make(server.href) })
  const say = (sql: string) => connection.query(sql, [], false)
  yield* say("create schema bursar")
  yield* say(`create table bursar.migration (
    id int4 primary key, name text not null, at timestamptz not null default now())`)
  for (const [index, { name, statements }] of versions.slice(0, options.version).entries()) {
    for (const statement of statements) yield* say(statement)
    yield* say(`insert into bursar.migration (id, name) values (${index + 1}, '${name}')`)
  }
  for (const row of options.rows) yield* say(row)
  return { url: server.href, connection }
})

describe("a database of the first version", () => {
  it.live(
    "never loses a row, or cannot be written to, when a host of this version starts on it",
    () =>
      Effect.gen(function* () {
        const { url, connection } = yield* earlier({ version: 1, rows })
        const layer = Postgres.layer({ url: Redacted.make(url) })
        // Two hosts at once: one migrates, the other waits for it.
        const [store] = yield* Effect.all(
          [Layer.build(Layer.fresh(layer)), Layer.build(Layer.fresh(layer))],
          { concurrency: 2 }
        )
        yield* Effect.provideContext(
          Effect.gen(function* () {
            const feed = yield* Feed
            const facts = yield* FactLog
            expect(yield* facts.read({ collection: "c", recordId: "r" })).toHaveLength(1)
            const documents = yield* Documents
            for (const [pin, version] of [
              [{ by: "latest" }, 2],
              [{ by: "offset", offset: 4 }, 1],
              [{ by: "instant", instant: now }, 1]
            ] as const) {
              const query = { collection: "c", pin, where: [], direction: "asc", limit: 9 } as const
              const listed = yield* documents.list(query)
              expect(listed.map((row) => row.version)).toEqual([version])
            }
            const keys = yield* Keys
            const found = yield* keys.find({ scope: "s", key: "k", now })
            expect(Option.getOrThrow(found).target).toBe("op_1")
            expect(yield* keys.useNonce({ scope: "s", nonce: "n", keep: 60_000 })).toBe(false)
            expect(yield* keys.free(["op_1"])).toBe(1)
            const { events } = yield* feed.read({ order: "asc", limit: 9 })
            expect(events.map((event) => event.type)).toEqual(["a", "b"])
            expect(yield* feed.published(["u:0:b"])).toEqual(["u:0:b"])
            const head = yield* feed.head
            expect(head).toEqual({
              seq: 2,
              at: oneSecondLater,
              moves: 0,
              projectionOffset: 4,
              ledgerEpoch: 1,
              webhooksMoved: 0,
              prunedTo: 0,
              journalPrunedTo: 0,
              restores: [],
              audit: { seq: 0, hash: "0".repeat(64), checkpoint: 0 }
            })
            // Its records have no terms yet, which a search must not take for none to be found.
            expect(yield* (yield* Terms).marks).toEqual([])
            const work = yield* WorkQueue
            const request = { queue: "operations", worker: "w", limit: 9, leaseMillis: 1_000 }
            expect((yield* work.lease(request)).map((lease) => lease.itemId)).toEqual(["op_1"])
            const projection = yield* ProjectionLog
            expect(
              (yield* projection.read({ after: 0, limit: 9 })).map((row) => row.updateId)
            ).toEqual(["u"])
            expect((yield* projection.head).writerEpoch).toBe(3)
            const blobs = yield* Blobs
            expect(Option.isSome(yield* blobs.get("a".repeat(64)))).toBe(true)
            // The audit log continues from that record.
            const { run } = yield* Atomically
            yield* run(
              Effect.gen(function* () {
                const taken = yield* feed.take(now)
                const record = { at: taken.at, action: "x", actor: null, resourceKind: null }
                yield* feed.append(taken, {
                  events: [],
                  audit: [
                    {
                      ...record,
                      resourceId: null,
                      seq: 1,
                      text: "t",
                      prevHash: taken.audit.hash,
                      hash: "c".repeat(64)
                    }
                  ],
                  webhooks: "moved"
                })
              })
            )
            const after = yield* feed.head
            expect([after.seq, after.audit.seq, after.webhooksMoved]).toEqual([2, 1, 1])
            expect(after.at > oneSecondLater).toBe(true)
          }),
          store
        )
        const { rows: done } = yield* connection.query(
          "select id from bursar.migration order by id"
        )
        expect(done.map((row) => row["id"])).toEqual(migrationFolders.map((_, i) => i + 1))
      })
  )
})

describe("a database of the second version", () => {
  it.live("never lists a finding by its id, or without its holder, once findings have a list", () =>
    Effect.gen(function* () {
      const finding = (id: string, firstSeenAt: string, holderId: string | null) =>
        `insert into bursar.document (collection, record_id, version, sort_key, body, filters,
           created_at, from_offset, from_instant)
         values ('finding', '${id}', 1, '${id}',
           '${JSON.stringify({ firstSeenAt, holderId })}', '{"state":"open"}', '${now}', 4, '${now}')`
      const { url } = yield* earlier({
        version: 2,
        rows: [
          finding("fnd_a", "2026-03-02T18:00:00.000000123Z", "h1"),
          finding("fnd_b", "2026-03-02T18:00:00.000000Z", null)
        ]
      })
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
      yield* Effect.provideContext(
        Effect.gen(function* () {
          const documents = yield* Documents
          const query = { collection: "finding", pin: { by: "latest" }, direction: "asc" } as const
          const all = yield* documents.list({ ...query, where: [], limit: 9 })
          expect(all.map(({ sortKey }) => sortKey)).toEqual([
            "2026-03-02T18:00:00.000000000Z fnd_b",
            "2026-03-02T18:00:00.000000123Z fnd_a"
          ])
          const where = [{ column: "holderId", anyOf: ["h1"] }]
          const own = yield* documents.list({ ...query, where, limit: 9 })
          expect(own.map(({ recordId }) => recordId)).toEqual(["fnd_a"])
        }),
        store
      )
    })
  )

  it.live(
    "never loses or changes a hash of its audit log, or the head's, when they become bytes",
    () =>
      Effect.gen(function* () {
        const [first, second] = ["a1".repeat(32), "b2".repeat(32)]
        const { url } = yield* earlier({
          version: 2,
          rows: [
            `insert into bursar.audit (seq, at, action, text, prev_hash, hash)
           values (1, '${now}', 'x', 't1', '${"0".repeat(64)}', '${first}'),
                  (2, '${now}', 'x', 't2', '${first}', '${second}')`,
            `update bursar.head set audit_seq = 2, audit_hash = '${second}'`
          ]
        })
        const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
        yield* Effect.provideContext(
          Effect.gen(function* () {
            const feed = yield* Feed
            const { records } = yield* feed.readAudit({ order: "asc", limit: 9 })
            expect(records.map(({ text, prevHash, hash }) => [text, prevHash, hash])).toEqual([
              ["t1", "0".repeat(64), first],
              ["t2", first, second]
            ])
            expect((yield* feed.head).audit).toEqual({ seq: 2, hash: second, checkpoint: 0 })
          }),
          store
        )
      })
  )

  // Seen red without the migration: no event has an instrument or a holder, and a legal hold misses them.
  it.live("never leaves the events and the records of its writes without their instrument", () =>
    Effect.gen(function* () {
      const document = (collection: string, id: string, body: string) =>
        `insert into bursar.document (collection, record_id, version, sort_key, body, filters,
           created_at, from_offset, from_instant)
         values ('${collection}', '${id}', 1, '${id}', '${body}', '{}', '${now}', 4, '${now}')`
      const write = (
        collection: "operation" | "approval",
        id: string,
        operation: {
          readonly kind: string
          readonly on: readonly [kind: string, id: string]
          readonly about?: string
          readonly request?: string
        }
      ) =>
        document(
          collection,
          id,
          `{"${collection === "operation" ? "operationId" : "actionKey"}":"${id}","kind":"${operation.kind}",` +
            `"state":"failed","resource":{"kind":"${operation.on[0]}","id":"${operation.on[1]}","href":"/v1/x"},` +
            `${operation.about ?? `"instrumentId":null,"holderId":null`},"request":${operation.request ?? `{"instrumentId":null,"holderId":null,"price":1.00}`}}`
        )
      const event = (seq: number, type: string, on: readonly [string, string], more = "{}") =>
        `insert into bursar.event (seq, kind, type, at, "offset", instrument_id, party,
           resource_kind, resource_id, holder_ids, payload, source)
         values (${seq}, 'control', '${type}', '${now}', null, null, null, '${on[0]}', '${on[1]}',
           '{}', '${more}', null)`
      const { url } = yield* earlier({
        version: 2,
        rows: [
          document("subscription", "s-1", `{"instrumentId":"i-1","holderId":"h-1"}`),
          document("reserve", "r-1", `{"instrumentId":"i-2"}`),
          document("standing-settlement", "sts-1", `{"instrumentId":"i-3"}`),
          ...["h-1", "h-2"].map((holderId) =>
            document(
              "standing-party",
              `sts-1/${holderId}`,
              `{"standingSettlementId":"sts-1","holderId":"${holderId}"}`
            )
          ),
          write("operation", "op_1", { kind: "subscription.deliver", on: ["subscription", "s-1"] }),
          write("operation", "op_2", {
            kind: "mint.start",
            on: ["mint", "m-1"],
            about: `"instrumentId":null,"holderId":"h-3"`,
            request: `{"reserveId":"r-1"}`
          }),
          write("approval", "ak_1", {
            kind: "standing-settlement.resume",
            on: ["standing-settlement", "sts-1"]
          }),
          write("operation", "op_3", {
            kind: "holder.restrict-batch",
            on: ["restriction", "rst_1"],
            request: `{"entries":[{"holderId":"h-5"},{"holderId":"h-4"},{"holderId":"h-4"}]}`
          }),
          event(1, "operation.failed", ["subscription", "s-1"], `{"operationId":"op_1"}`),
          event(2, "operation.failed", ["mint", "m-1"], `{"operationId":"op_2"}`),
          event(3, "approval.requested", ["standing-settlement", "sts-1"]),
          event(4, "operation.succeeded", ["restriction", "rst_1"], `{"operationId":"op_3"}`),
          event(5, "subscription.ended", ["subscription", "s-1"]),
          event(6, "operation.failed", ["webhook", "s-1"], `{"operationId":"op_4"}`),
          "update bursar.head set seq = 6"
        ]
      })
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
      yield* Effect.provideContext(
        Effect.gen(function* () {
          const feed = yield* Feed
          const { events } = yield* feed.read({ order: "asc", limit: 9 })
          expect(events.map(({ holderIds, instrumentId }) => [instrumentId, ...holderIds])).toEqual(
            [["i-1", "h-1"], ["i-2"], ["i-3", "h-1", "h-2"], [null, "h-4", "h-5"], [null], [null]]
          )
          const documents = yield* Documents
          const bodies = yield* Effect.forEach(
            [
              ["operation", "op_1"],
              ["operation", "op_2"],
              ["approval", "ak_1"]
            ] as const,
            ([collection, id]) =>
              documents.get({ collection, recordIds: [id], pin: { by: "latest" } })
          )
          expect(bodies.flat().map(({ body }) => body.slice(body.indexOf(`"/v1/x"`) + 9))).toEqual([
            `"instrumentId":"i-1","holderId":"h-1","request":{"instrumentId":null,"holderId":null,"price":1.00}}`,
            `"instrumentId":"i-2","holderId":"h-3","request":{"reserveId":"r-1"}}`,
            `"instrumentId":"i-3","holderId":"h-1","holderIds":["h-1","h-2"],"request":{"instrumentId":null,"holderId":null,"price":1.00}}`
          ])
        }),
        store
      )
    })
  )
})

describe("a schema of a newer program", () => {
  it.live("never is taken, the storage's or the simulated ledger's, and nothing is changed", () =>
    Effect.gen(function* () {
      const { url, connection } = yield* earlier({ version: 2, rows: [] })
      const say = (text: string) => connection.query(text, [], false)
      yield* say("insert into bursar.migration (id, name) values (9999, 'of-tomorrow')")
      yield* say("create schema ledger_sim")
      yield* say("comment on schema ledger_sim is 'version 2'")
      const tables = say(
        "select table_schema, table_name from information_schema.tables where table_schema in ('bursar', 'ledger_sim') order by 1, 2"
      )
      const before = yield* tables
      const database = PgClient.layer({ url: Redacted.make(url) })
      const refusals = [
        yield* Effect.flip(Layer.build(Postgres.layer({ url: Redacted.make(url) }))),
        yield* Effect.flip(
          Effect.provide(Effect.flatMap(SqlClient.SqlClient, SimulatedLedger.migrate), database)
        )
      ]
      expect(refusals.map(String)).toEqual([
        expect.stringContaining("it has the migration 9999-of-tomorrow"),
        expect.stringContaining("schema ledger_sim is newer than this program: it has version 2")
      ])
      expect(yield* tables).toEqual(before)
    })
  )
})
