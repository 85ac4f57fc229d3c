/** Digests and keyed digests: pure functions that the platform does better than we would. */
import { Context } from "effect"

export class Crypto extends Context.Service<
  Crypto,
  {
    /** Lower-case hex SHA-256 of the UTF-8 bytes of a text, or of bytes. */
    readonly sha256: (data: string | Uint8Array) => string
    readonly hmacSha256: (key: Uint8Array, data: string | Uint8Array) => Uint8Array
    /** MUST take the same time whatever the bytes; false on unequal lengths. */
    readonly equal: (a: Uint8Array, b: Uint8Array) => boolean
  }
>()("@bursar/engine-core/ports/Crypto") {}
