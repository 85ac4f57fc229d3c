/** Deliveries to a webhook go on when a host is killed: each event at least once, none lost. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  call,
  ended,
  type Instances,
  insist,
  page,
  registration,
  start,
  textOf,
  times,
  type Told
} from "./instances.ts"
import { until } from "../waiting.ts"

interface Delivered {
  readonly id: string
  readonly body: string
}

let receiver: Server
let venue: Instances
let operator = ""
const got: Array<Delivered> = []
/** Called with each delivery before it is answered. */
let onDelivery: (count: number) => void = () => {}

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk) => chunks.push(chunk))
    request.on("end", () => {
      const id = String(request.headers["webhook-id"])
      got.push({ id, body: Buffer.concat(chunks).toString("utf8") })
      onDelivery(got.length)
      response.statusCode = 204
      response.end()
    })
  })
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done))
  const { port } = receiver.address() as AddressInfo
  venue = await start({
    count: 3,
    settings: {
      BURSAR_OPERATIONS_LEASE: "2",
      BURSAR_RATE_LIMIT_LIMIT: "100000",
      BURSAR_WEBHOOKS_ALLOW_HTTP: "true",
      BURSAR_WEBHOOKS_PORTS: String(port),
      BURSAR_WEBHOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
      BURSAR_WEBHOOKS_CONFIGURED: JSON.stringify([
        {
          webhookId: "keeper",
          url: `http://localhost:${port}/events`,
          events: [],
          secrets: [`whsec_${Buffer.alloc(32, 9).toString("base64")}`]
        }
      ])
    }
  })
  operator = await venue.token("olga", ["operator"])
})

afterAll(async () => {
  await venue?.stop()
  receiver?.closeAllConnections()
  receiver?.close()
})

/** Registers holders through any running host, and waits until each registration has ended. */
const register = async (holderIds: ReadonlyArray<string>) => {
  const answers = await Promise.all(
    holderIds.map(async (holderId, n) => {
      const request = registration({ as: operator, holderId, key: holderId })
      const host = venue.hosts[n % venue.hosts.length]
      const first = host === undefined ? null : await call(host, request)
      return first !== null && first.status < 500 ? first : insist(venue.hosts, request)
    })
  )
  for (const { body } of answers) {
    const operationId = textOf(body, "operationId")
    expect(await ended(venue.hosts, { as: operator, operationId })).toBe("succeeded")
  }
}

/** Every control event of the feed. */
const events = async (): Promise<ReadonlyArray<Told & { readonly kind: string }>> => {
  const all: Array<Told & { readonly kind: string }> = []
  let after: string | null = null
  for (;;) {
    const read: Awaited<ReturnType<typeof page>> = await page(venue.hosts, {
      as: operator,
      after,
      limit: 1000
    })
    all.push(...(read.value as ReadonlyArray<Told & { readonly kind: string }>))
    after = read.next
    if (read.value.length < 1000) return all.filter(({ kind }) => kind === "control")
  }
}

/** Waits until every event has been delivered. */
const allDelivered = (): Promise<void> =>
  until(async () => {
    const ids = new Set(got.map(({ id }) => id))
    return (await events()).every(({ seq }) => ids.has(`evt_venue-1_${seq}`))
  })

describe("a webhook of three hosts", () => {
  it("never misses an event when the host that posts is killed before it is answered", async () => {
    const [victim] = venue.hosts
    if (victim === undefined) throw new Error("no host is up")
    const from = got.length
    // Deliveries are under way by all three: one host dies with those that it has posted.
    onDelivery = (count) => {
      if (count === from + 20) victim.kill()
    }
    await register(Array.from({ length: 24 * times }, (_, n) => `hooked-${n}`))
    await victim.ended
    await allDelivered()
  })

  it("never misses one when the only host is killed while its post is not answered, and gets it again", async () => {
    for (const host of venue.hosts) host.kill()
    await Promise.all(venue.hosts.map(({ ended }) => ended))
    venue.hosts.length = 0
    const host = await venue.more()
    // Waits for the deliveries that are due already.
    await allDelivered()
    const from = got.length
    let unanswered: string | undefined
    onDelivery = (count) => {
      if (count !== from + 1) return
      unanswered = got[count - 1]?.id
      host.kill()
    }
    const posted = call(
      host,
      registration({ as: operator, holderId: "hooked-last", key: "hooked-last" })
    )
    await host.ended
    await posted
    venue.hosts.length = 0
    await venue.more()
    await register(["hooked-last"])
    await allDelivered()
    // The killed host had leased the delivery: it is posted again once the lease has expired.
    await expect
      .poll(() => got.filter(({ id }) => id === unanswered).length)
      .toBeGreaterThanOrEqual(2)
  })

  it("is sent the same bytes at every attempt, and those are the event's", async () => {
    const bodies = new Map<string, string>()
    for (const { id, body } of got) {
      expect(bodies.get(id) ?? body, id).toBe(body)
      bodies.set(id, body)
    }
    const [host] = venue.hosts
    if (host === undefined) throw new Error("no host is up")
    for (const event of await events()) {
      expect(JSON.parse(bodies.get(`evt_venue-1_${event.seq}`) ?? "null")).toEqual(event)
    }
  })
})
