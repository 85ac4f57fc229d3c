/** A register of many holders and a statement of their accounts, written in bulk, with planted differences. */
import { Records } from "@bursar/engine-core"
import { Date, Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type AccountNumber, accountNumbers } from "#core/holders/external-account/AccountNumber.ts"
import { externalAccounts } from "#core/holders/external-account/ExternalAccount.ts"
import * as Calls from "../engine/calls.ts"
import * as Fund from "../operations/fund.ts"
import * as Stating from "../operations/stating.ts"
import * as Seeded from "./seeded-register.ts"

export const { instrumentId } = Stating

/** Records of a holder that the comparison reads: those of the register, and those of the account. */
const collections = ["register-entry", "holder-party", "external-account", "account-number"]

const rowsAtOnce = 50_000
const first = Seeded.holderId(0)
/** Keyed hash of the number of a holder's account, as SQL of the holder's id. */
const hashOf = (id: string) => `'k1.' || encode(sha256(convert_to(${id}, 'UTF8')), 'hex')`

/** Runs a statement for so many holders after the first: $1 and $2 are the first and last of a batch. */
const forEach = Effect.fnUntraced(function* (holders: number, statement: string) {
  const sql = yield* SqlClient.SqlClient
  for (let from = 1; from < holders; from += rowsAtOnce) {
    yield* sql.unsafe(statement, [from, Math.min(from + rowsAtOnce, holders) - 1])
  }
})

const idsOfBatch = `(select n, 'holder-' || lpad(n::text, 6, '0') as id
  from generate_series($1::int4, $2::int4) n) ids`

/**
 * Copies the records of the first holder for the others, inside the database; from a table of their own,
 * since a search for them would read the copies that were made before, batch after batch.
 */
const copied = Effect.fnUntraced(function* (holders: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`create table public.first_holder as select d.* from bursar.document d
    where d.collection in (${collections.map((name) => `'${name}'`).join(", ")})
      and d.to_offset is null and position('${first}' in d.body) > 0`)
  const own = (column: string) =>
    `replace(replace(d.${column}, '${first}', ids.id), ${hashOf(`'${first}'`)}, ${hashOf("ids.id")})`
  yield* forEach(
    holders,
    `insert into bursar.document (collection, record_id, version, sort_key, body, filters,
       created_at, from_offset, from_instant)
     select d.collection, ${own("record_id")}, d.version, ${own("sort_key")}, ${own("body")},
       ${own("filters::text")}::jsonb,
       d.created_at, d.from_offset, d.from_instant
     from public.first_holder d, ${idsOfBatch}`
  )
  yield* sql.unsafe("drop table public.first_holder")
})

/** Copies the first line of the statement for the accounts of the others; so many of them state one unit more. */
const stated = (options: { readonly holders: number; readonly differing: number }) => {
  const step = Math.max(1, Math.floor(options.holders / options.differing))
  return forEach(
    options.holders,
    `insert into bursar.bulk_row (owner, key, match, "group", amounts, body)
     select r.owner, lpad((ids.n + 1)::text, 9, '0'), ${hashOf("ids.id")}, r."group",
       array[r.amounts[1] + case when ids.n % ${step} = 1 % ${step} then 1 else 0 end], r.body
     from bursar.bulk_row r, ${idsOfBatch}
     where r.owner = (select max(number) from bursar.bulk) and r.key = lpad('1', 9, '0')`
  )
}

/** The first holder's account at the administrator, mapped by its number. */
const mapped = Effect.gen(function* () {
  const records = yield* Records
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql.unsafe<{ readonly hash: string }>(
    `select ${hashOf(`'${first}'`)} as hash`
  )
  const number: AccountNumber = {
    hash: row?.hash ?? "",
    currency: null,
    externalAccountId: `account-${first}`
  }
  const account = {
    ...{ externalAccountId: number.externalAccountId as never, kind: "custody" as const },
    ...{ currency: null, segregated: false, holderId: first, instrumentId: null },
    ...{ masked: "****0000", mappedBy: "olga", sealed: `sealed ${first}` }
  }
  const act = { cause: { by: "clock" }, now: yield* Instant.now } as const
  yield* records.transact(
    Effect.gen(function* () {
      yield* Effect.orDie(records.open(externalAccounts, account, act))
      yield* Effect.orDie(records.open(accountNumbers, number, act))
    })
  )
  return number.hash
})

/**
 * A fund with so many holders of the same units, each with an account that is mapped to it, and a
 * statement of all accounts in which so many state one unit more than the register has.
 */
export const founded = Effect.fnUntraced(function* (options: {
  readonly holders: number
  readonly differing: number
}) {
  const sql = yield* SqlClient.SqlClient
  const stage = yield* Fund.founded({ holderCap: 10_000_000 })
  yield* Seeded.register({ instrumentId, count: 1, registrar: stage.registrar.party })
  const account = yield* mapped
  yield* copied(options.holders)
  // The register is read at an offset that the projection has reached.
  yield* Fund.publishes(stage, "1.01", "2026-07-01T00:00:00Z")
  yield* Calls.settle
  const source = yield* Stating.source("holdings", { accountIs: null })
  yield* Stating.states(source, {
    businessDate: Date.of("2026-07-31"),
    lines: [{ account, quantity: "1000.5" }],
    lineCount: options.holders
  })
  yield* stated(options)
  yield* sql`update bursar.bulk set rows = ${options.holders} where number = (select max(number) from bursar.bulk)`
  yield* sql`analyze bursar.document`
  yield* sql`analyze bursar.bulk_row`
  return { registrar: stage.registrar.party }
})
