/** Raw bytes in PostgreSQL: blobs by their hash, and files in chunks. */
import type { Blobs } from "@bursar/engine-core/ports"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Option } from "effect"
import type { Rows } from "./Columns.ts"
import type { Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

/** Makes the file where it is missing; a lock keeps it from being sealed meanwhile. */
const OPEN = `
insert into bursar.file (name) values ($1)
on conflict (name) do update set chunks = file.chunks where file.sealed_at is null
returning number`

const APPEND = `
with written as (
  insert into bursar.file_chunk (file, chunk, bytes) values ($1::int8, $2::int8, $3)
  on conflict do nothing
  returning 1
)
update bursar.file set chunks = chunks + (select count(*) from written) where number = $1::int8`

const CHUNK = `
select bytes from bursar.file_chunk
where file = (select number from bursar.file where name = $1) and chunk = $2::int8`

const SEAL = `
update bursar.file set sealed_at = clock_timestamp()
where name = $1 and chunks = $2::int8 and sealed_at is null
returning 1`

const DISCARD = `
with gone as (
  delete from bursar.file_chunk where file = $1::int8 and chunk = any (array(
    select chunk from bursar.file_chunk where file = $1::int8 order by chunk limit $2::int8))
  returning 1
)
update bursar.file set chunks = chunks - (select count(*) from gone), sealed_at = null
where number = $1::int8
returning (select count(*) from gone) as gone`

export const make = ({
  sessions,
  bulk
}: {
  readonly sessions: Sessions
  /** Sessions apart from those of transactions, with time limits for many rows. */
  readonly bulk: Sessions
}): Blobs["Service"] => {
  return {
    store: sessions.store,
    put: ({ hash, bytes }) =>
      sessions.send(
        "insert into bursar.blob (hash, bytes) values ($1, $2) on conflict do nothing",
        [hash, PgTypes.bytea(bytes)]
      ),
    get: (hash) =>
      Effect.map(sessions.look("select bytes from bursar.blob where hash = $1", [hash]), bytesOf),
    append: ({ file, chunk, bytes }) =>
      bulk.run(
        Effect.gen(function* () {
          const { rows: found } = yield* bulk.ask(OPEN, [file])
          if (found[0] === undefined) {
            return yield* Effect.die(new Error(`Blobs.append: ${file} is sealed`))
          }
          const number = String(Values.number(found[0], "number"))
          yield* bulk.send(APPEND, [number, String(chunk), PgTypes.bytea(bytes)])
        })
      ),
    chunk: ({ file, chunk }) => Effect.map(sessions.look(CHUNK, [file, String(chunk)]), bytesOf),
    seal: ({ file, chunks }) =>
      Effect.gen(function* () {
        const { rows: sealed } = yield* sessions.ask(SEAL, [file, String(chunks)])
        if (sealed.length > 0) return
        return yield* Effect.die(
          new Error(`Blobs.seal: ${file} is sealed, or has not ${chunks} chunks`)
        )
      }),
    discard: ({ file, limit, sparesSealed = false }) =>
      bulk.run(
        Effect.gen(function* () {
          const { rows: found } = yield* bulk.ask(
            "select number, sealed_at is not null as sealed from bursar.file where name = $1 for no key update",
            [file]
          )
          if (found[0] === undefined || (sparesSealed && Values.boolean(found[0], "sealed")))
            return 0
          const number = String(Values.number(found[0], "number"))
          const { rows } = yield* bulk.ask(DISCARD, [number, String(Math.max(0, limit))])
          yield* bulk.send("delete from bursar.file where number = $1::int8 and chunks = 0", [
            number
          ])
          return Values.number(rows[0] ?? {}, "gone")
        })
      )
  }
}

const bytesOf = ({ rows }: Rows): Option.Option<Uint8Array> => {
  const bytes = rows[0]?.["bytes"]
  return bytes instanceof Uint8Array ? Option.some(bytes.slice()) : Option.none()
}
