/** The simulated ledger's store in PostgreSQL: schema ledger_sim, owned by one process at a time. */
import { bytesToHex } from "@noble/hashes/utils.js"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Effect, Option, type Schema } from "effect"
import type { Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type SimStore, StoreLost } from "./SimStore.ts"
import * as Rows from "./SimRows.ts"
import { type LedgerSchemaNewer, migrate } from "./simSchema.ts"

const lost = (error: SqlError.SqlError | Schema.SchemaError | LedgerSchemaNewer): StoreLost =>
  new StoreLost({ fenced: false, detail: reasons(error).join(": ") })

/** The messages of an error and of its causes. */
const reasons = (error: unknown): ReadonlyArray<string> =>
  error instanceof Error ? [error.message, ...reasons(error.cause)] : []

/** Id of the advisory lock that only one process of a database can hold. */
const lockKey = 7_262_501

/** Store of a simulated ledger in PostgreSQL. */
export const make = (names: {
  readonly ledgerId: string
  readonly participantId: string
}): Effect.Effect<SimStore, StoreLost, SqlClient.SqlClient | Scope.Scope> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* Effect.mapError(migrate(sql), lost)
    yield* Effect.mapError(
      sql`insert into ledger_sim.head (one, ledger_id, participant_id)
          values (true, ${names.ledgerId}, ${names.participantId})
          on conflict (one) do nothing`,
      lost
    )
    yield* holdLock(sql)
    /** Fencing epoch of this process, and the head that it has written. */
    let epoch = -1n
    let offset = Offset.zero

    const take = Effect.gen(function* () {
      const rows = yield* sql`
        update ledger_sim.head set epoch = epoch + 1
        returning ledger_id, participant_id, epoch::text as epoch, "offset"::text as "offset",
          ${sql.literal(micros("clock_floor"))} as clock_floor,
          pruned_offset::text as pruned_offset`
      return yield* Rows.head(rows)
    })

    const load: SimStore["load"] = (since) =>
      Effect.gen(function* () {
        const taken = yield* take
        const contracts = yield* sql`
          select ${sql.literal(contractColumns)} from ledger_sim.contract
          where archived_offset is null order by contract.created_offset, contract.contract_id`
        const commits = yield* sql`
          select ${sql.literal(completionColumns)} from ledger_sim.completion
          where ok and record_time >= ${Instant.format(since)}::timestamptz order by completion."offset"`
        const forgotten = yield* sql`
          select coalesce(max("offset"), 0)::text as "offset" from ledger_sim.completion
          where ok and record_time < ${Instant.format(since)}::timestamptz`
        epoch = taken.epoch
        offset = taken.head.offset
        return {
          head: taken.head,
          contracts: yield* Rows.contracts(contracts),
          commits: (yield* Rows.completions(commits)).flatMap((row) =>
            row.outcome._tag === "Committed"
              ? [[row.changeId, { ...row, updateId: row.outcome.updateId }] as const]
              : []
          ),
          forgottenOffset: yield* Rows.offset(forgotten)
        }
      }).pipe(Effect.mapError(lost))

    const commit: SimStore["commit"] = (entries) =>
      Effect.gen(function* () {
        const last = entries.at(-1)
        if (last === undefined) return
        const batch = Rows.batch(entries)
        const floor = Instant.format(last.completion.recordTime)
        const moved = yield* Effect.mapError(
          sql`
            with moved as (
              update ledger_sim.head
              set "offset" = ${last.offset.toString()}::text::bigint,
                clock_floor = greatest(clock_floor, ${floor}::text::timestamptz)
              where epoch = ${epoch.toString()}::text::bigint
                and "offset" = ${offset.toString()}::text::bigint
              returning 1),
            kept_tx as (
              insert into ledger_sim.tx ("offset", update_id, change_id, command_id, user_id,
                workflow_id, act_as, effective_at, record_time, nodes, traceparent)
              select r."offset", r.update_id, r.change_id, r.command_id, r.user_id, r.workflow_id,
                r.act_as, r.effective_at, r.record_time, r.nodes, r.traceparent
              from json_to_recordset(${batch.transactions}::text::json) as r("offset" bigint,
                update_id text, change_id text, command_id text, user_id text, workflow_id text,
                act_as text[], effective_at timestamptz, record_time timestamptz, nodes jsonb,
                traceparent text)
              where exists (select 1 from moved)),
            kept_contract as (
              insert into ledger_sim.contract (contract_id, package, module, entity, package_id,
                created_offset, archived_offset, created_at, signatories, observers, args)
              select r.contract_id, r.package, r.module, r.entity, r.package_id, r.created_offset,
                r.archived_offset, r.created_at, r.signatories, r.observers, r.args
              from json_to_recordset(${batch.created}::text::json) as r(contract_id text,
                package text, module text, entity text, package_id text, created_offset bigint,
                archived_offset bigint, created_at timestamptz, signatories text[],
                observers text[], args jsonb)
              where exists (select 1 from moved)),
            archived as (
              update ledger_sim.contract as c set archived_offset = r.archived_offset
              from json_to_recordset(${batch.archived}::text::json)
                as r(contract_id text, archived_offset bigint)
              where c.contract_id = r.contract_id and exists (select 1 from moved)),
            kept_completion as (
              insert into ledger_sim.completion ("offset", change_id, user_id, command_id,
                submission_id, act_as, record_time, ok, error, update_id)
              select r."offset", r.change_id, r.user_id, r.command_id, r.submission_id, r.act_as,
                r.record_time, r.ok, r.error, r.update_id
              from json_to_recordset(${batch.completions}::text::json) as r("offset" bigint,
                change_id text, user_id text, command_id text, submission_id text, act_as text[],
                record_time timestamptz, ok boolean, error jsonb, update_id text)
              where exists (select 1 from moved))
            select count(*)::int as moved from moved`,
          lost
        )
        if (!(yield* Effect.mapError(Rows.moved(moved), lost))) {
          return yield* new StoreLost({ fenced: true, detail: "another process owns the ledger" })
        }
        offset = last.offset
      })

    const reads = reading(sql)
    return {
      load,
      commit,
      ...reads,
      ...people(sql),
      prune: (upTo) =>
        Effect.gen(function* () {
          const n = upTo.toString()
          yield* sql`delete from ledger_sim.tx where "offset" <= ${n}::text::bigint`
          yield* sql`delete from ledger_sim.contract where archived_offset <= ${n}::text::bigint`
          yield* sql`update ledger_sim.head set pruned_offset = ${n}::text::bigint`
        }).pipe(sql.withTransaction, Effect.asVoid, Effect.mapError(lost))
    }
  })

