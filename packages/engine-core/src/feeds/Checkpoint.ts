/**
 * Checkpoint: signed size and last hash of the audit log, which an outsider keeps to detect a
 * rewritten log.
 */
import { newestOf, type SigningKey, signingAt } from "../engine/Keys.ts"
import * as Base64 from "../kernel/Base64.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { Anchor } from "../ports/Anchor.ts"
import type { Crypto } from "../ports/Crypto.ts"
import * as Audit from "../records/Audit.ts"

export { Anchor } from "../ports/Anchor.ts"
export type { SigningKey, SigningKey as AuditKey } from "../engine/Keys.ts"

/** Text that a checkpoint's signature is of (docs/contract/audit-log.md#checkpoints). */
export const signedText = ({
  tenantId,
  size,
  head
}: Pick<Anchor, "tenantId" | "size" | "head">): string =>
  `bursar-audit-checkpoint-v1\n${tenantId}\n${size}\n${head}`

/** The key that signs at an instant: of those that sign, the one that began last; undefined: none. */
export const keyAt = (
  keys: ReadonlyArray<SigningKey>,
  at: Instant.Instant
): SigningKey | undefined => newestOf(signingAt(keys, at))

/**
 * Signs the head of the audit log, so that a later reader can tell that nothing before it was
 * changed.
 */
export const sign = (
  { ed25519 }: Pick<Crypto["Service"], "ed25519">,
  log: { readonly tenantId: string; readonly size: number; readonly head: string },
  key: Pick<SigningKey, "keyId" | "seed">
): Anchor => ({
  tenantId: log.tenantId,
  size: log.size,
  head: log.head,
  signature: Base64.encode(ed25519.sign(key.seed, signedText(log))),
  keyId: key.keyId
})

/** The public key of a checkpoint's signature, by the key's id. */
export type PublicKeys = (keyId: string) => Uint8Array | undefined

/** Fault of a checkpoint's signature; undefined: none. */
export const fault = (
  { ed25519 }: Pick<Crypto["Service"], "ed25519">,
  anchor: Anchor,
  publicKeys: PublicKeys
): string | undefined => {
  const publicKey = publicKeys(anchor.keyId)
  if (publicKey === undefined) return `its checkpoint is signed by a key nobody knows`
  const signature = Base64.decode(anchor.signature)
  return signature !== undefined &&
    signature.length === 64 &&
    ed25519.verify({ publicKey, data: signedText(anchor), signature })
    ? undefined
    : "its checkpoint's signature is not that of its key"
}

/** Audit record of a checkpoint. */
export const entryOf = ({ size, head, signature, keyId }: Anchor): Audit.Entry =>
  Audit.entry({
    action: "audit.checkpoint",
    stage: "succeeded",
    detail: { size, head, signature, keyId }
  })
