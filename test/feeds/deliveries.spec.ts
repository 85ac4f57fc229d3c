/** Deliveries: times of retries, the end of retrying, and the order of a webhook's queue. */
import { Metrics, Queries, Workers } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Documents, Feed } from "@bursar/engine-core/ports"
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { listDeliveries } from "#core/feeds/webhook/WebhookQueries.ts"
import { deliveries } from "#core/records/webhook/Delivery.ts"
import { webhooks } from "#core/records/webhook/Webhook.ts"
import * as Rules from "#core/records/webhook/DeliveryRules.ts"
import * as Calls from "../engine/calls.ts"
import * as W from "./webhooks.ts"

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** The waits between attempts, written down again (docs/contract/webhooks.md#retries). */
const waits = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour
].concat([20 * hour, 24 * hour])

const start = Instant.of("2026-01-01T00:00:00Z")
const atStart = TestClock.setTime(Instant.toEpochMillis(start))

const bodyOf = (webhookId: string, more: object = {}) => ({
  webhookId,
  url: `https://${webhookId}.example/`,
  secret: W.contractSecretText,
  ...more
})

describe("the schedule", () => {
  it("waits the contract's times, a tenth more or less, and never after the tenth attempt", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempts, chance) => {
          const wait = Rules.waitAfter({
            attempts,
            chance,
            status: 500,
            retryAfter: "9",
            now: start
          })
          const base = waits[attempts - 1]
          expect(wait === undefined).toBe(base === undefined)
          expect(wait ?? 0).toBeGreaterThanOrEqual(Math.floor((base ?? 0) * 0.9))
          expect(wait ?? 0).toBeLessThanOrEqual(Math.ceil((base ?? 0) * 1.1))
        }
      )
    )
    expect(Rules.attemptsMax).toBe(10)
  })

  it("is spread: both ends are reached", () => {
    const wait = (chance: number) =>
      Rules.waitAfter({ attempts: 2, chance, status: null, retryAfter: null, now: start })
    expect(wait(0)).toBe(270_000)
    expect(wait(0.5)).toBe(300_000)
    expect(wait(1 - 2 ** -32)).toBe(330_000)
    expect(Rules.chanceOf(new Uint8Array([255, 255, 255, 255]))).toBeLessThan(1)
    expect(Rules.chanceOf(new Uint8Array(4))).toBe(0)
  })

  it.each([
    ["60 seconds on 429 lengthen a shorter wait", 1, 429, "60", 60_000],
    ["and on 503", 1, 503, "60", 60_000],
    ["but shorten none", 2, 503, "60", 300_000],
    ["on another status they mean nothing", 1, 500, "60", 5_000],
    ["more than a day is a day", 1, 429, "999999", 86_400_000],
    ["an instant of HTTP is one too", 1, 503, "Thu, 01 Jan 2026 00:02:00 GMT", 120_000],
    ["one that is past is no wait", 1, 503, "Wed, 31 Dec 2025 00:00:00 GMT", 5_000],
    ["what is neither means nothing", 1, 503, "soon", 5_000],
    ["nor does a negative one", 1, 503, "-5", 5_000],
    ["nor one that is no integer", 1, 503, "1e9", 5_000]
  ])("Retry-After: %s", (_what, attempts, status, retryAfter, expected) => {
    expect(Rules.waitAfter({ attempts, chance: 0.5, status, retryAfter, now: start })).toBe(
      expected
    )
  })

  it.effect(
    "of one delivery: ten attempts with one name and the same bytes, then it is given up",
    () => {
      // Red when the wait is not kept, an attempt is not counted, or the tenth is not the last.
      const receivers = new W.Receivers()
      return Effect.gen(function* () {
        yield* atStart
        yield* W.register(bodyOf("wh-1", { events: ["approval.requested"] }))
        receivers.answer = () => Effect.succeed({ status: 410, retryAfter: null })
        yield* W.happen("once")
        yield* W.settle
        for (const wait of waits) {
          const before = receivers.got.length
          yield* W.pass(Math.floor(wait * 0.9) - 1)
          expect(receivers.got, `not before ${wait}`).toHaveLength(before)
          yield* W.pass(Math.ceil(wait * 0.2) + 2)
          expect(receivers.got, `by ${wait}`).toHaveLength(before + 1)
        }
        yield* W.pass(1_000 * hour)
        expect(receivers.got.map(({ headers }) => headers["x-webhook-attempt"])).toEqual(
          Array.from({ length: 10 }, (_, at) => String(at + 1))
        )
        expect(new Set(receivers.got.map(({ headers }) => headers["webhook-id"])).size).toBe(1)
        expect(new Set(receivers.got.map(({ body }) => body)).size).toBe(1)
        // Each attempt is dated, and signed, anew.
        const stamps = receivers.got.map(({ headers, at }) => [headers["webhook-timestamp"], at])
        expect(stamps.every(([text, at]) => text === String(Math.floor(Number(at) / 1000)))).toBe(
          true
        )
        expect(new Set(receivers.got.map(({ headers }) => headers["webhook-signature"])).size).toBe(
          10
        )
        const [kept] = yield* W.kept("wh-1")
        expect([kept?.state, kept?.attempts, kept?.last?.status]).toEqual(["exhausted", 10, 410])
        const feed = yield* Feed
        const { records } = yield* feed.readAudit({
          order: "asc",
          limit: 10,
          action: ["webhook.exhausted"]
        })
        expect(records.map(({ text }) => JSON.parse(text))).toMatchObject([
          {
            stage: "failed",
            resourceKind: "webhook",
            resourceId: "wh-1",
            detail: { seq: kept?.seq, attempts: 10, failure: "status" }
          }
        ])
        // The webhook stays: the next event is posted as if nothing had been.
        receivers.answer = W.taken
        yield* W.happen("again")
        yield* W.settle
        expect((yield* W.kept("wh-1")).map(({ state }) => state)).toEqual(["exhausted", "taken"])
      }).pipe(Effect.provide(W.posting(receivers)))
    }
  )

  it.effect("every attempt is counted by how it ended, and every delivery that is given up", () => {
    const receivers = new W.Receivers()
    const count = (outcome: string) =>
      Effect.map(
        Metric.value(Metric.withAttributes(Metrics.webhookAttempts, { outcome })),
        ({ count }) => Number(count)
      )
    return Effect.gen(function* () {
      yield* atStart
      const outcomes = ["taken", "dns", "address-refused", "connect", "tls", "timeout", "status"]
      const before = yield* Effect.forEach(outcomes, count)
      const exhausted = Number((yield* Metric.value(Metrics.webhookExhausted)).count)
      yield* W.register(bodyOf("wh-1", { events: ["approval.requested"] }))
      const ways: ReadonlyArray<W.Answering> = [
        () => Effect.succeed({ failure: "dns" }),
        () => Effect.succeed({ failure: "address-refused" }),
        () => Effect.succeed({ failure: "connect" }),
        () => Effect.succeed({ failure: "tls" }),
        () => Effect.succeed({ failure: "timeout" }),
        () => Effect.succeed({ status: 302, retryAfter: null }),
        () => Effect.succeed({ status: 199, retryAfter: null }),
        () => Effect.succeed({ status: 300, retryAfter: null }),
        W.taken
      ]
      let turn = 0
      receivers.answer = (post) => (ways[turn++] ?? W.taken)(post)
      yield* W.happen("once")
      yield* W.settle
      for (let at = 0; at < 9; at++) yield* W.pass(30 * hour)
      expect(receivers.got).toHaveLength(9)
      const after = yield* Effect.forEach(outcomes, count)
      expect(after.map((now, at) => now - (before[at] ?? 0))).toEqual([1, 1, 1, 1, 1, 1, 3])
      expect(Number((yield* Metric.value(Metrics.webhookExhausted)).count)).toBe(exhausted)
    }).pipe(Effect.provide(W.posting(receivers)))
  })

  it.effect("an attempt that its port never ends is late after 16 seconds, and tried again", () => {
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      yield* atStart
      yield* W.register(bodyOf("wh-1", { events: ["approval.requested"] }))
      receivers.answer = () => Effect.never
      yield* W.happen("once")
      const settling = yield* Effect.forkChild(W.settle)
      yield* TestClock.adjust(20 * second)
      yield* Fiber.join(settling)
      const [kept] = yield* W.kept("wh-1")
      expect([kept?.state, kept?.attempts, kept?.last?.failure]).toEqual(["pending", 1, "timeout"])
    }).pipe(Effect.provide(W.posting(receivers)))
  })
})

