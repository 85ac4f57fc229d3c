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
