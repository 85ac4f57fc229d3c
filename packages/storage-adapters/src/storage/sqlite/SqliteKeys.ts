/** Idempotency keys and nonces in SQLite: one writer at a time decides which call binds a key. */
import type { KeyRow, Keys } from "@bursar/engine-core/ports"
import { Clock, Effect, Option } from "effect"
import * as Columns from "./Columns.ts"
import type { Database } from "./Database.ts"
import type { SqliteTransactions } from "./Transactions.ts"

export const make = (transactions: SqliteTransactions): Keys["Service"] => ({
  store: transactions.store,
  bind: (binding) =>
    transactions.write(({ db }) => {
      const earlier = bindingOf(db, binding)
      if (earlier !== undefined) return { isBound: false, earlier } as const
      const { scope, key, fingerprint, target, bindsUntil } = binding
      db.run(
        `insert or replace into key (scope, key, fingerprint, target, binds_until)
         values (?, ?, ?, ?, ?)`,
        [scope, key, fingerprint, target, bindsUntil]
      )
      return { isBound: true } as const
    }),
  find: (key) => transactions.read((db) => Option.fromUndefinedOr(bindingOf(db, key))),
  retarget: ({ scope, key, target }) =>
    transactions.write(({ db }) => {
      const changed = db.run("update key set target = ? where scope = ? and key = ?", [
        target,
        scope,
        key
      ])
      if (changed === 0) throw new Error("Keys.retarget: nobody holds this key")
    }),
  free: (targets) =>
    transactions.write(({ db }) =>
      [...new Set(targets)].reduce(
        (freed, target) => freed + db.run("delete from key where target = ?", [target]),
        0
      )
    ),
  useNonce: ({ scope, nonce, keep }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      transactions.write(({ db }) => {
        const used = db.run(
          "insert into nonce (scope, nonce, until) values (?, ?, ?) on conflict do nothing",
          [scope, nonce, now + keep]
        )
        return used > 0
      })
    ),
  forget: ({ before, limit }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      transactions.write(({ db }) => {
        const most = Math.max(0, limit)
        const nonces = db.run(
          `delete from nonce where (scope, nonce) in (
             select scope, nonce from nonce where until <= ? order by until limit ?)`,
          [now, most]
        )
        const keys = db.run(
          `delete from key where (scope, key) in (
             select scope, key from key where binds_until < ? order by binds_until limit ?)`,
          [before, most - nonces]
        )
        return nonces + keys
      })
    )
})

/** The row that binds a key at this instant. */
const bindingOf = (
  db: Database,
  { scope, key, now }: { readonly scope: string; readonly key: string; readonly now: string }
): KeyRow | undefined => {
  const row = db.get(
    `select scope, key, fingerprint, target, binds_until from key
     where scope = ? and key = ? and (binds_until is null or binds_until >= ?)`,
    [scope, key, now]
  )
  if (row === undefined) return undefined
  return {
    scope: Columns.text(row, "scope"),
    key: Columns.text(row, "key"),
    fingerprint: Columns.text(row, "fingerprint"),
    target: Columns.text(row, "target"),
    bindsUntil: Columns.textOrNull(row, "binds_until")
  }
}
