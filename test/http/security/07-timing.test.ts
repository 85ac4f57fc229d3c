/**
 * Attack 7: a secret learned from how long its comparison takes, judged by the work that is done;
 * test/long/growth-and-timing.long.ts measures the times.
 *
 * Each switched off in a copy and seen red: `timingSafeEqual` in NodeCrypto.ts, for a loop that stops
 * early (the one place); `equal` in SignedRequests.ts, for another comparison (the sources, the same
 * work); the dummy key there (the same work).
 */
import { readFileSync } from "node:fs"
import { Crypto } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { sources } from "../../architecture/sources.ts"
import { judging } from "./signature-calls.ts"

describe("the sources", () => {
  /** Names that the sources give to signatures, digests and secrets. */
  const secretly = String.raw`(?:mac|hmac|signature|digest|secret|expectedMac|authTag)`
  const compared = new RegExp(
    [
      String.raw`\b${secretly}\b[^\n;{}]{0,40}?(?:===|!==|==|!=)`,
      String.raw`(?:===|!==)\s*(?:[A-Za-z.]+\.)?${secretly}\b`,
      String.raw`\b${secretly}\b\.(?:equals|compare|startsWith|includes|indexOf)\(`,
      String.raw`Buffer\.compare\([^)]*\b${secretly}\b`
    ].join("|"),
    "i"
  )
  /** Comparisons by those words in which no secret is compared. */
  const harmless = [
    // Comparisons with `undefined` or an empty text, of lengths, and of the canonical form of
    // base64.
    /\b(?:undefined|null|typeof)\b|\.length\b|""/,
    /toString\("base64"\) === signature/,
    /\.secret === "secret"|secret === "secret"/
  ]

  it("compare what is secret by the port's `equal` alone, which takes equal lengths", () => {
    const found = sources.flatMap(({ path, text }) =>
      text
        .split("\n")
        .map((line, i) => ({ at: `${path}:${i + 1}`, line: line.replace(/\/\/.*|^\s*\*.*/, "") }))
        .filter(({ line }) => compared.test(line) && !harmless.some((one) => one.test(line)))
        .map(({ at, line }) => `${at} ${line.trim()}`)
    )
    expect(found).toEqual([])
  })

  it("would be found, were they to compare otherwise", () => {
    for (const line of [
      "if (mac === expected) return true",
      "return signature.equals(given)",
      "expected !== of.secret",
      "Buffer.compare(digest, given) === 0"
    ]) {
      expect([line, compared.test(line) && !harmless.some((one) => one.test(line))]).toEqual([
        line,
        true
      ])
    }
  })

  it("name timingSafeEqual in one place, behind a check of the lengths", () => {
    const using = sources.filter(({ text }) => /\btimingSafeEqual\(/.test(text))
    expect(using.map(({ path }) => path)).toEqual([
      "packages/storage-adapters/src/node/NodeCrypto.ts"
    ])
    const file = readFileSync(
      new URL("../../../packages/storage-adapters/src/node/NodeCrypto.ts", import.meta.url),
      "utf8"
    )
    expect(file).toContain("a.length === b.length && timingSafeEqual(a, b)")
  })
})

describe("a signature's judgement", () => {
  it("does the same work whichever byte is wrong, and for a key that is not there", () => {
    const done: Array<string | number> = []
    const counting = Layer.effect(
      Crypto,
      Effect.map(Crypto, (crypto) => ({
        ...crypto,
        hmacSha256: (...args: Parameters<typeof crypto.hmacSha256>) => {
          done.push("hmac")
          return crypto.hmacSha256(...args)
        },
        equal: (...args: Parameters<typeof crypto.equal>) => {
          done.push("equal", ...args.map(({ length }) => length))
          return crypto.equal(...args)
        }
      }))
    ).pipe(Layer.provide(NodeCrypto.layerCrypto))
    const { call, first, last } = judging(counting)
    for (const [keyId, mac] of [
      ["k-1", first],
      ["k-1", last],
      ["k-9", first]
    ] as const) {
      done.length = 0
      call(keyId, mac)()
      expect([keyId, ...done]).toEqual([keyId, "hmac", "equal", 32, 32])
    }
  })
})
