/** Signed requests: what is signed, who must sign, and in which order a signature is judged. */
import type { Caller } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Keys, StorageUnavailable } from "@bursar/engine-core/ports"
import { HostConfig } from "@bursar/http-host"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { inspect } from "node:util"
import type { SigningKey } from "#host/config/SigningKeys.ts"
import * as SignedRequests from "#host/middleware/SignedRequests.ts"
import { freshNonce, secret, sign, type Signing } from "./signing.ts"

const key = (key: Partial<SigningKey> & { readonly keyId: string }): SigningKey => ({
  sub: "svc-1",
  secret: Redacted.make(new Uint8Array(secret)),
  notBefore: null,
  notAfter: null,
  ...key
})

const caller = (sub: string): Caller.Caller => ({
  sub,
  name: null,
  email: null,
  roles: [],
  holderId: null,
  party: null
})

const judging = (
  keys: ReadonlyArray<SigningKey>,
  options: {
    readonly window?: number
    readonly basePath?: string
    readonly nonces?: Layer.Layer<Keys>
  } = {}
) =>
  SignedRequests.layer({
    tenantId: "venue-1",
    keys,
    window: options.window ?? 300_000,
    basePath: options.basePath ?? ""
  }).pipe(Layer.provide(options.nonces ?? Memory.layer), Layer.provide(NodeCrypto.layer))

type Headers = Readonly<Record<string, string | ReadonlyArray<string>>>

const valuesOf = (headers: Headers, name: string): ReadonlyArray<string> => {
  const value = headers[name]
  return value === undefined ? [] : typeof value === "string" ? [value] : value
}

/** The answer to a request: the key's id, null where it need not be signed, or the slug. */
const judge = (request: {
  readonly method: string
  readonly target: string
  readonly body?: string
  readonly sub?: string
  readonly headers: Headers
}) =>
  Effect.flatMap(SignedRequests.SignedRequests, ({ judge }) =>
    Effect.match(
      judge({
        caller: caller(request.sub ?? "svc-1"),
        method: request.method,
        target: request.target,
        body: Buffer.from(request.body ?? ""),
        sentHeaders: {
          key: valuesOf(request.headers, "x-signature-key"),
          timestamp: valuesOf(request.headers, "x-signature-timestamp"),
          nonce: valuesOf(request.headers, "x-signature-nonce"),
          signature: valuesOf(request.headers, "x-signature")
        }
      }),
      { onFailure: ({ slug }) => slug, onSuccess: (keyId) => keyId }
    )
  )

const epoch = 1_767_225_600

const vectors = [
  {
    method: "POST",
    target: "/v1/subscriptions/sub-1:settle?dry=a%20b",
    nonce: "AAECAwQFBgcICQoLDA0ODw",
    body: '{"actionKey":"ak_1","reason":null}',
    hash: "2783d9ec6f38e2e2f32a0f7e9dfcac602bdb902f6268bacf4b710bfaf41eefce",
    mac: "lk2eGc+DfGXjm+aMTl9sY0FQJaMz5X//cxDF6e7Siso="
  },
  {
    method: "GET",
    target: "/v1/instruments?limit=2&after=abc",
    nonce: "EBESExQVFhcYGRobHB0eHw",
    body: "",
    hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    mac: "m2NLn44y575Q2OAjoz1Y+2qv/RxFPlhQMjXtP14L7uQ="
  }
] as const

describe("the contract's vectors", () => {
  for (const { mac, method, target, nonce, body } of vectors) {
    it.effect(`${method} ${target} is taken as it stands in the contract`, () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(epoch * 1000)
        const headers = {
          "x-signature-key": "k-1",
          "x-signature-timestamp": String(epoch),
          "x-signature-nonce": nonce,
          "x-signature": mac
        }
        expect(yield* judge({ method, target, body, headers })).toBe("k-1")
      }).pipe(Effect.provide(judging([key({ keyId: "k-1" })])))
    )
  }

  const tools = ["sha256sum", "openssl"].every((tool) => !spawnSync(tool, ["--help"]).error)
  it.skipIf(!tools)("are what sha256sum and openssl make of the same bytes", () => {
    for (const { method, target, nonce, body, hash, mac } of vectors) {
      const sum = execFileSync("sha256sum", { input: body }).toString().split(" ")[0]
      expect(sum).toBe(hash)
      const text = `${method}\n${target}\n${epoch}\n${nonce}\n${sum}`
      const made = execFileSync(
        "openssl",
        [
          "dgst",
          "-sha256",
          "-mac",
          "HMAC",
          "-macopt",
          `hexkey:${secret.toString("hex")}`,
          "-binary"
        ],
        { input: text }
      )
      expect(made.toString("base64")).toBe(mac)
      const ours = sign({ method, target, body, nonce, timestamp: epoch })
      expect(ours["x-signature"]).toBe(mac)
    }
  })
})

