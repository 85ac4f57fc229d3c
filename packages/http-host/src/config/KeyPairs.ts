/** Setting kinds of the deployment's signing and sealing keys. */
import type { DeliveryRules } from "@bursar/engine-core"
import { Codec, Instant } from "@bursar/engine-core/kernel"
import { Result, Schema } from "effect"
import * as Kind from "./Kind.ts"

const keyBytes = 32
const keysMax = 16

/** 32 bytes in base64: an Ed25519 seed, or a key of AES-256. */
const bytes = Codec.make({
  from: Schema.String,
  to: Schema.Uint8Array,
  parse: (text) => {
    const read = /^[A-Za-z0-9+/_-]{43}=?$/.test(text)
      ? new Uint8Array(Buffer.from(text, "base64"))
      : new Uint8Array(0)
    return read.length === keyBytes
      ? Result.succeed(read)
      : Codec.fault(`a key is ${keyBytes} bytes in base64`)
  },
  print: (read) => Buffer.from(read).toString("base64")
})

const keyId = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/))

const distinct = <A extends { readonly keyId: string }>(
  keys: ReadonlyArray<A>
): Result.Result<ReadonlyArray<A>, ReadonlyArray<Kind.Fault>> => {
  const faults = keys.flatMap(({ keyId }, at) =>
    keys.findIndex((other) => other.keyId === keyId) === at
      ? []
      : [{ pointer: `/${at}/keyId`, detail: "another key has this id" }]
  )
  return faults.length === 0 ? Result.succeed(keys) : Result.fail(faults)
}

const listOf = <A extends { readonly keyId: string }, B extends { readonly keyId: string }>({
  limit,
  schema,
  from
}: {
  readonly limit: string
  readonly schema: Schema.Codec<A, unknown>
  readonly from: (read: A) => B
}): Kind.Kind<ReadonlyArray<B>> => {
  const list = Kind.structured({
    limit: `a JSON list of ${limit}: at most ${keysMax}, no two of one keyId`,
    schema: Schema.Array(schema).check(Schema.isMaxLength(keysMax)),
    secret: "secret"
  })
  return Kind.empty([], {
    ...list,
    read: (rawValue) =>
      Result.flatMap(list.read(rawValue), (keys) => distinct(keys.map((key) => from(key))))
  })
}

/**
 * Kind of a list of signing keys: those valid now sign, and the public parts of all are published.
 */
export const signing: Kind.Kind<ReadonlyArray<DeliveryRules.SigningKey>> = listOf({
  limit: `{"keyId", "seed", "notBefore", "notAfter"} with Ed25519 seeds of ${keyBytes} bytes in base64`,
  schema: Schema.Struct({
    keyId,
    seed: bytes,
    notBefore: Instant.schema,
    notAfter: Schema.optionalKey(Schema.NullOr(Instant.schema))
  }),
  from: ({ notAfter = null, ...key }) => ({ ...key, notAfter })
})

/** Kind of a list of sealing keys: the first seals, the others still open. */
export const sealing = listOf({
  limit: `{"keyId", "secret"} with keys of ${keyBytes} bytes in base64`,
  schema: Schema.Struct({ keyId, secret: bytes }),
  from: (key) => key
})
