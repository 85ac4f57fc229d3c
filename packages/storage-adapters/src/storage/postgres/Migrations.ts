/** Migrations: apply the schema changes of this version of the adapter. */
import type { PgConnection } from "@effect/sql-pg"
import { Data, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Storage from "./migrations/0001-storage/up.ts"
import * as Answers from "./migrations/0003-answers/up.ts"
import * as BulkRows from "./migrations/0005-bulk/up.ts"
import * as CredentialsAcceptedLate from "./migrations/0027-credentials-accepted-late/up.ts"
import * as DeliveriesOfAWebhook from "./migrations/0028-deliveries-of-a-webhook/up.ts"
import * as EntriesOfAccounts from "./migrations/0021-entries-of-accounts/up.ts"
import * as Files from "./migrations/0013-files/up.ts"
import * as Findings from "./migrations/0014-findings/up.ts"
import * as OrdersOfAPoint from "./migrations/0016-orders-of-a-point/up.ts"
import * as Statements from "./migrations/0015-statements/up.ts"
import * as Starts from "./migrations/0022-starts/up.ts"
import * as KeptStatements from "./migrations/0017-kept-statements/up.ts"
import * as PaymentsAndTurns from "./migrations/0019-payments-and-turns/up.ts"
import * as Reserves from "./migrations/0018-reserves/up.ts"
import * as Histories from "./migrations/0023-histories/up.ts"
import * as SearchedTerms from "./migrations/0025-searched-terms/up.ts"
import * as HeadMoves from "./migrations/0006-head-moves/up.ts"
import * as LostLines from "./migrations/0024-lost-lines/up.ts"
import * as ListFilters from "./migrations/0007-list-filters/up.ts"
import * as ListIndexes from "./migrations/0004-list-indexes/up.ts"
import * as DistributionsAndRuns from "./migrations/0011-distributions-and-runs/up.ts"
import * as LotsOfAParty from "./migrations/0010-lots-of-a-party/up.ts"
import * as PayeesOfDistributions from "./migrations/0012-payees-of-distributions/up.ts"
import * as AuditAndRetention from "./migrations/0002-audit-and-retention/up.ts"
import * as AuditHashes from "./migrations/0009-audit-hashes/up.ts"
import * as WaitingRecords from "./migrations/0026-waiting-records/up.ts"
import * as WhomWritesConcern from "./migrations/0020-whom-writes-concern/up.ts"
import * as VersionsOfARecord from "./migrations/0008-versions-of-a-record/up.ts"

interface Migration {
  readonly id: number
  readonly name: string
  readonly statements: ReadonlyArray<string>
}

/** In order, and immutable once released: a change of the schema is a new migration. */
const MIGRATIONS: ReadonlyArray<Migration> = [
  { id: 1, name: "storage", statements: Storage.statements },
  { id: 2, name: "audit-and-retention", statements: AuditAndRetention.statements },
  { id: 3, name: "answers", statements: Answers.statements },
  { id: 4, name: "list-indexes", statements: ListIndexes.statements },
  { id: 5, name: "bulk", statements: BulkRows.statements },
  { id: 6, name: "head-moves", statements: HeadMoves.statements },
  { id: 7, name: "list-filters", statements: ListFilters.statements },
  { id: 8, name: "versions-of-a-record", statements: VersionsOfARecord.statements },
  { id: 9, name: "audit-hashes", statements: AuditHashes.statements },
  { id: 10, name: "lots-of-a-party", statements: LotsOfAParty.statements },
  { id: 11, name: "distributions-and-runs", statements: DistributionsAndRuns.statements },
  { id: 12, name: "payees-of-distributions", statements: PayeesOfDistributions.statements },
  { id: 13, name: "files", statements: Files.statements },
  { id: 14, name: "findings", statements: Findings.statements },
  { id: 15, name: "statements", statements: Statements.statements },
  { id: 16, name: "orders-of-a-point", statements: OrdersOfAPoint.statements },
  { id: 17, name: "kept-statements", statements: KeptStatements.statements },
  { id: 18, name: "reserves", statements: Reserves.statements },
  { id: 19, name: "payments-and-turns", statements: PaymentsAndTurns.statements },
  { id: 20, name: "whom-writes-concern", statements: WhomWritesConcern.statements },
  { id: 21, name: "entries-of-accounts", statements: EntriesOfAccounts.statements },
  { id: 22, name: "starts", statements: Starts.statements },
  { id: 23, name: "histories", statements: Histories.statements },
  { id: 24, name: "lost-lines", statements: LostLines.statements },
  { id: 25, name: "searched-terms", statements: SearchedTerms.statements },
  { id: 26, name: "waiting-records", statements: WaitingRecords.statements },
  { id: 27, name: "credentials-accepted-late", statements: CredentialsAcceptedLate.statements },
  { id: 28, name: "deliveries-of-a-webhook", statements: DeliveriesOfAWebhook.statements }
]

const folderOf = ({ id, name }: Pick<Migration, "id" | "name">): string =>
  `${String(id).padStart(4, "0")}-${name}`

/** Advisory lock id, the same in every host: only one of them migrates at a time. */
const LOCK = 4_217_001

type Say = (
  sql: string,
  parameters?: ReadonlyArray<unknown>
) => Effect.Effect<PgConnection.Result, SqlError>

/**
 * The schema has a migration that this program does not have: a newer program wrote it
 * (docs/contract/instances.md#a-newer-schema).
 */
export class SchemaNewer extends Data.TaggedError("SchemaNewer")<{ readonly migration: string }> {
  override get message(): string {
    const latest = MIGRATIONS.at(-1)
    const latestOwn = latest === undefined ? "none" : `none after ${folderOf(latest)}`
    return `The database's schema is newer than this program: it has the migration ${this.migration}, and this program knows ${latestOwn}; run the program that migrated it, or restore what was backed up before.`
  }
}

/**
 * Returns the ids of the migrations that the schema has; null where it has no table of them. Fails
 * where one of them is unknown here, so that an older program never writes under a newer schema.
 */
export const applied = Effect.fnUntraced(function* (say: Say) {
  const { rows } = yield* say("select to_regclass('bursar.migration') is not null as there")
  if (rows[0]?.["there"] !== true) return null
  const done = yield* say("select id, name from bursar.migration order by id")
  const ownIds = new Set<unknown>(MIGRATIONS.map(({ id }) => id))
  const newer = done.rows.find((row) => !ownIds.has(row["id"]))
  if (newer !== undefined) {
    const migration = folderOf({ id: Number(newer["id"]), name: String(newer["name"]) })
    return yield* new SchemaNewer({ migration })
  }
  return new Set(done.rows.map((row) => row["id"]))
})

/**
 * Applies the pending migrations in one transaction, so that a killed host leaves the schema
 * unchanged; where none is pending, a host needs no right to change the schema. Returns the names of
 * their folders in order.
 */
export const run = (
  connection: PgConnection.PgConnection
): Effect.Effect<ReadonlyArray<string>, SqlError | SchemaNewer> => {
  const say: Say = (sql, parameters = []) => connection.query(sql, parameters, false)
  const isPending = ({ id }: Migration, ids: ReadonlySet<unknown> | null) => ids?.has(id) !== true
  const migrate = Effect.gen(function* () {
    yield* say("begin")
    yield* say("select pg_advisory_xact_lock($1::int8)", [String(LOCK)])
    // Another host may have migrated, and further, while this one waited for the lock.
    const ids = yield* applied(say)
    yield* say("create schema if not exists bursar")
    yield* say(`create table if not exists bursar.migration (
      id int4 primary key, name text not null, at timestamptz not null default now())`)
    const due = MIGRATIONS.filter((migration) => isPending(migration, ids))
    for (const migration of due) {
      for (const statement of migration.statements) yield* say(statement)
      yield* say("insert into bursar.migration (id, name) values ($1::int4, $2)", [
        String(migration.id),
        migration.name
      ])
    }
    yield* say("commit")
    return due.map(folderOf)
  })
  return Effect.flatMap(applied(say), (ids) =>
    MIGRATIONS.some((migration) => isPending(migration, ids))
      ? Effect.onError(migrate, () => Effect.ignore(say("rollback")))
      : Effect.succeed([])
  )
}
