/** Webhooks from their registration to their removal, and what each is posted in between. */
import {
  Catalogue,
  EventQueries,
  noteRestore,
  Queries,
  Records,
  replay,
  Workers
} from "@bursar/engine-core"
import { Documents, FactLog, Feed } from "@bursar/engine-core/ports"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Result } from "effect"
import { TestClock } from "effect/testing"
import { getWebhook, listWebhooks } from "#core/feeds/webhook/WebhookQueries.ts"
import * as Instant from "#core/kernel/Instant.ts"
import { isRefused } from "#core/kernel/Refusal.ts"
import { activeMax, webhooks } from "#core/records/webhook/Webhook.ts"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as W from "./webhooks.ts"

const start = TestClock.setTime(1_767_225_600_000)

const bodyOf = (webhookId: string, more: object = {}) => ({
  webhookId,
  url: `https://${webhookId}.example/hook`,
  secret: W.contractSecretText,
  ...more
})

const events = (params: EventQueries.EventParams = {}) =>
  Effect.flatMap(EventQueries.EventQueries, (queries) =>
    Effect.map(queries.page({ caller: W.auditor, params, limit: 1000 }), ({ value }) => value)
  )

const listed = Effect.flatMap(Queries, (queries) =>
  Effect.map(
    queries.page(listWebhooks, { caller: W.auditor, params: {}, point: {}, page: { limit: 100 } }),
    ({ value }) => value
  )
)

const operation = (operationId: string) =>
  Effect.flatMap(Records, (records) => records.get(operations, operationId))

const slug = <A, E extends { readonly slug: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (result) =>
    Result.isFailure(result) ? result.failure.slug : "none"
  )

