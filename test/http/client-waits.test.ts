/** Client over time: waits for an operation, repeats calls and resumes the feed where it was. */
import { Catalogue, type EventQueries } from "@bursar/engine-core"
import { Instant, PlainJson, Problem } from "@bursar/engine-core/kernel"
import * as Client from "@bursar/http-host/client"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Effect, Fiber, Result, Schema, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as Refusal from "#core/kernel/Refusal.ts"

interface Call {
  readonly second: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

type Reply =
  | {
      readonly status: number
      readonly json: PlainJson.Printable
      readonly retryAfter?: number
      /** Seconds for which the service holds the answer back, as the call prefers. */
      readonly held?: number
    }
  | "nothing"

/** A service with scripted answers, which records the time of each request. */
const scripted = (script: ReadonlyArray<Reply>) => {
  const calls: Array<Call> = []
  const left = [...script]
  const httpClient = HttpClient.make((request, url) =>
    Effect.gen(function* () {
      const second = (yield* Clock.currentTimeMillis) / 1000
      calls.push({
        second,
        method: request.method,
        url: url.pathname + url.search,
        headers: request.headers
      })
      const reply = left.shift()
      if (reply === undefined) return yield* Effect.die(new Error("asked once too often"))
      if (reply === "nothing") {
        const reason = new HttpClientError.TransportError({ request, cause: "reset" })
        return yield* Effect.fail(new HttpClientError.HttpClientError({ reason }))
      }
      const { held, json, retryAfter, status } = reply
      const headers = new Headers()
      if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter))
      if (held !== undefined) {
        headers.set("preference-applied", request.headers["prefer"] ?? "")
        yield* Effect.sleep(`${held} seconds`)
      }
      return HttpClientResponse.fromWeb(
        request,
        new Response(PlainJson.stringify(json), { status, headers })
      )
    })
  )
  const client = Client.make({
    httpClient,
    baseUrl: "http://venue.test/base",
    authorization: Effect.succeed("Bearer b")
  })
  return { client, calls, httpClient, seconds: () => calls.map(({ second }) => second) }
}

const refusing = (slug: Refusal.BuiltInSlug, retryAfter?: number): Reply => {
  const refused = Refusal.refused(slug, retryAfter === undefined ? {} : { retryAfter })
  const problem = Schema.encodeSync(Problem.Problem)(Problem.from(refused, "req_1"))
  return { status: problem.status as unknown as number, json: problem as PlainJson.Printable }
}

const now = "2026-01-01T00:00:00Z"
const empty = {
  operationId: "op_1",
  kind: "webhook.test",
  summary: "Posts a test event to webhook wh_1.",
  resource: { kind: "webhook", id: "wh_1", href: "/v1/webhooks/wh_1" },
  request: null,
  result: null,
  problem: null,
  actor: "svc",
  actorName: null,
  actorEmail: null,
  role: "operator",
  createdAt: now,
  startedAt: null,
  finishedAt: null,
  updateId: null,
  offset: null,
  actionKey: null,
  maker: null,
  makerRole: null,
  madeAt: null,
  required: null,
  signedBy: null,
  figures: null,
  figuresHash: null,
  recovery: null,
  waitingOn: []
} as const satisfies PlainJson.Printable

const operation = (state: string, retryAfter?: number, change: object = {}): Reply => ({
  status: 200,
  json: { offset: 0, now, value: { ...empty, state, ...change } },
  ...(retryAfter === undefined ? {} : { retryAfter })
})

const held = (reply: Reply, seconds: number): Reply =>
  reply === "nothing" ? reply : { ...reply, held: seconds }

const action = (state: string, operationId: string | null): Reply => ({
  status: 200,
  json: {
    offset: 0,
    now,
    value: {
      ...empty,
      state,
      operationId,
      actionKey: "ak_1",
      method: "POST",
      path: "/v1/x",
      fingerprint: "ab",
      signatures: [],
      makerName: null,
      moved: null,
      changes: [],
      expiresAt: null,
      rejectedBy: null,
      rejectedAt: null,
      reason: state === "rejected" ? "no" : null
    }
  }
})

/** The write that is waited for. */
const written = (change: object = {}): Client.TypedWriteAnswer<null> =>
  ({ ...empty, state: "queued", ...change }) as unknown as Client.TypedWriteAnswer<null>

