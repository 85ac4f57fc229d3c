/**
 * Calls that wait for their end (docs/contract/waiting.md): `Prefer: wait` on writes, approvals,
 * operations and the feed.
 */
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Exit, Layer, Metric, Redacted, Scope } from "effect"
import { connect } from "node:net"
import { afterEach, describe, expect, it, vi } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import * as Counters from "#host/middleware/Counters.ts"
import * as Prefer from "#host/wire/Prefer.ts"
import { until } from "../waiting.ts"
import { bearer, json, open, send, type Sent, type Venue } from "./venue.ts"

const operator = await bearer(["operator"])
const approver = await bearer(["approver"])

const venues: Array<Venue> = []
afterEach(async () => {
  for (const venue of venues.splice(0)) await venue.close()
})

const opened = async (...given: Parameters<typeof open>): Promise<Venue> => {
  const venue = await open(...given)
  venues.push(venue)
  return venue
}

interface Answered {
  readonly status: number
  readonly state: string
  readonly operationId: string
  readonly actionKey: string
  readonly applied: string | null
  readonly retryAfter: string | null
  readonly replayed: string | null
  readonly value: unknown
}

/** Answer to a call of a write or of one operation. */
const answer = async (venue: Venue, { prefer, ...sent }: Sent & { readonly prefer?: string }) => {
  const headers = { ...sent.headers, ...(prefer === undefined ? {} : { prefer }) }
  const response = await send(venue, { as: operator, ...sent, headers })
  const body = await json<Answered & { readonly value?: Answered }>(response)
  const record = body.value ?? body
  return {
    status: response.status,
    state: record.state,
    operationId: record.operationId,
    actionKey: record.actionKey,
    value: body.value,
    applied: response.headers.get("preference-applied"),
    retryAfter: response.headers.get("retry-after"),
    replayed: response.headers.get("idempotent-replayed")
  } satisfies Answered
}

const pause = (id: string, prefer?: string) => ({
  method: "POST",
  path: `/v1/instruments/${id}:pause`,
  headers: { "idempotency-key": id },
  ...(prefer === undefined ? {} : { prefer })
})

/** A write that is accepted, and fails where its record is there by then. */
const note = (key: string, prefer?: string) => ({
  method: "POST",
  path: "/v1/holders",
  body: '{"holderId":"h-1","text":"one","amount":1,"owner":null}',
  headers: { "idempotency-key": key },
  ...(prefer === undefined ? {} : { prefer })
})

/** Calls that wait on the host now. */
const waiting = async (venue: Venue): Promise<number> => {
  const { value } = await venue.run(Metric.value(Counters.callsWaiting))
  return value
}

const once = (venue: Venue, count: number) => until(async () => (await waiting(venue)) === count)

/**
 * A call that waits for what never comes. Whichever call began after it and is answered while this one
 * waits was woken, and has not waited for its time to be over.
 */
const beside = async (venue: Venue) => {
  const path = "/v1/events?type=webhook.test"
  const as = await bearer(["auditor"])
  const call = send(venue, { path, as, headers: { prefer: "wait=60" } })
  await once(venue, 1)
  return async () => {
    expect(await waiting(venue)).toBe(1)
    await venue.close()
    expect((await call).status).toBe(200)
  }
}

/** A venue in which every answer that is waited for has to come by a signal. */
const woken = async (...given: Parameters<typeof open>) => {
  const venue = await open(...given)
  return { venue, allWoken: await beside(venue) }
}

