/** Client without a server: words it does not know, signatures of requests, verified deliveries. */
import { createHash, createHmac, createPrivateKey, sign } from "node:crypto"
import { Catalogue } from "@bursar/engine-core"
import { Decimal, PlainJson } from "@bursar/engine-core/kernel"
import * as Client from "@bursar/http-host/client"
import { Effect, Result, Schema } from "effect"
import * as fc from "fast-check"
import { Webhook } from "standardwebhooks"
import { describe, expect, it } from "vitest"
import { fileOf, sources } from "../architecture/sources.ts"
import * as OpenSets from "#host/client/OpenSets.ts"

/**
 * The secret of the vectors: the bytes 00 11 22 … ff, twice
 * (docs/contract/signed-requests.md#vector).
 */
const secret = Uint8Array.from({ length: 32 }, (_, i) => (i % 16) * 17)

describe("the client", () => {
  /** Every file that a file loads, with its imports from outside. */
  const loaded = (path: string) => {
    const all = new Map(sources.map((source) => [source.path, source]))
    const files = new Set<string>()
    const outside = new Set<string>()
    const load = (one: string): void => {
      if (files.has(one)) return
      files.add(one)
      for (const { kind, specifier } of all.get(one)?.imports ?? []) {
        if (kind === "type") continue
        const file = fileOf(one, specifier)
        if (file === null) outside.add(specifier)
        else load(file)
      }
    }
    load(path)
    return { files: [...files], outside: [...outside] }
  }

  it("never would load something of the server's side, or of Node's own", () => {
    const { files, outside } = loaded("packages/http-host/src/client.ts")
    expect(files.length).toBeGreaterThan(20)
    const server =
      /http-host\/src\/(handlers|middleware|outbound|cli|config|observability)\/|Host\.ts$/
    expect(files.filter((file) => server.test(file))).toEqual([])
    expect(outside.filter((one) => !/^(effect(\/|$)|ts-pattern$)/.test(one))).toEqual([])
  })

  it("never would load anything beside its receiver of webhooks where that alone is used", () => {
    const { files, outside } = loaded("packages/http-host/src/client/WebhookReceiver.ts")
    expect([files.length, outside]).toEqual([1, []])
  })
})

describe("a word of an open set that the client does not know", () => {
  const mode = Catalogue.valueSets.find(({ name }) => name === "ValuationMode")
  const state = Catalogue.machines.find(({ name }) => name === "SubscriptionState")
  const order = Catalogue.valueSets.find(({ name }) => name === "SortOrder")
  if (mode === undefined || state === undefined || order === undefined) throw new Error("no set")
  const Shape = Schema.Struct({
    mode: mode.schema,
    maybe: Schema.NullOr(mode.schema),
    either: Schema.Union([mode.schema, state.schema]),
    many: Schema.Array(Schema.Struct({ mode: mode.schema, amount: Decimal.schema }))
  })
  const knownWords = {
    mode: "par",
    maybe: null,
    either: "par",
    many: [{ mode: "par", amount: 1.5 }]
  }
  const read = (json: object) =>
    Effect.runSync(
      Effect.result(OpenSets.decode(Shape, PlainJson.parseTrusted(JSON.stringify(json))))
    )

  it("is kept as { unknown }, wherever it stands; what is known stays as it is", () => {
    const given = {
      mode: "lunar",
      maybe: "solar",
      either: "stellar",
      many: [
        { mode: "par", amount: 1.5 },
        { mode: "comet", amount: 2.5 }
      ]
    }
    expect(Result.getOrThrow(read(given))).toEqual({
      mode: { unknown: "lunar" },
      maybe: { unknown: "solar" },
      either: { unknown: "stellar" },
      many: [
        { mode: "par", amount: Decimal.of("1.5") },
        { mode: { unknown: "comet" }, amount: Decimal.of("2.5") }
      ]
    })
    expect(Result.getOrThrow(read(knownWords)).mode).toBe("par")
  })

  it("excuses no other fault, and no word of a closed set", () => {
    const faulty = { ...knownWords, mode: "lunar", many: [{ mode: "par", amount: "1.5" }] }
    expect(Result.isFailure(read(faulty))).toBe(true)
    expect(Result.isFailure(read({ ...knownWords, mode: 1 }))).toBe(true)
    const closed = Effect.runSync(
      Effect.result(OpenSets.decode(Schema.Struct({ order: order.schema }), { order: "sideways" }))
    )
    expect(Result.isFailure(closed)).toBe(true)
  })

  it("is found among a thousand records", () => {
    const many = Array.from({ length: 1000 }, (_, i) => ({ mode: `new-${i}`, amount: 1.5 }))
    const decoded = Result.getOrThrow(read({ ...knownWords, many }))
    expect(decoded.many.every(({ mode }) => Client.isUnknown(mode))).toBe(true)
  })
})

