/** Versions of records in PostgreSQL: rows that the next version closes, listed by keyset. */
import type {
  Documents,
  ListQuery,
  StoredPin,
  StoredVersion,
  VersionRow
} from "@bursar/engine-core/ports"
import { Effect, Option, Stream } from "effect"
import * as Batches from "./Batches.ts"
import * as ListSql from "./ListSql.ts"
import * as PinSql from "./PinSql.ts"
import type { Rows } from "./Columns.ts"
import * as PgWaits from "./PgWaits.ts"
import type { Session, Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

/** In the place of an instant: marks a row that only closes the version of its primary key. */
const CLOSES = ""

/**
 * Closes the open versions and then writes the new ones, in one insert: the conflict on the primary
 * key finds the version to close. A join with the table would be planned by its size of another
 * day, and might read all of it for each row.
 */
const PUT = `
with written as (
  insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
    from_offset, from_instant, to_offset, to_instant)
  select collection, record_id, version, sort_key, body, filters::jsonb, created_at, from_offset,
    from_instant, to_offset, to_instant
  from unnest($1::text[], $2::text[], $3::int8[], $4::text[], $5::text[], $6::text[], $7::text[],
              $8::int8[], $9::text[], $10::int8[], $11::text[], $12::int8[])
    with ordinality as r(collection, record_id, version, sort_key, body, filters, created_at,
      from_offset, from_instant, to_offset, to_instant, closes, n)
  where r.closes <> 0 or (
    select f.version from bursar.document f
    where f.collection = r.collection and f.record_id = r.record_id limit 1) is null
  order by n
  on conflict (collection, record_id, version)
  do update set to_offset = excluded.to_offset, to_instant = excluded.to_instant
  where excluded.created_at = '${CLOSES}' and document.to_offset is null
    and document.sort_key = excluded.sort_key
  returning created_at
)
select case when count(*) filter (where created_at <> '${CLOSES}') <> $13::int8
  then bursar.defect('Documents.put: a version does not follow the one before it') end
from written`

/** The first version of one record. */
const PUT_FIRST = `
insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
  from_offset, from_instant)
select $1, $2, $3::int8, $4, $5, $6::jsonb, $7, $8::int8, $9
where case when not exists (
    select from bursar.document where collection = $1 and record_id = $2) then true
  else bursar.defect('Documents.put: a version does not follow the one before it') end`

/** A later version of one record: nearly every other call, and much cheaper than the general one. */
const PUT_NEXT = `
with closed as (
  update bursar.document set to_offset = $8::int8, to_instant = $9
  where collection = $1 and record_id = $2 and version = $10::int8
    and coalesce(to_offset, -1) = -1 and sort_key = $4
  returning 1
)
insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
  from_offset, from_instant)
select $1, $2, $3::int8, $4, $5, $6::jsonb, $7, $8::int8, $9
where case when exists (select from closed) then true
  else bursar.defect('Documents.put: a version does not follow the one before it') end`

/** A closed version never changes again, so it still lies where it was found. */
const PRUNE = `
with gone as (
  delete from bursar.document where ctid = any (array(
    select ctid from bursar.document
    where collection = $1 and to_offset is not null and to_offset <= $2::int8
    order by to_offset limit $3::int8))
  returning 1
)
select count(*) as gone from gone`

const FETCH = 500
/** A reader of a stream may pause this long between two elements. */
const STREAM_IDLE_MILLIS = 360_000

export const make = (sessions: Sessions): Documents["Service"] =>
  documents(sessions, {
    list: listing(sessions),
    waits: PgWaits.make(sessions, (pin) => lookInTurn(sessions, pin))
  })

const documents = (
  sessions: Sessions,
  { list, waits }: { readonly list: Documents["Service"]["list"]; readonly waits: PgWaits.PgWaits }
): Documents["Service"] => ({
  ...waits.service,
  store: sessions.store,
  put: (rows) => {
    const [first, ...more] = rows
    if (first === undefined) return Effect.void
    const written = closedAndOpened(rows)
    if (written === undefined) {
      return Effect.die(new Error("Documents.put: a version does not follow the one before it"))
    }
    const put =
      more.length > 0
        ? sessions.send(PUT, [...columnsOf(written), String(written.length)])
        : putOne(sessions, first)
    const statements = waits.put(rows)
    return statements.length === 0
      ? put
      : sessions.run(Effect.andThen(put, sendAll(sessions, statements)))
  },
  get: getting(sessions),
  versions: ({ collection, recordIds, from, through }) => {
    const pin: StoredPin = { by: "offset", offset: through }
    const bindings = ListSql.parameters()
    const pinned = PinSql.pinnedAt(pin, bindings)!
    const inCollection = `d.collection = ${bindings.add(collection)}`
    const idsBinding = bindings.add(Values.texts([...new Set(recordIds)]))
    const since = `${bindings.add(String(from))}::int8`
    const sql = `select d.* from unnest(${idsBinding}::text[]) with ordinality as asked(id, n)
      cross join lateral (
        select d.* from bursar.document d where ${inCollection} and d.record_id = asked.id
        order by d.version desc limit 1) r
      cross join lateral (
        select ${ListSql.COLUMNS} from (${PinSql.inForceSince(pinned, inCollection, since)}) d) d
      order by asked.n, d.version`
    return recordIds.length === 0
      ? Effect.succeed([])
      : Effect.map(lookInTurn(sessions, pin)(sql, bindings.values), ({ rows }) =>
          rows.map(versionOf)
        )
  },
  list,
  stream: (query) => Stream.unwrap(streaming(sessions, { list, query })),
  countBy: (query) => {
    const { sql, values } = ListSql.countBy(query)
    return Effect.map(
      lookInTurn(sessions, query.pin)(sql, values),
      ({ rows }) =>
        new Map(rows.map((row) => [Values.text(row, "value"), Values.number(row, "records")]))
    )
  },
  forget: ({ collection, recordIds }) =>
    sessions.run(
      sendAll(sessions, [
        {
          sql: "delete from bursar.document where collection = $1 and record_id = any ($2::text[])",
          values: [collection, Values.texts(recordIds)]
        },
        waits.forget({ collection, recordIds })
      ])
    ),
  prune: ({ collection, through, limit }) =>
    sessions.run(
      Effect.andThen(
        sendAll(sessions, [waits.prune({ collection, through, limit })]),
        Effect.map(
          sessions.ask(PRUNE, [collection, String(through), String(Math.max(0, limit))]),
          ({ rows }) => Values.number(rows[0] ?? {}, "gone")
        )
      )
    )
})

/** Sends statements whose answers nobody needs, in their order. */
const sendAll = (sessions: Sessions, statements: ReadonlyArray<ListSql.Statement>) =>
  Effect.forEach(statements, ({ sql, values }) => sessions.send(sql, values), { discard: true })

/** Writes the first version of a record, or the one after its open version. */
const putOne = (sessions: Sessions, row: VersionRow) =>
  sessions.send(row.closes === 0 ? PUT_FIRST : PUT_NEXT, [
    row.collection,
    row.recordId,
    String(row.version),
    row.sortKey,
    row.body,
    JSON.stringify(row.filters),
    row.createdAt,
    String(row.fromOffset),
    row.fromInstant,
    ...(row.closes === 0 ? [] : [String(row.closes)])
  ])

/** Checks whether every version that a pin shows was seen to be on disk. */
const isSettled = (sessions: Sessions, pin: StoredPin): boolean =>
  pin.by !== "latest" && sessions.isSettled(pin)

/** Look-up of the versions at a pin: they are the same on a replica that has replayed them. */
const look = (sessions: Sessions, pin: StoredPin): Sessions["look"] => {
  if (pin.by === "latest") return sessions.look
  return sessions.pinned(pin, sessions.lookAt(pin))
}

/** As `look`, for a look-up that no batch puts off. */
const lookInTurn =
  (sessions: Sessions, pin: StoredPin): Sessions["look"] =>
  (sql, parameters) =>
    sessions.inTurn(look(sessions, pin)(sql, parameters))

type List = Parameters<Documents["Service"]["list"]>[0]

/** Lists versions; calls of one reading scope at the same pin go out together. */
const listing = (sessions: Sessions): Documents["Service"]["list"] => {
  const read = ({ sql, values }: ListSql.Statement, pin: StoredPin) =>
    Effect.map(look(sessions, pin)(sql, values), ({ rows }) => rows)

  /** Versions of a list, of which the first statement has answered these rows. */
  const versionsOf = ({ limit, ...query }: List, rows: Rows["rows"]) => {
    const [, ...others] = ListSql.pages(query, limit)
    const found = others.reduce<ReturnType<typeof read>>(
      (tried, next) =>
        Effect.flatMap(tried, (answered) =>
          answered.some(ListSql.isTryNext) ? read(next(), query.pin) : Effect.succeed(answered)
        ),
      Effect.succeed(rows)
    )
    return Effect.map(found, (answered) => answered.map(versionOf))
  }

  const alone = (call: List) => {
    const { limit, ...query } = call
    const [first] = ListSql.pages(query, limit)
    return Effect.flatMap(read(first(), query.pin), (rows) => versionsOf(call, rows))
  }

  return Batches.make(sessions.readingScope, {
    alone,
    together: (calls) => {
      const [{ pin, direction }] = calls
      if (!calls.every((call) => call.direction === direction && isSame(call.pin, pin))) {
        return Effect.forEach(calls, alone, { concurrency: "unbounded" })
      }
      return Effect.flatMap(read(ListSql.firstPages(calls), pin), (rows) => {
        const byCall = Map.groupBy(rows, (row) => Values.number(row, "n"))
        return Effect.forEach(calls, (call, n) => versionsOf(call, byCall.get(n) ?? []), {
          concurrency: "unbounded"
        })
      })
    }
  })
}

const isSame = (a: StoredPin, b: StoredPin): boolean => JSON.stringify(a) === JSON.stringify(b)

/**
 * Streams versions. Most lists end within the first page, which is a look-up as that of a list, and goes
 * out together with those of its reading scope: a cursor takes three statements, and outside of a
 * transaction a connection and a transaction of its own, which cost more than the rows of such a list. A
 * longer list is read on by the cursor where the versions at the pin stay the same, and otherwise from
 * its beginning, so that all of it is one snapshot.
 */
const streaming = Effect.fnUntraced(function* (
  sessions: Sessions,
  { list, query }: { readonly list: Documents["Service"]["list"]; readonly query: ListQuery }
) {
  const first = yield* list({ ...query, limit: FETCH })
  const last = first.at(-1)
  if (last === undefined || first.length < FETCH) return Stream.fromIterable(first)
  const isFixed = query.pin.by === "instant"
  const open = yield* sessions.current
  const session = open ?? (yield* sessions.scoped)
  if (open === undefined) {
    yield* session.send(`set local idle_in_transaction_session_timeout = ${STREAM_IDLE_MILLIS}`, [])
  }
  const rest = isFixed ? { ...query, after: last.sortKey } : query
  const found = yield* cursor(session, ListSql.whole(rest))
  // The snapshot is taken; its rows are shown once the commits that they come from are on disk. What a
  // transaction has read is waited for at its end.
  if (open === undefined && !isSettled(sessions, query.pin)) yield* session.settled
  return isFixed ? Stream.concat(Stream.fromIterable(first), found) : found
})

/** Records that one call gets, at a pin. */
interface VersionQuery {
  readonly collection: string
  readonly recordIds: ReadonlyArray<string>
  readonly pin: StoredPin
}

/** Gets versions; calls of one transaction for the latest ones go out together. */
const getting = (sessions: Sessions): Documents["Service"]["get"] => {
  const alone = gettingAlone(sessions)
  const latest = Batches.make(sessions.current, { alone, together: gettingTogether(sessions) })
  return (lookup) => (lookup.pin.by === "latest" ? latest(lookup) : alone(lookup))
}

/** Gets the versions that one call asks for. */
const gettingAlone =
  (sessions: Sessions) =>
  ({ collection, recordIds, pin }: VersionQuery) => {
    const [first, ...more] = new Set(recordIds)
    if (first === undefined) return Effect.succeed([])
    const bindings = ListSql.parameters()
    const pinned = PinSql.pinnedAt(pin, bindings)
    const inCollection = `d.collection = ${bindings.add(collection)}`
    // The latest version is the one with the highest number: no need to ask whether it is open.
    const latest = (columns: string, recordId: string) => `
      select ${columns} from bursar.document d where ${inCollection} and d.record_id = ${recordId}
      order by d.version desc limit 1`
    const versionAt = (recordId: string): string =>
      pinned === undefined
        ? latest(ListSql.COLUMNS, recordId)
        : `select ${ListSql.COLUMNS} from (${latest("d.*", recordId)}) r
           cross join lateral (${PinSql.inForce(pinned, inCollection)}) d`
    // One record is the usual case, and its plan is the same for every record: it is made once.
    const sql =
      more.length === 0
        ? versionAt(bindings.add(first))
        : `select d.* from unnest(${bindings.add(Values.texts([first, ...more]))}::text[])
             with ordinality as asked(id, n)
           cross join lateral (${versionAt("asked.id")}) d
           order by asked.n`
    return Effect.map(lookInTurn(sessions, pin)(sql, bindings.values), ({ rows }) =>
      rows.map(versionOf)
    )
  }

/** The latest versions of records of several collections. */
const LATEST = `
select asked.n, d.* from unnest($1::text[], $2::text[]) with ordinality as asked(collection, id, n)
cross join lateral (
  select ${ListSql.COLUMNS} from bursar.document d
  where d.collection = asked.collection and d.record_id = asked.id
  order by d.version desc limit 1) d`

/** Gets the latest versions that several calls ask for, each record once. */
const gettingTogether = (sessions: Sessions) => (calls: ReadonlyArray<VersionQuery>) => {
  const places = new Map<string, number>()
  const references: Array<{ readonly collection: string; readonly recordId: string }> = []
  const placesOf = calls.map(({ collection, recordIds }) =>
    [...new Set(recordIds)].map((recordId) => {
      const key = JSON.stringify([collection, recordId])
      const place = places.get(key) ?? references.push({ collection, recordId })
      places.set(key, place)
      return place
    })
  )
  return Effect.map(
    sessions.look(LATEST, [
      Values.texts(references.map(({ collection }) => collection)),
      Values.texts(references.map(({ recordId }) => recordId))
    ]),
    ({ rows }) => {
      const found = new Map(rows.map((row) => [Values.number(row, "n"), versionOf(row)]))
      return placesOf.map((places) => places.flatMap((place) => found.get(place) ?? []))
    }
  )
}

/** A version, and where it ends if the same call has the next one. */
interface WrittenRow extends VersionRow {
  readonly toOffset: number | null
  readonly toInstant: string | null
}

/**
 * The rows that close stored versions, and after them the new versions; each of these is closed by
 * the next one of its record. Undefined where one does not follow the one before it.
 */
const closedAndOpened = (
  rows: ReadonlyArray<VersionRow>
): ReadonlyArray<WrittenRow> | undefined => {
  const closings: Array<WrittenRow> = []
  const opened: Array<WrittenRow> = []
  const places = new Map<string, number>()
  for (const row of rows) {
    const record = JSON.stringify([row.collection, row.recordId])
    const before = opened[places.get(record) ?? -1]
    const ends = { toOffset: row.fromOffset, toInstant: row.fromInstant }
    if (row.version <= row.closes) return undefined
    if (before !== undefined) {
      if (row.closes !== before.version || row.sortKey !== before.sortKey) return undefined
      opened[places.get(record)!] = { ...before, ...ends }
    } else if (row.closes > 0) {
      const closing = { body: "", filters: {}, createdAt: CLOSES }
      closings.push({ ...row, ...closing, ...ends, version: row.closes })
    }
    places.set(record, opened.push({ ...row, toOffset: null, toInstant: null }) - 1)
  }
  return [...closings, ...opened]
}

const columnsOf = (rows: ReadonlyArray<WrittenRow>): ReadonlyArray<unknown> => [
  Values.texts(rows.map((row) => row.collection)),
  Values.texts(rows.map((row) => row.recordId)),
  Values.integers(rows.map((row) => row.version)),
  Values.texts(rows.map((row) => row.sortKey)),
  Values.texts(rows.map((row) => row.body)),
  Values.texts(rows.map((row) => JSON.stringify(row.filters))),
  Values.texts(rows.map((row) => row.createdAt)),
  Values.integers(rows.map((row) => row.fromOffset)),
  Values.texts(rows.map((row) => row.fromInstant)),
  Values.integers(rows.map((row) => row.toOffset)),
  Values.texts(rows.map((row) => row.toInstant)),
  Values.integers(rows.map((row) => row.closes))
]

let cursors = 0

/** Reads by a cursor: it keeps the snapshot of its opening, and a page of rows at a time. */
const cursor = (session: Session, query: ListSql.Statement) =>
  Effect.gen(function* () {
    const name = `cursor_${++cursors}`
    yield* session.look(`declare ${name} no scroll cursor for ${query.sql}`, query.values)
    yield* Effect.addFinalizer(() => session.send(`close ${name}`, []))
    return Stream.paginate(undefined, () =>
      Effect.map(session.look(`fetch ${FETCH} from ${name}`, []), ({ rows }) => [
        rows.map(versionOf),
        rows.length === FETCH ? Option.some(undefined) : Option.none()
      ])
    )
  })

const versionOf = (row: Values.Row): StoredVersion => ({
  recordId: Values.text(row, "record_id"),
  version: Values.number(row, "version"),
  body: Values.text(row, "body"),
  sortKey: Values.text(row, "sort_key"),
  createdAt: Values.text(row, "created_at"),
  fromOffset: Values.number(row, "from_offset"),
  fromInstant: Values.text(row, "from_instant")
})
