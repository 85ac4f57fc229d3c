/** The plain client over time: waits for an end, repeats calls and resumes the feed where it was. */
import * as PlainClient from "@bursar/http-host/plain-client"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import * as Refusal from "#core/kernel/Refusal.ts"
import { type Reply, scripted } from "./scripted.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Outcome of a call while the test's clock goes on from one timer to the next. */
const letPass = async <A>(call: Promise<A>): Promise<A | Error> => {
  let outcome: A | Error | undefined
  void call.then(
    (value) => (outcome = value),
    (error: Error) => (outcome = error)
  )
  for (let turn = 0; outcome === undefined && turn < 500; turn++) {
    for (let settled = 0; settled < 20; settled++) await Promise.resolve()
    if (outcome === undefined && vi.getTimerCount() > 0) await vi.advanceTimersToNextTimerAsync()
  }
  if (outcome === undefined) throw new Error("the call never ends")
  return outcome
}

const refusing = (slug: Refusal.BuiltInSlug, retryAfter: number | null = null): Reply => {
  const { retryable, status, title } = Refusal.refusals[slug]
  const problem = {
    type: `urn:bursar:problem:${slug}`,
    title,
    status,
    detail: title,
    retryable,
    retryAfter
  }
  return { status, text: JSON.stringify({ ...problem, errors: null, check: null }) }
}

const operation = (state: string, retryAfter?: number, change: object = {}): Reply => ({
  text: JSON.stringify({
    offset: 0,
    value: { operationId: "op_1", state, problem: null, ...change }
  }),
  ...(retryAfter === undefined ? {} : { headers: { "retry-after": String(retryAfter) } })
})

const action = (state: string, operationId: string | null): Reply => ({
  text: JSON.stringify({
    value: { actionKey: "ak_1", state, operationId, reason: state === "rejected" ? "no" : null }
  })
})

const written = (change: object = {}) =>
  ({ operationId: "op_1", actionKey: null, ...change }) as unknown as PlainClient.ActionJson

describe("waiting for an operation", () => {
  it("looks no sooner than it is told, through 429, 503 and silence, until the end", async () => {
    const { client, seconds } = scripted([
      operation("queued", 2),
      refusing("rate-limited", 7),
      refusing("not-ready", 5),
      "nothing",
      operation("running", 3),
      operation("succeeded")
    ])
    const states: Array<string> = []
    const ended = await letPass(
      client.done(written(), { progress: ({ state }) => states.push(state) })
    )
    expect(ended).toMatchObject({ state: "succeeded" })
    // 2 s as the queued answer said; 7 and 5 as the refusals did; 4 of its own after silence; 3.
    expect(seconds()).toEqual([0, 2, 9, 14, 18, 21])
    expect(states).toEqual(["queued", "running", "succeeded"])
  })

  it("asks the service to wait, and pauses only where it has not", async () => {
    const { calls, client, seconds } = scripted([
      { ...operation("queued", 2), held: 25 },
      operation("running", 3),
      { ...operation("succeeded"), held: 4 }
    ])
    await letPass(client.done(written()))
    expect(seconds()).toEqual([0, 25, 28])
    expect(calls.map(({ headers }) => headers.get("prefer"))).toEqual([
      "wait=25",
      "wait=25",
      "wait=25"
    ])
  })

  it("fails with what the operation failed with", async () => {
    const { text = "" } = refusing("rule-refused")
    const { client } = scripted([operation("failed", undefined, { problem: JSON.parse(text) })])
    const failed = await letPass(client.done(written()))
    expect(failed).toBeInstanceOf(PlainClient.CallRefusal)
    expect(failed).toMatchObject({ slug: "rule-refused", operationId: "op_1" })
    expect(String(failed)).toContain("422 rule-refused")
  })

  it("follows an action to its operation, and fails where people end it", async () => {
    const { client, seconds } = scripted([
      action("awaiting", null),
      action("approved", "op_1"),
      operation("succeeded")
    ])
    const made = written({ operationId: null, actionKey: "ak_1" })
    expect(await letPass(client.done(made))).toMatchObject({ state: "succeeded" })
    expect(seconds()).toEqual([0, 5, 5])
    const rejected = await letPass(scripted([action("rejected", null)]).client.done(made))
    expect(rejected).toBeInstanceOf(PlainClient.ActionNotRun)
    expect(rejected).toMatchObject({ actionKey: "ak_1", state: "rejected", reason: "no" })
  })

  it("gives up at once on what will not change, after its time on what does not end, and as its caller says", async () => {
    const refused = await letPass(scripted([refusing("permission-denied")]).client.done(written()))
    expect(refused).toMatchObject({ slug: "permission-denied", operationId: null })
    const long = scripted([operation("running", 5)])
    expect(await letPass(long.client.done(written(), { within: 60 }))).toMatchObject({
      name: "TimeoutError"
    })
    expect(long.calls).toHaveLength(12)
    const far = scripted([refusing("not-ready", 144)])
    expect(await letPass(far.client.done(written(), { within: 120 }))).toMatchObject({
      slug: "not-ready",
      retryAfter: 144
    })
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error("left")), 7_000)
    const { signal } = controller
    expect(
      await letPass(scripted([operation("running", 5)]).client.done(written(), { signal }))
    ).toBe(signal.reason)
    expect(vi.getTimerCount()).toBe(0)
  })

  it("gives up on a service that never answers", async () => {
    const { calls, client } = scripted(["nothing"])
    expect(await letPass(client.done(written()))).toBeInstanceOf(PlainClient.NoAnswer)
    expect(calls).toHaveLength(101)
  })
})

