/**
 * Bulk rows: a million in, joined with a million others, a thousand differences out, against plain
 * SQL that stores and joins the same rows in the same batches.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Bulk, type BulkRow } from "@bursar/engine-core/ports"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Layer, Redacted, Result, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { type Row, row } from "./measure.ts"

const rows = Number(process.env["ROWS"] ?? 1_000_000)
const differing = 1_000
const perBatch = 10_000

const rowAt = (n: number, moved: boolean): BulkRow => ({
  key: String(n).padStart(9, "0"),
  match: `account-${(n * 7919) % rows}`,
  group: n % 2 === 0 ? "credit" : "debit",
  amounts: [`${n}.${moved ? "51" : "5"}`],
  body: `{"line":${n},"reference":"ref-${n}"}`
})

const isMoved = (n: number): boolean => n % Math.floor(rows / differing) === 0

function* batches(right: boolean): Generator<ReadonlyArray<BulkRow>> {
  for (let from = 0; from < rows; from += perBatch) {
    yield Array.from({ length: Math.min(perBatch, rows - from) }, (_, n) =>
      rowAt(from + n, right && isMoved(from + n))
    )
  }
}

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const began = performance.now()
    const value = yield* effect
    return { value, seconds: (performance.now() - began) / 1000 }
  })

const ours = Effect.gen(function* () {
  const bulk = yield* Bulk
  for (const owner of ["left", "right"]) {
    for (const batch of batches(owner === "right")) yield* bulk.append(owner, batch)
    yield* bulk.seal({ owner, rows })
  }
  const side = (owner: string) => ({ owner, amount: 0 })
  const found = bulk.differences({ left: side("left"), right: side("right"), tolerance: "0" })
  return (yield* Stream.runCollect(found)).length
})

const texts = (values: ReadonlyArray<string>) =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

const theirs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["plain_left", "plain_right"]) {
    yield* sql.unsafe(`create table public.${table} (key text collate "C" primary key,
      match text collate "C", kind text, amount numeric, body text)`)
    for (const batch of batches(table === "plain_right")) {
      yield* sql.unsafe(
        `insert into public.${table} select key, match, kind, amount::numeric, body
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
           as r(key, match, kind, amount, body)`,
        [
          texts(batch.map(({ key }) => key)),
          texts(batch.map(({ match }) => match)),
          texts(batch.map(({ group }) => group)),
          texts(batch.map(({ amounts }) => amounts[0] ?? "0")),
          texts(batch.map(({ body }) => body))
        ]
      )
    }
  }
  const found = yield* sql.unsafe(`
    select coalesce(l.match, r.match) as match, l.amount::text, r.amount::text
    from public.plain_left l full join public.plain_right r on r.match = l.match
    where l.amount is distinct from r.amount order by 1`)
  return found.length
})

export const bench = async (): Promise<ReadonlyArray<Row>> => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-bench-"))
  try {
    const storage = Layer.unwrap(
      Effect.map(Embedded.start({ dataFolder: folder }), ({ url }) =>
        Postgres.layer({ url: Redacted.make(url) })
      )
    )
    return await Effect.runPromise(
      Effect.gen(function* () {
        const idle = process.memoryUsage().heapUsed
        let highest = idle
        const watch = setInterval(() => {
          highest = Math.max(highest, process.memoryUsage().heapUsed)
        }, 50)
        const own = yield* timed(ours)
        clearInterval(watch)
        const plain = yield* timed(theirs)
        if (own.value !== plain.value) throw new Error(`${own.value} is not ${plain.value}`)
        const heap = Math.round((highest - idle) / 1024 / 1024)
        return [
          row({
            bench: "bulk rows in and joined",
            ours: (2 * rows) / own.seconds,
            unit: "rows/s",
            against: "plain SQL, same batches",
            theirs: (2 * rows) / plain.seconds,
            target: 0.5,
            note: `${rows} with ${rows}, ${own.value} differences, heap ${heap} MiB over idle`
          })
        ]
      }).pipe(Effect.provide(storage), Effect.scoped, Effect.orDie)
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