describe("a signed request", () => {
  const vectors = [
    [
      {
        method: "POST",
        target: "/v1/subscriptions/sub-1:settle?dry=a%20b",
        nonce: "AAECAwQFBgcICQoLDA0ODw",
        body: '{"actionKey":"ak_1","reason":null}'
      },
      "2783d9ec6f38e2e2f32a0f7e9dfcac602bdb902f6268bacf4b710bfaf41eefce",
      "lk2eGc+DfGXjm+aMTl9sY0FQJaMz5X//cxDF6e7Siso="
    ],
    [
      {
        method: "GET",
        target: "/v1/instruments?limit=2&after=abc",
        nonce: "EBESExQVFhcYGRobHB0eHw",
        body: ""
      },
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "m2NLn44y575Q2OAjoz1Y+2qv/RxFPlhQMjXtP14L7uQ="
    ]
  ] as const

  it.each(vectors)(
    "has the text and the signature of the contract",
    async (request, hash, expected) => {
      const signable = { ...request, body: Buffer.from(request.body), timestamp: 1767225600 }
      expect(await Client.Signature.textToSign(signable)).toBe(
        `${request.method}\n${request.target}\n1767225600\n${request.nonce}\n${hash}`
      )
      expect(await Client.Signature.headersOf({ keyId: "k-1", secret }, signable)).toEqual({
        "x-signature-key": "k-1",
        "x-signature-timestamp": "1767225600",
        "x-signature-nonce": request.nonce,
        "x-signature": expected
      })
    }
  )

  it("of any bytes is what another HMAC makes of them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.webPath(), async (body, path) => {
        const nonce = Client.Signature.makeNonce()
        const request = { method: "post", target: `/v1${path}`, body, timestamp: 7, nonce }
        const digest = createHash("sha256").update(body).digest("hex")
        const text = `POST\n/v1${path}\n7\n${nonce}\n${digest}`
        const headers = await Client.Signature.headersOf({ keyId: "k", secret }, request)
        const mac = createHmac("sha256", secret).update(text).digest("base64")
        expect(headers["x-signature"]).toBe(mac)
      }),
      { numRuns: 50 }
    )
  })

  it("has a nonce as the engine takes it, and never the same", () => {
    const made = Array.from({ length: 1000 }, Client.Signature.makeNonce)
    for (const nonce of made) expect(nonce).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(new Set(made).size).toBe(1000)
  })
})

