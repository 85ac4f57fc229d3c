/** Process of a bare node:http server, which selects the rows of a list and prints them. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"

/** Rows that the cursor of a whole list fetches at a time. */
const fetched = 1_000

interface DocumentRow {
  readonly body: string
  readonly created_at: string
  readonly sort_key: string
  readonly from_instant: string
}

/** Columns of an export of lines that a row keeps in its body. */
const columns = [
  "lineId",
  "distributionId",
  "instrumentId",
  "month",
  "holderId",
  "party",
  "units",
  "entitlement",
  "carryIn",
  "gross",
  "equalisation",
  "rate",
  "rateSource",
  "withheld",
  "net",
  "carryOut",
  "payoutUnits",
  "state",
  "reason",
  "carriedFrom",
  "predecessor",
  "evidence",
  "deliveredAt",
  "paidOn",
  "deliveredUid",
  "rolledUid"
] as const

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  const text = typeof value === "object" ? JSON.stringify(value) : String(value)
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const pageOf = (rows: ReadonlyArray<DocumentRow>, next: string | null = null): string =>
  JSON.stringify({
    offset: 0,
    ledgerTime: null,
    now: new Date(),
    value: rows.map((row) => ({ ...JSON.parse(row.body), createdAt: row.created_at })),
    next
  })

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const instruments = Effect.map(
    sql<DocumentRow>`
      select body, created_at, from_instant, version from bursar.document
      where collection = 'instrument' and to_offset is null order by sort_key limit 50`,
    (rows) => pageOf(rows)
  )
  const largest = (after: string) =>
    Effect.map(
      sql<DocumentRow>`
        select body, created_at, from_instant, version, sort_key from bursar.document
        where collection = 'instrument' and to_offset is null and sort_key > ${after}
        order by sort_key limit 1000`,
      (rows) => pageOf(rows, rows.length < 1000 ? null : (rows.at(-1)?.sort_key ?? null))
    )
  const movements = (asset: string) =>
    Effect.map(
      sql<DocumentRow>`
        select body, created_at, from_instant, version from bursar.document
        where collection = 'movement' and to_offset is null
          and filters @> ${JSON.stringify({ asset })}::jsonb
        order by sort_key limit 51`,
      (rows) => pageOf(rows)
    )
  /** The texts of all rows as they are stored, in one array. */
  const whole = (write: (text: string) => void) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`
          declare instruments no scroll cursor for select body from bursar.document
          where collection = 'instrument' and to_offset is null order by sort_key`
        write("[")
        for (let comma = ""; ; comma = ",") {
          const rows = yield* sql.unsafe<{ readonly body: string }>(
            `fetch ${fetched} from instruments`
          )
          if (rows.length > 0) write(comma + rows.map(({ body }) => body).join(","))
          if (rows.length < fetched) break
        }
        write("]")
      })
    )
  /** The lines of a distribution as a table, of the columns that its export has. */
  const exported = (distributionId: string, write: (text: string) => void) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`
          declare lines no scroll cursor for
          select body, created_at, from_instant, version from bursar.document
          where collection = 'distribution-line' and to_offset is null
            and filters ->> 'distributionId' = ${distributionId} order by sort_key`
        write(`${[...columns, "createdAt", "updatedAt", "version"].join(",")}\r\n`)
        for (;;) {
          const rows = yield* sql.unsafe<DocumentRow & { readonly version: string }>(
            `fetch ${fetched} from lines`
          )
          const text = rows.map((row) => {
            const line = JSON.parse(row.body)
            const cells = columns.map((column) => cellOf(line[column]))
            return [...cells, row.created_at, row.from_instant, row.version].join(",")
          })
          if (text.length > 0) write(`${text.join("\r\n")}\r\n`)
          if (rows.length < fetched) break
        }
      })
    )
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://bare")
    if (pathname === "/livez") return void response.end("ok")
    response.setHeader("content-type", "application/json")
    const write = (text: string) => void response.write(text)
    const streamed =
      pathname === "/whole" ? whole(write) : exported(searchParams.get("of") ?? "", write)
    const answered =
      pathname === "/whole" || pathname === "/lines"
        ? run(streamed).then(() => response.end())
        : run(
            pathname === "/movements"
              ? movements(searchParams.get("asset") ?? "")
              : pathname === "/largest"
                ? largest(searchParams.get("after") ?? "")
                : instruments
          ).then((text) => response.end(text))
    answered.catch(() => response.destroy())
  })
  yield* Effect.promise(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  process.send?.({ url, live: url })
  return yield* Effect.never
})

NodeRuntime.runMain(
  Effect.scoped(program).pipe(
    Effect.provide(Postgres.layerClient({ url: Redacted.make(process.argv[2] ?? "") }))
  )
)