/** Lets seconds pass until it is so, a minute at most. */
const until = (isSo: () => boolean) =>
  Effect.gen(function* () {
    for (let at = 0; at < 60 && !isSo(); at++) yield* TestClock.adjust(second)
  })

describe("a slow webhook", () => {
  it.effect("has four attempts under way, and keeps no other waiting", () => {
    // Red when deliveries share one queue, or one webhook may take more than its share.
    const receivers = new W.Receivers()
    const many = 40
    return Effect.gen(function* () {
      yield* atStart
      for (const id of ["slow", "fast"]) {
        yield* W.register(bodyOf(id, { events: ["approval.requested"] }))
      }
      const gate = yield* Deferred.make<void>()
      yield* W.settle
      const before = {
        slow: receivers.postsTo("slow").length,
        fast: receivers.postsTo("fast").length
      }
      let under = 0
      let most = 0
      receivers.answer = (post) =>
        post.headers["x-webhook-id"] === "fast"
          ? W.taken(post)
          : Effect.gen(function* () {
              most = Math.max(most, ++under)
              yield* Deferred.await(gate)
              under -= 1
              return { status: 200, retryAfter: null }
            })
      const runner = yield* Workers.runnerOf("deliveries")
      const running = yield* Effect.forkChild(runner.run)
      for (let at = 0; at < many; at++) yield* W.happen(`event-${at}`)
      yield* until(() => receivers.postsTo("fast").length - before.fast >= many)
      expect(receivers.postsTo("fast").length - before.fast).toBe(many)
      expect([receivers.postsTo("slow").length - before.slow, under, most]).toEqual([4, 4, 4])
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => receivers.postsTo("slow").length - before.slow >= many)
      yield* TestClock.adjust(1_000)
      expect(receivers.postsTo("slow").length - before.slow).toBe(many)
      expect(most).toBe(4)
      yield* Fiber.interrupt(running)
      const kept = yield* W.kept("slow")
      expect(new Set(kept.map(({ state }) => state))).toEqual(new Set(["taken"]))
    }).pipe(Effect.provide(W.posting(receivers)))
  })

  it.effect("is posted once the record of its webhook can be read again", () => {
    const receivers = new W.Receivers()
    let isCorrupt = true
    return Effect.gen(function* () {
      yield* atStart
      const ports = yield* Layer.build(W.ports(receivers))
      const documents = Context.get(ports, Documents)
      const atTimes: typeof documents = {
        ...documents,
        get: (query) =>
          Effect.map(documents.get(query), (rows) =>
            isCorrupt && query.collection === webhooks.name
              ? rows.map((row) => ({ ...row, body: "{" }))
              : rows
          )
      }
      yield* W.register(bodyOf("wh-1", { events: ["approval.requested"] })).pipe(
        Effect.provide(W.engineOver(ports, {}))
      )
      yield* Effect.gen(function* () {
        // An instance that starts now looks for webhooks, and cannot read this one.
        yield* W.settle
        isCorrupt = false
        yield* W.happen("event")
        yield* W.settle
      }).pipe(Effect.provide(W.engineOver(Context.add(ports, Documents, atTimes), {})))
      expect(receivers.postsTo("wh-1").length).toBeGreaterThan(0)
    }).pipe(Effect.scoped)
  })

  it.effect(
    "is posted though the record of another webhook cannot be read, which alone is read anew",
    () => {
      // Red when one that cannot be read has all looked up one by one in every round.
      const receivers = new W.Receivers()
      const ids = ["corrupt", "one", "two", "three"]
      const lookUps: Array<ReadonlyArray<string>> = []
      return Effect.gen(function* () {
        yield* atStart
        const ports = yield* Layer.build(W.ports(receivers))
        const documents = Context.get(ports, Documents)
        const withCorrupt: typeof documents = {
          ...documents,
          get: (query) =>
            Effect.map(documents.get(query), (rows) => {
              if (query.collection !== webhooks.name) return rows
              lookUps.push(rows.map(({ recordId }) => recordId))
              return rows.map((row) => (row.recordId === "corrupt" ? { ...row, body: "{" } : row))
            })
        }
        const take = { events: ["approval.requested"] }
        yield* Effect.forEach(ids, (id) => W.register(bodyOf(id, take))).pipe(
          Effect.provide(W.engineOver(ports, {}))
        )
        yield* Effect.gen(function* () {
          // The first round finds out which one it is.
          yield* W.settle
          lookUps.length = 0
          for (let round = 0; round < 3; round++) {
            yield* W.happen(`event-${round}`)
            yield* W.settle
          }
        }).pipe(Effect.provide(W.engineOver(Context.add(ports, Documents, withCorrupt), {})))
        for (const id of ids.slice(1)) expect(receivers.postsTo(id).length).toBeGreaterThan(2)
        const alone = (id: string) =>
          lookUps.filter((found) => found.length === 1 && found[0] === id)
        expect(ids.map((id) => alone(id).length > 0)).toEqual([true, false, false, false])
      }).pipe(Effect.scoped)
    }
  )

  it.effect("is posted though the record of one that is due with it cannot be read", () => {
    // Red when the look-up of all that are leased together is the only one.
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      yield* atStart
      const ports = yield* Layer.build(W.ports(receivers))
      const documents = Context.get(ports, Documents)
      const withCorrupt: typeof documents = {
        ...documents,
        get: (query) =>
          Effect.map(documents.get(query), (rows) =>
            rows.map((row) =>
              query.collection === deliveries.name && row.body.includes('"corrupt"')
                ? { ...row, body: "{" }
                : row
            )
          )
      }
      const engine = W.engineOver(Context.add(ports, Documents, withCorrupt), {})
      yield* Effect.gen(function* () {
        for (const id of ["corrupt", "sound"]) {
          yield* W.register(bodyOf(id, { events: ["approval.requested"] }))
        }
        yield* W.happen("event")
        yield* W.settle
      }).pipe(Effect.provide(engine))
      expect(receivers.postsTo("corrupt")).toHaveLength(0)
      expect(receivers.postsTo("sound").length).toBeGreaterThan(0)
    }).pipe(Effect.scoped)
  })

  it.effect("of many, an instance has 32 attempts under way", () => {
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      yield* atStart
      const ids = Array.from({ length: 12 }, (_, at) => `slow-${at}`)
      for (const id of ids) yield* W.register(bodyOf(id, { events: ["webhook.test"] }))
      yield* W.register(bodyOf("last", { events: ["webhook.test"] }))
      let under = 0
      let most = 0
      receivers.answer = () =>
        Effect.gen(function* () {
          most = Math.max(most, ++under)
          yield* Effect.sleep(14 * second)
          under -= 1
          return { status: 200, retryAfter: null }
        })
      const runner = yield* Workers.runnerOf("deliveries")
      const running = yield* Effect.forkChild(runner.run)
      // A test is posted to everybody who takes tests: thirteen deliveries each.
      for (const id of ids) yield* W.call("webhook.test", { params: { webhookId: id } })
      const settling = yield* Effect.forkChild(W.settle)
      for (let at = 0; at < 400; at++) yield* TestClock.adjust(1_000)
      yield* Fiber.join(settling)
      yield* Fiber.interrupt(running)
      // Tests are posted by their operations, eight at a time, beside the dispatcher's 32.
      expect(most).toBeLessThanOrEqual(32 + 32 + 8)
      expect(most).toBeGreaterThanOrEqual(32)
      expect((yield* W.kept("last")).every(({ state }) => state === "taken")).toBe(true)
    }).pipe(Effect.provide(W.posting(receivers)))
  })
})