describe("a webhook", () => {
  it.effect("gets every event after its registration, in the very bytes of the feed", () => {
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      yield* start
      yield* W.happen("before")
      yield* W.register(bodyOf("wh-1"))
      expect(receivers.got).toEqual([])
      yield* W.happen("after")
      yield* W.settle
      const after = (yield* events()).filter(({ resourceId }) => resourceId === "after")
      expect(after.map(({ type }) => type)).toEqual(["approval.requested"])
      expect(receivers.got.map(({ body }) => body)).toEqual(after.map(EventQueries.print))
      const kept = yield* W.kept("wh-1")
      expect(kept.map(({ state, attempts }) => [state, attempts])).toEqual([["taken", 1]])
    }).pipe(Effect.provide(W.posting(receivers)))
  })

  it.effect(
    "that names types gets those and no others; ids the engine makes begin with wh_",
    () => {
      const receivers = new W.Receivers()
      return Effect.gen(function* () {
        const made = yield* W.register({
          url: "https://some.example/",
          events: ["operation.succeeded"]
        })
        expect(made).toMatch(/^wh_[0-9A-HJKMNP-TV-Z]{26}$/)
        yield* W.register(bodyOf("wh-all", { events: [] }))
        yield* W.settle
        const types = (id: string) =>
          receivers
            .postsTo(id)
            .map(({ body }) => (JSON.parse(body) as { readonly type: string }).type)
        expect(types(made)).toEqual(["operation.succeeded"])
        yield* W.happen("more")
        yield* W.settle
        expect(types(made)).toEqual(["operation.succeeded"])
        expect(types("wh-all")).toEqual(["approval.requested"])
      }).pipe(Effect.provide(W.posting(receivers)))
    }
  )

  it.effect("never are more than a venue may have", () => {
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      // None takes the events of the registrations after it, which are thousands of deliveries.
      yield* Effect.forEach(
        Array.from({ length: activeMax }, (_, nth) => `wh-${nth}`),
        (webhookId) => W.register(bodyOf(webhookId, { events: ["webhook.test"] })),
        { discard: true }
      )
      const refused = yield* Effect.result(W.register(bodyOf("wh-more")))
      const details =
        Result.isFailure(refused) && isRefused(refused.failure) && refused.failure.details
      expect(details).toEqual({
        check: "webhooks-max",
        detail: `There are ${activeMax} webhooks, which is the most.`
      })
    }).pipe(Effect.provide(W.posting(receivers)))
  })

  it.effect("shows its six fields, the configured ones first, and is gone when removed", () => {
    const receivers = new W.Receivers()
    const configured = [
      { webhookId: "conf", url: "https://conf.example/", events: [], secrets: [] }
    ] as const
    return Effect.gen(function* () {
      yield* start
      yield* W.register(bodyOf("b"))
      yield* TestClock.adjust(1)
      yield* W.register(bodyOf("a", { events: ["webhook.test"] }))
      expect((yield* listed).map(({ webhookId, source }) => [webhookId, source])).toEqual([
        ["conf", "config"],
        ["b", "api"],
        ["a", "api"]
      ])
      expect(Object.keys((yield* listed)[0] ?? {})).toEqual([
        "webhookId",
        "url",
        "events",
        "source",
        "createdAt",
        "createdBy"
      ])
      const removal = W.call("webhook.remove", { params: { webhookId: "conf" } })
      expect(yield* slug(removal)).toBe("webhook-configured")
      yield* remove("a")
      const one = Effect.flatMap(Queries, (queries) =>
        queries.one(getWebhook, {
          caller: W.auditor,
          params: { webhookId: "a" as never },
          point: {}
        })
      )
      expect(yield* slug(one)).toBe("not-found")
      expect(yield* slug(W.call("webhook.remove", { params: { webhookId: "a" } }))).toBe(
        "not-found"
      )
      expect(yield* slug(W.call("webhook.register", { body: bodyOf("a") }))).toBe("already-exists")
    }).pipe(Effect.provide(W.posting(receivers, { settings: { webhooks: configured } })))
  })

  it.effect(
    "is refused where no address may be posted to, which is so unless a sender is given",
    () =>
      Effect.gen(function* () {
        expect(yield* slug(W.call("webhook.register", { body: bodyOf("a") }))).toBe(
          "webhook-url-refused"
        )
      }).pipe(Effect.provide(W.plainWorld()))
  )

  it.effect.each([
    ["a journal type", { events: ["price.point"] }, "/body/events/0"],
    ["a type twice", { events: ["webhook.test", "webhook.test"] }, "/body/events"],
    ["a word that is no type", { events: ["no.such"] }, "/body/events/0"],
    ["a short secret", { secret: "whsec_c2hvcnQ=" }, "/body/secret"],
    ["a secret of another form", { secret: `${W.contractSecretText}x` }, "/body/secret"],
    ["an address that is too long", { url: `https://a.example/${"x".repeat(2048)}` }, "/body/url"],
    ["an unknown member", { state: "removed" }, "/body/state"]
  ] as const)("%s is malformed, and the refusal repeats no secret", ([, more, pointer]) =>
    Effect.gen(function* () {
      const answer = yield* Effect.result(
        W.call("webhook.register", { body: bodyOf("wh-1", more) })
      )
      const refusal = Result.isFailure(answer) ? answer.failure : undefined
      expect(refusal?.slug).toBe("invalid-request")
      const details = refusal !== undefined && "details" in refusal ? refusal.details : {}
      expect(details.errors?.map((fault) => fault.pointer)).toContain(pointer)
      expect(JSON.stringify(details)).not.toContain("whsec_c2")
      expect(JSON.stringify(details)).not.toContain(W.contractSecretText)
    }).pipe(Effect.provide(W.posting(new W.Receivers())))
  )
})

/** The maker's call and its approver's, by the route itself. */
const remove = (webhookId: string) =>
  Effect.gen(function* () {
    const firstCall = W.call("webhook.remove", { params: { webhookId }, key: null })
    yield* firstCall
    return yield* W.call("webhook.remove", {
      params: { webhookId },
      key: null,
      caller: W.approver
    })
  })

