/** HMAC-SHA-256 of keys and messages of any length, one after the other, against the one of Node. */
import { Crypto } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect } from "effect"
import * as fc from "fast-check"
import { createHmac } from "node:crypto"
import { expect, it } from "vitest"

const { hmacSha256 } = Effect.runSync(
  Effect.provide(
    Effect.map(Crypto, (crypto) => crypto),
    NodeCrypto.layerCrypto
  )
)

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** Keys up to beyond a block, and messages on both sides of what is taken as short. */
const key = fc.oneof(
  fc.uint8Array({ maxLength: 130 }),
  fc.constantFrom(0, 1, 32, 63, 64, 65, 128).map((length) => new Uint8Array(length).fill(length))
)
const message = fc.oneof(
  fc.uint8Array({ maxLength: 80 }),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.string({ unit: "grapheme", maxLength: 80 }),
  fc.constantFrom(340, 341, 342, 1_023, 1_024, 1_025).map((length) => "\u20ac".repeat(length)),
  fc.constantFrom(1_023, 1_024, 1_025).map((length) => new Uint8Array(length).fill(7))
)

it("is the same for each call, whatever was signed before under whichever key", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ key, message }), { minLength: 1, maxLength: 8 }), (calls) => {
      const answers = calls.map((call) => hmacSha256(call.key, call.message))
      // Compared once all are made: no answer lies in memory that a later call writes.
      expect(answers.map(hex)).toEqual(
        calls.map((call) => createHmac("sha256", call.key).update(call.message).digest("hex"))
      )
    }),
    { numRuns: 300 }
  )
})

it("never changes with a key that its owner overwrites: the bytes are what counts", () => {
  const bytes = new Uint8Array(32).fill(1)
  const first = hex(hmacSha256(bytes, "a"))
  bytes.fill(2)
  expect(hex(hmacSha256(bytes, "a"))).not.toBe(first)
  expect(hex(hmacSha256(new Uint8Array(32).fill(1), "a"))).toBe(first)
})
