/**
 * Times of reading and comparing: growth with the length of a text, and whether a comparison's time
 * shows the first byte that differs. Only here is a time judged, so only the long run has these;
 * security tests 7, 12 and 20 judge sources, expressions and the work that is done.
 */
import { RecordId } from "@bursar/engine-core/kernel"
import { Crypto } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as Cursor from "#core/reads/Cursor.ts"
import { table } from "#host/api/Route.ts"
import * as RawPath from "#host/middleware/RawPath.ts"
import { growth } from "./growth.ts"
import { flipped, judging } from "../http/security/signature-calls.ts"
import { tables } from "../http/tables.ts"

/** Timings a sample, and the t from which two samples differ. */
const pairs = 20_000
const significant = 4.5

/** Welch's t of two samples, without the slowest twentieth of each, which are pauses of the machine. */
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

/** Welch's t of twenty thousand timings of each of two calls, taken in turn and in an order that changes. */
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
  return welch(samples)
}

/**
 * Least |t| of up to twenty measures: noise of a busy machine is not in all of them, a leak is. Each
 * measure times the two calls in both places and takes half of the difference, in units of its own
 * deviation: what the compiler or the memory does for the first place and not for the second falls
 * out, a byte that shows does not.
 */
const leak = (measure: () => readonly [first: () => void, last: () => void]): number => {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < 20 && least >= significant; i++) {
    const [first, last] = measure()
    least = Math.min(least, Math.abs(timed(first, last) - timed(last, first)) / Math.SQRT2)
  }
  return least
}

describe("timings", () => {
  it("of `equal` do not tell the first byte that differs", () => {
    const { equal } = Effect.runSync(Effect.provide(Crypto, NodeCrypto.layerCrypto))
    // Long enough that a comparison which stops early would be far beyond the noise.
    const mac = new Uint8Array(4096).map((_, i) => i)
    expect(
      leak(() => {
        // Copies of each measure's own: where one lies in memory would be a difference that stays.
        const [first, last] = [flipped(mac, 0), flipped(mac, 4095)]
        return [() => void equal(mac, first), () => void equal(mac, last)]
      })
    ).toBeLessThan(significant)
  })

  it("would tell it, were the bytes compared one by one: the measure sees what it looks for", () => {
    const early = (a: Uint8Array, b: Uint8Array) => {
      for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
      return true
    }
    const mac = new Uint8Array(4096).map((_, i) => i)
    const [first, last] = [flipped(mac, 0), flipped(mac, 4095)]
    expect(leak(() => [() => void early(mac, first), () => void early(mac, last)])).toBeGreaterThan(
      significant
    )
  })

  it("of a signature's judgement do not tell the first byte that is wrong", () => {
    const { call, first, last } = judging(NodeCrypto.layerCrypto)
    expect(leak(() => [call("k-1", first), call("k-1", last)])).toBeLessThan(significant)
  })
})

/** Texts that make a backtracking reader go back: nearly right, wrong at the very end. */
const nasty: ReadonlyArray<(length: number) => string> = [
  "a",
  "a-",
  "~.",
  "0",
  "A_",
  "=",
  "-",
  "%",
  "\0",
  "é",
  ":"
].flatMap((part) => {
  const long = (length: number) => part.repeat(length).slice(0, length)
  return [
    long,
    (length: number) => `${long(length).slice(1)}!`,
    (length: number) => `a${long(length).slice(2)}:`
  ]
})

/** Texts for which twice the length costs more than a quadratic reader would pay. */
const steep = (length: number, read: (text: string) => void): ReadonlyArray<string> =>
  nasty.filter((text) => growth({ text, length, read }) > 5).map((text) => text(20))

describe("the work of reading", () => {
  it("an id grows with its length up to 128 characters, and no faster", () => {
    expect(steep(128, (text) => void RecordId.parse(text))).toEqual([])
  })

  const crypto = Effect.runSync(Effect.provide(Effect.service(Crypto), NodeCrypto.layer))
  const cursors = Cursor.make(crypto, [{ id: 0, secret: new Uint8Array(32) }])
  const bound = { list: "holders.list", binding: "x".repeat(1000), count: 1 }

  it("a cursor grows with its length up to 1,536 characters, and no faster", () => {
    expect(steep(1_536, (text) => void cursors.read({ ...bound, text }))).toEqual([])
  })

  it("a path grows with its length, and no faster", () => {
    const find = RawPath.compile(table(tables), ({ path }) => path)
    const texts = [
      (length: number) => `/${"a/".repeat(length / 2)}`,
      (length: number) => `/v1/holders/${"%41".repeat(length / 3)}`,
      (length: number) => `/v1/holders/${":".repeat(length)}`
    ]
    const read = (text: string) => void find("GET", text)
    for (const text of texts) expect(growth({ text, length: 8_000, read })).toBeLessThan(3)
  })
})