describe("removal", () => {
  it.effect(
    "is done when its approver's call is answered, which is 204 with nothing to show",
    () => {
      const receivers = new W.Receivers()
      return Effect.gen(function* () {
        yield* W.register(bodyOf("wh-1"))
        const answer = yield* remove("wh-1")
        expect([answer.status, answer.value]).toEqual([204, null])
        // The operation needs no worker: it ended in the call.
        expect(yield* listed).toEqual([])
        const [, operationId = ""] = answer.location.split("/v1/operations/")
        expect((yield* operation(operationId)).state).toBe("succeeded")
        const again = yield* W.call("webhook.remove", {
          params: { webhookId: "wh-1" },
          key: null,
          caller: W.approver
        })
        expect([again.status, again.value, again.replayed]).toEqual([204, null, true])
        const makers = yield* W.call("webhook.remove", { params: { webhookId: "wh-1" }, key: null })
        expect([makers.status, W.memberOf(makers.value, "state")]).toEqual([200, "succeeded"])
        const eventTypes = (yield* events({ resourceId: "wh-1" })).map(({ type }) => type)
        expect(eventTypes.slice(-3)).toEqual([
          "approval.requested",
          "approval.approved",
          "operation.succeeded"
        ])
        yield* W.settle
        // The event of its own removal was on its way too.
        expect(receivers.postsTo("wh-1")).toEqual([])
      }).pipe(Effect.provide(W.posting(receivers)))
    }
  )

  it.effect("by key is an operation like any other: 202", () =>
    Effect.gen(function* () {
      yield* W.register(bodyOf("wh-1"))
      const made = yield* W.call("webhook.remove", { params: { webhookId: "wh-1" } })
      const approved = yield* W.approve(String(W.memberOf(made.value, "actionKey")))
      expect(approved.status).toBe(202)
      expect(yield* listed).toHaveLength(1)
      yield* W.settle
      expect(yield* listed).toEqual([])
    }).pipe(Effect.provide(W.posting(new W.Receivers())))
  )

  it.effect(
    "cancels what is on its way in its own transaction, and nothing of it is posted",
    () => {
      // Red when the outbox does not cancel, or the runner does not look at the state.
      const receivers = new W.Receivers()
      return Effect.gen(function* () {
        yield* start
        receivers.answer = () => Effect.succeed({ status: 500, retryAfter: null })
        yield* W.register(bodyOf("wh-1"))
        yield* W.register(bodyOf("wh-2"))
        yield* W.settle
        const before = receivers.postsTo("wh-1").length
        yield* remove("wh-1")
        const kept = yield* W.kept("wh-1")
        expect(new Set(kept.map(({ state }) => state))).toEqual(new Set(["cancelled"]))
        expect(kept.length).toBeGreaterThan(0)
        yield* W.pass(30 * 86_400_000)
        expect(receivers.postsTo("wh-1")).toHaveLength(before)
        // The other webhook got every event.
        expect(receivers.postsTo("wh-2")).toHaveLength(3)
        // The queue of the removed webhook is empty.
        expect(yield* W.queued("wh-1")).toBe(0)
      }).pipe(Effect.provide(W.posting(receivers)))
    }
  )

  it.effect("while an attempt is under way lets it end, and notes nothing of it", () => {
    // Red when the runner does not load the state again before it records the attempt.
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      yield* start
      yield* W.register(bodyOf("wh-1"))
      receivers.answer = () => Effect.as(Effect.sleep(5_000), { status: 500, retryAfter: null })
      yield* W.happen("slowly")
      const settling = yield* Effect.forkChild(W.settle)
      yield* TestClock.adjust(1_000)
      expect(receivers.got).toHaveLength(1)
      yield* remove("wh-1")
      yield* TestClock.adjust(10_000)
      yield* Fiber.join(settling)
      yield* W.pass(86_400_000)
      const kept = yield* W.kept("wh-1")
      expect(kept.map(({ state, attempts }) => [state, attempts])).toEqual([
        ["cancelled", 0],
        ["cancelled", 0]
      ])
      expect(receivers.got).toHaveLength(1)
      expect(yield* W.queued("wh-1")).toBe(0)
    }).pipe(Effect.provide(W.posting(receivers)))
  })
})

