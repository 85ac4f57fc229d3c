/**
 * Attack 6: a signed request sent again, changed on its way, or used to fill the store of nonces.
 *
 * Each switched off in a copy and seen red, all in middleware/SignedRequests.ts: what the store says
 * of a nonce (sent again, twenty at once, kept), the key in the nonce's scope (another key), the
 * window (301 s), `right` (changed on its way, wrong signatures), one value of each header (twice),
 * twice the window in `keep` (kept), and `required` (who has a key signs). With the nonce claimed
 * before the signature is judged, the wrong signatures and their flood were red, and others.
 */
import type { SigningKey } from "@bursar/http-host"
import { Keys } from "@bursar/engine-core/ports"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freshNonce, secret, sign } from "../signing.ts"
import { bearer, json, open, raw, send, type Sent, slugOf, type Venue } from "../venue.ts"

const keys: ReadonlyArray<SigningKey> = ["k-1", "k-2"].map((keyId) => ({
  keyId,
  sub: "signer",
  secret: Redacted.make(new Uint8Array(secret)),
  notBefore: null,
  notAfter: null
}))

const now = () => Math.floor(Date.now() / 1000)
const path = "/v1/holders"
const note = (id: string) => `{"holderId":"${id}","text":"one","amount":1,"owner":null}`

let as: string
const post = (venue: Venue, body: string, headers: Sent["headers"]) =>
  send(venue, { method: "POST", path, as, body, ...(headers === undefined ? {} : { headers }) })
const signedPost = (body: string, options: Partial<Parameters<typeof sign>[0]> = {}) =>
  sign({ method: "POST", target: path, body, ...options })

beforeAll(async () => {
  as = await bearer(["operator"], { sub: "signer" })
})

describe("two instances over one database", () => {
  const scope = Effect.runSync(Scope.make())
  let one: Venue
  let two: Venue
  beforeAll(async () => {
    const url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
    const storage = Postgres.layer({ url: Redacted.make(url), maxConnections: 4 })
    one = await open({ storage, signing: { keys } })
    two = await open({ storage, signing: { keys } })
  })
  afterAll(async () => {
    await one.close()
    await two.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("a request sent again is refused, on the other instance too, and runs once", async () => {
    const headers = { ...signedPost(note("r-1")), "idempotency-key": "r-1" }
    expect((await post(one, note("r-1"), headers)).status).toBe(202)
    for (const venue of [one, two, one]) {
      const again = await post(venue, note("r-1"), headers)
      expect([again.status, await slugOf(again)]).toEqual([401, "nonce-reused"])
    }
    const listed = await send(two, {
      path: "/v1/operations",
      as,
      headers: sign({ method: "GET", target: "/v1/operations" })
    })
    expect((await json<{ value: ReadonlyArray<unknown> }>(listed)).value).toHaveLength(1)
  })

  it("of twenty copies at once on both instances one is taken", async () => {
    const headers = { ...signedPost(note("r-2")), "idempotency-key": "r-2" }
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const response = await post(i % 2 === 0 ? one : two, note("r-2"), headers)
        await response.text()
        return response.status
      })
    )
    expect(statuses.toSorted()).toEqual([202, ...Array.from({ length: 19 }, () => 401)])
  })

  it("the same nonce under another key is another nonce", async () => {
    const nonce = freshNonce()
    const first = await post(one, note("r-3"), signedPost(note("r-3"), { nonce }))
    const other = await post(one, note("r-4"), signedPost(note("r-4"), { nonce, keyId: "k-2" }))
    expect([first.status, other.status]).toEqual([202, 202])
  })

  it("a call tried again under its idempotency key needs only a new nonce", async () => {
    const key = { "idempotency-key": "r-5" }
    const first = await post(one, note("r-5"), { ...signedPost(note("r-5")), ...key })
    const again = await post(two, note("r-5"), { ...signedPost(note("r-5")), ...key })
    expect([first.status, again.status]).toEqual([202, 200])
    expect(again.headers.get("idempotent-replayed")).toBe("true")
  })
})

