/**
 * Listener of the feed: a developer's machine gets what a webhook would, each event until it is taken, and
 * goes on where it was.
 */
import { noteRestore } from "@bursar/engine-core"
import { verify } from "@bursar/http-host/webhook-receiver"
import { createServer, type IncomingHttpHeaders, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Webhook } from "standardwebhooks"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Listener from "#host/cli/FeedListener.ts"
import { bearer, open, send, type Venue } from "../http/venue.ts"

interface Posted {
  readonly headers: IncomingHttpHeaders
  readonly url: string
  readonly body: string
}

/** A developer's machine that answers as it is told. */
const machine = async (answers: (nth: number) => number) => {
  const posted: Array<Posted> = []
  const server: Server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const body = Buffer.concat(parts).toString("utf8")
      posted.push({ headers: request.headers, url: request.url ?? "", body })
      response.writeHead(answers(posted.length)).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    posted,
    target: new URL(`http://localhost:${port}/hook?of=mine`),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    }
  }
}

const secretText = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
const secret = new Uint8Array(Buffer.alloc(32, 7))

let venue: Venue
let operator: string

const note = async (holderId: string, at: Venue = venue) => {
  const body = JSON.stringify({ holderId, text: "one", amount: 1, owner: null })
  const written = await send(at, { method: "POST", path: "/v1/holders", as: operator, body })
  expect(written.status).toBe(202)
  await at.settle()
}

/** The control events of the feed as it shows them, by the text of its page. */
const eventsOf = async (): Promise<ReadonlyArray<string>> => {
  const page = await send(venue, { path: "/v1/events?kind=control&limit=1000", as: operator })
  const text = await page.text()
  const inner = /"value":\[(.*)\],"next"/su.exec(text)?.[1] ?? ""
  return inner === "" ? [] : inner.split(/(?<=\}),(?=\{"kind")/u)
}

beforeAll(async () => {
  venue = await open()
  operator = await bearer(["operator"])
  await note("before-1")
})
afterAll(() => venue.close())

interface Played {
  /** Error that the listener ended with. */
  readonly error: unknown
  readonly place: Listener.FeedPlace | null
  readonly reports: ReadonlyArray<Listener.ListenerProgress>
  readonly pauses: ReadonlyArray<number>
}

/** Runs a listener until it has told so much at the end of a page, or ends by itself. */
const listen = async (
  options: Partial<Listener.ListenerOptions> & Pick<Listener.ListenerOptions, "target">,
  until: (reports: ReadonlyArray<Listener.ListenerProgress>) => boolean,
  started: () => Promise<void> = async () => {}
): Promise<Played> => {
  const controller = new AbortController()
  const reports: Array<Listener.ListenerProgress> = []
  const pauses: Array<number> = []
  let place: Listener.FeedPlace | null = null
  let isKept = false
  const following = Listener.follow(
    {
      baseUrl: venue.url,
      authorization: async () => operator,
      tenantId: "venue-1",
      secret,
      types: [],
      isFromStart: false,
      readPlace: async () => null,
      keepPlace: async (kept) => {
        place = kept
        if (!isKept) {
          isKept = true
          void started()
        } else if (kept.taken === null && until(reports)) {
          controller.abort(new Error("seen enough"))
        }
      },
      tell: (progress) => reports.push(progress),
      sleep: async (seconds) => void pauses.push(seconds),
      ...options
    },
    controller.signal
  )
  const error = await following.catch((reason: unknown) => reason)
  return { error, place, reports, pauses }
}