describe("a delivery", () => {
  const { verify } = Client.WebhookReceiver
  const whsec = "whsec_ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8="
  const whpk = "whpk_PM0kHP/Js2GARLl9A22GFFk9iwF8NA8d7odzOFUXZUs="
  const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`
  const body =
    '{"kind":"control","type":"approval.requested","at":"2026-01-01T00:00:00.000000Z","offset":null,"instrumentId":null,"party":null,"resourceKind":"reserve","resourceId":"res-1","payload":{"state":"awaiting","kind":"reserve.propose","makerRole":"operator"},"seq":7}'
  const v1 = "v1,h4WvjmYtDPZNWv5T4NtzQG1q2d2rovqGkKza8gWndlE="
  const v1a =
    "v1a,qcKah2Sp+1k1sFKVZOn6ykpHqI+Hfedn4npv+UAagJAWNaPeddpRAm3j1y93UDIDrYcnfdsdFWvbtPjd9appAQ=="
  const at = 1767225600
  const delivery = (signature: string, change: object = {}) => ({
    headers: {
      "webhook-id": "evt_venue-1_7",
      "webhook-timestamp": String(at),
      "webhook-signature": signature,
      ...change
    },
    body
  })
  const genuine = { genuine: true, id: "evt_venue-1_7", timestamp: at, body }

  it("of the contract is genuine by its secret alone, by its key alone, and by either of two", async () => {
    expect(await verify(delivery(v1), { secrets: [whsec] }, at)).toEqual(genuine)
    expect(await verify(delivery(v1a), { keys: [whpk] }, at)).toEqual(genuine)
    expect(await verify(delivery(`${v1} ${v1a}`), { keys: [whpk] }, at)).toEqual(genuine)
    expect(await verify(delivery(v1), { secrets: [other, whsec] }, at)).toEqual(genuine)
    const raw = { ...delivery(v1), body: Buffer.from(body) }
    expect(await verify(raw, { secrets: [whsec] }, at)).toEqual(genuine)
    const fetched = { headers: new Headers(delivery(v1).headers), body }
    expect(await verify(fetched, { secrets: [whsec] }, at)).toEqual(genuine)
    const upper = {
      headers: {
        "Webhook-Id": "evt_venue-1_7",
        "WEBHOOK-TIMESTAMP": String(at),
        "Webhook-Signature": v1
      },
      body
    }
    expect(await verify(upper, { secrets: [whsec] }, at)).toEqual(genuine)
  })

  it("is genuine within 300 seconds of the receiver's clock, either way, and not one more", async () => {
    const trusted = { secrets: [whsec] }
    for (const off of [-300, 300]) {
      expect((await verify(delivery(v1), trusted, at + off)).genuine).toBe(true)
    }
    expect(await verify(delivery(v1), trusted, at + 301)).toEqual({
      genuine: false,
      because: "too-old"
    })
    expect(await verify(delivery(v1), trusted, at - 301)).toEqual({
      genuine: false,
      because: "too-new"
    })
  })

  const forged: ReadonlyArray<readonly [string, object, object]> = [
    ["an altered body", { body: body.replace("res-1", "res-2") }, {}],
    ["an altered id", {}, { "webhook-id": "evt_venue-1_8" }],
    ["an altered time", {}, { "webhook-timestamp": String(at + 1) }],
    ["no signature", {}, { "webhook-signature": "" }],
    ["a signature of nothing", {}, { "webhook-signature": "v1," }],
    ["a signature that is no base64", {}, { "webhook-signature": "v1,***" }],
    ["a v1 that is said to be a v1a", {}, { "webhook-signature": v1.replace("v1", "v1a") }],
    ["a signature of another form", {}, { "webhook-signature": v1.replace("v1", "v2") }]
  ]
  it.each(forged)("never would be forged with %s", async (_, parts, headers) => {
    const forgery = { ...delivery(`${v1} ${v1a}`, headers), ...parts }
    expect(await verify(forgery, { secrets: [whsec], keys: [whpk] }, at)).toMatchObject({
      genuine: false,
      because: "not-signed"
    })
  })

  it("is no delivery without one of its headers, with one of them twice, or with a flood of signatures", async () => {
    const trusted = { secrets: [whsec] }
    for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
      for (const value of [undefined, [v1, v1]]) {
        const verdict = await verify(delivery(v1, { [name]: value }), trusted, at)
        expect([name, verdict]).toEqual([name, { genuine: false, because: "malformed" }])
      }
    }
    const flood = Array.from({ length: 17 }, () => v1).join(" ")
    expect((await verify(delivery(flood), trusted, at)).genuine).toBe(false)
    for (const form of ["1767225600.0", " 1767225600", "0x69559E00"]) {
      const verdict = await verify(delivery(v1, { "webhook-timestamp": form }), trusted, at)
      expect([form, verdict]).toEqual([form, { genuine: false, because: "malformed" }])
    }
  })

  it("is not genuine by another webhook's secret, and trusts nobody by default", async () => {
    expect((await verify(delivery(v1), { secrets: [other] }, at)).genuine).toBe(false)
    expect((await verify(delivery(v1), {}, at)).genuine).toBe(false)
    await expect(verify(delivery(v1), { secrets: ["planted"] }, at)).rejects.toThrow(
      /^(?!.*planted)/
    )
  })

  it("of any event is judged as the receiver's own library judges it", async () => {
    const now = Math.floor(Date.now() / 1000)
    const outside = new Webhook(whsec)
    const key = createPrivateKey({
      key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), secret]),
      format: "der",
      type: "pkcs8"
    })
    await fc.assert(
      fc.asyncProperty(
        fc.json(),
        fc.stringMatching(/^evt_[a-z0-9-]{1,20}_[0-9]{1,9}$/),
        async (text, id) => {
          const signature = outside.sign(id, new Date(now * 1000), text)
          const ed25519 = sign(null, Buffer.from(`${id}.${now}.${text}`), key).toString("base64")
          const headers = { "webhook-id": id, "webhook-timestamp": String(now) }
          const by = (signature: string, trusted: Client.WebhookReceiver.TrustedKeys) =>
            verify({ headers: { ...headers, "webhook-signature": signature }, body: text }, trusted)
          expect((await by(signature, { secrets: [whsec] })).genuine).toBe(true)
          expect((await by(`v1a,${ed25519}`, { keys: [whpk] })).genuine).toBe(true)
        }
      ),
      { numRuns: 50 }
    )
  })
})