/**
 * Holds an advisory lock on a connection of its own until the scope ends; it is released when the
 * process dies.
 */
const holdLock = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const connection = yield* sql.reserve
    const rows = yield* connection.executeUnprepared(
      `select pg_try_advisory_lock(${lockKey}) as taken`,
      [],
      undefined
    )
    if (yield* Rows.taken(rows)) return
    return yield* new StoreLost({
      fenced: true,
      detail: "the simulated ledger of this database is already run by another process"
    })
  }).pipe(Effect.catchTag(["SqlError", "SchemaError"], (error) => Effect.fail(lost(error))))

const micros = (column: string): string => `(extract(epoch from ${column}) * 1000000)::bigint::text`

/**
 * Offsets are selected as text, so `order by` must name the table's column, or it would sort texts.
 */
const transactionColumns = `"offset"::text as "offset", update_id, change_id, command_id, user_id,
  workflow_id, to_json(act_as)::text as act_as, ${micros("effective_at")} as effective_at,
  ${micros("record_time")} as record_time, nodes::text as nodes, traceparent`

const contractColumns = `contract_id, package, module, entity, package_id,
  created_offset::text as created_offset, archived_offset::text as archived_offset,
  ${micros("created_at")} as created_at, to_json(signatories)::text as signatories,
  to_json(observers)::text as observers, args::text as args`

const completionColumns = `"offset"::text as "offset", change_id, user_id, command_id,
  submission_id, to_json(act_as)::text as act_as, ${micros("record_time")} as record_time,
  error::text as error, update_id`

const userColumns = `user_id, token_hash, rights::text as rights,
  ${micros("expires_at")} as expires_at, active`

