/** Port: digests, signatures and authenticated encryption, as pure functions of the platform. */
import { Context } from "effect"

/** Port of hashes, signatures and comparisons that take the same time for every input. */
export class Crypto extends Context.Service<
  Crypto,
  {
    /** Lower-case hex SHA-256 of the UTF-8 bytes of a text, or of bytes. */
    readonly sha256: (data: string | Uint8Array) => string
    /** SHA-256 of bytes that come in parts; `digest` ends it, and answers as `sha256` does. */
    readonly sha256Parts: () => {
      readonly update: (bytes: Uint8Array) => void
      readonly digest: () => string
    }
    /** HMAC-SHA-256 (RFC 2104) of the UTF-8 bytes of a text, or of bytes. */
    readonly hmacSha256: (key: Uint8Array, data: string | Uint8Array) => Uint8Array
    /** MUST take a time that does not depend on the bytes; false on unequal lengths. */
    readonly equal: (a: Uint8Array, b: Uint8Array) => boolean
    /** Ed25519 (RFC 8032): seeds and public keys of 32 bytes, signatures of 64. */
    readonly ed25519: {
      readonly publicKey: (seed: Uint8Array) => Uint8Array
      readonly sign: (seed: Uint8Array, data: string | Uint8Array) => Uint8Array
      readonly verify: (message: {
        readonly publicKey: Uint8Array
        readonly data: string | Uint8Array
        readonly signature: Uint8Array
      }) => boolean
    }
    /** AES-256-GCM: a key of 32 bytes, a nonce of 12 that MUST be new for every seal, the tag last. */
    readonly seal: (plaintext: {
      readonly key: Uint8Array
      readonly nonce: Uint8Array
      readonly data: Uint8Array
    }) => Uint8Array
    /** Decrypts sealed bytes; undefined when key, nonce or bytes are not those of the seal. */
    readonly unseal: (ciphertext: {
      readonly key: Uint8Array
      readonly nonce: Uint8Array
      readonly sealed: Uint8Array
    }) => Uint8Array | undefined
  }
>()("@bursar/engine-core/ports/Crypto") {}