/** Runs an effect while the test's clock moves on, a second whenever all fibers wait. */
const letPass = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.result(effect))
    while (fiber.pollUnsafe() === undefined) {
      // Lets the platform's own promises settle first, such as those that compute a signature.
      for (let i = 0; i < 3; i++) yield* Effect.promise(() => new Promise(setImmediate))
      yield* TestClock.adjust("1 second")
    }
    return yield* Fiber.join(fiber)
  })

describe("waiting for an operation", () => {
  it.effect("looks no sooner than it is told, through 429, 503 and silence, until the end", () =>
    Effect.gen(function* () {
      const { client, seconds, calls } = scripted([
        operation("queued", 2),
        refusing("rate-limited", 7),
        refusing("not-ready", 5),
        "nothing",
        operation("running", 3),
        operation("succeeded")
      ])
      const polledStates: Array<unknown> = []
      const ended = yield* letPass(
        client.wait(written(), {
          progress: ({ state }) => Effect.sync(() => polledStates.push(state))
        })
      )
      assert.isTrue(Result.isSuccess(ended) && ended.success.state === "succeeded")
      // 2 s as the queued answer said; 7 and 5 as the refusals did; 4 of its own after silence; 3.
      assert.deepEqual(seconds(), [0, 2, 9, 14, 18, 21])
      assert.deepEqual(polledStates, ["queued", "running", "succeeded"])
      assert.strictEqual(calls[0]?.url, "/base/v1/operations/op_1")
    })
  )

  it.effect("asks the service to wait, and pauses only where it has not", () =>
    Effect.gen(function* () {
      const { client, seconds, calls } = scripted([
        held(operation("queued", 2), 25),
        operation("running", 3),
        held(operation("succeeded"), 4)
      ])
      const ended = yield* letPass(client.wait(written()))
      assert.isTrue(Result.isSuccess(ended) && ended.success.state === "succeeded")
      assert.deepEqual(seconds(), [0, 25, 28])
      assert.deepEqual(
        calls.map(({ headers }) => headers["prefer"]),
        ["wait=25", "wait=25", "wait=25"]
      )
    })
  )

  it.effect("sends a preference with a write where its caller gives a time", () =>
    Effect.gen(function* () {
      const accepted: Reply = { status: 202, json: { ...empty, state: "succeeded" } }
      const { client, calls } = scripted([accepted, accepted, accepted])
      const test = Client.operation("webhook.test")
      yield* client.write(test, { webhookId: "wh_1" }, { wait: "20 seconds" })
      yield* client.write(test, { webhookId: "wh_1" })
      yield* client.approve({ actionKey: "ak_1", figuresHash: null }, { wait: "5 seconds" })
      assert.deepEqual(
        calls.map(({ headers }) => headers["prefer"]),
        ["wait=20", undefined, "wait=5"]
      )
    })
  )

  it.effect("fails with what the operation failed with", () =>
    Effect.gen(function* () {
      const problem = refusing("rule-refused")
      if (problem === "nothing") return
      const { client } = scripted([operation("failed", undefined, { problem: problem.json })])
      const ended = yield* letPass(client.wait(written()))
      assert.isTrue(Result.isFailure(ended) && ended.failure instanceof Client.OperationFailed)
      if (Result.isFailure(ended) && ended.failure instanceof Client.OperationFailed) {
        assert.strictEqual(ended.failure.slug, "rule-refused")
      }
    })
  )

  it.effect(
    "gives up at once on what will not change, and after its time on what does not end",
    () =>
      Effect.gen(function* () {
        const { client } = scripted([refusing("permission-denied")])
        const refused = yield* letPass(client.wait(written()))
        assert.isTrue(Result.isFailure(refused) && refused.failure instanceof Client.CallRefused)
        const long = scripted(Array.from({ length: 50 }, () => operation("running", 5)))
        const late = yield* letPass(long.client.wait(written(), { within: "1 minute" }))
        assert.isTrue(Result.isFailure(late) && Cause.isTimeoutError(late.failure))
        assert.isAtMost(long.calls.length, 13)
      })
  )

  it.effect(
    "never calls sooner than Retry-After says, and gives up on more than its own time",
    () =>
      Effect.gen(function* () {
        const { client, seconds } = scripted([
          refusing("rate-limited", 144),
          operation("succeeded"),
          refusing("not-ready", 144)
        ])
        const ended = yield* letPass(client.wait(written()))
        assert.isTrue(Result.isSuccess(ended))
        assert.deepEqual(seconds(), [0, 144])
        const refused = yield* letPass(client.wait(written(), { within: "2 minutes" }))
        assert.isTrue(Result.isFailure(refused) && refused.failure instanceof Client.CallRefused)
        if (Result.isFailure(refused) && refused.failure instanceof Client.CallRefused) {
          assert.strictEqual(refused.failure.problem.retryAfter, 144)
        }
        assert.strictEqual(seconds().length, 3)
      })
  )

  it.effect("pages wait as long as Retry-After says, up to a day", () =>
    Effect.gen(function* () {
      const page: Reply = {
        status: 200,
        json: { offset: 7, ledgerTime: null, now, value: [], next: null }
      }
      const { client, seconds } = scripted([
        refusing("rate-limited", 144),
        page,
        refusing("rate-limited", 86_401)
      ])
      const read = () => Stream.runDrain(client.pages(Client.read("holders.list"), {}))
      assert.isTrue(Result.isSuccess(yield* letPass(read())))
      assert.deepEqual(seconds(), [0, 144])
      const refused = yield* letPass(read())
      assert.isTrue(Result.isFailure(refused) && refused.failure instanceof Client.CallRefused)
    })
  )

  it.effect("waits for people first where a write awaits them, and tells when they said no", () =>
    Effect.gen(function* () {
      const awaiting = written({ state: "awaiting", operationId: null, actionKey: "ak_1" })
      const run = scripted([
        action("awaiting", null),
        action("approved", "op_1"),
        operation("succeeded")
      ])
      const ran = yield* letPass(run.client.wait(awaiting))
      assert.isTrue(Result.isSuccess(ran))
      assert.deepEqual(
        run.calls.map(({ url }) => url),
        ["/base/v1/approvals/ak_1", "/base/v1/approvals/ak_1", "/base/v1/operations/op_1"]
      )
      const rejecting = scripted([action("rejected", null)])
      const ended = yield* letPass(rejecting.client.wait(awaiting))
      assert.isTrue(Result.isFailure(ended) && ended.failure instanceof Client.ActionEnded)
    })
  )
})

