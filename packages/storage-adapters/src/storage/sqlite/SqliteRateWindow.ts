/** Rate limiter in SQLite: a file of its own, which no open transaction locks. */
import type { RateWindow, StoreIdentity } from "@bursar/engine-core/ports"
import { Clock, Effect } from "effect"
import * as Columns from "./Columns.ts"
import type { Database } from "./Database.ts"
import * as Faults from "./Faults.ts"

/** Outside transactions: a call counts although its write is rolled back. */
export const make = ({
  store,
  db,
  lockMillis
}: {
  readonly store: StoreIdentity.StoreIdentity
  readonly db: Database
  readonly lockMillis: number
}): RateWindow["Service"] => {
  const alone = <A>(f: (now: number) => A) =>
    Effect.flatMap(Clock.Clock, (clock) =>
      Faults.untilUnlocked(
        Faults.attempt(() => {
          db.run("begin immediate")
          try {
            const answer = f(Number(clock.currentTimeNanosUnsafe() / 1000n))
            db.run("commit")
            return answer
          } finally {
            if (db.isInTransaction()) db.run("rollback")
          }
        }),
        lockMillis
      )
    )
  return {
    store,
    take: ({ subject, cost, interval, tolerance }) =>
      alone((now) => {
        const row = db.get("select arrival from rate where subject = ?", [subject])
        const arrival = Math.max(row === undefined ? now : Columns.number(row, "arrival"), now)
        const moved = arrival + Math.round(cost * interval)
        const admitted = moved - now <= tolerance
        if (admitted) {
          db.run("insert or replace into rate (subject, arrival) values (?, ?)", [subject, moved])
        }
        return { admitted, ahead: (admitted ? moved : arrival) - now }
      }),
    forget: ({ idle, limit }) =>
      alone((now) =>
        db.run(
          `delete from rate where subject in (
             select subject from rate where arrival <= ? order by arrival limit ?)`,
          [now - idle, Math.max(0, limit)]
        )
      )
  }
}