describe("a write that prefers to wait", () => {
  it("is answered with its operation once it has ended", async () => {
    const { venue, allWoken } = await woken()
    const call = answer(venue, pause("i-1", "wait=60"))
    await once(venue, 2)
    await venue.settle()
    const ended = { state: "succeeded", applied: "wait=60", retryAfter: null }
    expect(await call).toMatchObject({ ...ended, status: 202, replayed: null })
    // A repeat finds it ended.
    expect(await answer(venue, pause("i-1", "wait=60"))).toMatchObject({
      ...ended,
      status: 200,
      replayed: "true"
    })
    await allWoken()
  })

  it("is answered as it is when its time is over", async () => {
    const venue = await opened()
    const late = await answer(venue, pause("i-1", "wait=1"))
    expect(late).toMatchObject({
      status: 202,
      state: "queued",
      applied: "wait=1",
      retryAfter: "1"
    })
  })

  it("waits when it is repeated, and for its failure too", async () => {
    const { venue, allWoken } = await woken()
    await answer(venue, note("first"))
    await answer(venue, note("second"))
    const repeat = answer(venue, note("second", "wait=60"))
    await once(venue, 2)
    await venue.settle()
    expect(await repeat).toMatchObject({
      status: 200,
      replayed: "true",
      state: "failed",
      applied: "wait=60"
    })
    await allWoken()
  })

  it("never waits for people, but for the operation that the last of them opens", async () => {
    const { venue, allWoken } = await woken()
    const set = {
      method: "POST",
      path: "/v1/instruments/i-1/policy:set",
      body: "{}",
      prefer: "wait=60"
    }
    const action = await answer(venue, set)
    expect(action).toMatchObject({ status: 202, state: "awaiting", applied: "wait=60" })
    const call = answer(venue, {
      method: "POST",
      path: `/v1/approvals/${action.actionKey}:approve`,
      as: approver,
      prefer: "wait=60"
    })
    await once(venue, 2)
    await venue.settle()
    expect(await call).toMatchObject({ status: 202, state: "succeeded", applied: "wait=60" })
    await allWoken()
  })
})

describe("one operation", () => {
  it("is answered when it ends, without a place among the subject's reads", async () => {
    const { venue, allWoken } = await woken({ unread: { subjectReads: 1 } })
    const { operationId } = await answer(venue, pause("i-1"))
    const path = `/v1/operations/${operationId}`
    const calls = [
      answer(venue, { path, prefer: "wait=60" }),
      answer(venue, { path, prefer: "wait=60" })
    ]
    await once(venue, 3)
    expect((await answer(venue, { path })).state).toBe("queued")
    await venue.settle()
    for (const ended of await Promise.all(calls)) {
      expect(ended).toMatchObject({ status: 200, state: "succeeded", applied: "wait=60" })
    }
    await allWoken()
  })

  it("is refused at once to whom it does not exist for", async () => {
    const venue = await opened()
    const { operationId } = await answer(venue, pause("i-1"))
    const path = `/v1/operations/${operationId}`
    const headers = { prefer: "wait=60" }
    const other = await send(venue, { path, as: await bearer(["app"]), headers })
    expect([other.status, other.headers.get("preference-applied")]).toEqual([404, null])
  })
})

describe("the feed", () => {
  const place = async (venue: Venue, query = "") => {
    const { next } = await json<{ readonly next: string }>(
      await send(venue, { path: `/v1/events${query}`, as: operator })
    )
    return `/v1/events?after=${next}${query.replace("?", "&")}`
  }
  const listed = async (venue: Venue, path: string, prefer: string) => {
    const response = await send(venue, { path, as: operator, headers: { prefer } })
    const { value } = await json<{ readonly value: ReadonlyArray<{ readonly type: string }> }>(
      response
    )
    return {
      types: value.map(({ type }) => type),
      applied: response.headers.get("preference-applied")
    }
  }

  it("answers an empty page once an event of its filter has come", async () => {
    const { venue, allWoken } = await woken()
    const path = await place(venue, "?type=operation.failed")
    const call = listed(venue, path, "wait=60")
    await once(venue, 2)
    await answer(venue, pause("i-1"))
    await venue.settle()
    expect(await waiting(venue)).toBe(2)
    await answer(venue, note("first"))
    await answer(venue, note("second"))
    await venue.settle()
    expect(await call).toEqual({ types: ["operation.failed"], applied: "wait=60" })
    await allWoken()
  })

  it("answers an empty page when the time is over, and the newest first at once", async () => {
    const venue = await opened()
    const path = await place(venue)
    expect(await listed(venue, path, "wait=1")).toEqual({ types: [], applied: "wait=1" })
    const newest = await place(venue, "?order=desc")
    expect(await listed(venue, newest, "wait=60")).toEqual({ types: [], applied: null })
  })

  it("answers an empty page that ends in the past at once", async () => {
    const venue = await opened()
    const past = "/v1/events?to=2020-01-01T00:00:00Z"
    expect(await listed(venue, past, "wait=1")).toEqual({ types: [], applied: null })
    const future = "/v1/events?to=2999-01-01T00:00:00Z"
    expect(await listed(venue, future, "wait=1")).toEqual({ types: [], applied: "wait=1" })
  })
})