describe("one instance", () => {
  let venue: Venue
  let store: Keys["Service"]
  let claims: Array<{ readonly nonce: string; readonly keep: number }>
  beforeAll(async () => {
    claims = []
    const counting = Layer.effect(
      Keys,
      Effect.map(Keys, (keys) => {
        store = keys
        return {
          ...keys,
          useNonce: (claim) => {
            claims.push(claim)
            return keys.useNonce(claim)
          }
        }
      })
    )
    venue = await open({
      storage: counting.pipe(Layer.provideMerge(Memory.layer)),
      signing: { keys }
    })
  })
  afterAll(() => venue.close())

  it("a time 301 seconds off is refused, one within the window is not", async () => {
    const statusAt = async (seconds: number) => {
      const body = note(`t${seconds < 0 ? "b" : "a"}-${Math.abs(seconds)}`)
      const response = await post(venue, body, signedPost(body, { timestamp: now() + seconds }))
      return response.ok ? "taken" : slugOf(response)
    }
    // A second or two pass on the way; to the millisecond it is judged in signatures.test.ts.
    expect(await statusAt(-301)).toBe("signature-expired")
    expect(await statusAt(303)).toBe("signature-expired")
    expect(await statusAt(-295)).toBe("taken")
    expect(await statusAt(299)).toBe("taken")
  })

  it("whatever is changed on its way is refused, one part at a time, with the same words", async () => {
    const body = note("c-1")
    const target = `${path}?limit=1`
    const good = sign({ method: "GET", target: `${path}?limit=1` })
    const posted = signedPost(body)
    const other = freshNonce()
    const calls: ReadonlyArray<readonly [string, Sent]> = [
      ["body", { method: "POST", path, as, body: note("c-2"), headers: posted }],
      ["a space in the body", { method: "POST", path, as, body: `${body} `, headers: posted }],
      ["path", { path: "/v1/operations?limit=1", as, headers: good }],
      ["query", { path: `${path}?limit=2`, as, headers: good }],
      ["no query", { path, as, headers: good }],
      ["an empty query", { path: `${target}&`, as, headers: good }],
      ["percent-encoding", { path: `${path}?limi%74=1`, as, headers: good }],
      ["method", { method: "HEAD", path: target, as, headers: good }],
      ["nonce", { path: target, as, headers: { ...good, "x-signature-nonce": other } }],
      [
        "timestamp",
        {
          path: target,
          as,
          headers: { ...good, "x-signature-timestamp": String(now() - 1) }
        }
      ],
      ["key", { path: target, as, headers: { ...good, "x-signature-key": "k-9" } }]
    ]
    const said = new Set<string>()
    for (const [what, sent] of calls) {
      const response = await send(venue, sent)
      expect([what, response.status]).toEqual([what, 401])
      if (sent.method === "HEAD") continue
      const { detail } = await json<{ detail: string }>(response.clone())
      expect([what, await slugOf(response)]).toEqual([what, "signature-invalid"])
      said.add(detail)
    }
    expect(said.size).toBe(1)
    expect((await send(venue, { path: target, as, headers: good })).status).toBe(200)
    expect((await post(venue, body, posted)).status).toBe(202)
  })

  it("a signature header that comes twice is refused, though both are right", async () => {
    const headers = sign({ method: "GET", target: path })
    for (const name of Object.keys(headers)) {
      const lines = Object.entries({
        host: "x",
        authorization: as,
        connection: "close",
        ...headers
      }).flatMap(([header, value]) =>
        (header === name ? [header, header] : [header]).map((h) => `${h}: ${value}`)
      )
      const answer = await raw(venue.port, `GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`)
      expect([name, answer.slice(9, 12)]).toEqual([name, "401"])
      expect(answer).toContain("signature-invalid")
    }
  })

  it("a wrong signature leaves the nonce to its owner: it is claimed only once all else is right", async () => {
    const body = note("f-1")
    const good = signedPost(body)
    const forged = { ...good, "x-signature": signedPost(note("f-2"))["x-signature"] ?? "" }
    expect((await post(venue, body, forged)).status).toBe(401)
    expect((await post(venue, body, good)).status).toBe(202)
  })

  it("a flood of wrong signatures leaves nothing in the store (ten thousand: signatures.test.ts)", async () => {
    const before = claims.length
    const wrong = { "x-signature": `${"A".repeat(43)}=` }
    const attack = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const response = await send(venue, {
          path,
          as,
          headers: { ...sign({ method: "GET", target: path }), ...wrong }
        })
        if (response.status !== 401) throw new Error(`taken: ${response.status}`)
        await response.arrayBuffer()
      }
    }
    await Promise.all(Array.from({ length: 10 }, () => attack(50)))
    expect(claims.length).toBe(before)
  })

  it("a nonce is kept for twice the window from its receipt", async () => {
    const body = note("n-1")
    expect((await post(venue, body, signedPost(body))).status).toBe(202)
    expect(claims.at(-1)?.keep).toBe(600_000)
    // Retention of a host whose clock is a day fast does not forget this nonce: the store's counts.
    const headers = signedPost(note("n-2"))
    await post(venue, note("n-2"), headers)
    const before = new Date(Date.now() + 86_400_000).toISOString().replace("Z", "000000Z")
    await Effect.runPromise(store.forget({ before, limit: 100_000 }))
    const again = await post(venue, note("n-2"), headers)
    expect(await slugOf(again)).toBe("nonce-reused")
  })

  it("a subject with a key signs every call that is not public, whatever its method", async () => {
    const calls: ReadonlyArray<Sent> = [
      { path, as },
      { path: `${path}/nobody`, as },
      { method: "POST", path, as, body: note("u-1") },
      { method: "POST", path: "/v1/instruments/i-1:pause", as }
    ]
    for (const sent of calls) {
      const response = await send(venue, sent)
      expect([response.status, await slugOf(response)]).toEqual([401, "signature-required"])
    }
    expect((await send(venue, { method: "HEAD", path, as })).status).toBe(401)
    for (const path of ["/v1/health", "/v1/tenants/venue-1", "/v1/openapi.json"]) {
      expect((await send(venue, { path, as })).status).toBe(200)
    }
    const unsigned = await bearer(["operator"], { sub: "no-signer" })
    expect((await send(venue, { path, as: unsigned })).status).toBe(200)
  })

  it("the venue tells before sign-in how to sign", async () => {
    const { value } = await json<{ value: { signing: object } }>(
      await send(venue, { path: "/v1/tenants/venue-1" })
    )
    expect(value.signing).toEqual({
      window: "PT5M",
      headers: ["X-Signature-Key", "X-Signature-Timestamp", "X-Signature-Nonce", "X-Signature"]
    })
  })
})
