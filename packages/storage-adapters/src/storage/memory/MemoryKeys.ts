/** Idempotency keys and nonces in memory. */
import { Clock, Effect, Option } from "effect"
import type { KeyRow, Keys } from "@bursar/engine-core/ports"
import type { Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"

export const make = (transactions: Transactions): Keys["Service"] => {
  const keys = new Map<string, KeyRow>()
  /** Expiry of each nonce in milliseconds. */
  const nonces = new Map<string, number>()

  /** The row that binds a key at this instant. */
  const bindingOf = ({
    scope,
    key,
    now
  }: {
    scope: string
    key: string
    now: string
  }): KeyRow | undefined => {
    const row = keys.get(name(scope, key))
    return row !== undefined && lapsed(row, now) ? undefined : row
  }

  return {
    store: transactions.store,
    bind: (binding) =>
      transactions.write((transaction) => {
        const earlier = bindingOf(binding)
        if (earlier !== undefined) return { isBound: false, earlier } as const
        const { scope, key, fingerprint, target, bindsUntil } = binding
        Undo.set(transaction, keys, name(scope, key), {
          scope,
          key,
          fingerprint,
          target,
          bindsUntil
        })
        return { isBound: true } as const
      }),
    find: (key) => transactions.read(() => Option.fromUndefinedOr(bindingOf(key))),
    retarget: ({ scope, key, target }) =>
      transactions.write((transaction) => {
        const row = keys.get(name(scope, key))
        if (row === undefined) throw new Error("Keys.retarget: nobody holds this key")
        Undo.set(transaction, keys, name(scope, key), { ...row, target })
      }),
    free: (targets) =>
      transactions.write((transaction) => {
        const named = new Set(targets)
        let freed = 0
        for (const [key, row] of keys) {
          if (!named.has(row.target)) continue
          Undo.remove(transaction, keys, key)
          freed += 1
        }
        return freed
      }),
    useNonce: ({ scope, nonce, keep }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        transactions.write((transaction) => {
          if (nonces.has(name(scope, nonce))) return false
          Undo.set(transaction, nonces, name(scope, nonce), now + keep)
          return true
        })
      ),
    forget: ({ before, limit }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        transactions.write((transaction) => {
          let forgotten = 0
          for (const [nonce, until] of nonces) {
            if (forgotten >= limit) return forgotten
            if (until > now) continue
            Undo.remove(transaction, nonces, nonce)
            forgotten += 1
          }
          for (const [key, row] of keys) {
            if (forgotten >= limit) return forgotten
            if (!lapsed(row, before)) continue
            Undo.remove(transaction, keys, key)
            forgotten += 1
          }
          return forgotten
        })
      )
  }
}

const name = (scope: string, key: string): string => `${scope}\u0000${key}`

const lapsed = (row: KeyRow, now: string): boolean =>
  row.bindsUntil !== null && row.bindsUntil < now
