/**
 * Attack 7: a secret learned from how long its comparison takes.
 *
 * Each switched off in a copy and seen red: `timingSafeEqual` in NodeCrypto.ts, for a loop that stops
 * early (the one place, both timings); `equal` in SignedRequests.ts, for another comparison (the
 * sources, the signature's timing); the dummy key there (the same work).
 */
import { readFileSync } from "node:fs"
import type { Caller } from "@bursar/engine-core"
import { Crypto } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Clock, Effect, Layer, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import * as SignedRequests from "#host/middleware/SignedRequests.ts"
import { sources } from "../../architecture/sources.ts"
import { secret, sign } from "../signing.ts"

describe("the sources", () => {
  /** What is kept from an attacker, by the words the sources call it. */
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
    // Whether there is one at all, or how long it is, or its spelling by itself.
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

// The figures of the contract.
const pairs = 20_000
const significant = 4.5

/** Welch's t of two samples, without the slowest twentieth of each: a pause of the machine is no secret. */
const welch = (samples: readonly [Float64Array, Float64Array]): number => {
  const moments = samples.map((sample) => {
    const kept = sample.toSorted().subarray(0, Math.floor(sample.length * 0.95))
    const mean = kept.reduce((sum, x) => sum + x, 0) / kept.length
    const variance = kept.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (kept.length - 1)
    return { mean, error: variance / kept.length }
  })
  const [a, b] = moments
  if (a === undefined || b === undefined) throw new Error("two samples")
  return (a.mean - b.mean) / Math.sqrt(a.error + b.error)
}

/** Twenty thousand timings of each of two calls, taken in turn and in an order that changes. */
const timed = (first: () => void, last: () => void): number => {
  const calls = [first, last] as const
  const samples = [new Float64Array(pairs), new Float64Array(pairs)] as const
  for (let i = 0; i < 2_000; i++) calls[i % 2 === 0 ? 0 : 1]()
  for (let i = 0; i < pairs; i++) {
    for (const which of i % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const start = process.hrtime.bigint()
      calls[which]()
      samples[which][i] = Number(process.hrtime.bigint() - start)
    }
  }
  return Math.abs(welch(samples))
}

/** The least of six: what a busy machine feigns it does not feign six times; a leak stays. */
const leak = (measure: () => number): number => {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < 6 && least >= significant; i++) least = Math.min(least, measure())
  return least
}

const flipped = (mac: Uint8Array, at: number): Uint8Array => {
  const other = Uint8Array.from(mac)
  other[at] = (other[at] ?? 0) ^ 0x80
  return other
}

describe("timings", () => {
  it("of `equal` do not tell the first byte that differs", () => {
    const { equal } = Effect.runSync(Effect.provide(Crypto, NodeCrypto.layerCrypto))
    // Long enough that a comparison which stops early would be far beyond the noise.
    const mac = new Uint8Array(4096).map((_, i) => i)
    const [first, last] = [flipped(mac, 0), flipped(mac, 4095)]
    expect(
      leak(() =>
        timed(
          () => void equal(mac, first),
          () => void equal(mac, last)
        )
      )
    ).toBeLessThan(significant)
  })

  it("would tell it, were the bytes compared one by one: the measure sees what it looks for", () => {
    const early = (a: Uint8Array, b: Uint8Array) => {
      for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
      return true
    }
    const mac = new Uint8Array(4096).map((_, i) => i)
    const [first, last] = [flipped(mac, 0), flipped(mac, 4095)]
    expect(
      leak(() =>
        timed(
          () => void early(mac, first),
          () => void early(mac, last)
        )
      )
    ).toBeGreaterThan(significant)
  })
})

/** Judges signed requests with this cryptography, as the host does. */
const judging = (crypto: Layer.Layer<Crypto>) => {
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
    const signed: SignedRequests.Signed = {
      caller,
      method: "GET",
      target: "/v1/holders",
      body: new Uint8Array(0),
      sent: {
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

describe("a signature's judgement", () => {
  it("takes a time that does not tell the first byte that is wrong", () => {
    const { call, first, last } = judging(NodeCrypto.layerCrypto)
    expect(leak(() => timed(call("k-1", first), call("k-1", last)))).toBeLessThan(significant)
  })

  it("does the same work for a key that is not there as for one that is", () => {
    const done: Array<string> = []
    const counting = Layer.effect(
      Crypto,
      Effect.map(Crypto, (crypto) => ({
        ...crypto,
        hmacSha256: (...of: Parameters<typeof crypto.hmacSha256>) => {
          done.push("hmac")
          return crypto.hmacSha256(...of)
        },
        equal: (...of: Parameters<typeof crypto.equal>) => {
          done.push("equal")
          return crypto.equal(...of)
        }
      }))
    ).pipe(Layer.provide(NodeCrypto.layerCrypto))
    const { call, first } = judging(counting)
    for (const keyId of ["k-1", "k-9"]) {
      done.length = 0
      call(keyId, first)()
      expect([keyId, ...done]).toEqual([keyId, "hmac", "equal"])
    }
  })
})
