/** Setting kind of the keys that subjects sign their requests with. */
import { Caller } from "@bursar/engine-core"
import { Codec, Instant } from "@bursar/engine-core/kernel"
import { Redacted, Result, Schema } from "effect"
import * as Kind from "./Kind.ts"

/** Key by which a caller signs its requests. */
export interface SigningKey {
  /** Id by which a request names the key. */
  readonly keyId: string
  /** Subject of the bearer tokens whose requests the key signs. */
  readonly sub: string
  readonly secret: Redacted.Redacted<Uint8Array>
  /** Start of validity, included; null: no start. */
  readonly notBefore: Instant.Instant | null
  /** End of validity, excluded; null: no end. */
  readonly notAfter: Instant.Instant | null
}

const secretBytes = { min: 32, max: 512 }

const secret = Codec.make({
  from: Schema.String,
  to: Schema.Uint8Array,
  parse: (text) => {
    const bytes = /^[A-Za-z0-9+/_-]{1,1024}={0,2}$/.test(text)
      ? new Uint8Array(Buffer.from(text, "base64"))
      : new Uint8Array(0)
    return bytes.length >= secretBytes.min && bytes.length <= secretBytes.max
      ? Result.succeed(bytes)
      : Codec.fault(`a secret is ${secretBytes.min} to ${secretBytes.max} bytes in base64`)
  },
  print: (bytes) => Buffer.from(bytes).toString("base64")
})

/** Pattern of key ids. */
export const keyIdPattern = /^[A-Za-z0-9._~-]{1,64}$/

const SigningKey = Schema.Struct({
  keyId: Schema.String.check(Schema.isPattern(keyIdPattern)),
  sub: Caller.Subject,
  secret,
  notBefore: Schema.optionalKey(Schema.NullOr(Instant.schema)),
  notAfter: Schema.optionalKey(Schema.NullOr(Instant.schema))
})

const keysMax = 1_000
/**
 * Largest number of keys that a subject has at one time: the current one, and its predecessor
 * during a change.
 */
const perSubjectMax = 2

const list = Kind.structured({
  limit:
    `a JSON list of {"keyId", "sub", "secret", "notBefore", "notAfter"}: ` +
    `at most ${keysMax}, secrets of at least 32 bytes in base64, no two of one keyId, ` +
    `and at no time more than ${perSubjectMax} of one sub`,
  schema: Schema.Array(SigningKey).check(Schema.isMaxLength(keysMax)),
  secret: "secret"
})

/** The setting's kind: an empty text is an empty list. */
export const kind: Kind.Kind<ReadonlyArray<SigningKey>> = Kind.empty([], {
  ...list,
  read: (rawValue) =>
    Result.flatMap(list.read(rawValue), (keys) =>
      judge(
        keys.map(({ secret, notBefore = null, notAfter = null, ...key }) => ({
          ...key,
          secret: Redacted.make(secret),
          notBefore,
          notAfter
        }))
      )
    )
})

const judge = (
  keys: ReadonlyArray<SigningKey>
): Result.Result<ReadonlyArray<SigningKey>, ReadonlyArray<Kind.Fault>> => {
  const faults = keys.flatMap((key, at): ReadonlyArray<Kind.Fault> => {
    const { keyId, notBefore, notAfter } = key
    if (keys.findIndex((other) => other.keyId === keyId) !== at) {
      return [{ pointer: `/${at}/keyId`, detail: "another key has this id" }]
    }
    if (notBefore !== null && notAfter !== null && notBefore >= notAfter) {
      return [{ pointer: `/${at}/notAfter`, detail: "it is not after notBefore" }]
    }
    // The number of valid keys grows only where a key becomes valid, so these instants suffice.
    const held = keys.filter(
      (other) =>
        other.sub === key.sub &&
        (notBefore === null ? other.notBefore === null : holds(other, notBefore))
    )
    return held.length > perSubjectMax
      ? [{ pointer: `/${at}`, detail: `more than ${perSubjectMax} keys of this sub hold at once` }]
      : []
  })
  return faults.length === 0 ? Result.succeed(keys) : Result.fail(faults)
}

/** Checks whether a key is valid at an instant. */
export const holds = (key: SigningKey, at: Instant.Instant): boolean =>
  (key.notBefore === null || key.notBefore <= at) && (key.notAfter === null || at < key.notAfter)
