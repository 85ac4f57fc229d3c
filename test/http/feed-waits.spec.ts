/** Cost of a wait on the feed: reads of the store, however many events pass its filter by. */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { table } from "#host/api/Route.ts"
import * as FeedsHandlers from "#host/handlers/FeedsHandlers.ts"
import type { Wait } from "#host/middleware/Waits.ts"
import { tables } from "./tables.ts"

const route = table(tables).find(({ name }) => name === "events.list")

/** A wait of a minute for a page that stays empty. */
const minute: Wait = {
  hold: ({ first, read, signal }) =>
    Effect.scoped(
      Effect.gen(function* () {
        const next = yield* signal
        yield* Effect.timeoutOption(Effect.forever(Effect.andThen(next, read)), "1 minute")
        return { answer: first, applied: {} }
      })
    )
}

// Switched off to see it red: the doubling of the pause in FeedsHandlers.ts.
it.effect("reads the page of a wait ever more rarely, at last once a second", () =>
  Effect.gen(function* () {
    if (route === undefined) return expect.fail("the feed has no route")
    const reads: Array<number> = []
    const empty = { offset: Offset.zero, now: yield* Instant.now, value: [], next: "n" }
    const page = Effect.clockWith((clock) =>
      Effect.as(
        Effect.map(clock.currentTimeMillis, (at) => reads.push(at)),
        empty
      )
    )
    const handlers = FeedsHandlers.make({
      events: { page: () => page },
      auditLog: {
        page: () => Effect.die(new Error("the audit log is not read")),
        all: () => Effect.die(new Error("the audit log is not read"))
      },
      // An event for somebody else at every moment.
      signals: { events: Effect.succeed(Effect.void), operation: () => Effect.never }
    })
    const call = handlers["events.list"]?.({
      arrival: {
        request: HttpServerRequest.fromWeb(new Request("http://x/v1/events")),
        identity: { requestId: "req-1", traceId: null, keyId: null },
        route,
        params: {},
        path: "/v1/events",
        query: "",
        target: "/v1/events",
        authorizations: [],
        idempotencyKeys: [],
        ifMatches: [],
        signature: { key: [], timestamp: [], nonce: [], signature: [] }
      },
      caller: {
        sub: "olga",
        name: null,
        email: null,
        roles: ["operator"],
        holderId: null,
        party: null
      },
      body: new Uint8Array(),
      file: null,
      charge: () => Effect.void,
      wait: minute
    })
    if (call === undefined) return expect.fail("the feed has no handler")
    yield* Effect.forkScoped(call)
    yield* TestClock.adjust("1 minute")
    const pauses = reads.slice(1).map((at, n) => at - (reads[n] ?? 0))
    expect(pauses.slice(0, 8)).toEqual([20, 40, 80, 160, 320, 640, 1_000, 1_000])
    expect(reads.length).toBeLessThan(70)
  })
)
