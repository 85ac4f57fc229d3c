/** Search terms in PostgreSQL: one table in the order of its pages, of which each range is read by itself. */
import type { TermPlace, TermRank, TermRow, Terms } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import * as TermTexts from "../TermTexts.ts"
import type { Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

const PUT = `
insert into bursar.term (collection, rank, text, record_id, shown)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
on conflict do nothing`

const DELETE = `
delete from bursar.term t
using unnest($1::text[], $2::text[], $3::text[], $4::text[]) as r(collection, rank, text, record_id)
where t.collection = r.collection and t.rank = r.rank and t.text = r.text
  and t.record_id = r.record_id`

const FORGET = `
with gone as (
  delete from bursar.term where ctid = any (array(
    select ctid from bursar.term
    where record_id = $2 and collection = $1 and shown is not null limit $3::int8))
  returning 1
)
select count(*) as gone from gone`

/** Reads at most a page of each range, whatever plan the size of the table suggests, and merges them. */
const PAGE = `
select t.collection, t.rank, t.text, t.record_id, t.shown
from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as r(collection, rank, text, record_id)
cross join lateral (
  select * from bursar.term t
  where t.collection = r.collection and t.rank = r.rank
    and (t.text, t.record_id) > (r.text, r.record_id) and t.text < $5
  order by t.text, t.record_id limit $6::int8) t
order by t.rank, t.text, t.collection, t.record_id limit $6::int8`

const columnsOf = (places: ReadonlyArray<TermPlace>) => [
  Values.texts(places.map(({ collection }) => collection)),
  Values.texts(places.map(({ rank }) => rank)),
  Values.texts(places.map(({ text }) => text)),
  Values.texts(places.map(({ recordId }) => recordId))
]

const isRank = (text: string): text is TermRank => text === "whole" || text === "word"

const rankOf = (text: string): TermRank => {
  if (!isRank(text)) throw new Error(`${text} is no rank of a term`)
  return text
}

export const make = (sessions: Sessions): Terms["Service"] => ({
  store: sessions.store,
  put: (rows) =>
    sessions.send(PUT, [...columnsOf(rows), Values.texts(rows.map(({ shown }) => shown))]),
  delete: (places) => sessions.send(DELETE, columnsOf(places)),
  forget: ({ collection, limit, recordId }) =>
    Effect.map(
      sessions.ask(FORGET, [collection, recordId, String(Math.max(0, limit))]),
      ({ rows }) => Values.number(rows[0] ?? {}, "gone")
    ),
  page: ({ limit, ...query }) =>
    Effect.map(
      sessions.look(PAGE, [
        ...columnsOf(TermTexts.startsOf(query)),
        TermTexts.endOf(query.prefix),
        String(Math.max(0, limit))
      ]),
      ({ rows }) =>
        rows.map(
          (row): TermRow => ({
            collection: Values.text(row, "collection"),
            rank: rankOf(Values.text(row, "rank")),
            text: Values.text(row, "text"),
            recordId: Values.text(row, "record_id"),
            shown: Values.textOrNull(row, "shown")
          })
        )
    ),
  marks: Effect.map(
    sessions.look("select mark from bursar.term_mark order by mark", []),
    ({ rows }) => rows.map((row) => Values.text(row, "mark"))
  ),
  mark: (mark) =>
    sessions.send("insert into bursar.term_mark (mark) values ($1) on conflict do nothing", [mark])
})
