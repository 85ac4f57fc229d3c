/** Look-ups of external accounts by the keyed hashes of their numbers. */
import { Effect, Option } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Records } from "../../records/Records.ts"
import { accountNumbers, hasher, idOf } from "./AccountNumber.ts"

/** Hash of new entries and of new lines: under the first sealing key. Without a key it is a defect. */
export const currentHasher = Effect.gen(function* () {
  const { sealingKeys } = yield* Settings
  const [key] = sealingKeys
  if (key === undefined) {
    return yield* Effect.die(new Error("the deployment has no key to hash an account number"))
  }
  return hasher(key, yield* Crypto)
})

/** Finds the entry of a number and a currency, under whichever sealing key it was hashed. */
export const findMapped = Effect.fnUntraced(function* ({
  number,
  currency
}: {
  readonly number: string
  readonly currency: string | null
}) {
  const records = yield* Records
  const crypto = yield* Crypto
  const { sealingKeys } = yield* Settings
  for (const key of sealingKeys) {
    const hash = hasher(key, crypto)(number)
    const found = yield* records.find(accountNumbers, idOf({ hash, currency }))
    if (Option.isSome(found)) return found
  }
  return Option.none()
})
