/**
 * Index of the numbers of external accounts by keyed hash: an account is its number and currency, and
 * each is mapped once (docs/domain/statements.md#accounts).
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import { plainNumber } from "../../kernel/Iban.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import * as Field from "../../templates/Field.ts"
import type { SealingKey } from "../../engine/Keys.ts"

const { String: Text, Struct } = Schema

export const AccountNumber = Struct({
  /** Keyed hash of the number, with the id of its key in front. */
  hash: Text,
  /** Currency of a cash account that names one. */
  currency: Field.optional(Text),
  externalAccountId: Text
})
export type AccountNumber = typeof AccountNumber.Type

/** Id of the entry of a number and a currency. */
export const idOf = ({ hash, currency }: Pick<AccountNumber, "hash" | "currency">): string =>
  `${hash}/${currency ?? ""}`

export const accountNumbers = Collection.define<AccountNumber, never>("account-number", {
  doc: "The keyed hash of an external account's number, by which lines of statements find the account.",
  id: idOf,
  record: AccountNumber,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "engine",
  filters: {
    hash: ({ hash }) => hash,
    externalAccountId: ({ externalAccountId }) => externalAccountId
  }
})

/** Digits of each byte: the core takes no encodings of the library, which its root does not export. */
const hexDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

const hexOf = (bytes: Uint8Array): string => {
  let text = ""
  for (const byte of bytes) text += hexDigits[byte]
  return text
}

/**
 * Makes the keyed hash of account numbers under a sealing key: HMAC-SHA-256 under a key of its own that
 * is derived from the sealing key. Account numbers are so few that a plain hash could be reversed by
 * trying all.
 */
export const hasher = (
  { keyId, secret }: SealingKey,
  { hmacSha256 }: Pick<Crypto["Service"], "hmacSha256">
): ((number: string) => string) => {
  const key = hmacSha256(secret, "bursar account number")
  return (number) => `${keyId}.${hexOf(hmacSha256(key, plainNumber(number)))}`
}
