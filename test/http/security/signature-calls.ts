/** Calls with a wrong signature, judged by SignedRequests alone, without a listener. */
import type { Caller } from "@bursar/engine-core"
import type { Crypto } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Clock, Effect, Layer, Redacted } from "effect"
import * as SignedRequests from "#host/middleware/SignedRequests.ts"
import { secret, sign } from "../signing.ts"

/** A copy whose byte at `at` is another. */
export const flipped = (mac: Uint8Array, at: number): Uint8Array => {
  const other = Uint8Array.from(mac)
  other[at] = (other[at] ?? 0) ^ 0x80
  return other
}

/** Judges signed requests with this cryptography, as the host does. */
export const judging = (crypto: Layer.Layer<Crypto>) => {
  const caller: Caller.Caller = {
    sub: "svc-1",
    name: null,
    email: null,
    roles: [],
    holderId: null,
    party: null
  }
  const layer = SignedRequests.layer({
    tenantId: "venue-1",
    window: 300_000,
    basePath: "",
    keys: [
      {
        keyId: "k-1",
        sub: "svc-1",
        secret: Redacted.make(new Uint8Array(secret)),
        notBefore: null,
        notAfter: null
      }
    ]
  }).pipe(Layer.provide(Memory.layer), Layer.provide(crypto), Layer.provide(NodeCrypto.layer))
  const { judge } = Effect.runSync(
    Effect.scoped(
      Effect.flatMap(Layer.build(layer), (context) =>
        Effect.provideContext(SignedRequests.SignedRequests, context)
      )
    )
  )
  const now = Effect.runSync(Clock.currentTimeMillis)
  const good = sign({ method: "GET", target: "/v1/holders", timestamp: Math.floor(now / 1000) })
  const right = Buffer.from(good["x-signature"] ?? "", "base64")
  /** A call of this key with a wrong signature. */
  const call = (keyId: string, mac: Uint8Array) => {
    const signed: SignedRequests.SignedParts = {
      caller,
      method: "GET",
      target: "/v1/holders",
      body: new Uint8Array(0),
      sentHeaders: {
        key: [keyId],
        timestamp: [good["x-signature-timestamp"] ?? ""],
        nonce: [good["x-signature-nonce"] ?? ""],
        signature: [Buffer.from(mac).toString("base64")]
      }
    }
    return () => void Effect.runSync(Effect.flip(judge(signed)))
  }
  return { call, first: flipped(right, 0), last: flipped(right, 31) }
}
