/**
 * Trace context: the headers that a caller may send, how the host reads them, and those that it
 * sends to others.
 */
import { Ids } from "@bursar/engine-core/ports"
import { Jwks } from "@bursar/http-host"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import * as TraceContext from "#host/wire/TraceContext.ts"
import { bearer, open, publicJwk, raw } from "./venue.ts"

const traceId = "12345678901234567890123456789012"
const spanId = "fedcba9876543210"
const sent = (
  options: { readonly version?: string; readonly flags?: string; readonly more?: string } = {}
) => `${options.version ?? "00"}-${traceId}-${spanId}-${options.flags ?? "01"}${options.more ?? ""}`
const idOf = (...headers: ReadonlyArray<string>) => TraceContext.parse(headers, [])?.traceId

describe("a traceparent", () => {
  const joined = [
    ["of today", sent()],
    ["that nobody records", sent({ flags: "00" })],
    ["with flags nobody knows", sent({ flags: "ff" })],
    ["of a later version", sent({ version: "cc" })],
    [
      "of a later version with more to it",
      sent({ version: "cc", more: "-what-the-future-will-be-like" })
    ]
  ] as const
  it.each(joined)("%s is joined", (_, header) => {
    expect(idOf(header)).toBe(traceId)
  })

  const ignored: ReadonlyArray<readonly [string, ...Array<string>]> = [
    ["twice", sent(), sent()],
    ["longer than its version is", sent({ more: "." })],
    ["longer than its version is, by a part", sent({ more: "-more" })],
    ["of version ff", sent({ version: "ff" })],
    ["of a later version, cut elsewhere", sent({ version: "cc", more: ".more" })],
    ["with a version of another length", `0${sent()}`],
    ["with letters that are no digits", sent({ version: ".0" })],
    ["in capitals", sent().replace(traceId, traceId.replaceAll("1", "A"))],
    ["with no trace", sent().replace(traceId, "0".repeat(32))],
    ["with no span", sent().replace(`-${spanId}`, `-${"0".repeat(16)}`)],
    ["with a trace too short", sent().replace(traceId, traceId.slice(1))],
    ["with a span too long", sent().replace(`-${spanId}`, `-${spanId}0`)],
    ["with flags too short", sent({ flags: "1" })],
    ["with flags too long", sent({ flags: "001" })],
    ["that is empty", ""],
    ["that is missing"]
  ]
  it.each(ignored)("%s is ignored, and its tracestate with it", (_, ...headers) => {
    expect(TraceContext.parse(headers, ["foo=1"])).toBeNull()
  })

  it("never makes anything but hex of itself, whatever was sent", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 80 }),
      fc.constant(sent({ version: "01", more: "-x" }))
    )
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 2 }),
        fc.array(fc.string(), { maxLength: 3 }),
        (parents, states) => {
          const read = TraceContext.parse(parents, states)
          if (read === null) return
          const printed = TraceContext.print({ ...read, parentId: null })
          expect(printed["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/)
          expect(printed["tracestate"] ?? "a=b").toMatch(/^[\x20-\x7E]{1,512}$/)
        }
      )
    )
  })
})

const stateOf = (...states: ReadonlyArray<string>) => TraceContext.parse([sent()], states)?.state
const entry = (key: string, length: number) => `${key}=`.padEnd(length, "v")