const target = "/v1/holders?limit=1"
const signed = (changes: Partial<Signing> = {}) =>
  sign({ method: "GET", target, timestamp: epoch, ...changes })
const call = (headers: Headers, sub = "svc-1") => judge({ method: "GET", target, headers, sub })
const at = (seconds: number) => TestClock.setTime(seconds * 1000)

describe("who signs", () => {
  const keys = [
    key({ keyId: "k-1" }),
    key({ keyId: "k-2", sub: "svc-2" }),
    key({ keyId: "old", sub: "svc-3", notAfter: Instant.fromEpochMillis((epoch - 1) * 1000) }),
    key({ keyId: "new", sub: "svc-4", notBefore: Instant.fromEpochMillis((epoch + 60) * 1000) })
  ]

  it.effect("a subject with a key must; one without need not and may not", () =>
    Effect.gen(function* () {
      yield* at(epoch)
      expect(yield* call({})).toBe("signature-required")
      expect(yield* call({}, "somebody")).toBeNull()
      expect(yield* call(signed(), "somebody")).toBe("signature-invalid")
      expect(yield* call({ "x-signature": "x" }, "somebody")).toBe("signature-invalid")
    }).pipe(Effect.provide(judging(keys)))
  )

  it.effect("a header that is missing is asked for, whichever of the four it is", () =>
    Effect.gen(function* () {
      yield* at(epoch)
      for (const name of Object.keys(signed())) {
        const { [name]: _, ...rest } = signed()
        expect([name, yield* call(rest)]).toEqual([name, "signature-required"])
      }
    }).pipe(Effect.provide(judging(keys)))
  )

  it.effect("a key signs for its own subject, while it holds, and for nobody else", () =>
    Effect.gen(function* () {
      yield* at(epoch)
      expect(yield* call(signed({ keyId: "k-2" }))).toBe("signature-invalid")
      expect(yield* call(signed({ keyId: "nobody" }))).toBe("signature-invalid")
      expect(yield* call(signed({ keyId: "k-2" }), "svc-2")).toBe("k-2")
      expect(yield* call(signed({ keyId: "old" }), "svc-3")).toBe("signature-invalid")
    }).pipe(Effect.provide(judging(keys)))
  )

  it.effect("a key that ran out binds its subject still; one to come does not yet", () =>
    Effect.gen(function* () {
      yield* at(epoch)
      expect(yield* call({}, "svc-3")).toBe("signature-required")
      expect(yield* call({}, "svc-4")).toBeNull()
      yield* at(epoch + 60)
      expect(yield* call({}, "svc-4")).toBe("signature-required")
      expect(yield* call(signed({ keyId: "new" }), "svc-4")).toBe("new")
    }).pipe(Effect.provide(judging(keys)))
  )
})

