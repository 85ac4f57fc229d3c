/** Keys of a deployment: those that sign, and those that encrypt what the store keeps. */
import type * as Instant from "../kernel/Instant.ts"

/** A key that signs deliveries of webhooks, or checkpoints of the audit log, while it is valid. */
export interface SigningKey {
  readonly keyId: string
  /** Ed25519, 32 bytes. */
  readonly seed: Uint8Array
  readonly notBefore: Instant.Instant
  /** Null: it has no end. */
  readonly notAfter: Instant.Instant | null
}

/** Key of 32 bytes that encrypts stored secrets. */
export interface SealingKey {
  /** 1 to 64 of A-Z a-z 0-9 _ -. */
  readonly keyId: string
  readonly secret: Uint8Array
}

/**
 * Selects the keys that sign at an instant: all that are valid. Where each that was valid has ended, the
 * one that began last signs on, since an unsigned delivery or log is worse than an old key. A key signs
 * nothing before its `notBefore`: where none has begun, the list is empty, and whatever had to be signed
 * waits (docs/contract/webhooks.md#signatures, docs/contract/audit-log.md#checkpoints).
 */
export const signingAt = (
  keys: ReadonlyArray<SigningKey>,
  at: Instant.Instant
): ReadonlyArray<SigningKey> => {
  const begun = keys.filter(({ notBefore }) => notBefore <= at)
  const valid = begun.filter(({ notAfter }) => notAfter === null || at < notAfter)
  if (valid.length > 0) return valid
  const last = newestOf(begun)
  return last === undefined ? [] : [last]
}

/** Returns the key that began last; undefined: there is none. */
export const newestOf = (keys: ReadonlyArray<SigningKey>): SigningKey | undefined =>
  keys.toSorted((a, b) => (a.notBefore < b.notBefore ? 1 : -1))[0]