describe("the feed", () => {
  const page = (seqs: ReadonlyArray<number>, next: string): Reply => ({
    text: JSON.stringify({ value: seqs.map((seq) => ({ seq })), next })
  })

  it("goes on from the cursor after each page, and looks again at its end", async () => {
    const { calls, client, seconds } = scripted([
      page([1, 2], "c2"),
      page([], "c2"),
      { ...page([], "c2"), held: 25 },
      page([3], "c3"),
      page([], "c3")
    ])
    const events: Array<unknown> = []
    const reading = (async () => {
      for await (const event of client.feed({ kind: ["control"], after: "c0", every: 2 })) {
        if (events.push(event) === 3) return
      }
    })()
    await letPass(reading.then(() => true))
    expect(events).toEqual([
      { seq: 1, cursor: null },
      { seq: 2, cursor: "c2" },
      { seq: 3, cursor: "c3" }
    ])
    expect(seconds()).toEqual([0, 0, 2, 27])
    expect(calls.map(({ url }) => url.search)).toEqual([
      "?kind=control&limit=500&after=c0",
      "?kind=control&limit=500&after=c2",
      "?kind=control&limit=500&after=c2",
      "?kind=control&limit=500&after=c2"
    ])
  })

  it("ends with the last event that is there, where that is asked for", async () => {
    const { calls, client } = scripted([page([1], "c1"), page([], "c1")])
    const events: Array<number> = []
    for await (const { seq } of client.feed({ until: "now" })) events.push(seq)
    expect(events).toEqual([1])
    expect(calls.map(({ headers }) => headers.get("prefer"))).toEqual([null, null])
  })
})

describe("the pages of a list", () => {
  it("are asked for one after another, at the point of the first", async () => {
    const { calls, client } = scripted([
      { text: '{"value":[{"holderId":"a"}],"next":"c1"}' },
      refusing("not-ready", 3),
      { text: '{"value":[{"holderId":"b"}],"next":null}' }
    ])
    const reading = (async () => {
      const ids: Array<string> = []
      for await (const { holderId } of client.records("holders.list", {
        asOf: "2026-01-01T00:00:00Z"
      })) {
        ids.push(holderId)
      }
      return ids
    })()
    expect(await letPass(reading)).toEqual(["a", "b"])
    expect(calls.map(({ url }) => url.searchParams.get("after"))).toEqual([null, "c1", "c1"])
    expect(calls[2]?.url.searchParams.get("limit")).toBe("500")
  })
})
