/**
 * Scheduled task that indexes external accounts under the first sealing key: those that were mapped
 * under an earlier key, or before accounts were indexed.
 */
import { Effect, Option, Schema } from "effect"
import { Settings } from "../../engine/Settings.ts"
import type { Task } from "../../engine/Schedule.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { byItself } from "../../records/BatchedWork.ts"
import { Records } from "../../records/Records.ts"
import * as Secrets from "../../writes/Secrets.ts"
import { accountNumbers, idOf } from "./AccountNumber.ts"
import { currentHasher } from "./AccountNumberLookups.ts"
import { type ExternalAccount, externalAccounts } from "./ExternalAccount.ts"

/** Milliseconds between turns once every account is indexed, and until the next batch. */
const every = 60_000
const goesOn = 100

/** Milliseconds until the accounts are gone through again because one of them could not be indexed. */
const missedFor = 3_600_000

const batchMax = 500

/** Progress of the task: the key that it indexes under, and the last account indexed; null: done. */
const Place = Schema.fromJsonString(
  Schema.Struct({
    keyId: Schema.String,
    after: Schema.NullOr(Schema.String),
    /** True once an account of this pass could not be indexed: another pass follows. */
    isMissing: Schema.optionalKey(Schema.Boolean)
  })
)
const decodePlace = Schema.decodeSync(Place)
const encodePlace = Schema.encodeSync(Place)

/**
 * Opens the entries of a batch of accounts that have none under the first key; false where one of them
 * could not be indexed.
 */
const indexed = Effect.fnUntraced(function* (accounts: ReadonlyArray<ExternalAccount>) {
  const records = yield* Records
  const crypto = yield* Crypto
  const { sealingKeys: keys } = yield* Settings
  const hash = yield* currentHasher
  const act = { cause: { by: "clock" } as const, now: yield* Instant.now }
  const index = Effect.fnUntraced(function* (self: ExternalAccount) {
    const { currency, externalAccountId, sealed } = self
    const number = yield* Effect.sync(() => Secrets.unseal(sealed, { keys }, crypto))
    const entry = { hash: hash(number), currency, externalAccountId }
    const found = yield* records.find(accountNumbers, idOf(entry))
    // A number that was mapped twice before the index forbade it stays with the first account.
    if (Option.isSome(found)) return
    yield* Effect.orDie(records.open(accountNumbers, entry, act))
  })
  let isWhole = true
  for (const self of accounts) {
    // A number that no key opens, such as one under a key that was removed, keeps no other one out.
    const isIndexed = yield* byItself(
      index(self),
      `the index of the account ${self.externalAccountId}`
    )
    isWhole = isWhole && isIndexed
  }
  return isWhole
})

export const indexing: Task<Records | Crypto> = {
  name: "account-numbers",
  doc: "Indexes external accounts by the hash of their numbers under the first sealing key.",
  every,
  run: Effect.fn("account-numbers")(function* (turn) {
    const records = yield* Records
    const { sealingKeys } = yield* Settings
    const [key] = sealingKeys
    if (key === undefined) return
    const place = turn.state === "" ? undefined : decodePlace(turn.state)
    const isSameKey = place?.keyId === key.keyId
    if (isSameKey && place.after === null && place.isMissing !== true) return
    const after = isSameKey ? place.after : null
    const wasMissing = after !== null && place?.isMissing === true
    const rows = yield* records.list(externalAccounts, {
      limit: batchMax,
      ...(after === null ? {} : { after })
    })
    const isDone = rows.length < batchMax
    yield* records.transactAlone(
      Effect.gen(function* () {
        yield* turn.fence
        const isWhole = yield* indexed(rows.map(({ record }) => record))
        const isMissing = wasMissing || !isWhole
        const state = encodePlace({
          keyId: key.keyId,
          after: isDone ? null : (rows.at(-1)?.sortKey ?? null),
          ...(isMissing ? { isMissing } : {})
        })
        yield* turn.next({ delay: isDone ? (isMissing ? missedFor : every) : goesOn, state })
      })
    )
  })
}