describe("a tracestate", () => {
  const passed = [
    ["one entry", ["foo=1"], "foo=1"],
    [
      "several headers, in their order",
      ["foo=1,bar=2", "rojo=1", "baz=3"],
      "foo=1,bar=2,rojo=1,baz=3"
    ],
    ["spaces around entries", [" foo=1 \t , \t bar=2"], "foo=1,bar=2"],
    ["empty entries and headers", ["", "foo=1,,", ",bar=2"], "foo=1,bar=2"],
    ["spaces inside a value", ["foo=a b"], "foo=a b"],
    ["a tenant's key", ["0t@system=1"], "0t@system=1"],
    ["a key that comes twice: the newest, on the left", ["foo=1,bar=2,foo=3"], "foo=1,bar=2"],
    [
      "32 entries",
      [Array.from({ length: 32 }, (_, i) => `k${i}=1`).join()],
      Array.from({ length: 32 }, (_, i) => `k${i}=1`).join()
    ],
    [
      "a key and a value of 256",
      [`${"k".repeat(256)}=${"v".repeat(255)}`],
      `${"k".repeat(256)}=${"v".repeat(255)}`
    ]
  ] as const
  it.each(passed)("is passed on: %s", (_, headers, state) => {
    expect(stateOf(...headers)).toBe(state)
  })

  const dropped = [
    ["33 entries", Array.from({ length: 33 }, (_, i) => `k${i}=1`).join()],
    ["a space in a key", "foo =1"],
    ["a capital key", "FOO=1"],
    ["a dot in a key", "foo.bar=1"],
    ["a key without a system", "foo@=1,bar=2"],
    ["a key without a tenant", "@foo=1,bar=2"],
    ["a key of two systems", "foo@bar@baz=1,bar=2"],
    ["a key beginning with a digit", "0foo=1"],
    ["a key of 257", `${"k".repeat(257)}=1`],
    ["a value of 257", `k=${"v".repeat(257)}`],
    ["an equals sign in a value", "foo=bar=baz"],
    ["no value", "foo="],
    ["no equals sign", "foo"],
    ["other than ASCII", "foo=\u00e9"],
    ["nothing", ""]
  ] as const
  it.each(dropped)("is dropped, and the trace kept: %s", (_, header) => {
    expect(stateOf(header)).toBeNull()
    expect(TraceContext.parse([sent()], [header])?.traceId).toBe(traceId)
  })

  it("of 512 characters is passed on whole", () => {
    const whole = [entry("a", 200), entry("b", 200), entry("c", 110)].join()
    expect(whole).toHaveLength(512)
    expect(stateOf(whole)).toBe(whole)
  })

  it("that is longer loses its long entries first, from the right, and whole", () => {
    const [a, b, c, d] = [entry("a", 129), entry("b", 100), entry("c", 200), entry("d", 128)]
    expect(stateOf([a, b, c, d].join())).toBe([a, b, d].join())
    const long = ["a", "b", "c", "d"].map((key) => entry(key, 250))
    expect(stateOf(long.join())).toBe(long.slice(0, 2).join())
  })

  it("that is too long without long entries loses them from the right", () => {
    const short = Array.from({ length: 6 }, (_, i) => entry(`k${i}`, 100))
    expect(stateOf(short.join())).toBe(short.slice(0, 5).join())
  })

  it("keeps of any entries a subset in order, within 512, and all of them if they fit", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 4, max: 257 }), { maxLength: 32 }), (lengths) => {
        const entries = lengths.map((length, i) =>
          entry(`k${i}`, Math.max(length, `k${i}=v`.length))
        )
        const kept = stateOf(entries.join()) ?? ""
        expect(kept.length).toBeLessThanOrEqual(512)
        const left = kept === "" ? [] : kept.split(",")
        expect(entries.filter((one) => left.includes(one))).toEqual(left)
        if (entries.join().length <= 512) expect(left).toEqual(entries)
        // An entry of at most 128 characters is dropped only after all longer ones.
        const gone = entries.filter((one) => !left.includes(one))
        if (gone.some(({ length }) => length <= 128)) {
          expect(left.every(({ length }) => length <= 128)).toBe(true)
        }
      })
    )
  })
})

