/**
 * Pruning of the event feed in PostgreSQL: the oldest control events, and journal events by offset.
 */
import type { Feed } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import * as HeadLock from "./HeadLock.ts"
import type { Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

/**
 * Control events carry stamps that rise with their numbers, so what is due is the front of the
 * feed up to the first that is not; one without a stamp is passed over.
 */
const PRUNE = `
with front as materialized (
  select seq, at, holder_ids, instrument_id from bursar.event
  where kind = 'control' and seq > (select pruned_to from bursar.head where id = 1)
  order by seq limit $2::int8
), passed as materialized (
  select * from front
  where seq < coalesce((select min(seq) from front where at >= $1), 9223372036854775807)
), gone as (
  delete from bursar.event where seq in (
    select seq from passed
    where at is not null and not holder_ids && $3::text[]
      and (instrument_id is null or instrument_id <> all ($4::text[])))
  returning 1
)
select (select count(*) from gone) as gone, (select count(*) from passed) as passed,
  (select max(seq) from passed) as last`

const PRUNE_JOURNAL = `
with gone as (
  delete from bursar.event where seq = any (array(
    select seq from bursar.event where kind = 'journal' and "offset" <= $1::int8
    order by "offset" limit $2::int8))
  returning seq
)
select count(*) as gone, max(seq) as last from gone`

type PruneQuery<Member extends "prune" | "pruneJournal"> = Parameters<Feed["Service"][Member]>[0]
type Answer<Member extends "prune" | "pruneJournal"> = ReturnType<Feed["Service"][Member]>

export const prune = (
  sessions: Sessions,
  { before, hold, limit }: PruneQuery<"prune">
): Answer<"prune"> =>
  sessions.run(
    Effect.gen(function* () {
      const { rows } = yield* sessions.ask(PRUNE, [
        before,
        String(Math.max(0, limit)),
        Values.texts(hold.holderIds),
        Values.texts(hold.instrumentIds)
      ])
      const row = rows[0] ?? {}
      const last = Values.numberOrNull(row, "last")
      if (last !== null) {
        // Taken last, since every writer waits for the head.
        yield* HeadLock.ask(
          sessions,
          "update bursar.head set pruned_to = greatest(pruned_to, $1::int8) where id = 1",
          [String(last)]
        )
      }
      return { deleted: Values.number(row, "gone"), passed: Values.number(row, "passed") }
    })
  )

export const pruneJournal = (
  sessions: Sessions,
  { through, limit }: PruneQuery<"pruneJournal">
): Answer<"pruneJournal"> =>
  sessions.run(
    Effect.gen(function* () {
      const { rows } = yield* sessions.ask(PRUNE_JOURNAL, [
        String(through),
        String(Math.max(0, limit))
      ])
      const row = rows[0] ?? {}
      const last = Values.numberOrNull(row, "last")
      if (last !== null) {
        // Taken last, since every writer waits for the head.
        yield* HeadLock.ask(
          sessions,
          "update bursar.head set journal_pruned_to = greatest(journal_pruned_to, $1::int8) where id = 1",
          [String(last)]
        )
      }
      return Values.number(row, "gone")
    })
  )
