/**
 * Forged deliveries (security test 26): a receiver accepts posts of the venue, and none that is
 * forged or changed.
 */
import { Catalogue } from "@bursar/engine-core"
import * as Host from "@bursar/http-host"
import { WebhookReceiver } from "@bursar/http-host/client"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Layer } from "effect"
import { createHash } from "node:crypto"
import { createServer, type IncomingHttpHeaders, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Webhook } from "standardwebhooks"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { contractSecret, contractSecretText, settings } from "../../feeds/webhooks.ts"
import { bearer, json, type Listed, open, send, type Venue } from "../venue.ts"

interface Got {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const got: Array<Got> = []
const publicKey = "whpk_PM0kHP/Js2GARLl9A22GFFk9iwF8NA8d7odzOFUXZUs="
let receiver: Server
let venue: Venue
let operator = ""
let approver = ""
let url = ""
let ours: Got

const call = (method: string, path: string, as: string, body?: object) =>
  send(venue, {
    method,
    path,
    as,
    headers: { "idempotency-key": `${as.length}-${method}-${path}-${JSON.stringify(body)}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

const approved = async (answer: Response) => {
  const { actionKey } = await json<{ readonly actionKey: string }>(answer)
  const done = await send(venue, {
    method: "POST",
    path: `/v1/approvals/${actionKey}:approve`,
    as: approver
  })
  await venue.settle()
  return done
}

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      got.push({ headers: request.headers, body: Buffer.concat(parts) })
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done))
  const { port } = receiver.address() as AddressInfo
  url = `http://localhost:${port}/hook?of=bursar`
  const loopback = Host.WebhookAddresses.networkOf("127.0.0.0/8")
  const sender = Host.WebhookSender.layer({
    ports: [port],
    http: "allowed",
    allowAddresses: loopback === undefined ? [] : [loopback]
  }).pipe(Layer.provide(NodeCrypto.layer))
  venue = await open({
    tables: Catalogue,
    storage: Layer.merge(Memory.layer, sender),
    settings
  })
  operator = await bearer(["operator"])
  approver = await bearer(["approver"])
  const body = { webhookId: "wh-1", url, events: null, secret: contractSecretText }
  expect((await approved(await call("POST", "/v1/webhooks", operator, body))).status).toBe(202)
  // Makes an event by asking for another webhook, which is never approved.
  await call("POST", "/v1/webhooks", operator, { ...body, webhookId: "wh-2" })
  await venue.settle()
  const [first] = got
  if (first === undefined) throw new Error("nothing was posted")
  ours = first
})

afterAll(async () => {
  await venue.close()
  receiver.closeAllConnections()
  receiver.close()
})
afterEach(() => {
  vi.useRealTimers()
})

const named = (headers: IncomingHttpHeaders) => ({
  "webhook-id": String(headers["webhook-id"]),
  "webhook-timestamp": String(headers["webhook-timestamp"]),
  "webhook-signature": String(headers["webhook-signature"])
})

/**
 * Verifiers of a delivery: the library of Standard Webhooks, and the engine's own by secret and by
 * key.
 */
const judges: ReadonlyArray<
  readonly [who: string, takes: (delivery: Got, secret?: Uint8Array) => Promise<boolean>]
> = [
  [
    "standardwebhooks",
    async ({ headers, body }, secret = contractSecret) => {
      try {
        new Webhook(`whsec_${Buffer.from(secret).toString("base64")}`).verify(body, named(headers))
        return true
      } catch {
        return false
      }
    }
  ],
  [
    "the client, by the secret",
    async ({ headers, body }, secret = contractSecret) => {
      const secrets = [`whsec_${Buffer.from(secret).toString("base64")}`]
      const verdict = await WebhookReceiver.verify({ headers: named(headers), body }, { secrets })
      return verdict.genuine
    }
  ],
  [
    "the client, by the venue's key",
    async ({ headers, body }, secret) => {
      const other = `whpk_${Buffer.alloc(32, 1).toString("base64")}`
      const keys = [secret === undefined ? publicKey : other]
      const verdict = await WebhookReceiver.verify({ headers: named(headers), body }, { keys })
      return verdict.genuine
    }
  ]
]

const changed = (name: string, value: (before: string) => string): Got => ({
  ...ours,
  headers: { ...ours.headers, [name]: value(String(ours.headers[name])) }
})

// Switched off in a copy and seen red. In WebhookReceiver.ts: the age, the lead, and that a signature
// must match (both of the client's judges take what is forged). In DeliveryRules.ts: id, time or body
// left out of what is signed, another secret, another key (what is ours is refused).
describe.each(judges)("%s", (_who, takes) => {
  it("takes ours", async () => {
    for (const one of got) expect(await takes(one)).toBe(true)
  })

  it("refuses another body, though it means the same", async () => {
    const spaced = Buffer.concat([ours.body, Buffer.from("\n")])
    expect(await takes({ ...ours, body: spaced })).toBe(false)
    const flipped = Buffer.from(ours.body)
    flipped[20] = (flipped[20] ?? 0) ^ 1
    expect(await takes({ ...ours, body: flipped })).toBe(false)
  })

  it("refuses another id, another time, another secret, no signature", async () => {
    expect(await takes(changed("webhook-id", (id) => `${id}0`))).toBe(false)
    expect(await takes(changed("webhook-timestamp", (at) => String(Number(at) - 1)))).toBe(false)
    expect(await takes(ours, new Uint8Array(32).fill(9))).toBe(false)
    expect(await takes(changed("webhook-signature", () => "v1,AAAA v1a,AAAA"))).toBe(false)
    expect(await takes(changed("webhook-signature", () => ""))).toBe(false)
  })

  it("refuses a delivery that is older than five minutes, and takes it until then", async () => {
    const at = Number(ours.headers["webhook-timestamp"]) * 1_000
    vi.useFakeTimers({ toFake: ["Date"] })
    vi.setSystemTime(at + 300_000)
    expect(await takes(ours)).toBe(true)
    vi.setSystemTime(at + 301_000)
    expect(await takes(ours)).toBe(false)
    vi.setSystemTime(at - 301_000)
    expect(await takes(ours)).toBe(false)
  })
})

describe("a delivery on the wire", () => {
  it("has the headers of the contract, and no others but the transport's", () => {
    const { headers, body } = ours
    expect(Object.keys(headers).toSorted()).toEqual([
      "connection",
      "content-length",
      "content-type",
      "host",
      "traceparent",
      "user-agent",
      "webhook-id",
      "webhook-signature",
      "webhook-timestamp",
      "x-webhook-attempt",
      "x-webhook-id"
    ])
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(body.length),
      "user-agent": "bursar/1",
      "x-webhook-id": "wh-1",
      "x-webhook-attempt": "1"
    })
    expect(headers["webhook-id"]).toMatch(/^evt_venue-1_[1-9][0-9]*$/)
    expect(headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/)
  })

  it("is the event as GET /v1/events shows it, byte for byte", async () => {
    const page = await (await send(venue, { path: "/v1/events", as: operator })).text()
    expect(got.length).toBeGreaterThan(0)
    for (const { body } of got) expect(page).toContain(body.toString("utf8"))
  })

  it("shows its secret nowhere: not to who registered it, not in the log", async () => {
    const paths = [
      "/v1/webhooks",
      "/v1/webhooks/wh-1",
      "/v1/approvals",
      "/v1/operations",
      "/v1/events"
    ]
    const texts = await Promise.all(
      paths.map(async (path) => (await send(venue, { path, as: operator })).text())
    )
    const all = [...texts, ...venue.logs].join("\n")
    expect(all).not.toContain(contractSecretText.slice("whsec_".length))
    const digest = createHash("sha256").update(contractSecretText).digest("hex")
    expect(texts[2]).toContain(`whsec_…${digest.slice(0, 8)}`)
    expect(texts[3]).toContain(`whsec_…${digest.slice(0, 8)}`)
  })
})

describe("removal over the wire", () => {
  it("answers its approver's own call 204, once more 204, and is done", async () => {
    const path = "/v1/webhooks/wh-1"
    const bare = (as: string) => send(venue, { method: "DELETE", path, as })
    expect((await bare(operator)).status).toBe(202)
    for (const replayed of [null, "true"]) {
      const answer = await bare(approver)
      expect([answer.status, await answer.text()]).toEqual([204, ""])
      expect(answer.headers.get("idempotent-replayed")).toBe(replayed)
      expect(answer.headers.get("location")).toMatch(/^\/v1\/operations\/op_/)
    }
    const listed = await json<Listed>(await send(venue, { path: "/v1/webhooks", as: operator }))
    expect(listed.value).toEqual([])
    expect((await send(venue, { path, as: operator })).status).toBe(404)
  })
})