const event = (seq: number) => ({
  kind: "control",
  type: "operation.succeeded",
  at: now,
  offset: null,
  instrumentId: null,
  party: null,
  resourceKind: "webhook",
  resourceId: "wh_1",
  payload: {},
  seq
})

const feedPage = (seqs: ReadonlyArray<number>, next: string): Reply => ({
  status: 200,
  json: { offset: 0, now, value: seqs.map(event), next }
})

describe("the feed", () => {
  it.effect(
    "goes on where it was, waits at its end, and passes over pages with nothing in them",
    () =>
      Effect.gen(function* () {
        const { client, calls, seconds } = scripted([
          feedPage([1, 2], "c2"),
          feedPage([], "c2"),
          refusing("not-ready", 4),
          feedPage([3], "c3")
        ])
        const read = yield* letPass(
          Stream.runCollect(
            Stream.take(client.events({ kind: ["control"] }, { after: "c0", limit: 2 }), 2)
          )
        )
        const pages: ReadonlyArray<Client.FeedPage> = Result.getOrThrow(read)
        const seqs = pages.map(({ events, cursor }) => [events.map(({ seq }) => seq), cursor])
        assert.deepEqual(seqs, [
          [[1, 2], "c2"],
          [[3], "c3"]
        ])
        assert.deepEqual(
          calls.map(({ url }) => url),
          ["c0", "c2", "c2", "c2"].map(
            (after) => `/base/v1/events?kind=control&limit=2&after=${after}`
          )
        )
        assert.deepEqual(seconds(), [0, 0, 1, 5])
      })
  )

  it.effect(
    "tells the cursor that follows a page without a match: what was scanned is not scanned again",
    () =>
      Effect.gen(function* () {
        const { client } = scripted([feedPage([], "c9"), feedPage([12], "c12")])
        const read = yield* letPass(Stream.runCollect(Stream.take(client.events({}), 2)))
        const pages = Result.getOrThrow(read)
        assert.deepEqual(
          pages.map(({ cursor }) => cursor),
          ["c9", "c12"]
        )
        const events: ReadonlyArray<Client.DecodedValue<EventQueries.Event>> = pages.flatMap(
          (page) => page.events
        )
        assert.deepEqual(
          events.map(({ seq }) => seq),
          [12]
        )
      })
  )

  it.effect("ends when its cursor is gone: what was missed has to be dealt with by a person", () =>
    Effect.gen(function* () {
      const { client } = scripted([refusing("cursor-expired")])
      const read = yield* letPass(Stream.runCollect(client.events({}, { after: "old" })))
      assert.isTrue(Result.isFailure(read) && read.failure instanceof Client.CallRefused)
    })
  )
})

