/**
 * Audit log: no role changes its records, not the application, its owner or a superuser; one role
 * prunes it.
 */
import { createHash } from "node:crypto"
import { type AuditRow, Atomically, Feed, type FeedHead } from "@bursar/engine-core/ports"
import { storageChecks, TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { PgConnection } from "@effect/sql-pg"
import { Cause, Effect, Exit, Layer, Redacted, type Scope } from "effect"
import { describe, expect, it } from "@effect/vitest"
import { firstOf } from "../long-run.ts"

const now = "2026-01-01T00:00:00.000000000Z"
const PRUNER = "bursar_pruner"

const recordsAfter = (head: FeedHead, actions: ReadonlyArray<string>): ReadonlyArray<AuditRow> => {
  let prevHash = head.audit.hash
  return actions.map((action, index) => {
    const text = `${prevHash} ${action}`
    const hash = createHash("sha256").update(text).digest("hex")
    const row = { at: head.at, action, actor: null, resourceKind: null, resourceId: null }
    const record = { ...row, seq: head.audit.seq + 1 + index, text, prevHash, hash }
    prevHash = hash
    return record
  })
}

const log = (...actions: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    yield* run(
      Effect.gen(function* () {
        const head = yield* feed.take(now)
        yield* feed.append(head, {
          events: [],
          audit: recordsAfter(head, actions),
          webhooks: "same"
        })
      })
    )
  })

const seqs = Effect.gen(function* () {
  const feed = yield* Feed
  const { records } = yield* feed.readAudit({ order: "asc", limit: 100 })
  return records.map((record) => record.seq)
})

let made = 0

/** A database of a role that is no superuser and owns all it makes, as a deployment gives a host. */
const ofARole: Effect.Effect<
  { readonly admin: PgConnection.PgConnection; readonly role: string; readonly url: string },
  unknown,
  Scope.Scope
> = Effect.gen(function* () {
  const databaseUrl = new URL(yield* TestDatabase.url)
  const admin = yield* PgConnection.make({ url: Redacted.make(databaseUrl.href) })
  const role = `app_${process.pid}_${++made}`
  const say = (sql: string) => admin.query(sql, [], false)
  yield* say(`create role ${role} login password 'words'`)
  yield* say(`create database ${role} owner ${role}`)
  yield* Effect.addFinalizer(() =>
    Effect.ignore(
      Effect.andThen(say(`drop database ${role} with (force)`), say(`drop role ${role}`))
    )
  )
  databaseUrl.pathname = `/${role}`
  const asAdmin = yield* PgConnection.make({ url: Redacted.make(databaseUrl.href) })
  databaseUrl.username = role
  databaseUrl.password = "words"
  return { admin: asAdmin, role, url: databaseUrl.href }
})

const stateOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "done"
  const error: unknown = Cause.squash(exit.cause)
  const reason = typeof error === "object" && error !== null && "reason" in error && error.reason
  const cause = typeof reason === "object" && reason !== null && "cause" in reason && reason.cause
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "?"
}

/** Every statement that could change the log, each also where it finds no row. */
const changes = [
  "update bursar.audit set text = 'x' where seq = 1",
  "update bursar.audit set hash = hash where seq = 99",
  "delete from bursar.audit where seq = 2",
  "delete from bursar.audit where seq = 99",
  "truncate bursar.audit",
  `insert into bursar.audit select * from bursar.audit where seq = 1
   on conflict (seq) do update set text = 'x'`,
  `merge into bursar.audit a using (select 1 as n) s on a.seq = s.n
   when matched then delete`
]

const tried = (connection: PgConnection.PgConnection) =>
  Effect.forEach(changes, (sql) =>
    Effect.map(Effect.exit(connection.query(sql, [], false)), stateOf)
  )