describe("the configuration's webhooks", () => {
  const one = { webhookId: "conf", url: "https://conf.example/", events: [] }

  it.effect("are signed under each of their secrets, and follow the configuration", () => {
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      const ports = yield* Layer.build(W.ports(receivers))
      const engine = (configured: ReadonlyArray<typeof one>) =>
        W.engineOver(ports, {
          webhooks: configured.map((webhook) => ({
            ...webhook,
            secrets: [W.contractSecret, new Uint8Array(24)]
          }))
        })
      yield* Effect.andThen(W.happen("first"), W.settle).pipe(Effect.provide(engine([one])))
      const signature = receivers.postsTo("conf")[0]?.headers["webhook-signature"]
      expect(signature?.split(" ").map((part) => part.split(",")[0])).toEqual(["v1", "v1", "v1a"])
      const url = "https://elsewhere.example/"
      yield* Effect.andThen(W.happen("second"), W.settle).pipe(
        Effect.provide(engine([{ ...one, url }]))
      )
      expect(receivers.postsTo("conf").map((got) => got.url)).toEqual([one.url, url])
      receivers.answer = () => Effect.succeed({ status: 500, retryAfter: null })
      yield* Effect.andThen(W.happen("third"), W.settle).pipe(
        Effect.provide(engine([{ ...one, url }]))
      )
      // The webhook is not named any more: its pending deliveries are cancelled, and no new ones
      // are made.
      yield* Effect.gen(function* () {
        yield* W.happen("fourth")
        yield* W.pass(86_400_000)
        expect(yield* listed).toEqual([])
        expect((yield* W.kept("conf")).map(({ state }) => state)).toEqual([
          "taken",
          "taken",
          "cancelled"
        ])
      }).pipe(Effect.provide(engine([])))
      expect(receivers.postsTo("conf")).toHaveLength(3)
      // Once it is configured again, its deliveries continue with the events from then on.
      receivers.answer = W.taken
      yield* Effect.andThen(W.happen("fifth"), W.settle).pipe(Effect.provide(engine([one])))
      expect(receivers.postsTo("conf")).toHaveLength(4)
    }).pipe(Effect.scoped)
  })
})

