/**
 * Encryption of a chunk of a statement: the id of the key, the nonce and the ciphertext. The
 * encrypted text begins with the place of the chunk, so that a moved chunk is noticed.
 */
import type { Crypto } from "../../ports/Crypto.ts"
import type { SealingKey } from "../../engine/Keys.ts"

/** Random bytes that the seal of a chunk needs. */
export const nonceBytes = 12

interface Place {
  readonly stageId: string
  readonly chunk: number
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const placeOf = ({ chunk, stageId }: Place): Uint8Array => encoder.encode(`${stageId}/${chunk}\n`)

/** Encrypts a chunk under the first key; a deployment without a key cannot take statements: a defect. */
export const seal = (
  plainChunk: Place & { readonly bytes: Uint8Array },
  { keys, nonce }: { readonly keys: ReadonlyArray<SealingKey>; readonly nonce: Uint8Array },
  crypto: Pick<Crypto["Service"], "seal">
): Uint8Array => {
  const [key] = keys
  if (key === undefined) throw new Error("the deployment has no key to seal a statement")
  const sealed = crypto.seal({
    key: key.secret,
    nonce,
    data: concat(placeOf(plainChunk), plainChunk.bytes)
  })
  const keyId = encoder.encode(key.keyId)
  return concat(new Uint8Array([keyId.length]), keyId, nonce, sealed)
}

/** Decrypts a chunk; dies where its key is missing, or where it was changed or moved. */
export const unseal = (
  sealedChunk: Place & { readonly sealed: Uint8Array },
  { keys }: { readonly keys: ReadonlyArray<SealingKey> },
  crypto: Pick<Crypto["Service"], "unseal">
): Uint8Array => {
  const keyEnd = 1 + (sealedChunk.sealed[0] ?? 0)
  const keyId = decoder.decode(sealedChunk.sealed.subarray(1, keyEnd))
  const key = keys.find((candidate) => candidate.keyId === keyId)
  if (key === undefined) throw new Error(`the deployment has no sealing key ${keyId} any more`)
  const data = crypto.unseal({
    key: key.secret,
    nonce: sealedChunk.sealed.subarray(keyEnd, keyEnd + nonceBytes),
    sealed: sealedChunk.sealed.subarray(keyEnd + nonceBytes)
  })
  const place = placeOf(sealedChunk)
  const isOwn = data !== undefined && place.every((byte, at) => data[at] === byte)
  if (!isOwn)
    throw new Error(`chunk ${sealedChunk.chunk} of ${sealedChunk.stageId} is not what was sealed`)
  return data.subarray(place.length)
}

const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
