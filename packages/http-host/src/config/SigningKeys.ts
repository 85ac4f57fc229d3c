/** Setting kind of the keys that subjects sign their requests with. */
import { Codec, Instant } from "@bursar/engine-core/kernel"
import { Redacted, Result, Schema } from "effect"
import * as Kind from "./Kind.ts"

export interface SigningKey {
  /** What a request calls the key by. */
  readonly keyId: string
  /** The bearer's subject whose requests it signs. */
  readonly sub: string
  readonly secret: Redacted.Redacted<Uint8Array>
  /** The key holds from here on; null: always. */
  readonly notBefore: Instant.Instant | null
  /** The key holds until here, and no longer; null: for good. */
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

/** A key's id as a request may carry it. */
export const keyIdPattern = /^[A-Za-z0-9._~-]{1,64}$/

const SigningKey = Schema.Struct({
  keyId: Schema.String.check(Schema.isPattern(keyIdPattern)),
  sub: Schema.String.check(Schema.isPattern(/^[\x20-\x7E]{1,256}$/)),
  secret,
  notBefore: Schema.optionalKey(Schema.NullOr(Instant.schema)),
  notAfter: Schema.optionalKey(Schema.NullOr(Instant.schema))
})

const keysMax = 1_000
/** One to sign with, and one that is being taken over from. */
const perSubjectMax = 2

const list = Kind.structured({
  limit:
    `a JSON list of {"keyId", "sub", "secret", "notBefore", "notAfter"}: ` +
    `at most ${keysMax}, secrets of at least 32 bytes in base64, no two of one keyId, ` +
    `and at no time more than ${perSubjectMax} of one sub`,
  schema: Schema.Array(SigningKey).check(Schema.isMaxLength(keysMax)),
  secret: "secret"
})

/** The setting: an empty text is an empty list. */
export const kind: Kind.Kind<ReadonlyArray<SigningKey>> = Kind.empty([], {
  ...list,
  read: (given) =>
    Result.flatMap(list.read(given), (keys) =>
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
    // Where too many hold at once, too many hold when the last of them begins to.
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

/** Whether a key holds at an instant. */
export const holds = (key: SigningKey, at: Instant.Instant): boolean =>
  (key.notBefore === null || key.notBefore <= at) && (key.notAfter === null || at < key.notAfter)