describe("a test", () => {
  const testing = (webhookId: string) =>
    Effect.gen(function* () {
      const made = yield* W.call("webhook.test", { params: { webhookId } })
      yield* W.settle
      return yield* operation(String(W.memberOf(made.value, "operationId")))
    })

  it.effect(
    "posts its event to the webhook whatever that names, at once, and tells what came of it",
    () => {
      const receivers = new W.Receivers()
      return Effect.gen(function* () {
        yield* start
        yield* W.register(bodyOf("wh-1", { events: ["hold.released"] }))
        yield* W.register(bodyOf("wh-named", { events: ["webhook.test"] }))
        yield* W.register(bodyOf("wh-other", { events: ["hold.released"] }))
        receivers.answer = () => Effect.as(Effect.sleep(120), { status: 204, retryAfter: null })
        const fiber = yield* Effect.forkChild(testing("wh-1"))
        yield* TestClock.adjust(1_000)
        const done = yield* Fiber.join(fiber)
        expect(JSON.parse(JSON.stringify(done.result))).toEqual({
          delivered: true,
          status: { text: "204" },
          durationMs: { text: "120" },
          failure: null
        })
        const testEvents = yield* events({ type: ["webhook.test"] })
        expect(testEvents.map(({ kind, resourceId }) => [kind, resourceId])).toEqual([
          ["control", "wh-1"]
        ])
        expect(receivers.got.map(({ body }) => body)).toEqual(
          Array.from({ length: 2 }, () => EventQueries.print(testEvents[0] as EventQueries.Event))
        )
        expect(receivers.postsTo("wh-other")).toEqual([])
        expect((yield* W.kept("wh-1")).map(({ state, attempts }) => [state, attempts])).toEqual([
          ["taken", 1]
        ])
        yield* W.pass(86_400_000)
        expect(receivers.postsTo("wh-1")).toHaveLength(1)
      }).pipe(Effect.provide(W.posting(receivers)))
    }
  )

  it.effect(
    "that fails succeeds as an operation, and its attempt counts as the delivery's first",
    () => {
      const receivers = new W.Receivers()
      return Effect.gen(function* () {
        yield* start
        yield* W.register(bodyOf("wh-1", { events: ["hold.released"] }))
        receivers.answer = () => Effect.succeed({ failure: "tls" })
        const done = yield* testing("wh-1")
        expect([done.state, W.memberOf(done.result ?? null, "failure")]).toEqual([
          "succeeded",
          "tls"
        ])
        yield* W.pass(6_000)
        expect(
          receivers.postsTo("wh-1").map(({ headers }) => headers["x-webhook-attempt"])
        ).toEqual(["1", "2"])
        expect(
          new Set(receivers.postsTo("wh-1").map(({ headers }) => headers["webhook-id"])).size
        ).toBe(1)
        expect(new Set(receivers.postsTo("wh-1").map(({ body }) => body)).size).toBe(1)
      }).pipe(Effect.provide(W.posting(receivers)))
    }
  )

  it.effect("is left to its operation by the dispatcher: one post, though both are at work", () => {
    // Red when the test's delivery is due at once.
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      yield* start
      yield* W.register(bodyOf("wh-1", { events: ["hold.released"] }))
      receivers.answer = () => Effect.as(Effect.sleep(3_000), { status: 200, retryAfter: null })
      const dispatching = yield* Effect.flatMap(Workers.runnerOf("deliveries"), ({ run }) =>
        Effect.forkChild(run)
      )
      const fiber = yield* Effect.forkChild(testing("wh-1"))
      for (let at = 0; at < 10; at++) yield* TestClock.adjust(1_000)
      expect((yield* Fiber.join(fiber)).state).toBe("succeeded")
      for (let at = 0; at < 60; at++) yield* TestClock.adjust(1_000)
      yield* Fiber.interrupt(dispatching)
      expect(receivers.postsTo("wh-1")).toHaveLength(1)
    }).pipe(Effect.provide(W.posting(receivers)))
  })

  it.effect(
    "that stops after its post is made again: the same event, still the first attempt",
    () => {
      const receivers = new W.Receivers()
      return Effect.gen(function* () {
        yield* start
        yield* W.register(bodyOf("wh-1", { events: ["hold.released"] }))
        receivers.answer = () => Effect.never
        const made = yield* W.call("webhook.test", { params: { webhookId: "wh-1" } })
        const stopped = yield* Effect.forkChild(W.settle)
        yield* TestClock.adjust(1_000)
        yield* Fiber.interrupt(stopped)
        receivers.answer = W.taken
        yield* W.pass(31_000)
        const done = yield* operation(String(W.memberOf(made.value, "operationId")))
        expect([done.state, W.memberOf(done.result ?? null, "delivered")]).toEqual([
          "succeeded",
          true
        ])
        const posts = receivers
          .postsTo("wh-1")
          .map(({ body, headers }) => [headers["webhook-id"], headers["x-webhook-attempt"], body])
        expect(posts).toHaveLength(2)
        expect(posts[1]).toEqual(posts[0])
        expect(yield* events({ type: ["webhook.test"] })).toHaveLength(1)
      }).pipe(Effect.provide(W.posting(receivers)))
    }
  )

  it.effect("of a webhook that is not there is refused", () =>
    Effect.gen(function* () {
      const testCall = W.call("webhook.test", { params: { webhookId: "nobody" } })
      expect(yield* slug(testCall)).toBe("not-found")
    }).pipe(Effect.provide(W.posting(new W.Receivers())))
  )
})

