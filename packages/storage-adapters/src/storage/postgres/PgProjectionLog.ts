/** Projection log in PostgreSQL: its head is the feed's row, so both move under one lock. */
import {
  type ProjectionHead,
  type ProjectionLog,
  type UpdateRow,
  WriterFenced
} from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import * as HeadLock from "./HeadLock.ts"
import type { Rows } from "./Columns.ts"
import type { Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

const HEAD = `projection_offset, ledger_time, horizon_offset, horizon_time, writer_epoch, participant,
  ledger_epoch`

/** Statement that stores the first and last answer at the offset that the head leaves. */
const LEFT = `
  insert into bursar.answered ("offset", first, last)
  select projection_offset, answered_first, answered_last from held, moved
  where answered_first is not null and projection_offset <> moved.to_offset
  on conflict ("offset") do update set last = excluded.last`

/** The head's instant once it has left an offset that it answered with: one microsecond on. */
const MOVED_ON = `case when answered_last is null then at else
  to_char((at::timestamptz + interval '1 microsecond') at time zone 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.US"000Z"') end`

const ADVANCE = `
with held as materialized (
  select projection_offset, answered_first, answered_last from bursar.head
  where id = 1 and writer_epoch = $1::int8 and projection_offset = $2::int8 for no key update
), moved as (
  update bursar.head
  set projection_offset = $3::int8, ledger_time = coalesce($4, ledger_time),
    at = case when $3::int8 = $2::int8 then at else ${MOVED_ON} end,
    answered_first = case when $3::int8 = $2::int8 then answered_first end,
    answered_last = case when $3::int8 = $2::int8 then answered_last end
  where id = 1 and writer_epoch = $1::int8 and projection_offset = $2::int8
    and exists (select from held)
  returning projection_offset as to_offset
), left_behind as (${LEFT}
), written as (
  insert into bursar.ledger_update ("offset", prev_offset, update_id, command_id, workflow_id,
    effective_at, record_time, ledger_time, raw)
  select r.* from moved, unnest($5::int8[], $6::int8[], $7::text[], $8::text[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[]) as r
)
select 1 from moved`

const BOOTSTRAP = `
with held as materialized (
  select projection_offset, answered_first, answered_last from bursar.head
  where id = 1 and writer_epoch = $1::int8 for no key update
), moved as (
  update bursar.head
  set projection_offset = $2::int8, horizon_offset = $2::int8, ledger_time = $3,
    horizon_ledger_time = $3, horizon_time = $4, ledger_epoch = $5::int8, at = ${MOVED_ON},
    answered_first = null, answered_last = null
  where id = 1 and writer_epoch = $1::int8 and exists (select from held)
  returning projection_offset as to_offset
), left_behind as (${LEFT}
), dropped as (
  -- What was read beyond the snapshot before is read again from there.
  delete from bursar.ledger_update
  where "offset" > $2::int8 and exists (select from moved)
)
select 1 from moved`

/** The last offset that an instant is not before: by the updates' times, and by answers given. */
const AS_OF = `
with head as materialized (select * from bursar.head where id = 1), found as (
  select projection_offset, case when $1 >= horizon_time or horizon_time is null then coalesce(
      case when ledger_time <= $1 then projection_offset end,
      (select "offset" from bursar.ledger_update
       where ledger_time <= $1 and "offset" > horizon_offset
       order by ledger_time desc, "offset" desc limit 1),
      case when horizon_ledger_time <= $1 then horizon_offset end,
      (select "offset" from bursar.ledger_update where ledger_time <= $1
       order by ledger_time desc, "offset" desc limit 1)
    ) end as dated,
    coalesce(
      case when answered_first <= $1 then projection_offset end,
      (select "offset" from bursar.answered where first <= $1 and "offset" >= horizon_offset
       order by first desc limit 1)) as before,
    coalesce(
      (select "offset" from bursar.answered where last >= $1 and "offset" >= horizon_offset
       order by last limit 1),
      case when answered_last >= $1 then projection_offset end) as after,
    coalesce(ledger_time > $1, false) as passed
  from head
)
select least(greatest(dated, before), after) as "offset", passed or after is not null as settled,
  coalesce(before = after, false) as answered
from found where coalesce(dated, before) is not null`

/**
 * The last offset whose ledger time is before an instant, and no later one than another, where that is
 * not null; answers given do not move it.
 */
const BEFORE = `
select case when found is not null then least(found, $2::int8) end as "offset" from (
  select coalesce(
    case when ledger_time is null or ledger_time < $1 then projection_offset end,
    (select "offset" from bursar.ledger_update
     where ledger_time < $1 and "offset" > horizon_offset
     order by ledger_time desc, "offset" desc limit 1),
    case when horizon_ledger_time is null or horizon_ledger_time < $1 then horizon_offset end
  ) as found
  from bursar.head where id = 1) before`

/** The ledger time that an offset has, also once the updates up to it are gone. */
const timeAt = (offset: string): string => `coalesce(
  -- The snapshot stands for everything up to the horizon.
  (select ledger_time from bursar.ledger_update
   where "offset" <= ${offset} and "offset" > (select horizon_offset from bursar.head)
   order by "offset" desc limit 1),
  (select horizon_ledger_time from bursar.head where horizon_offset <= ${offset}),
  (select ledger_time from bursar.ledger_update where "offset" <= ${offset}
   order by "offset" desc limit 1))`

/** The head is moved under its lock, from what it stands at then. */
const RAISE = `
with held as materialized (
  select horizon_offset, least($1::int8, projection_offset) as to_offset
  from bursar.head where id = 1 for no key update
), raised as materialized (
  select to_offset, ${timeAt("to_offset")} as time from held where to_offset > horizon_offset
)
update bursar.head set horizon_offset = to_offset, horizon_ledger_time = time,
  horizon_time = coalesce(time, horizon_time)
from raised where id = 1`

const PRUNE = `
with answers as (
  delete from bursar.answered
  where "offset" < (select horizon_offset from bursar.head where id = 1)
), gone as (
  delete from bursar.ledger_update where "offset" = any (array(
    select "offset" from bursar.ledger_update
    where "offset" <= (select horizon_offset from bursar.head where id = 1)
    order by "offset" limit $1::int8))
  returning 1
)
select count(*) as gone from gone`

export const make = (sessions: Sessions): ProjectionLog["Service"] => ({
  store: sessions.store,
  head: Effect.map(
    sessions.look(
      `select ${HEAD}, at, moves${sessions.headColumns} from bursar.head where id = 1`,
      []
    ),
    (found) => {
      sessions.noteHead(found)
      return headOf(found)
    }
  ),
  takeOver: ({ participant }) =>
    Effect.map(
      HeadLock.ask(
        sessions,
        `update bursar.head set writer_epoch = writer_epoch + 1, participant = $1
         where id = 1 returning ${HEAD}`,
        [participant]
      ),
      headOf
    ),
  advance: ({ epoch, from, to, ledgerTime, updates }) =>
    Effect.suspend(() => {
      const misplaced = updates.find(
        (row, index) => row.offset <= (updates[index - 1]?.offset ?? from) || row.offset > to
      )
      if (to < from || misplaced !== undefined) {
        return Effect.die(
          new Error(`ProjectionLog.advance: ${misplaced?.offset ?? to} is out of place`)
        )
      }
      return underEpoch(
        epoch,
        HeadLock.ask(sessions, ADVANCE, [
          String(epoch),
          String(from),
          String(to),
          ledgerTime,
          ...columnsOf(updates)
        ])
      )
    }),
  bootstrap: ({ epoch, ledgerEpoch, offset, ledgerTime, horizonTime }) =>
    underEpoch(
      epoch,
      HeadLock.ask(sessions, BOOTSTRAP, [
        ...[String(epoch), String(offset), ledgerTime, horizonTime, String(ledgerEpoch)]
      ])
    ),
  prune: ({ offset, limit }) =>
    sessions.run(
      Effect.gen(function* () {
        // Most calls find the horizon there already, and hold up nobody who takes the head.
        const { rows: below } = yield* sessions.ask(
          `select 1 from bursar.head
           where id = 1 and horizon_offset < least($1::int8, projection_offset)`,
          [String(offset)]
        )
        if (below.length > 0) yield* HeadLock.ask(sessions, RAISE, [String(offset)])
        const { rows } = yield* sessions.ask(PRUNE, [String(Math.max(0, limit))])
        return Values.number(rows[0] ?? {}, "gone")
      })
    ),
  ledgerTimeAt: (offset) =>
    Effect.map(
      sessions.look(`select ${timeAt("$1::int8")} as ledger_time`, [String(offset)]),
      ({ rows }) => Option.fromNullOr(Values.textOrNull(rows[0] ?? {}, "ledger_time"))
    ),
  offsetAsOf: (instant) =>
    Effect.map(sessions.look(AS_OF, [instant]), ({ rows }) =>
      Option.map(Option.fromUndefinedOr(rows[0]), (row) => ({
        offset: Values.number(row, "offset"),
        settled: row["settled"] === true,
        answered: row["answered"] === true
      }))
    ),
  offsetBefore: ({ instant, through }) => {
    const look =
      through === undefined ? sessions.look : sessions.lookAt({ by: "update", offset: through })
    return Effect.map(
      sessions.inTurn(look(BEFORE, [instant, through === undefined ? null : String(through)])),
      ({ rows: [row = {}] }) =>
        row["offset"] === null ? Option.none() : Option.some(Values.number(row, "offset"))
    )
  },
  hasCommand: (commandId) =>
    Effect.map(
      sessions.look("select 1 from bursar.ledger_update where command_id = $1 limit 1", [
        commandId
      ]),
      ({ rowCount }) => rowCount > 0
    ),
  read: ({ after, limit }) =>
    Effect.map(
      sessions.look(
        `select * from bursar.ledger_update where "offset" > $1::int8
         order by "offset" limit $2::int8`,
        [String(after), String(Math.max(0, limit))]
      ),
      ({ rows }) => rows.map(updateOf)
    )
})

/**
 * Fails with `WriterFenced` if no row moved: another writer has changed the epoch or the offset.
 */
const underEpoch = <E>(
  epoch: number,
  moved: Effect.Effect<Rows, E>
): Effect.Effect<void, E | WriterFenced> =>
  Effect.flatMap(moved, ({ rows }) =>
    rows.length > 0 ? Effect.void : Effect.fail(new WriterFenced({ epoch }))
  )

const columnsOf = (rows: ReadonlyArray<UpdateRow>): ReadonlyArray<unknown> => [
  Values.integers(rows.map((row) => row.offset)),
  Values.integers(rows.map((row) => row.prevOffset)),
  Values.texts(rows.map((row) => row.updateId)),
  Values.texts(rows.map((row) => row.commandId)),
  Values.texts(rows.map((row) => row.workflowId)),
  Values.texts(rows.map((row) => row.effectiveAt)),
  Values.texts(rows.map((row) => row.recordTime)),
  Values.texts(rows.map((row) => row.ledgerTime)),
  Values.texts(rows.map((row) => row.raw))
]

const headOf = ({ rows }: Rows): ProjectionHead => {
  const row = rows[0] ?? {}
  return {
    offset: Values.number(row, "projection_offset"),
    ledgerTime: Values.textOrNull(row, "ledger_time"),
    horizonOffset: Values.number(row, "horizon_offset"),
    horizonTime: Values.textOrNull(row, "horizon_time"),
    writerEpoch: Values.number(row, "writer_epoch"),
    participant: Values.textOrNull(row, "participant"),
    ledgerEpoch: Values.number(row, "ledger_epoch")
  }
}

const updateOf = (row: Values.Row): UpdateRow => ({
  offset: Values.number(row, "offset"),
  prevOffset: Values.number(row, "prev_offset"),
  updateId: Values.text(row, "update_id"),
  commandId: Values.textOrNull(row, "command_id"),
  workflowId: Values.textOrNull(row, "workflow_id"),
  effectiveAt: Values.text(row, "effective_at"),
  recordTime: Values.text(row, "record_time"),
  ledgerTime: Values.text(row, "ledger_time"),
  raw: Values.text(row, "raw")
})