describe("every call", () => {
  const listing = (next: string | null): Reply => ({
    status: 200,
    json: { offset: 7, ledgerTime: null, now, value: [], next }
  })

  it.effect("is signed over what goes out, each try anew", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(now)))
      const { httpClient, calls } = scripted([
        listing("c1"),
        refusing("not-ready", 1),
        listing(null)
      ])
      const secret = new Uint8Array(32).fill(7)
      const client = Client.make({
        httpClient,
        baseUrl: "http://venue.test/base",
        authorization: Effect.succeed("Bearer b"),
        signing: { keyId: "k-1", secret }
      })
      const holders = Client.read("holders.list")
      yield* letPass(Stream.runDrain(client.pages(holders, { state: ["active"] }, { limit: 9 })))
      assert.strictEqual(calls.length, 3)
      const start = Instant.toEpochMillis(Instant.of(now)) / 1000
      for (const { headers, method, url, second } of calls) {
        const timestamp = Number(headers["x-signature-timestamp"])
        assert.isTrue(timestamp >= start && timestamp <= second)
        const expected = yield* Effect.promise(() =>
          Client.Signature.headersOf(
            { keyId: "k-1", secret },
            {
              method,
              target: url,
              body: new Uint8Array(),
              timestamp,
              nonce: headers["x-signature-nonce"] ?? ""
            }
          )
        )
        assert.deepInclude(headers, expected)
      }
      assert.strictEqual(new Set(calls.map(({ headers }) => headers["x-signature-nonce"])).size, 3)
    })
  )

  it.effect("is part of the trace it is told, or of the span it is made in", () =>
    Effect.gen(function* () {
      const { httpClient, calls } = scripted([listing(null), listing(null), listing(null)])
      const sentTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
      const options = {
        httpClient,
        baseUrl: "http://venue.test",
        authorization: Effect.succeed("Bearer b")
      }
      const holders = Client.read("holders.list")
      yield* Client.make({ ...options, traceparent: Effect.succeed(sentTrace) }).list(holders, {})
      yield* Client.make({ ...options, traceparent: Effect.succeed(null) }).list(holders, {})
      const span = yield* Effect.currentSpan.pipe(
        Effect.tap(Client.make(options).list(holders, {})),
        Effect.withSpan("a caller's own")
      )
      assert.strictEqual(calls[0]?.headers["traceparent"], sentTrace)
      assert.isUndefined(calls[1]?.headers["traceparent"])
      assert.include(calls[2]?.headers["traceparent"], span.traceId)
    })
  )

  it.effect("that is not what the declaration takes is not made", () =>
    Effect.gen(function* () {
      const { client, calls } = scripted([])
      const holderId = "has space"
      const refused = yield* Effect.flip(client.one(Client.read("holders.get"), { holderId }))
      assert.instanceOf(refused, Client.InputInvalid)
      assert.strictEqual(calls.length, 0)
    })
  )

  it("is found by the name its declaration has, for every write and read of the engine", () => {
    for (const { kind } of Catalogue.operations) {
      assert.strictEqual(Client.operation(kind as "subscription.claim").kind, kind)
    }
    for (const { name } of Catalogue.queries) {
      assert.strictEqual(Client.read(name as "holders.get").name, name)
    }
    assert.throws(() => Client.operation("nothing.at-all" as "subscription.claim"))
  })
})
