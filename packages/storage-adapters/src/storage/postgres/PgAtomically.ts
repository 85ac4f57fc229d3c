/** Transactions and named locks of PostgreSQL. */
import type { Atomically } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import type { Sessions } from "./Sessions.ts"

/** Seed of the hash of a lock's name. */
const SEED = 1

export const make = (sessions: Sessions): Atomically["Service"] => ({
  store: sessions.store,
  run: sessions.run,
  reading: sessions.reading,
  lock: (name) =>
    sessions.inside("Atomically.lock", (session) =>
      Effect.asVoid(
        session.ask(`select pg_advisory_xact_lock(hashtextextended($1, ${SEED}))`, [name])
      )
    )
})