describe("the audit log", () => {
  it.live("never is changed by a superuser (the trigger switched off: all seven succeed)", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.url
      const superuser = yield* PgConnection.make({ url: Redacted.make(url) })
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
      yield* Effect.provideContext(log("a", "b", "c"), store)
      expect(yield* tried(superuser)).toEqual(changes.map(() => "BU002"))
      expect(yield* Effect.provideContext(seqs, store)).toEqual([1, 2, 3])
    })
  )

  it.live(
    "never is changed by the application, which owns it (no revoke: BU002 instead of 42501)",
    () =>
      Effect.gen(function* () {
        const { role, url } = yield* ofARole
        const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
        yield* Effect.provideContext(log("a", "b", "c"), store)
        const own = yield* PgConnection.make({ url: Redacted.make(url) })
        expect(yield* tried(own)).toEqual(changes.map(() => "42501"))
        // An owner that grants itself the revoked rights is still stopped by the trigger.
        yield* own.query(`grant update, delete, truncate on bursar.audit to ${role}`, [], false)
        expect(yield* tried(own)).toEqual(changes.map(() => "BU002"))
        expect(yield* Effect.provideContext(seqs, store)).toEqual([1, 2, 3])
      })
  )

  it.live("never takes a number, or what a record follows, twice", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.url
      const superuser = yield* PgConnection.make({ url: Redacted.make(url) })
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
      yield* Effect.provideContext(log("a", "b"), store)
      const insert = (seq: number, prevHash: string) =>
        Effect.map(
          Effect.exit(
            superuser.query(
              `insert into bursar.audit (seq, at, action, text, prev_hash, hash)
               values (${seq}, '', 'x', 'x', decode('${prevHash}', 'hex'), '')`,
              [],
              false
            )
          ),
          stateOf
        )
      expect(yield* insert(2, "ab")).toBe("23505")
      expect(yield* insert(3, "0".repeat(64))).toBe("23505")
      expect(yield* insert(3, "ab")).toBe("done")
    })
  )

  it.live("never is opened again by a host that does not own it, or such a host cannot work", () =>
    Effect.gen(function* () {
      const { admin, role, url } = yield* ofARole
      const owned = new URL(url)
      const say = (sql: string) => admin.query(sql, [], false)
      // The owner migrates, and the host is given what migration 0002's note says.
      yield* Effect.scoped(Layer.build(Postgres.layer({ url: Redacted.make(url) })))
      const host = `${role}_host`
      yield* say(`create role ${host} login password 'words'`)
      yield* Effect.addFinalizer(() =>
        Effect.ignore(Effect.andThen(say(`drop owned by ${host}`), say(`drop role ${host}`)))
      )
      yield* say(`grant usage on schema bursar to ${host}`)
      yield* say(`grant select, insert, update, delete on all tables in schema bursar to ${host}`)
      yield* say(`revoke update, delete on bursar.audit from ${host}`)
      yield* say(`grant usage on all sequences in schema bursar to ${host}`)
      owned.username = host
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(owned.href) }))
      const broken = yield* Effect.forEach(
        firstOf(
          25,
          storageChecks.filter(({ name }) => !name.startsWith("prunes the audit log"))
        ),
        (check) =>
          Effect.map(Effect.exit(Effect.scoped(Effect.provideContext(check.run, store))), (exit) =>
            Exit.isFailure(exit) ? [`${check.name}: ${String(exit.cause)}`] : []
          )
      )
      expect(broken.flat()).toEqual([])
      const own = yield* PgConnection.make({ url: Redacted.make(owned.href) })
      // The role has no privilege to grant: the database warns that nothing was granted.
      yield* own.query(`grant update, delete on bursar.audit to ${host}`, [], false)
      expect(yield* tried(own)).toEqual(changes.map(() => "42501"))
      for (const sql of [
        "alter table bursar.audit disable trigger all",
        "drop trigger audit_stays on bursar.audit",
        "drop table bursar.audit",
        "create or replace function bursar.audit_stays() returns trigger language sql as ''"
      ]) {
        expect(stateOf(yield* Effect.exit(own.query(sql, [], false))), sql).toBe("42501")
      }
    })
  )

  it.live("never is pruned by an application that nobody let", () =>
    Effect.gen(function* () {
      const { url } = yield* ofARole
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
      yield* Effect.provideContext(log("a", "audit.checkpoint", "c"), store)
      const exit = yield* Effect.exit(
        Effect.provideContext(
          Effect.flatMap(Feed, (feed) => feed.pruneAudit({ before: 2 })),
          store
        )
      )
      expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
      expect(Exit.isFailure(exit) && String(Cause.squash(exit.cause))).toContain(
        `only pruned under the role ${PRUNER}`
      )
      expect(yield* Effect.provideContext(seqs, store)).toEqual([1, 2, 3])
    })
  )

  it.live("never keeps its front although the application may become the pruning role", () =>
    Effect.gen(function* () {
      const { admin, role, url } = yield* ofARole
      yield* admin.query(`grant ${PRUNER} to ${role}`, [], false)
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
      yield* Effect.provideContext(
        Effect.gen(function* () {
          const { run } = yield* Atomically
          const feed = yield* Feed
          yield* log("a", "b", "audit.checkpoint", "d")
          // Its other statements, before and after, are its own: they could not be the pruner's.
          const gone = yield* run(
            Effect.gen(function* () {
              yield* log("e")
              const count = yield* feed.pruneAudit({ before: 3 })
              yield* log("f")
              return count
            })
          )
          expect(gone).toBe(2)
          expect(yield* seqs).toEqual([3, 4, 5, 6])
        }),
        store
      )
      // Being a member is not being the role: what it inherits does not open the table.
      const own = yield* PgConnection.make({ url: Redacted.make(url) })
      const states = yield* tried(own)
      expect(states.filter((state) => state === "done")).toEqual([])
    })
  )
})
