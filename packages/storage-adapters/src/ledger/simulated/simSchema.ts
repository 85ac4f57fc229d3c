/** Schema migration of the simulated ledger's tables, which no repository of the engine reads. */
import { Data, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

const schema = "ledger_sim"

/**
 * Version of the tables below. A later one is written as the schema's comment, `version 2`; the
 * first has no comment.
 */
const version = 1

/** The schema is of a newer program, under which this one writes nothing. */
export class LedgerSchemaNewer extends Data.TaggedError("LedgerSchemaNewer")<{
  readonly found: number
}> {
  override get message(): string {
    return `The database's schema ${schema} is newer than this program: it has version ${this.found}, and this program knows none after ${version}; run the program that made it, or restore what was backed up before.`
  }
}

/** Tables and indexes by name; each statement leaves existing ones as they are. */
const relations: Readonly<Record<string, string>> = {
  head: `create table if not exists ledger_sim.head (
    one boolean primary key default true check (one),
    ledger_id text not null,
    participant_id text not null,
    "offset" bigint not null default 0,
    clock_floor timestamptz not null default 'epoch',
    epoch bigint not null default 0,
    pruned_offset bigint not null default 0
  )`,
  tx: `create table if not exists ledger_sim.tx (
    "offset" bigint primary key,
    update_id text not null unique,
    change_id text not null,
    command_id text not null,
    user_id text not null,
    workflow_id text,
    act_as text[] not null,
    effective_at timestamptz not null,
    record_time timestamptz not null,
    nodes jsonb not null,
    traceparent text
  )`,
  contract: `create table if not exists ledger_sim.contract (
    contract_id text primary key,
    package text not null,
    module text not null,
    entity text not null,
    package_id text not null,
    created_offset bigint not null,
    archived_offset bigint,
    created_at timestamptz not null,
    signatories text[] not null,
    observers text[] not null,
    args jsonb not null
  )`,
  contract_active: `create index if not exists contract_active on ledger_sim.contract (created_offset, contract_id)
    where archived_offset is null`,
  contract_created: `create index if not exists contract_created on ledger_sim.contract (created_offset, contract_id)`,
  completion: `create table if not exists ledger_sim.completion (
    "offset" bigint primary key,
    change_id text not null,
    user_id text not null,
    command_id text not null,
    submission_id text not null,
    act_as text[] not null,
    record_time timestamptz not null,
    ok boolean not null,
    error jsonb,
    update_id text,
    check (ok = (update_id is not null) and ok = (error is null))
  )`,
  completion_time: `create index if not exists completion_time on ledger_sim.completion (record_time) where ok`,
  party: `create table if not exists ledger_sim.party (
    party text primary key,
    hint text not null,
    kind text not null check (kind in ('local', 'external')),
    public_key bytea not null check (length(public_key) = 32),
    made bigint generated always as identity
  )`,
  user_account: `create table if not exists ledger_sim.user_account (
    user_id text primary key,
    token_hash text unique,
    rights jsonb not null,
    expires_at timestamptz,
    active boolean not null,
    made bigint generated always as identity
  )`,
  wish: `create table if not exists ledger_sim.wish (
    what text primary key check (what in ('faults', 'prune')),
    body jsonb not null
  )`
}

/** Advisory lock id, the same in every process: only one of them creates tables at a time. */
const lock = 7_262_502

/**
 * Creates missing tables in one transaction. Where none is missing, only the catalogue is queried,
 * so that a role without the right to create can start the node: `create … if not exists` requires
 * that right before it checks.
 */
export const migrate = (
  sql: SqlClient.SqlClient
): Effect.Effect<"made" | "there", SqlError.SqlError | LedgerSchemaNewer> =>
  Effect.gen(function* () {
    yield* demandKnown(sql)
    if (yield* isWhole(sql)) return "there"
    yield* sql`select pg_advisory_xact_lock(${String(lock)}::text::int8)`
    yield* demandKnown(sql)
    if (yield* isWhole(sql)) return "there"
    yield* sql.unsafe(`create schema if not exists ${schema}`)
    yield* Effect.forEach(Object.values(relations), (statement) => sql.unsafe(statement), {
      discard: true
    })
    return "made"
  }).pipe(sql.withTransaction)

/** Fails where the schema is of a newer program; passes where there is none. */
const demandKnown = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const rows = yield* sql`
    select obj_description(oid, 'pg_namespace') as comment from pg_namespace where nspname = ${schema}`
  const found = Number(/^version ([0-9]{1,9})$/.exec(String(rows[0]?.["comment"]))?.[1] ?? 1)
  if (found > version) return yield* new LedgerSchemaNewer({ found })
})

/**
 * Reads which of the ledger's users exist; none where the ledger has no tables yet. Changes nothing,
 * and fails where the schema is of a newer program.
 */
export const existingUsers = (
  sql: SqlClient.SqlClient
): Effect.Effect<ReadonlySet<string>, SqlError.SqlError | LedgerSchemaNewer> =>
  Effect.gen(function* () {
    yield* demandKnown(sql)
    const [table] = yield* sql`select to_regclass('ledger_sim.user_account') is not null as there`
    if (table?.["there"] !== true) return new Set()
    const rows = yield* sql`select user_id from ledger_sim.user_account`
    return new Set(rows.map((row) => String(row["user_id"])))
  })

/** Queries the catalogue, which lists a table also to a role without rights on it. */
const isWhole = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = ${schema}`,
    (rows) => {
      const tables = new Set(rows.map(({ name }) => name))
      return Object.keys(relations).every((name) => tables.has(name))
    }
  )