describe("a replay", () => {
  it.effect("posts the control events of a range again, under the names they had", () => {
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      yield* W.register(bodyOf("wh-1", { events: ["approval.requested"] }))
      for (const name of ["one", "two", "three"]) yield* W.happen(name)
      yield* W.settle
      const first = receivers
        .postsTo("wh-1")
        .map(({ headers, body }) => [headers["webhook-id"], body])
      expect(first).toHaveLength(3)
      const all = (yield* events({ type: ["approval.requested"] })).map(({ seq }) => seq)
      const [fromSeq = 0, toSeq = 0] = all.slice(-2)
      const count = yield* replay({ webhookId: "wh-1", fromSeq, toSeq })
      yield* W.settle
      expect(count).toBe(2)
      const again = receivers.postsTo("wh-1").slice(3)
      expect(again.map(({ headers, body }) => [headers["webhook-id"], body])).toEqual(
        first.slice(1)
      )
      expect(yield* slug(replay({ webhookId: "nobody", fromSeq: 1, toSeq: 2 }))).toBe("not-found")
      // Restored from a copy: the numbers are used anew, the ids are not, and what the copy has keeps its.
      const { eventSeq } = yield* noteRestore
      const { at } = yield* Effect.flatMap(Feed, ({ head }) =>
        Effect.map(head, ({ restores }) => restores[0] ?? { at: "" })
      )
      yield* W.happen("four")
      yield* replay({ webhookId: "wh-1", fromSeq, toSeq })
      yield* W.settle
      const ids = receivers
        .postsTo("wh-1")
        .slice(5)
        .map(({ headers }) => headers["webhook-id"])
      const suffix = Instant.toEpochMicros(Instant.of(at))
      expect(ids.toSorted()).toEqual(
        [`evt_venue-1_${eventSeq + 1}_${suffix}`, ...first.slice(1).map(([id]) => id)].toSorted()
      )
      const feed = yield* Feed
      const hold = { holderIds: [], instrumentIds: [] }
      yield* feed.prune({ before: "9999", hold, limit: fromSeq })
      const range = { webhookId: "wh-1", fromSeq: 1, toSeq }
      expect(yield* slug(replay(range))).toBe("cursor-expired")
    }).pipe(Effect.provide(W.posting(receivers)))
  })
})