describe("the forms", () => {
  const bad: ReadonlyArray<readonly [string, Headers]> = [
    ["two signatures", { ...signed(), "x-signature": [signed()["x-signature"] ?? "", "x"] }],
    [
      "the same nonce header twice",
      { ...signed(), "x-signature-nonce": ["a".repeat(22), "a".repeat(22)] }
    ],
    ["two keys", { ...signed(), "x-signature-key": ["k-1", "k-1"] }],
    ["two timestamps", { ...signed(), "x-signature-timestamp": [`${epoch}`, `${epoch}`] }],
    ["an empty key", { ...signed(), "x-signature-key": "" }],
    ["a key of 65 characters", signed({ keyId: "k".repeat(65) })],
    ["a timestamp with a sign", signed({ timestamp: `+${epoch}` })],
    ["a timestamp with a fraction", signed({ timestamp: `${epoch}.0` })],
    ["a timestamp of 13 digits", signed({ timestamp: `000${epoch}` })],
    ["a nonce of 21 characters", signed({ nonce: "a".repeat(21) })],
    ["a nonce of 129 characters", signed({ nonce: "a".repeat(129) })],
    ["a nonce in standard base64", signed({ nonce: `${"a".repeat(22)}+/` })],
    ["a nonce with three paddings", signed({ nonce: `${"a".repeat(22)}===` })],
    [
      "a nonce with padding in the middle",
      signed({ nonce: `${"a".repeat(11)}=${"a".repeat(11)}` })
    ],
    ["a signature in hex", { ...signed(), "x-signature": "ab".repeat(22) }],
    ["a signature in base64url", { ...signed(), "x-signature": `${"_".repeat(43)}=` }],
    ["a signature without padding", { ...signed(), "x-signature": "A".repeat(43) }]
  ]
  for (const [name, headers] of bad) {
    it.effect(`${name} is refused as any signature that is not valid`, () =>
      Effect.gen(function* () {
        yield* at(epoch)
        expect(yield* call(headers)).toBe("signature-invalid")
      }).pipe(Effect.provide(judging([key({ keyId: "k-1" })])))
    )
  }

  it.effect("a nonce of 22 to 128 characters is taken, with up to two paddings in them", () =>
    Effect.gen(function* () {
      yield* at(epoch)
      for (const nonce of [
        "a".repeat(22),
        "b".repeat(128),
        `${"c".repeat(20)}==`,
        `${"d".repeat(127)}=`
      ]) {
        expect(yield* call(signed({ nonce }))).toBe("k-1")
      }
    }).pipe(Effect.provide(judging([key({ keyId: "k-1" })])))
  )

  it.effect("another spelling of the right signature's bytes is not the right signature", () =>
    Effect.gen(function* () {
      yield* at(epoch)
      const headers = signed()
      const right = headers["x-signature"] ?? ""
      const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
      // The last digit of 32 bytes in base64 has two bits that no byte has.
      const other = digits[digits.indexOf(right[42] ?? "") ^ 1] ?? ""
      const spelled = `${right.slice(0, 42)}${other}=`
      expect(Buffer.from(spelled, "base64")).toEqual(Buffer.from(right, "base64"))
      expect(yield* call({ ...headers, "x-signature": spelled })).toBe("signature-invalid")
    }).pipe(Effect.provide(judging([key({ keyId: "k-1" })])))
  )

  it.effect("a path that a proxy takes off is part of what is signed", () =>
    Effect.gen(function* () {
      yield* at(epoch)
      expect(yield* call(signed())).toBe("signature-invalid")
      expect(
        yield* call(sign({ method: "GET", target: `/engine${target}`, timestamp: epoch }))
      ).toBe("k-1")
    }).pipe(Effect.provide(judging([key({ keyId: "k-1" })], { basePath: "/engine" })))
  )
})

describe("the window", () => {
  it.effect("is 300 seconds either way, both ends in it, to the millisecond", () =>
    Effect.gen(function* () {
      const seen: Record<string, string | null> = {}
      for (const millis of [-300_001, -300_000, 0, 300_000, 300_001]) {
        yield* TestClock.setTime(epoch * 1000 + millis)
        seen[String(millis)] = yield* call(signed())
      }
      expect(seen).toEqual({
        "-300001": "signature-expired",
        "-300000": "k-1",
        "0": "k-1",
        "300000": "k-1",
        "300001": "signature-expired"
      })
    }).pipe(Effect.provide(judging([key({ keyId: "k-1" })])))
  )

  it.effect("told apart, the engine says its own time in seconds", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime((epoch + 999) * 1000 + 500)
      const { judge } = yield* SignedRequests.SignedRequests
      const headers = signed()
      const refused = yield* Effect.flip(
        judge({
          caller: caller("svc-1"),
          method: "GET",
          target,
          body: new Uint8Array(0),
          sentHeaders: {
            key: ["k-1"],
            timestamp: [headers["x-signature-timestamp"] ?? ""],
            nonce: [headers["x-signature-nonce"] ?? ""],
            signature: [headers["x-signature"] ?? ""]
          }
        })
      )
      expect(refused._tag === "Refused" ? refused.details.detail : "").toContain(
        String(epoch + 999)
      )
    }).pipe(Effect.provide(judging([key({ keyId: "k-1" })])))
  )

  it.effect("is as the deployment sets it, and so is the time a nonce is kept", () =>
    Effect.gen(function* () {
      yield* at(epoch)
      const headers = signed()
      expect(yield* call(headers)).toBe("k-1")
      yield* at(epoch + 11)
      expect(yield* call(headers)).toBe("signature-expired")
    }).pipe(Effect.provide(judging([key({ keyId: "k-1" })], { window: 10_000 })))
  )
})