const reading = (
  sql: SqlClient.SqlClient
): Pick<SimStore, "transactions" | "transaction" | "completions" | "activeAt" | "contract"> => ({
  transactions: ({ after, through, limit }) =>
    sql`
      select ${sql.literal(transactionColumns)} from ledger_sim.tx
      where "offset" > ${after.toString()}::text::bigint
        and "offset" <= ${through.toString()}::text::bigint
      order by tx."offset" limit ${limit}`.pipe(
      Effect.flatMap(Rows.transactions),
      Effect.mapError(lost)
    ),
  transaction: (by) =>
    ("updateId" in by
      ? sql`select ${sql.literal(transactionColumns)} from ledger_sim.tx
            where update_id = ${by.updateId}`
      : sql`select ${sql.literal(transactionColumns)} from ledger_sim.tx
            where "offset" = ${by.offset.toString()}::text::bigint`
    ).pipe(
      Effect.flatMap(Rows.transactions),
      Effect.map((rows) => Option.fromUndefinedOr(rows[0])),
      Effect.mapError(lost)
    ),
  completions: ({ after, through, limit }) =>
    sql`
      select ${sql.literal(completionColumns)} from ledger_sim.completion
      where "offset" > ${after.toString()}::text::bigint
        and "offset" <= ${through.toString()}::text::bigint
      order by completion."offset" limit ${limit}`.pipe(
      Effect.flatMap(Rows.completions),
      Effect.mapError(lost)
    ),
  activeAt: ({ at, after, limit }) =>
    sql`
      select ${sql.literal(contractColumns)} from ledger_sim.contract
      where created_offset <= ${at.toString()}::text::bigint
        and (archived_offset is null or archived_offset > ${at.toString()}::text::bigint)
        and (created_offset, contract_id) >
          (${(after?.createdOffset ?? -1).toString()}::text::bigint, ${after?.contractId ?? ""})
      order by contract.created_offset, contract.contract_id limit ${limit}`.pipe(
      Effect.flatMap(Rows.contracts),
      Effect.mapError(lost)
    ),
  contract: (contractId) =>
    sql`select ${sql.literal(contractColumns)} from ledger_sim.contract
        where contract_id = ${contractId}`.pipe(
      Effect.flatMap(Rows.storedContracts),
      Effect.map((rows) => Option.fromUndefinedOr(rows[0])),
      Effect.mapError(lost)
    )
})

/** Parties and users alone, which a command line may change while a node runs. */
export const people = (
  sql: SqlClient.SqlClient
): Pick<SimStore, "parties" | "putParty" | "users" | "userByToken" | "putUser"> => ({
  parties: sql`
    select party, hint, kind, encode(public_key, 'hex') as public_key
    from ledger_sim.party order by made`.pipe(Effect.flatMap(Rows.parties), Effect.mapError(lost)),
  putParty: ({ party, hint, kind, publicKey }) =>
    sql`
      insert into ledger_sim.party (party, hint, kind, public_key)
      values (${party}, ${hint}, ${kind},
        decode(${bytesToHex(publicKey)}::text, 'hex'))`.pipe(Effect.asVoid, Effect.mapError(lost)),
  users: sql`
    select ${sql.literal(userColumns)} from ledger_sim.user_account order by made`.pipe(
    Effect.flatMap(Rows.users),
    Effect.mapError(lost)
  ),
  userByToken: (tokenHash) =>
    sql`select ${sql.literal(userColumns)} from ledger_sim.user_account
        where token_hash = ${tokenHash}`.pipe(
      Effect.flatMap(Rows.users),
      Effect.map((rows) => Option.fromUndefinedOr(rows[0])),
      Effect.mapError(lost)
    ),
  putUser: ({ userId, tokenHash, rights, expiresAt, active }) =>
    sql`
      insert into ledger_sim.user_account (user_id, token_hash, rights, expires_at, active)
      values (${userId}, ${tokenHash}, ${JSON.stringify(rights)}::text::jsonb,
        ${expiresAt === null ? null : Instant.format(expiresAt)}::text::timestamptz, ${active})
      on conflict (user_id) do update set token_hash = excluded.token_hash,
        rights = excluded.rights, expires_at = excluded.expires_at, active = excluded.active`.pipe(
      Effect.asVoid,
      Effect.mapError(lost)
    )
})
