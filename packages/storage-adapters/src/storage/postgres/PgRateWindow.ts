/** Rate limiter in PostgreSQL: one upsert by the database's clock, for all instances. */
import type { RateWindow } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import type { Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

const TAKE = `
with asked as (
  select (extract(epoch from clock_timestamp()) * 1000000)::int8 as now,
    $2::int8 * $3::int8 as cost, $4::int8 as tolerance
), counted as (
  insert into bursar.rate as r (subject, arrival, admitted)
  select $1, now + case when cost <= tolerance then cost else 0 end, cost <= tolerance from asked
  on conflict (subject) do update set (arrival, admitted) = (
    select
      case when greatest(r.arrival, now) + cost - now <= tolerance
        then greatest(r.arrival, now) + cost else r.arrival end,
      greatest(r.arrival, now) + cost - now <= tolerance
    from asked)
  returning arrival, admitted
)
select admitted, greatest(arrival - now, 0) as ahead from counted, asked`

/**
 * Deletes idle subjects. A row is checked again once it is locked, so a subject that calls
 * meanwhile is kept.
 */
const FORGET = `
with asked as materialized (
  select (extract(epoch from clock_timestamp()) * 1000000)::int8 - $1::int8 as whole
), gone as (
  delete from bursar.rate r using asked
  where r.arrival <= asked.whole and r.subject = any (array(
    select subject from bursar.rate where arrival <= (select whole from asked)
    limit $2::int8))
  returning 1
)
select count(*) as gone from gone`

/** Outside transactions: a call counts although its write is rolled back. */
export const make = (sessions: Sessions): RateWindow["Service"] => ({
  store: sessions.store,
  take: ({ subject, cost, interval, tolerance }) =>
    Effect.map(
      sessions.askApart(TAKE, [subject, String(cost), String(interval), String(tolerance)]),
      ({ rows }) => ({
        admitted: Values.boolean(rows[0] ?? {}, "admitted"),
        ahead: Values.number(rows[0] ?? {}, "ahead")
      })
    ),
  forget: ({ idle, limit }) =>
    Effect.map(sessions.askApart(FORGET, [String(idle), String(Math.max(0, limit))]), ({ rows }) =>
      Values.number(rows[0] ?? {}, "gone")
    )
})