describe("a preference", () => {
  it.each([
    ["wait=20", 20],
    ["WAIT = 20", 20],
    ['wait="20"', 20],
    ["respond-async, wait=20", 20],
    ['note="a,wait=1", wait=20', 20],
    ['note="\\",wait=1", wait=20', 20],
    ["wait=20;foo=bar", 20],
    ["wait=0", 0],
    ["wait=60", 60],
    ["wait=61", 60],
    [`wait=${"9".repeat(400)}`, 60],
    ["wait=5, wait=30", 5],
    ["wait=abc, wait=30", undefined],
    ["wait=1e9", undefined],
    ["wait=abc", undefined],
    ["wait=-1", undefined],
    ["wait=1.5", undefined],
    ["wait=", undefined],
    ["wait", undefined],
    ["waits=20", undefined],
    ['wait="20', undefined],
    ["", undefined],
    [undefined, undefined]
  ])("%j waits %j seconds", (header, seconds) => {
    expect(Prefer.waitOf(header)).toBe(seconds)
  })

  it("is ignored where it cannot be honoured, and never refused", async () => {
    const venue = await opened()
    for (const prefer of ["wait=abc", "wait=1e9", "wait=abc, wait=60"]) {
      expect(await answer(venue, pause("i-1", prefer))).toMatchObject({
        state: "queued",
        applied: null
      })
    }
    expect(await answer(venue, pause("i-1", "wait=0"))).toMatchObject({ applied: "wait=0" })
    const { applied } = await answer(venue, { path: "/v1/operations", prefer: "wait=60" })
    expect(applied).toBeNull()
  })

  it("lengthens the time after which a connection is dropped on routes that wait alone", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout")
    const times = { requestWithin: 30_000, firstByteWithin: 30_000, takenWithin: 300_001 }
    const venue = await opened({ times })
    const dropped = async (sent: Sent) => {
      timers.mockClear()
      await answer(venue, { ...sent, prefer: "wait=3" })
      return timers.mock.calls.flatMap(([, within = 0]) => (within > 300_001 ? [within] : []))
    }
    try {
      const [alone, withWait] = [[360_001], [363_001]]
      expect(await dropped({ path: "/v1/health" })).toEqual(alone)
      expect(await dropped({ path: "/v1/operations" })).toEqual(alone)
      expect(await dropped({ path: "/v1/nowhere" })).toEqual(alone)
      expect(await dropped({ path: "/v1/operations/op_none?x=1" })).toEqual(withWait)
      expect(await dropped({ path: "/v1/events?order=desc" })).toEqual(withWait)
      const refused = { method: "POST", path: "/v1/holders", body: "{}" }
      expect(await dropped(refused)).toEqual(withWait)
    } finally {
      timers.mockRestore()
    }
  })

  it("is the first of two headers", async () => {
    const venue = await opened()
    const body = [
      `POST /v1/instruments/i-1:pause HTTP/1.1`,
      "Host: x",
      `Authorization: ${operator}`
    ]
    const { text } = dial(
      venue,
      [...body, "Prefer: wait=0", "Prefer: wait=60", "", ""].join("\r\n")
    )
    await until(() => text().includes("\r\n\r\n"))
    expect(text().toLowerCase()).toContain("preference-applied: wait=0\r\n")
  })
})

