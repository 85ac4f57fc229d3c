/**
 * Bulk rows: a million in, joined with a million others, a thousand differences out, against plain
 * SQL that stores and joins the same rows in the same batches.
 */
import { Bulk, type BulkRow } from "@bursar/engine-core/ports"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as Values from "#adapters/storage/postgres/Values.ts"
import { withDatabase } from "./database.ts"
import { type Bench, inTurns, type Side, timed } from "./measure.ts"
import * as Meters from "./meter.ts"

const differing = 1_000
const perBatch = 10_000

const rowAt = (rows: number, n: number, moved: boolean): BulkRow => ({
  key: String(n).padStart(9, "0"),
  match: `account-${(n * 7919) % rows}`,
  group: n % 2 === 0 ? "credit" : "debit",
  amounts: [`${n}.${moved ? "51" : "5"}`],
  body: `{"line":${n},"reference":"ref-${n}"}`
})

function* batches(rows: number, right: boolean): Generator<ReadonlyArray<BulkRow>> {
  const step = Math.max(1, Math.floor(rows / differing))
  for (let from = 0; from < rows; from += perBatch) {
    yield Array.from({ length: Math.min(perBatch, rows - from) }, (_, n) =>
      rowAt(rows, from + n, right && (from + n) % step === 0)
    )
  }
}

/** Number of differences that the store finds among so many rows of either side. */
const ours = (rows: number, round: number) =>
  Effect.gen(function* () {
    const bulk = yield* Bulk
    const [left, right] = [`left-${round}`, `right-${round}`]
    for (const owner of [left, right]) {
      for (const batch of batches(rows, owner === right)) yield* bulk.append(owner, batch)
      yield* bulk.seal({ owner, rows })
    }
    const side = (owner: string) => ({ owner, amount: 0 })
    const found = bulk.differences({ left: side(left), right: side(right), tolerance: "0" })
    return (yield* Stream.runCollect(found)).length
  })

const plain = (rows: number, round: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [left, right] = [`plain_left_${round}`, `plain_right_${round}`]
    for (const table of [left, right]) {
      yield* sql.unsafe(`create table public.${table} (key text collate "C" primary key,
      match text collate "C", kind text, amount numeric, body text)`)
      for (const batch of batches(rows, table === right)) {
        yield* sql.unsafe(
          `insert into public.${table} select key, match, kind, amount::numeric, body
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
           as r(key, match, kind, amount, body)`,
          [
            Values.texts(batch.map(({ key }) => key)),
            Values.texts(batch.map(({ match }) => match)),
            Values.texts(batch.map(({ group }) => group)),
            Values.texts(batch.map(({ amounts }) => amounts[0] ?? "0")),
            Values.texts(batch.map(({ body }) => body))
          ]
        )
      }
    }
    const found = yield* sql.unsafe(`
    select coalesce(l.match, r.match) as match, l.amount::text, r.amount::text
    from public.${left} l full join public.${right} r on r.match = l.match
    where l.amount is distinct from r.amount order by 1`)
    return found.length
  })

export const bench: Bench = ({ rounds, size = 1_000_000 }) =>
  withDatabase(({ storage }) =>
    Effect.gen(function* () {
      const meter = Meters.of(yield* SqlClient.SqlClient)
      const found = new Set<number>()
      const idle = process.memoryUsage().heapUsed
      let highest = idle
      const side = <E, R>(work: (round: number) => Effect.Effect<number, E, R>): Side<E, R> => ({
        meter,
        run: (round) =>
          timed(
            2 * size,
            Effect.map(work(round), (differences) => found.add(differences))
          )
      })
      const watched = (round: number) =>
        Effect.suspend(() => {
          const timer = setInterval(() => {
            highest = Math.max(highest, process.memoryUsage().heapUsed)
          }, 50)
          return Effect.ensuring(
            ours(size, round),
            Effect.sync(() => clearInterval(timer))
          )
        })
      const compared = yield* inTurns({
        rounds,
        ours: side(watched),
        bound: side((round) => plain(size, round))
      })
      if (found.size > 1) throw new Error(`the sides found ${[...found].join(" and ")} differences`)
      const name = size.toLocaleString("en-US")
      const heap = Math.round((highest - idle) / 2 ** 20)
      return [
        {
          bench: `bulk join of ${name} with ${name}`,
          unit: "rows/s",
          against: "plain SQL, same batches",
          goal: 0.5,
          note: `${[...found].join()} differences, heap ${heap} MiB over idle`,
          ...compared
        }
      ]
    }).pipe(Effect.scoped, Effect.provide(storage))
  )
