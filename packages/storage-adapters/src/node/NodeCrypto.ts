/** Randomness and digests from Node: what an embedder gives the core unless it has its own. */
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto"
import { Base32 } from "@bursar/engine-core/kernel"
import { Crypto, Ids } from "@bursar/engine-core/ports"
import { Clock, Effect, Layer } from "effect"

export const layerCrypto = Layer.succeed(Crypto, {
  sha256: (data) => createHash("sha256").update(data).digest("hex"),
  hmacSha256: (key, data) => createHmac("sha256", key).update(data).digest(),
  equal: (a, b) => a.length === b.length && timingSafeEqual(a, b)
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

/** Both ports. */
export const layer = Layer.merge(layerCrypto, layerIds)
