/** Raw bytes by their hash, in PostgreSQL. */
import type { Blobs } from "@bursar/engine-core/ports"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Option } from "effect"
import type { Sessions } from "./Sessions.ts"

export const make = (sessions: Sessions): Blobs["Service"] => ({
  put: ({ hash, bytes }) =>
    sessions.send("insert into bursar.blob (hash, bytes) values ($1, $2) on conflict do nothing", [
      hash,
      PgTypes.bytea(bytes)
    ]),
  get: (hash) =>
    Effect.map(
      sessions.look("select bytes from bursar.blob where hash = $1", [hash]),
      ({ rows }) => {
        const bytes = rows[0]?.["bytes"]
        return bytes instanceof Uint8Array ? Option.some(bytes.slice()) : Option.none()
      }
    )
})