describe("the list of a webhook's deliveries", () => {
  const listed = (webhookId: string, state?: "pending" | "taken" | "exhausted") =>
    Effect.gen(function* () {
      const queries = yield* Queries
      const { value } = yield* queries.page(listDeliveries, {
        caller: Calls.person("ida", "auditor"),
        params: {
          webhookId: webhookId as never,
          ...(state === undefined ? {} : { state: [state] })
        },
        point: {},
        page: { limit: 50 }
      })
      return value.map((row) => [row.state, row.attempts, row.last?.status ?? null, row.next])
    })

  it.effect("says when the next attempt is due, and no more once it is over", () => {
    // Red when the instant is not kept with the attempt, or outlives it.
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      yield* atStart
      yield* W.register(bodyOf("wh-2", { events: ["approval.requested"] }))
      yield* W.register(bodyOf("wh-1", { events: ["approval.requested"] }))
      receivers.answer = ({ url }) =>
        Effect.succeed({ status: url.includes("wh-1") ? 410 : 200, retryAfter: null })
      yield* W.happen("once")
      expect(yield* listed("wh-1")).toEqual([["pending", 0, null, null]])
      yield* W.settle
      const [[state, attempts, status, next] = []] = yield* listed("wh-1", "pending")
      expect([state, attempts, status]).toEqual(["pending", 1, 410])
      const before = receivers.got.length
      const now = yield* Instant.now
      const wait = Number(((next as Instant.Instant) - now) / 1_000_000n)
      expect(wait).toBeGreaterThan(4_000)
      yield* W.pass(wait - 1)
      expect(receivers.got).toHaveLength(before)
      yield* W.pass(2)
      expect(receivers.got).toHaveLength(before + 1)
      expect((yield* listed("wh-2"))[0]).toEqual(["taken", 1, 200, null])
      for (const long of waits) yield* W.pass(Math.ceil(long * 1.2))
      expect(yield* listed("wh-1", "exhausted")).toEqual([["exhausted", 10, 410, null]])
      expect(yield* listed("wh-1", "pending")).toEqual([])
      const unknown = yield* Effect.flip(listed("wh-3"))
      expect(unknown).toMatchObject({ slug: "not-found" })
    }).pipe(Effect.provide(W.posting(receivers)))
  })
})
