/** The Crypto and Ids ports on Node and on the web platform answer alike, to published vectors and to each other. */
import { cryptoSuite } from "@bursar/storage-adapters/conformance"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as WebCrypto from "@bursar/storage-adapters/web"
import { Crypto } from "@bursar/engine-core/ports"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"

cryptoSuite("cryptography of Node", NodeCrypto.layer)
cryptoSuite("cryptography of the web platform", WebCrypto.layer)

const both = Effect.all([
  Effect.provide(Crypto, NodeCrypto.layerCrypto),
  Effect.provide(Crypto, WebCrypto.layerCrypto)
])

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

describe("the two", () => {
  it.effect("never would answer differently", () =>
    Effect.map(both, ([node, web]) =>
      fc.assert(
        fc.property(
          bytes(32),
          bytes(12),
          fc.uint8Array({ maxLength: 300 }),
          fc.string({ unit: "binary", maxLength: 300 }),
          (key, nonce, data, text) => {
            expect(web.sha256(text)).toBe(node.sha256(text))
            expect(web.sha256(data)).toBe(node.sha256(data))
            expect([...web.hmacSha256(data, text)]).toEqual([...node.hmacSha256(data, text)])
            const publicKey = web.ed25519.publicKey(key)
            expect([...publicKey]).toEqual([...node.ed25519.publicKey(key)])
            const signature = web.ed25519.sign(key, text)
            expect([...signature]).toEqual([...node.ed25519.sign(key, text)])
            expect(node.ed25519.verify({ publicKey, data: text, signature })).toBe(true)
            const sealed = web.seal({ key, nonce, data })
            expect([...sealed]).toEqual([...node.seal({ key, nonce, data })])
            expect([...(node.unseal({ key, nonce, sealed }) ?? [])]).toEqual([...data])
          }
        ),
        { numRuns: 50 }
      )
    )
  )
})
