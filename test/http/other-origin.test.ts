/**
 * Clients on a page of another origin: every call that they make is one that the host permits such a
 * page, and they get along with the headers that it may read.
 *
 * Seen red: with the propagation of Effect's tracing on, which adds `b3` to every call.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Client from "@bursar/http-host/client"
import * as PlainClient from "@bursar/http-host/plain-client"
import { Effect, Stream } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as ClientTable from "#host/api/ClientTable.ts"
import * as Business from "./tables.ts"
import { pageFetch } from "./page-fetch.ts"
import { bearer, open, type Venue } from "./venue.ts"

const origin = "https://office.example"

let venue: Venue
let maker: string
let approver: string
let runner: ReturnType<typeof setInterval>

beforeAll(async () => {
  venue = await open({ origins: [origin] })
  maker = await bearer(["operator"])
  approver = await bearer(["approver"])
  runner = setInterval(() => void venue.settle(), 50)
})
afterAll(async () => {
  clearInterval(runner)
  await venue.close()
})

/** Runs a program of the Effect client as a page of an origin runs it. */
const asPage = <A, E>(
  page: string,
  program: (as: (authorization: string) => Client.Client) => Effect.Effect<A, E>,
  preflights: Array<ReadonlyArray<string>> = []
): Promise<A> =>
  Effect.gen(function* () {
    const httpClient = yield* HttpClient.HttpClient
    return yield* program((authorization) =>
      Client.make({
        httpClient,
        baseUrl: venue.url,
        authorization: Effect.succeed(authorization)
      })
    )
  }).pipe(
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(FetchHttpClient.Fetch, pageFetch(page, preflights)),
    Effect.runPromise
  )

describe("the client on a page of another origin", () => {
  it("reads, writes, waits, approves and follows the feed", async () => {
    const preflights: Array<ReadonlyArray<string>> = []
    const outcome = await asPage(
      origin,
      (as) =>
        Effect.gen(function* () {
          const note = { holderId: "page-1", text: "one", amount: Decimal.of("1"), owner: null }
          const written = yield* as(maker).write(Business.register, note, { wait: "1 second" })
          const ended = yield* as(maker).wait(written)
          const policy = yield* as(maker).write(Business.setPolicy, { instrumentId: "page-i" })
          const signed = yield* as(approver).approve(policy)
          const listed = yield* as(maker).list(Business.listNotes, { text: ["one"] })
          const [page] = yield* Stream.runCollect(Stream.take(as(maker).events({}), 1))
          return [ended.state, signed.actionKey, listed.value.length, page?.events.length !== 0]
        }).pipe(Effect.withSpan("office")),
      preflights
    )
    expect(outcome).toEqual(["succeeded", expect.any(String), 1, true])
    expect([...new Set(preflights.flat())].toSorted()).toEqual([
      "authorization",
      "content-type",
      "idempotency-key",
      "prefer",
      "traceparent"
    ])
  })

  it("is kept from the venue where its origin is not one of the deployment's", async () => {
    const outcome = await asPage("https://elsewhere.example", (as) =>
      Effect.flip(as(maker).list(Business.listNotes, {}))
    )
    expect(outcome._tag).toBe("HttpClientError")
  })
})

/** Call table of the tests' own declarations, as a venue with declarations of its own makes one. */
const table = ClientTable.of({ ...Business.tables, events: {} })

describe("the plain client on a page of another origin", () => {
  it("reads, writes, waits, approves and follows the feed", async () => {
    const preflights: Array<ReadonlyArray<string>> = []
    const as = (authorization: string) =>
      PlainClient.make<
        typeof Business.register | typeof Business.setPolicy,
        typeof Business.listNotes
      >({
        baseUrl: venue.url,
        authorization,
        table,
        fetch: pageFetch(origin, preflights)
      })
    const amount = "9999999999999999999999999999.0000000001"
    const note = { holderId: "page-2", text: "two", amount, owner: null }
    const written = await as(maker).write("holder.register", note, { wait: 1 })
    const { result, state } = await as(maker).done(written)
    const digits: string = result.amount
    expect(digits).toBe(amount)
    expect([state, result]).toEqual(["succeeded", note])
    const policy = await as(maker).write("policy.set", { instrumentId: "page-j" })
    expect((await as(approver).approve(policy)).required).toBe(1)
    expect((await as(maker).list("holders.list", { where: { text: ["two"] } })).value).toEqual([
      expect.objectContaining(note)
    ])
    const seqs: Array<number> = []
    for await (const { seq } of as(maker).feed({ until: "now" })) seqs.push(seq)
    expect(seqs[0]).toBe(1)
    expect([...new Set(preflights.flat())].toSorted()).toEqual([
      "authorization",
      "content-type",
      "idempotency-key",
      "prefer"
    ])
  })
})

describe("the client by name", () => {
  it("has the refusals of each write in its error, and the trace of its caller's span", async () => {
    const traces: Array<string | null> = []
    const as = (authorization: string) =>
      Client.named({
        baseUrl: venue.url,
        authorization: Effect.succeed(authorization),
        table,
        fetch: (input, init) => {
          traces.push(new Headers(init?.headers).get("traceparent"))
          return fetch(input, init)
        }
      })
    const note = { holderId: "named-1", text: "three", amount: "1.50", owner: null } as never
    const outcome = await Effect.gen(function* () {
      const { state } = yield* as(maker).done(yield* as(maker).write("holder.register", note))
      const again = yield* Effect.flip(as(maker).write("holder.register", note))
      const { traceId } = yield* Effect.currentSpan
      const records = as(maker).records("holders.list", { where: { text: ["three"] } as never })
      return { state, again, traceId, records: yield* Stream.runCollect(records) }
    }).pipe(Effect.withSpan("office"), Effect.runPromise)
    expect(outcome.state).toBe("succeeded")
    expect(outcome.again).toMatchObject({ _tag: "CallRefusal", slug: "already-exists" })
    expect(outcome.records).toEqual([expect.objectContaining({ amount: "1.5000000000" })])
    expect(traces.length).toBeGreaterThan(2)
    expect(traces.every((trace) => trace?.includes(outcome.traceId) === true)).toBe(true)
    await Effect.runPromise(as(maker).write("holder.register", note).pipe(Effect.flip))
    expect(traces.at(-1)).toBeNull()
  })

  it("ends a call with its fiber, and dies of what is no answer's fault", async () => {
    let signal: AbortSignal | null | undefined
    const client = Client.named({
      baseUrl: venue.url,
      authorization: Effect.succeed("Bearer b"),
      fetch: (_, init) => {
        signal = init?.signal
        return new Promise<Response>((_, reject) =>
          signal?.addEventListener("abort", () => reject(signal?.reason))
        )
      }
    })
    const call = client.read("holders.get", { holderId: "h" })
    await Effect.runPromise(Effect.timeoutOption(call, "10 millis"))
    expect(signal?.aborted).toBe(true)
    const fault = await Effect.runPromise(
      Effect.flip(client.read("holders.get", { holderId: ".." }))
    )
    expect(fault._tag).toBe("InputFault")
  })
})
