/** Deliveries on each store, by two engines at once: nothing lost, nothing after a removal, none stuck. */
import { type Engine, EventQueries, Queries, Workers } from "@bursar/engine-core"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import { Context, Effect, Fiber, Layer, Logger } from "effect"
import { describe, expect, it } from "vitest"
import { listWebhooks } from "#core/feeds/webhook/WebhookQueries.ts"
import * as W from "./webhooks.ts"

type Store = typeof Memory.layer

const stores: ReadonlyArray<readonly [name: string, store: Store]> = [
  ["memory", Memory.layer],
  // The database is the suite's own; that it cannot be reached is a failed test.
  ["PostgreSQL", Layer.orDie(TestDatabase.layer) as Store]
]

const count = 60

/** Polls until a condition holds; fails with the missing items after a long timeout. */
const until = <A, E, R>(look: Effect.Effect<A, E, R>, isSo: (found: A) => boolean) =>
  Effect.gen(function* () {
    for (let at = 0; at < 300; at++) {
      const found = yield* look
      if (isSo(found)) return found
      yield* Effect.sleep(50)
    }
    return yield* look
  })

const story = (receivers: W.Receivers, second: Layer.Layer<Engine.Services>) =>
  Effect.gen(function* () {
    // Receiver that fails now and then, so that some deliveries wait for another attempt when the
    // webhook is removed.
    let posts = 0
    receivers.answer = () =>
      Effect.as(Effect.sleep(2), { status: ++posts % 5 === 0 ? 503 : 200, retryAfter: null })
    for (const webhookId of ["gone", "stays"]) {
      yield* W.register({
        webhookId,
        url: `https://${webhookId}.example/`,
        events: ["approval.requested"]
      })
    }
    const other = yield* Layer.build(second)
    const own = yield* Workers.Workers
    const runners = [own, Context.get(other, Workers.Workers)].flatMap(({ runnerOf }) => [
      runnerOf("deliveries"),
      runnerOf("removed-webhooks")
    ])
    const running = yield* Effect.forEach(runners, ({ run }) => Effect.forkChild(run))
    const happenings = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: count }), (_, at) => W.happen(`event-${at}`), {
        concurrency: 6
      })
    )
    yield* until(
      Effect.sync(() => receivers.postsTo("gone").length),
      (length) => length > 10
    )
    yield* W.call("webhook.remove", { params: { webhookId: "gone" }, key: null })
    const answer = yield* W.call("webhook.remove", {
      params: { webhookId: "gone" },
      key: null,
      caller: W.approver
    })
    yield* Fiber.join(happenings)
    const kept = yield* until(
      W.kept("stays"),
      (rows) => rows.length >= count && rows.every(({ attempts }) => attempts > 0)
    )
    const left = yield* until(W.queued("gone"), (queued) => queued === 0)
    yield* Effect.forEach(running, Fiber.interrupt)
    return { answer, kept, left, gone: yield* W.kept("gone") }
  })

describe.each(stores)("deliveries on %s", (_name, store) => {
  it("by two engines, while one of two webhooks is removed", async () => {
    const receivers = new W.Receivers()
    const logs: Array<string> = []
    const log = Logger.layer([Logger.make((one) => void logs.push(Logger.formatJson.log(one)))])
    const delivered = await Effect.runPromise(
      Effect.gen(function* () {
        const ports = yield* Layer.build(W.ports(receivers, { storage: store }))
        const engine = W.engineOver(ports, { poll: 50 })
        return yield* Effect.gen(function* () {
          const { answer, gone, kept, left } = yield* story(
            receivers,
            W.engineOver(ports, { poll: 50 })
          )
          const events = yield* EventQueries.EventQueries
          const page = yield* events.page({
            caller: W.auditor,
            params: { type: ["approval.requested"] },
            limit: 1000
          })
          const listed = yield* Effect.flatMap(Queries, (queries) =>
            queries.page(listWebhooks, {
              caller: W.auditor,
              params: {},
              point: {},
              page: { limit: 10 }
            })
          )
          return { answer, gone, kept, left, events: page.value, listed: listed.value }
        }).pipe(Effect.provide(engine))
      }).pipe(Effect.scoped, Effect.provide(log))
    )
    expect(delivered.answer.status).toBe(204)
    expect(delivered.listed.map(({ webhookId }) => webhookId)).toEqual(["stays"])
    // Feed = deliveries: one for each event, each taken in the end or waiting for another attempt.
    const after = delivered.events.filter(({ seq }) =>
      delivered.kept.some((one) => one.seq === seq)
    )
    expect(delivered.kept).toHaveLength(after.length)
    expect(after.length).toBeGreaterThanOrEqual(count)
    expect(delivered.kept.filter(({ state }) => state === "cancelled")).toEqual([])
    const posted = new Set(receivers.postsTo("stays").map(({ headers }) => headers["webhook-id"]))
    expect(posted.size).toBe(delivered.kept.length)
    // Deliveries to the removed webhook are cancelled, and its queue is empty.
    expect(new Set(delivered.gone.map(({ state }) => state)).has("pending")).toBe(false)
    expect(delivered.gone.some(({ state }) => state === "cancelled")).toBe(true)
    expect(delivered.left).toBe(0)
    expect(logs.filter((line) => line.includes('"ERROR"'))).toEqual([])
  })
})