/** A connection that sends some bytes. */
const dial = (venue: Venue, bytes: string) => {
  const socket = connect(venue.port, "127.0.0.1")
  const parts: Array<Buffer> = []
  socket.on("data", (part) => parts.push(part))
  socket.on("error", () => {})
  socket.write(bytes)
  return { socket, text: () => Buffer.concat(parts).toString("latin1") }
}

const pauseText = (id: string) =>
  [
    `POST /v1/instruments/${id}:pause HTTP/1.1`,
    "Host: x",
    `Authorization: ${operator}`,
    "Prefer: wait=60",
    "",
    ""
  ].join("\r\n")

describe("calls that wait", () => {
  it("are bounded for a subject and for the host: a further one is answered at once", async () => {
    const venue = await opened({ waits: { subjectWaits: 1, hostWaits: 2 } })
    const first = answer(venue, pause("i-1", "wait=60"))
    await once(venue, 1)
    const further = { state: "queued", applied: null, retryAfter: "1" }
    expect(await answer(venue, pause("i-2", "wait=60"))).toMatchObject(further)
    const as = await bearer(["risk"])
    const second = answer(venue, { ...pause("i-3", "wait=60"), as })
    await once(venue, 2)
    const third = await bearer(["operator"], { sub: "third" })
    expect(await answer(venue, { ...pause("i-4", "wait=60"), as: third })).toMatchObject(further)
    await venue.settle()
    for (const ended of [await first, await second]) {
      expect(ended).toMatchObject({ state: "succeeded", applied: "wait=60" })
    }
    // Their places are free again.
    const again = answer(venue, pause("i-5", "wait=60"))
    await once(venue, 1)
    await venue.settle()
    expect(await again).toMatchObject({ state: "succeeded", applied: "wait=60" })
  })

  it("end with their caller, whose write goes on", async () => {
    const venue = await opened()
    const { socket } = dial(venue, pauseText("i-1"))
    await once(venue, 1)
    socket.resetAndDestroy()
    await once(venue, 0)
    await venue.settle()
    const { value } = await answer(venue, { path: "/v1/operations" })
    expect(value).toMatchObject([{ state: "succeeded" }])
  })

  it("are answered at once where the client sends no more", async () => {
    const venue = await opened()
    const { socket, text } = dial(venue, pauseText("i-1"))
    await once(venue, 1)
    socket.end()
    await until(() => text().includes('"state":"queued"'))
    expect(text()).toMatch(/^HTTP\/1.1 202 /)
    expect(text().toLowerCase()).not.toContain("preference-applied")
    expect(await waiting(venue)).toBe(0)
  })

  it("are answered at once by a host that stops", async () => {
    const venue = await open({ times: { stopWithin: 3_600_000, partingWithin: 50 } })
    const call = answer(venue, pause("i-1", "wait=60"))
    await once(venue, 1)
    await venue.close()
    expect(await call).toMatchObject({ status: 202, state: "queued", applied: null })
  })
})

describe("two hosts on one database", () => {
  it("wake a call at the one when its operation ends, or an event comes, at the other", async () => {
    const scope = Scope.makeUnsafe()
    const url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
    const storage = Layer.fresh(Postgres.layer({ url: Redacted.make(url) }))
    const there = await open({ storage })
    const { venue: here, allWoken } = await woken({ storage })
    const feed = await json<{ readonly next: string }>(
      await send(here, { path: "/v1/events", as: operator })
    )
    const page = send(here, {
      path: `/v1/events?after=${feed.next}`,
      as: operator,
      headers: { prefer: "wait=60" }
    })
    const call = answer(here, pause("i-1", "wait=60"))
    await once(here, 3)
    await there.settle()
    let isAnswered = false
    const both = Promise.all([call, page]).finally(() => {
      isAnswered = true
    })
    // A host listens soon after it has started: an event before that wakes nobody there.
    for (let n = 0; !isAnswered; n += 1) {
      await answer(there, pause(`later-${n}`))
      await there.settle()
    }
    const [ended, events] = await both
    expect(ended).toMatchObject({ state: "succeeded", applied: "wait=60" })
    expect(events.headers.get("preference-applied")).toBe("wait=60")
    await allWoken()
    await there.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })
})
