/** Crypto and Ids ports on Node's crypto module, and files that outlive a loss of power. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  hash,
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

export * as DurableFiles from "./DurableFiles.ts"

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
const remembered = <K>(make: (bytes: Uint8Array) => K) => {
  const keysByName = new Map<string, K>()
  return (bytes: Uint8Array): K => {
    const name = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
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

/** Bytes of a block of SHA-256, and of its digest. */
const blockBytes = 64
const digestBytes = 32

/** Longest message of the fast path of `hmacSha256`, in bytes. */
const shortMax = 1_024

/** Inner and outer pads of a key, as HMAC (RFC 2104) defines them, each with room for what follows it. */
interface Pads {
  readonly inner: Buffer
  readonly outer: Buffer
}

const pads = remembered((key): Pads => {
  const block = Buffer.alloc(blockBytes)
  block.set(key.length > blockBytes ? createHash("sha256").update(key).digest() : key)
  const padded = (by: number, room: number) =>
    Buffer.concat([block.map((byte) => byte ^ by), Buffer.alloc(room)])
  return { inner: padded(0x36, shortMax), outer: padded(0x5c, digestBytes) }
})

/**
 * HMAC-SHA-256 of a short message by two one-shot digests: a `Hmac` object of Node costs three times as
 * much, of which each line of a statement would need one.
 */
const hmacOfShort = (key: Uint8Array, data: string | Uint8Array): Uint8Array => {
  const { inner, outer } = pads(key)
  let length = data.length
  if (typeof data === "string") length = inner.write(data, blockBytes, "utf8")
  else inner.set(data, blockBytes)
  // Latin-1 ("binary") has a character for each byte, and no buffer to allocate.
  outer.write(
    hash("sha256", inner.subarray(0, blockBytes + length), "binary"),
    blockBytes,
    "latin1"
  )
  return Buffer.from(hash("sha256", outer, "binary"), "latin1")
}

/** Largest number of bytes of a UTF-16 unit in UTF-8. */
const unitBytes = 3

const tagBytes = 16

/** Hashes and signatures by Node's own crypto. */
export const layerCrypto = Layer.succeed(Crypto, {
  sha256: (data) => createHash("sha256").update(data).digest("hex"),
  sha256Parts: () => {
    const hash = createHash("sha256")
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") }
  },
  hmacSha256: (key, data) =>
    data.length * (typeof data === "string" ? unitBytes : 1) <= shortMax
      ? hmacOfShort(key, data)
      : createHmac("sha256", secretKey(key)).update(data).digest(),
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

/** Identifiers by Node's own source of randomness. */
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