describe("a secret", () => {
  it.effect(
    "is nowhere but in the signatures: not in records, facts, answers, events, audit or logs",
    () => {
      // Red when the door keeps the request as it came, or the record the secret itself.
      const receivers = new W.Receivers()
      const logs: Array<string> = []
      const log = Logger.layer([Logger.make((one) => void logs.push(Logger.formatJson.log(one)))])
      return Effect.gen(function* () {
        const made = yield* W.call("webhook.register", { body: bodyOf("wh-1") })
        const shown = W.memberOf(W.memberOf(made.value, "request"), "secret")
        expect(shown).toMatch(/^whsec_…[0-9a-f]{8}$/)
        const actionKey = String(W.memberOf(made.value, "actionKey"))
        const approved = yield* W.approve(actionKey)
        expect(W.memberOf(W.memberOf(approved.value, "request"), "secret")).toBe(shown)
        yield* W.settle
        yield* W.call("webhook.test", { params: { webhookId: "wh-1" } })
        yield* W.settle
        const documents = yield* Documents
        const facts = yield* FactLog
        const feed = yield* Feed
        const kept: Array<unknown> = [made, approved, logs]
        for (const { name } of [...Catalogue.collections, approvals, operations]) {
          const latest = { by: "latest" } as const
          kept.push(
            yield* documents.list({
              collection: name,
              pin: latest,
              where: [],
              direction: "asc",
              limit: 1000
            }),
            yield* facts.scan({ collection: name, limit: 1000 })
          )
        }
        kept.push(yield* feed.read({ order: "asc", limit: 1000 }))
        kept.push(yield* feed.readAudit({ order: "asc", limit: 1000 }))
        const text = JSON.stringify(kept)
        expect(text).toContain("wh-1")
        const secret = W.contractSecretText.slice("whsec_".length)
        for (const spelling of [
          secret,
          secret.replace(/=+$/, ""),
          Buffer.from(W.contractSecret).toString("hex"),
          Buffer.from(W.contractSecretText).toString("base64")
        ]) {
          expect(text).not.toContain(spelling)
        }
        // The secret is stored, since the posts are signed under it.
        expect(receivers.postsTo("wh-1")[0]?.headers["webhook-signature"]).toMatch(
          /^v1,\S+ v1a,\S+$/
        )
        const webhook = yield* Effect.flatMap(Records, (records) => records.get(webhooks, "wh-1"))
        expect(webhook.sealed).toMatch(/^seal-1\./)
      }).pipe(Effect.provide(W.posting(receivers)), Effect.provide(log))
    }
  )

  it.effect(
    "decides what is the same call: another secret under the same key is another write",
    () =>
      Effect.gen(function* () {
        yield* W.call("webhook.register", { body: bodyOf("wh-1"), key: "k" })
        const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`
        const again = W.call("webhook.register", {
          body: bodyOf("wh-1", { secret: other }),
          key: "k"
        })
        expect(yield* slug(again)).toBe("idempotency-key-reused")
        const same = yield* W.call("webhook.register", { body: bodyOf("wh-1"), key: "k" })
        expect(same.status).toBe(200)
      }).pipe(Effect.provide(W.posting(new W.Receivers())))
  )

  it.effect("waits, without an attempt that counts, while no signing key is valid yet", () => {
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      const ports = yield* Layer.build(W.ports(receivers))
      const now = yield* Instant.now
      const notBefore = Instant.fromEpochMillis(Instant.toEpochMillis(now) + 90_000)
      const webhookKeys = W.settings.webhookKeys.map((key) => ({ ...key, notBefore }))
      const later = W.engineOver(ports, { webhookKeys })
      yield* W.register(bodyOf("wh-1")).pipe(Effect.provide(W.engineOver(ports, {})))
      yield* Effect.gen(function* () {
        yield* Effect.andThen(W.happen("early"), W.settle)
        expect(receivers.postsTo("wh-1")).toHaveLength(0)
        yield* W.pass(120_000)
        expect(receivers.postsTo("wh-1")[0]?.headers["x-webhook-attempt"]).toBe("1")
      }).pipe(Effect.provide(later))
    }).pipe(Effect.scoped)
  })

  it.effect("refuses a test, and announces none, while no signing key is valid yet", () => {
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      const ports = yield* Layer.build(W.ports(receivers))
      const now = yield* Instant.now
      const notBefore = Instant.fromEpochMillis(Instant.toEpochMillis(now) + 90_000)
      const webhookKeys = W.settings.webhookKeys.map((key) => ({ ...key, notBefore }))
      const later = W.engineOver(ports, { webhookKeys })
      yield* W.register(bodyOf("wh-1")).pipe(Effect.provide(W.engineOver(ports, {})))
      yield* Effect.gen(function* () {
        const testCall = W.call("webhook.test", { params: { webhookId: "wh-1" } })
        const refusal = yield* Effect.flip(testCall)
        expect(refusal).toMatchObject({ slug: "rule-refused", details: { check: "signing-key" } })
        expect(yield* events({ type: ["webhook.test"] })).toHaveLength(0)
        yield* W.pass(120_000)
        const made = yield* testCall
        yield* W.settle
        const done = yield* operation(String(W.memberOf(made.value, "operationId")))
        expect(done.state).toBe("succeeded")
      }).pipe(Effect.provide(later))
    }).pipe(Effect.scoped)
  })

  it.effect(
    "that was sealed under an older key still opens; under one that is gone nothing is posted",
    () => {
      const receivers = new W.Receivers()
      const newer = { keyId: "seal-2", secret: new Uint8Array(32).fill(8) }
      return Effect.gen(function* () {
        const ports = yield* Layer.build(W.ports(receivers))
        yield* W.register(bodyOf("wh-1")).pipe(Effect.provide(W.engineOver(ports, {})))
        const sealingKeys = [newer, ...W.settings.sealingKeys]
        yield* Effect.andThen(W.happen("rotated"), W.settle).pipe(
          Effect.provide(W.engineOver(ports, { sealingKeys }))
        )
        expect(receivers.postsTo("wh-1")).toHaveLength(1)
        yield* Effect.andThen(W.happen("lost"), W.settle).pipe(
          Effect.provide(W.engineOver(ports, { sealingKeys: [newer] }))
        )
        expect(receivers.postsTo("wh-1")).toHaveLength(1)
        // The failed signing was not counted: with the key back the next post is the first attempt.
        yield* W.pass(60_000).pipe(Effect.provide(W.engineOver(ports, { sealingKeys })))
        expect(receivers.postsTo("wh-1")[1]?.headers["x-webhook-attempt"]).toBe("1")
      }).pipe(Effect.scoped)
    }
  )
})
