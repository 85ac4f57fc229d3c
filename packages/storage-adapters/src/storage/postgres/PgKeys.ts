/** Idempotency keys and nonces in PostgreSQL: a unique index decides which call binds a key. */
import type { KeyRow, Keys } from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import * as Batches from "./Batches.ts"
import type { Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

/**
 * Number of tries: a key whose earlier binding expires before it is read is to be bound after all.
 */
const BIND_TRIES = 5

/** SQL of `instant` as the sortable text of stored instants. */
const STORED_TEXT = `to_char(instant at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '000Z'`

const BIND = `
insert into bursar.key as held (scope, key, fingerprint, target, binds_until)
values ($1, $2, $3, $4, $5)
on conflict (scope, key) do update
  set fingerprint = excluded.fingerprint, target = excluded.target, binds_until = excluded.binds_until
  where held.binds_until < $6
returning 1`

/**
 * Binds different keys, in one order in every transaction: each waits for an uncommitted binding of
 * its key.
 */
const BIND_EACH = `
insert into bursar.key as held (scope, key, fingerprint, target, binds_until)
select r.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
  as r(scope, key, fingerprint, target, binds_until)
order by r.scope, r.key
on conflict (scope, key) do update
  set fingerprint = excluded.fingerprint, target = excluded.target, binds_until = excluded.binds_until
  where held.binds_until < $6
returning scope, key`

type Binding = KeyRow & { readonly now: string }
type BindAnswer = Effect.Success<ReturnType<Keys["Service"]["bind"]>>

const bound: BindAnswer = { isBound: true }

const nameOf = ({ scope, key }: Pick<KeyRow, "scope" | "key">): string =>
  JSON.stringify([scope, key])

export const make = (sessions: Sessions): Keys["Service"] => {
  const find: Keys["Service"]["find"] = ({ scope, key, now }) =>
    Effect.map(
      sessions.look(
        `select scope, key, fingerprint, target, binds_until from bursar.key
         where scope = $1 and key = $2 and (binds_until is null or binds_until >= $3)`,
        [scope, key, now]
      ),
      ({ rows }) => Option.map(Option.fromUndefinedOr(rows[0]), keyOf)
    )

  const bindAlone = Effect.fnUntraced(function* (row: Binding) {
    const { scope, key, fingerprint, target, bindsUntil, now } = row
    for (let tries = 0; tries < BIND_TRIES; tries++) {
      const values = [scope, key, fingerprint, target, bindsUntil, now]
      const { rows } = yield* sessions.ask(BIND, values)
      if (rows.length > 0) return bound
      const earlier = yield* find({ scope, key, now })
      if (Option.isSome(earlier)) return { isBound: false, earlier: earlier.value } as BindAnswer
    }
    return yield* Effect.die(new Error("Keys.bind: the key neither binds nor can be bound"))
  })

  /** Binds each key once in one statement; a key that it does not bind is tried again alone. */
  const bindTogether = Effect.fnUntraced(function* (bindings: ReadonlyArray<Binding>) {
    const firsts = new Map<string, number>()
    const firstRows = bindings.filter((binding, index) => {
      const isFirst = !firsts.has(nameOf(binding))
      if (isFirst) firsts.set(nameOf(binding), index)
      return isFirst
    })
    const { rows } = yield* sessions.ask(BIND_EACH, [
      Values.texts(firstRows.map(({ scope }) => scope)),
      Values.texts(firstRows.map(({ key }) => key)),
      Values.texts(firstRows.map(({ fingerprint }) => fingerprint)),
      Values.texts(firstRows.map(({ target }) => target)),
      Values.texts(firstRows.map(({ bindsUntil }) => bindsUntil)),
      firstRows.map(({ now }) => now).toSorted()[0]
    ])
    const boundIndexes = new Set(
      rows.map((row) =>
        firsts.get(nameOf({ scope: Values.text(row, "scope"), key: Values.text(row, "key") }))
      )
    )
    return yield* Effect.forEach(bindings, (binding, index) =>
      boundIndexes.has(index) ? Effect.succeed(bound) : bindAlone(binding)
    )
  })

  return {
    store: sessions.store,
    bind: Batches.make(sessions.current, { alone: bindAlone, together: bindTogether }),
    find,
    retarget: ({ scope, key, target }) =>
      sessions.send(
        `with moved as (
           update bursar.key set target = $3 where scope = $1 and key = $2 returning 1
         )
         select case when exists (select from moved) then true
           else bursar.defect('Keys.retarget: nobody holds this key') end`,
        [scope, key, target]
      ),
    free: (targets) =>
      targets.length === 0
        ? Effect.succeed(0)
        : Effect.map(
            sessions.ask(
              `with gone as (
                 delete from bursar.key where target = any ($1::text[]) returning 1
               )
               select count(*) as gone from gone`,
              [Values.texts(targets)]
            ),
            ({ rows }) => Values.number(rows[0] ?? {}, "gone")
          ),
    useNonce: ({ scope, nonce, keep }) =>
      Effect.map(
        sessions.ask(
          `insert into bursar.nonce (scope, nonce, until)
           select $1, $2, ${STORED_TEXT}
           from (select clock_timestamp() + $3::int8 * interval '1 millisecond' as instant) clock
           on conflict do nothing returning 1`,
          [scope, nonce, String(keep)]
        ),
        ({ rows }) => rows.length > 0
      ),
    forget: ({ before, limit }) =>
      Effect.map(
        sessions.ask(
          `with old_nonces as (
             delete from bursar.nonce where (scope, nonce) in (
               select scope, nonce from bursar.nonce
               where until <= (select ${STORED_TEXT} from (select clock_timestamp() as instant) clock)
               order by until limit $2::int8)
             returning 1
           ), nonces as (select count(*) as gone from old_nonces),
           old_keys as (
             delete from bursar.key where (scope, key) in (
               select scope, key from bursar.key where binds_until < $1 order by binds_until
               limit greatest($2::int8 - (select gone from nonces), 0))
             returning 1
           )
           select (select gone from nonces) + (select count(*) from old_keys) as gone`,
          [before, String(limit)]
        ),
        ({ rows }) => Values.number(rows[0] ?? {}, "gone")
      )
  }
}

const keyOf = (row: Values.Row): KeyRow => ({
  scope: Values.text(row, "scope"),
  key: Values.text(row, "key"),
  fingerprint: Values.text(row, "fingerprint"),
  target: Values.text(row, "target"),
  bindsUntil: Values.textOrNull(row, "binds_until")
})
