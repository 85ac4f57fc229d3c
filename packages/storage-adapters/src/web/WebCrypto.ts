/**
 * Crypto and Ids ports for a browser's tab or worker, and for every other program on the web platform:
 * algorithms of the noble packages, which are audited, and randomness of the platform.
 */
import { gcm } from "@noble/ciphers/aes.js"
import { equalBytes } from "@noble/ciphers/utils.js"
import { ed25519 } from "@noble/curves/ed25519.js"
import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex } from "@noble/hashes/utils.js"
import { Base32 } from "@bursar/engine-core/kernel"
import { Crypto, Ids } from "@bursar/engine-core/ports"
import { Clock, Effect, Layer } from "effect"
import * as Random from "./Random.ts"

const encoder = new TextEncoder()

const bytesOf = (data: string | Uint8Array): Uint8Array =>
  typeof data === "string" ? encoder.encode(data) : data

const keyBytes = 32
const signatureBytes = 64
const tagBytes = 16

/** Layer of the port of cryptography over a library without `node:`, for the web platform. */
export const layerCrypto = Layer.succeed(Crypto, {
  sha256: (data) => bytesToHex(sha256(bytesOf(data))),
  sha256Parts: () => {
    const hash = sha256.create()
    return { update: (bytes) => void hash.update(bytes), digest: () => bytesToHex(hash.digest()) }
  },
  hmacSha256: (key, data) => hmac(sha256, key, bytesOf(data)),
  equal: equalBytes,
  ed25519: {
    publicKey: (seed) => ed25519.getPublicKey(seed),
    sign: (seed, data) => ed25519.sign(bytesOf(data), seed),
    verify: ({ publicKey, data, signature }) =>
      publicKey.length === keyBytes &&
      signature.length === signatureBytes &&
      // By RFC 8032, as Node verifies; the library's default takes more encodings of a point.
      ed25519.verify(signature, bytesOf(data), publicKey, { zip215: false })
  },
  seal: ({ key, nonce, data }) => gcm(key, nonce).encrypt(data),
  unseal: ({ key, nonce, sealed }) => {
    if (sealed.length < tagBytes) return undefined
    const cipher = gcm(key, nonce)
    try {
      return cipher.decrypt(sealed)
    } catch {
      // Authentication failed: other bytes, another key or another nonce.
      return undefined
    }
  }
})

/** Hex digits at which the groups of a UUID begin. */
const uuidGroups = [0, 8, 12, 16, 20, 32] as const

/** A random UUID (RFC 9562, version 4); the platform's own is there in secure contexts alone. */
const uuid = (): string => {
  const bytes = Random.bytes(16)
  const hex = bytesToHex(
    bytes.map((byte, index) =>
      index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte
    )
  )
  return uuidGroups
    .slice(1)
    .map((end, index) => hex.slice(uuidGroups[index], end))
    .join("-")
}

const layerIds = Layer.succeed(Ids, {
  make: (prefix) =>
    Effect.map(
      Clock.currentTimeMillis,
      (millis) => `${prefix}_${Base32.encode(millis, Random.bytes(10))}`
    ),
  uuid: Effect.sync(uuid),
  bytes: (count) => Effect.sync(() => Random.bytes(count))
})

/** Layer of both ports. */
export const layer = Layer.merge(layerCrypto, layerIds)