describe("a listener", () => {
  it("posts each event from its start on, as a webhook's delivery", async () => {
    const { close, posted, target } = await machine(() => 204)
    const before = (await eventsOf()).length
    const { place, reports } = await listen(
      { target },
      () => true,
      () => note("live-1")
    )
    await close()
    const events = (await eventsOf()).slice(before)
    expect(events.length).toBeGreaterThan(0)
    expect(posted.map(({ body }) => body)).toEqual(events.slice(0, posted.length))
    expect(reports.map(({ seq }) => seq)).toEqual(
      posted.map(({ body }) => /"seq":(\d+)\}$/u.exec(body)?.[1])
    )
    expect(place?.after).toEqual(expect.any(String))
    for (const { body, headers, url } of posted) {
      expect(url).toBe("/hook?of=mine")
      const { connection: _, host: _host, ...others } = headers
      expect(Object.keys(others).toSorted()).toEqual([
        "content-length",
        "content-type",
        "traceparent",
        "user-agent",
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
        "x-webhook-attempt",
        "x-webhook-id"
      ])
      const verdict = await verify({ headers, body }, { secrets: [secretText] })
      expect(verdict).toMatchObject({ genuine: true, body })
      const judge = new Webhook(secretText)
      expect(judge.verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body))
      expect(headers["webhook-id"]).toBe(`evt_venue-1_${JSON.parse(body).seq}`)
    }
  })

  it("begins with the first event where it is to, and goes on after the last that was taken", async () => {
    const first = await machine(() => 200)
    const all = await eventsOf()
    const played = await listen({ target: first.target, isFromStart: true }, () => true)
    await first.close()
    expect(first.posted.map(({ body }) => body)).toEqual(all)
    await note("later-1")
    const second = await machine(() => 200)
    const readPlace = async () => played.place
    await listen({ target: second.target, readPlace }, () => true)
    await second.close()
    expect(second.posted.map(({ body }) => body)).toEqual((await eventsOf()).slice(all.length))
  })

  it("posts only the types that are asked for", async () => {
    const { close, posted, target } = await machine(() => 200)
    const types = ["operation.succeeded"] as const
    await listen({ target, types, isFromStart: true }, () => true)
    await close()
    expect(new Set(posted.map(({ body }) => JSON.parse(body).type))).toEqual(new Set(types))
  })

  it("posts an event again that was not taken, under its id and before any other", async () => {
    const { close, posted, target } = await machine((nth) => (nth <= 2 ? 500 : 200))
    const { pauses, reports } = await listen({ target, isFromStart: true }, () => true)
    await close()
    const attempts = posted.slice(0, 4).map(({ headers }) => headers["x-webhook-attempt"])
    expect(attempts).toEqual(["1", "2", "3", "1"])
    const ids = posted.map(({ headers }) => headers["webhook-id"])
    expect(new Set(ids.slice(0, 3)).size).toBe(1)
    expect(ids[3]).not.toBe(ids[0])
    expect(pauses).toEqual([1, 2])
    expect(reports[0]).toMatchObject({ on: "missed", outcome: "was answered 500", secondsLeft: 1 })
  })

  it("ends where its target is down for long, and loses no event by it", async () => {
    const gone = await machine(() => 200)
    await gone.close()
    const { error, pauses, place, reports } = await listen(
      { target: gone.target, isFromStart: true },
      () => false
    )
    expect(error).toBeInstanceOf(Listener.TargetDown)
    expect(String(error)).toContain("took event 1 in none of 10 attempts")
    expect(String(error)).toContain("(connect)")
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30, 30, 30])
    expect(reports).toHaveLength(Listener.attemptsMax - 1)
    expect(place).toEqual({ since: null, after: null, taken: null, pageEnd: null })
  })

  it("never posts again what was taken before its target went down in the middle of a page", async () => {
    await note("middle-1")
    const all = await eventsOf()
    expect(all.length).toBeGreaterThan(3)
    const first = await machine((nth) => (nth <= 2 ? 200 : 500))
    const played = await listen({ target: first.target, isFromStart: true }, () => false)
    await first.close()
    expect(played.error).toBeInstanceOf(Listener.TargetDown)
    expect(played.reports.filter(({ on }) => on === "taken")).toHaveLength(2)
    const second = await machine(() => 200)
    const readPlace = async () => played.place
    await listen({ target: second.target, readPlace }, () => true)
    await second.close()
    expect(second.posted.map(({ body }) => body)).toEqual(all.slice(2))
  })

  it("never takes an event for one of a lost history that has its number", async () => {
    const settings = { cursorKeys: [{ id: 1, secret: new Uint8Array(32).fill(7) }] }
    const [lost, restored] = await Promise.all([open({ settings }), open({ settings })])
    try {
      await note("lost-1", lost)
      await note("lost-2", lost)
      await note("lost-3", lost)
      const first = await machine((nth) => (nth <= 2 ? 200 : 500))
      const { place } = await listen(
        { target: first.target, baseUrl: lost.url, isFromStart: true },
        () => false
      )
      await first.close()
      expect(place).toMatchObject({ after: null, taken: expect.any(String) })
      // The copy is of before the first event: its numbers are used again.
      await restored.run(noteRestore)
      await note("restored-1", restored)
      await note("restored-2", restored)
      await note("restored-3", restored)
      const second = await machine(() => 200)
      const readPlace = async () => place
      const { error } = await listen(
        { target: second.target, baseUrl: restored.url, readPlace },
        () => true
      )
      await second.close()
      expect(second.posted).toEqual([])
      expect(error).toMatchObject({ slug: "cursor-expired" })
    } finally {
      await Promise.all([lost.close(), restored.close()])
    }
  })

  it("posts a page whole where its place was kept without the cursor after it", async () => {
    const all = await eventsOf()
    const { close, posted, target } = await machine(() => 200)
    const place = { since: null, after: null, taken: "2", pageEnd: null }
    await listen({ target, readPlace: async () => place }, () => true)
    await close()
    expect(posted.map(({ body }) => body)).toEqual(all)
  })

  it("says where a target's name has no address", async () => {
    const target = new URL("http://nowhere.invalid/hook")
    const { error } = await listen({ target, isFromStart: true }, () => false)
    expect(String(error)).toContain("had no answer (dns)")
  })

  it("ends at once where the venue is another, or refuses its token", async () => {
    const target = new URL("http://localhost:1/hook")
    const other = await listen({ target, tenantId: "venue-2" }, () => false)
    expect(String(other.error)).toContain('the venue is not "venue-2"')
    const authorization = async () => "Bearer nobody"
    const refused = await listen({ target, authorization }, () => false)
    expect(refused.error).toMatchObject({ slug: "unauthenticated" })
  })
})
