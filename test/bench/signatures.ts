/** Cost of judging a signed request beside its MAC and digest. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Memory from "@bursar/storage-adapters/memory"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import * as SignedRequests from "#host/middleware/SignedRequests.ts"
import { caller } from "./database.ts"
import { type Bench, computing, inTurns } from "./measure.ts"

const secret = new Uint8Array(randomBytes(32))
const body = new Uint8Array(
  Buffer.from(JSON.stringify({ subscriptionId: "s-1", amount: "x".repeat(200) }))
)
const target = "/v1/subscriptions"

const macOf = (timestamp: string, nonce: string): Buffer => {
  const digest = createHash("sha256").update(body).digest("hex")
  return createHmac("sha256", secret)
    .update(`POST\n${target}\n${timestamp}\n${nonce}\n${digest}`)
    .digest()
}

let nonces = 0
/** A nonce of its own for every request, as a client must send. */
const nonce = (): string => `bench-${String(++nonces).padStart(22, "0")}`

export const bench: Bench = async ({ rounds }) => {
  const layer = SignedRequests.layer({
    tenantId: "venue-1",
    basePath: "",
    window: 300_000,
    keys: [
      { keyId: "k", sub: "bench", secret: Redacted.make(secret), notBefore: null, notAfter: null }
    ]
  }).pipe(Layer.provide(Layer.mergeAll(Memory.layer, NodeCrypto.layer)))
  const runtime = ManagedRuntime.make(layer)
  const signed = await runtime.runPromise(
    Effect.gen(function* () {
      return yield* SignedRequests.SignedRequests
    })
  )
  const timestamp = String(Math.floor(Date.now() / 1000))

  const judge = (times: number) =>
    runtime.runSync(
      Effect.gen(function* () {
        for (let n = 0; n < times; n++) {
          const own = nonce()
          yield* signed.judge({
            caller,
            method: "POST",
            target,
            body,
            sentHeaders: {
              key: ["k"],
              timestamp: [timestamp],
              nonce: [own],
              // Both sides do what a client does, so that they differ by the judging alone.
              signature: [macOf(timestamp, own).toString("base64")]
            }
          })
        }
      })
    )
  const verify = (times: number) => {
    let right = 0
    for (let n = 0; n < times; n++) {
      const own = nonce()
      const sent = Buffer.from(macOf(timestamp, own).toString("base64"), "base64")
      if (timingSafeEqual(sent, macOf(timestamp, own))) right += 1
    }
    return right
  }
  const compared = await runtime.runPromise(
    inTurns({ rounds, ours: computing(judge), bound: computing(verify) })
  )
  await runtime.dispose()
  return [
    {
      bench: "signed and judged",
      unit: "requests/s",
      against: "the same MACs, node:crypto alone",
      goal: null,
      note: "nonces in memory; on PostgreSQL one insert more",
      ...compared
    }
  ]
}
