/**
 * Clients on a page of another origin: every call that they make is one that the host permits such a
 * page, and they get along with the headers that it may read.
 *
 * Seen red: with the propagation of Effect's tracing on, which adds `b3` to every call.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Client from "@bursar/http-host/client"
import { Effect, Stream } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
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