describe("the engine's own part", () => {
  it.effect("is new in a trace that is joined: another span, the caller's as its parent", () =>
    Effect.gen(function* () {
      const parsed = TraceContext.parse([sent({ flags: "03" })], ["foo=1"])
      const own = yield* TraceContext.join(parsed)
      expect(own).toMatchObject({ traceId, parentId: spanId, state: "foo=1" })
      expect(own.spanId).toMatch(/^[0-9a-f]{16}$/)
      expect(own.spanId).not.toBe(spanId)
      const below = yield* TraceContext.child(own)
      expect(below).toMatchObject({ traceId, parentId: own.spanId })
      expect(TraceContext.print(below)).toEqual({
        traceparent: `00-${traceId}-${below.spanId}-03`,
        tracestate: "foo=1"
      })
    }).pipe(Effect.provide(NodeCrypto.layerIds))
  )

  it.effect("keeps of the flags whether it is recorded and whether its id is random", () =>
    Effect.gen(function* () {
      for (const [flags, kept] of [
        ["00", "00"],
        ["01", "01"],
        ["02", "02"],
        ["03", "03"],
        ["fc", "00"],
        ["ff", "03"]
      ] as const) {
        const own = yield* TraceContext.join(TraceContext.parse([sent({ flags })], []))
        expect(TraceContext.print(own)["traceparent"]?.slice(-2)).toBe(kept)
      }
    }).pipe(Effect.provide(NodeCrypto.layerIds))
  )

  it.effect("begins a trace where there is none, and no two are the same", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* TraceContext.join(null), yield* TraceContext.join(null)]
      expect(one.traceId).toMatch(/^[0-9a-f]{32}$/)
      expect(one).toMatchObject({ parentId: null, state: null })
      expect(new Set([one.traceId, two.traceId, one.spanId, two.spanId]).size).toBe(4)
    }).pipe(Effect.provide(NodeCrypto.layerIds))
  )

  it.effect("is never all zeros, whatever the source of randomness gives", () =>
    Effect.gen(function* () {
      const own = yield* TraceContext.join(null)
      expect(TraceContext.parse([TraceContext.print(own)["traceparent"] ?? ""], [])).not.toBeNull()
    }).pipe(
      Effect.provide(
        Layer.succeed(Ids, {
          make: () => Effect.succeed("id"),
          uuid: Effect.succeed("id"),
          bytes: (count) => Effect.succeed(new Uint8Array(count))
        })
      )
    )
  )
})

describe("over HTTP", () => {
  const provider = async () => {
    const receivedHeaders: Array<IncomingHttpHeaders> = []
    const server = createServer((request, response) => {
      receivedHeaders.push(request.headers)
      response.end(JSON.stringify({ keys: [publicJwk] }))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    return { seen: receivedHeaders, server, url: new URL(`http://127.0.0.1:${port}/jwks`) }
  }

  const sendTraced = async (headers: ReadonlyArray<string>) => {
    const { seen, server, url } = await provider()
    const jwks = Jwks.layerRemote(Jwks.fetchFrom(url)).pipe(Layer.provide(NodeCrypto.layerIds))
    const venue = await open({ jwks })
    const lines = [`Authorization: ${await bearer(["operator"])}`, "Connection: close", ...headers]
    const answer = await raw(
      venue.port,
      `GET /v1/holders HTTP/1.1\r\nHost: x\r\n${lines.join("\r\n")}\r\n\r\n`
    )
    await venue.close()
    server.closeAllConnections()
    server.close()
    expect(answer).toMatch(/^HTTP\/1.1 200/)
    expect(seen).toHaveLength(1)
    return seen[0] ?? {}
  }

  it("the identity provider is asked in the caller's trace, under a span of the engine's", async () => {
    const answered = await sendTraced([
      `TraceParent: \t${sent({ flags: "03" })} `,
      "tracestate: foo=1",
      "TraceState: bar=2"
    ])
    expect(answered["traceparent"]).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-03$`))
    expect(answered["traceparent"]).not.toContain(spanId)
    expect(answered["tracestate"]).toBe("foo=1,bar=2")
  })

  it("a trace that cannot be read is no reason to refuse: a new one, without the state", async () => {
    const answered = await sendTraced([
      `traceparent: ${sent()}`,
      `traceparent: ${sent()}`,
      "tracestate: foo=1"
    ])
    expect(answered["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/)
    expect(answered["traceparent"]).not.toContain(traceId)
    expect(answered["tracestate"]).toBeUndefined()
  })
})
