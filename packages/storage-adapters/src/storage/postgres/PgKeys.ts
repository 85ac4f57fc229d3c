/** Idempotency keys and nonces in PostgreSQL: a unique index decides which claim wins. */
import type { KeyRow, Keys } from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import * as Batches from "./Batches.ts"
import type { Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

/**
 * Number of tries: a key that expires between a lost claim and the read of its winner is claimed
 * again.
 */
const CLAIM_TRIES = 5

/** SQL of `instant` as the sortable text of stored instants. */
const STORED_TEXT = `to_char(instant at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '000Z'`

const CLAIM = `
insert into bursar.key as held (scope, key, fingerprint, target, binds_until)
values ($1, $2, $3, $4, $5)
on conflict (scope, key) do update
  set fingerprint = excluded.fingerprint, target = excluded.target, binds_until = excluded.binds_until
  where held.binds_until < $6
returning 1`

/**
 * Claims different keys, in one order in every transaction: each waits for an uncommitted claim of
 * its key.
 */
const CLAIM_EACH = `
insert into bursar.key as held (scope, key, fingerprint, target, binds_until)
select r.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
  as r(scope, key, fingerprint, target, binds_until)
order by r.scope, r.key
on conflict (scope, key) do update
  set fingerprint = excluded.fingerprint, target = excluded.target, binds_until = excluded.binds_until
  where held.binds_until < $6
returning scope, key`

type Claim = KeyRow & { readonly now: string }
type ClaimAnswer = Effect.Success<ReturnType<Keys["Service"]["claim"]>>

const claimed: ClaimAnswer = { claimed: true }

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

  const claimAlone = Effect.fnUntraced(function* (row: Claim) {
    const { scope, key, fingerprint, target, bindsUntil, now } = row
    for (let tries = 0; tries < CLAIM_TRIES; tries++) {
      const claim = [scope, key, fingerprint, target, bindsUntil, now]
      const { rows } = yield* sessions.ask(CLAIM, claim)
      if (rows.length > 0) return claimed
      const winner = yield* find({ scope, key, now })
      if (Option.isSome(winner)) return { claimed: false, winner: winner.value } as ClaimAnswer
    }
    return yield* Effect.die(new Error("Keys.claim: the key neither binds nor can be claimed"))
  })

  /** Claims each key once in one statement; a claim that does not win by it is made again alone. */
  const claimTogether = Effect.fnUntraced(function* (claims: ReadonlyArray<Claim>) {
    const firsts = new Map<string, number>()
    const asked = claims.filter((claim, index) => {
      const isFirst = !firsts.has(nameOf(claim))
      if (isFirst) firsts.set(nameOf(claim), index)
      return isFirst
    })
    const { rows } = yield* sessions.ask(CLAIM_EACH, [
      Values.texts(asked.map(({ scope }) => scope)),
      Values.texts(asked.map(({ key }) => key)),
      Values.texts(asked.map(({ fingerprint }) => fingerprint)),
      Values.texts(asked.map(({ target }) => target)),
      Values.texts(asked.map(({ bindsUntil }) => bindsUntil)),
      asked.map(({ now }) => now).toSorted()[0]
    ])
    const won = new Set(
      rows.map((row) =>
        firsts.get(nameOf({ scope: Values.text(row, "scope"), key: Values.text(row, "key") }))
      )
    )
    return yield* Effect.forEach(claims, (claim, index) =>
      won.has(index) ? Effect.succeed(claimed) : claimAlone(claim)
    )
  })

  return {
    claim: Batches.make(sessions.current, { alone: claimAlone, together: claimTogether }),
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
