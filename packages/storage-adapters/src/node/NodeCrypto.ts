/** Crypto and Ids ports on Node's crypto module. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  randomBytes,
  randomUUID,
  sign,
  timingSafeEqual,
  verify
} from "node:crypto"
import { Base32 } from "@bursar/engine-core/kernel"
import { Crypto, Ids } from "@bursar/engine-core/ports"
import { Clock, Effect, Layer } from "effect"

/**
 * DER prefix of an Ed25519 private key (RFC 8410) before its seed, and of a public key before its
 * bytes.
 */
const privateHead = Buffer.from("302e020100300506032b657004220420", "hex")
const publicHead = Buffer.from("302a300506032b6570032100", "hex")

const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([privateHead, seed]), format: "der", type: "pkcs8" })

const publicKeyOf = (bytes: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([publicHead, bytes]), format: "der", type: "spki" })

/** Size of the cache of parsed keys: parsing a key costs more than signing with it. */
const keysMax = 64
const remembered = (make: (bytes: Uint8Array) => KeyObject) => {
  const keysByName = new Map<string, KeyObject>()
  return (bytes: Uint8Array): KeyObject => {
    const name = Buffer.from(bytes).toString("base64")
    const found = keysByName.get(name)
    if (found !== undefined) return found
    if (keysByName.size >= keysMax) keysByName.clear()
    const key = make(bytes)
    keysByName.set(name, key)
    return key
  }
}
const privateKey = remembered(privateKeyOf)
const publicKey = remembered(publicKeyOf)
const secretKey = remembered(createSecretKey)

const tagBytes = 16

export const layerCrypto = Layer.succeed(Crypto, {
  sha256: (data) => createHash("sha256").update(data).digest("hex"),
  sha256Parts: () => {
    const hash = createHash("sha256")
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") }
  },
  hmacSha256: (key, data) => createHmac("sha256", secretKey(key)).update(data).digest(),
  equal: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  ed25519: {
    publicKey: (seed) =>
      new Uint8Array(
        createPublicKey(privateKey(seed))
          .export({ format: "der", type: "spki" })
          .subarray(publicHead.length)
      ),
    sign: (seed, data) => new Uint8Array(sign(null, Buffer.from(data), privateKey(seed))),
    verify: ({ publicKey: key, data, signature }) =>
      key.length === 32 && verify(null, Buffer.from(data), publicKey(key), signature)
  },
  seal: ({ key, nonce, data }) => {
    const cipher = createCipheriv("aes-256-gcm", secretKey(key), nonce)
    return new Uint8Array(Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()]))
  },
  unseal: ({ key, nonce, sealed }) => {
    if (sealed.length < tagBytes) return undefined
    const decipher = createDecipheriv("aes-256-gcm", secretKey(key), nonce)
    const end = sealed.length - tagBytes
    decipher.setAuthTag(sealed.subarray(end))
    const opened = decipher.update(sealed.subarray(0, end))
    try {
      return new Uint8Array(Buffer.concat([opened, decipher.final()]))
    } catch {
      // Authentication failed: other bytes, another key or another nonce.
      return undefined
    }
  }
})

export const layerIds = Layer.succeed(Ids, {
  make: (prefix) =>
    Effect.map(
      Clock.currentTimeMillis,
      (millis) => `${prefix}_${Base32.encode(millis, randomBytes(10))}`
    ),
  uuid: Effect.sync(() => randomUUID()),
  bytes: (count) => Effect.sync(() => new Uint8Array(randomBytes(count)))
})

/** Layer of both ports. */
export const layer = Layer.merge(layerCrypto, layerIds)