describe("the signature of a file", () => {
  const headers = signed({ method: "POST", target: "/v1/external-statements", body: "file" })
  const hash = createHash("sha256").update("file").digest("hex")
  const within = 1_800_000
  /** Judged so many seconds after the headers had arrived, which was at `arrived`. */
  const file = (arrived: number, seconds: number, body: { readonly hash: string } = { hash }) =>
    Effect.gen(function* () {
      yield* at(arrived + seconds)
      const { judge } = yield* SignedRequests.SignedRequests
      return yield* Effect.match(
        judge({
          caller: caller("svc-1"),
          method: "POST",
          target: "/v1/external-statements",
          body: { ...body, arrivedAt: arrived * 1_000, within },
          sentHeaders: {
            key: valuesOf(headers, "x-signature-key"),
            timestamp: valuesOf(headers, "x-signature-timestamp"),
            nonce: valuesOf(headers, "x-signature-nonce"),
            signature: valuesOf(headers, "x-signature")
          }
        }),
        { onFailure: ({ slug }) => slug, onSuccess: (keyId) => keyId }
      )
    })
  const layer = () => judging([key({ keyId: "k-1" })])

  it.effect("is in time by the moment its headers had arrived, however long its bytes take", () =>
    Effect.gen(function* () {
      expect(yield* file(epoch + 301, 0)).toBe("signature-expired")
      expect(yield* file(epoch + 300, 1_800)).toBe("k-1")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("is over the hash of its bytes", () =>
    Effect.gen(function* () {
      const other = createHash("sha256").update("other").digest("hex")
      expect(yield* file(epoch, 0, { hash: other })).toBe("signature-invalid")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("keeps its nonce until no repetition can still be in time, however slow it is", () => {
    const kept: Array<number> = []
    const nonces = Layer.effect(
      Keys,
      Effect.map(Keys, (keys) => ({
        ...keys,
        useNonce: (nonce) => {
          kept.push(nonce.keep)
          return keys.useNonce(nonce)
        }
      }))
    ).pipe(Layer.provide(Memory.layer))
    return Effect.gen(function* () {
      expect(yield* file(epoch, 0)).toBe("k-1")
      expect(yield* file(epoch + 300, 1_800)).toBe("nonce-reused")
      // Claimed at the earliest 300 s before its time, and at the latest 300 s and a file after it.
      expect(kept[0]).toBe(2 * 300_000 + within)
    }).pipe(Effect.provide(judging([key({ keyId: "k-1" })], { nonces })))
  })
})

describe("the order of judging", () => {
  // Each row has the fault of its name and, where it can, every fault that comes later.
  it.effect("form, key, window, signature, and the nonce at the very end", () =>
    Effect.gen(function* () {
      yield* at(epoch)
      const late = epoch - 400
      const wrong = { "x-signature": `${"A".repeat(42)}A=` }
      const used = freshNonce()
      expect(yield* call(signed({ nonce: used }))).toBe("k-1")
      const faults: ReadonlyArray<readonly [Headers, string]> = [
        [
          { ...signed({ keyId: "no one", timestamp: late, nonce: used }), ...wrong },
          "signature-invalid"
        ],
        [
          { ...signed({ keyId: "unknown", timestamp: late, nonce: used }), ...wrong },
          "signature-invalid"
        ],
        [{ ...signed({ timestamp: late, nonce: used }), ...wrong }, "signature-expired"],
        [{ ...signed({ nonce: used }), ...wrong }, "signature-invalid"],
        [signed({ nonce: used }), "nonce-reused"]
      ]
      for (const [headers, slug] of faults) expect(yield* call(headers)).toBe(slug)
    }).pipe(Effect.provide(judging([key({ keyId: "k-1" })])))
  )

  it.effect("ten thousand wrong signatures never reach the store of nonces", () => {
    let nonceCalls = 0
    const counting = Layer.effect(
      Keys,
      Effect.map(Keys, (keys) => ({
        ...keys,
        useNonce: (nonce) => {
          nonceCalls++
          return keys.useNonce(nonce)
        }
      }))
    ).pipe(Layer.provide(Memory.layer))
    return Effect.gen(function* () {
      yield* at(epoch)
      const seen = new Set<string | null>()
      for (let i = 0; i < 10_000; i++) {
        seen.add(yield* call(signed({ secret: Buffer.from(String(i).padStart(32, "0")) })))
      }
      expect([...seen]).toEqual(["signature-invalid"])
      expect(nonceCalls).toBe(0)
      expect(yield* call(signed())).toBe("k-1")
      expect(nonceCalls).toBe(1)
    }).pipe(Effect.provide(judging([key({ keyId: "k-1" })], { nonces: counting })))
  })

  it.effect(
    "a store of nonces that is away lets nothing in: 503, and never a signature's refusal",
    () =>
      Effect.gen(function* () {
        yield* at(epoch)
        expect(yield* call(signed())).toBe("not-ready")
        const wrong = { ...signed(), "x-signature": `${"A".repeat(42)}A=` }
        expect(yield* call(wrong)).toBe("signature-invalid")
      }).pipe(
        Effect.provide(
          judging([key({ keyId: "k-1" })], {
            nonces: Layer.effect(
              Keys,
              Effect.map(Keys, (keys) => ({
                ...keys,
                useNonce: () =>
                  Effect.fail(new StorageUnavailable({ detail: "away", retryAfter: 1 }))
              }))
            ).pipe(Layer.provide(Memory.layer))
          })
        )
      )
  )
})

describe("the setting", () => {
  const base64 = secret.toString("base64")
  const read = (text: string) => HostConfig.settings["signing.keys"].read(JSON.parse(text))
  const one = (members: object) => ({ keyId: "k-1", sub: "svc-1", secret: base64, ...members })
  const pointers = (keys: ReadonlyArray<object>) =>
    Result.match(read(JSON.stringify(keys)), {
      onFailure: (faults) => faults.map(({ pointer }) => pointer),
      onSuccess: () => []
    })
  const from = (year: number) => `${year}-01-01T00:00:00Z`

  it("takes keys with and without times, and shows no secret", () => {
    const keys = Result.getOrThrow(
      read(JSON.stringify([one({}), one({ keyId: "k-2", notBefore: from(2026), notAfter: null })]))
    )
    expect(keys.map(({ keyId }) => keyId)).toEqual(["k-1", "k-2"])
    expect(inspect(keys, { depth: 9 })).not.toMatch(/0, 17, 34|ABEi/)
    expect(Redacted.value(keys[0]?.secret ?? Redacted.make(new Uint8Array(0)))).toEqual(
      new Uint8Array(secret)
    )
  })

  it("refuses what is no key, each by its place", () => {
    const short = Buffer.alloc(31, 1).toString("base64")
    expect(pointers([one({ secret: short })])).toEqual(["/0/secret"])
    expect(pointers([one({}), one({ keyId: "a b" })])).toEqual(["/1/keyId"])
    expect(pointers([one({}), one({})])).toEqual(["/1/keyId"])
    expect(pointers([one({ more: 1 })])).toEqual(["/0/more"])
    expect(pointers([one({ notBefore: from(2027), notAfter: from(2026) })])).toEqual([
      "/0/notAfter"
    ])
  })

  it("allows a subject two keys at a time, as many as it likes one after another", () => {
    const [a, b, c] = ["a", "b", "c"].map((keyId) => ({ keyId }))
    expect(pointers([one({ ...a }), one({ ...b })])).toEqual([])
    expect(pointers([one({ ...a }), one({ ...b }), one({ ...c })])).not.toEqual([])
    expect(pointers([one({ ...a }), one({ ...b }), one({ ...c, sub: "svc-2" })])).toEqual([])
    expect(
      pointers([
        one({ ...a, notAfter: from(2026) }),
        one({ ...b, notAfter: from(2028) }),
        one({ ...c, notBefore: from(2026) })
      ])
    ).toEqual([])
    expect(
      pointers([
        one({ ...a, notAfter: from(2027) }),
        one({ ...b, notAfter: from(2028) }),
        one({ ...c, notBefore: from(2026) })
      ])
    ).toEqual(["/2"])
  })

  it.effect("is read from a variable, and its fault names it without a value", () =>
    Effect.gen(function* () {
      const load = (keys: string) =>
        HostConfig.load.pipe(
          Effect.provide(
            ConfigProvider.layer(
              ConfigProvider.fromEnv({
                env: {
                  BURSAR_ISSUER: "https://issuer.test",
                  BURSAR_JWKS_URL: "https://issuer.test/jwks",
                  BURSAR_SIGNING_KEYS: keys,
                  BURSAR_RATE_LIMIT_PER_ROLE: '{"app":6000}'
                }
              })
            )
          )
        )
      const config = yield* load(JSON.stringify([one({})]))
      expect(config["signing.keys"]).toHaveLength(1)
      expect(config["rateLimit.perRole"]).toEqual({ app: 6000 })
      const { message } = yield* Effect.flip(load(JSON.stringify([one({ secret: "planted" })])))
      expect(message).toContain("BURSAR_SIGNING_KEYS")
      expect(message).toContain("/0/secret")
      expect(message).not.toContain("planted")
    })
  )
})
