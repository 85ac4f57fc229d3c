/** Webhooks from their registration to their removal, and what each is posted in between. */
import { EventReads, Reads } from "@bursar/engine-core"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { listWebhooks } from "../../packages/engine-core/src/feeds/webhook/WebhookReads.ts"
import * as W from "./webhooks.ts"

const body = {
  webhookId: "wh-1",
  url: "https://receiver.example/hook",
  events: null,
  secret: W.contractSecretText
}

const feed = Effect.flatMap(EventReads.EventReads, (events) =>
  events.page({ caller: W.auditor, params: {}, limit: 1000 })
)

describe("webhooks", () => {
  it.effect(
    "one gets every event after its registration, and the bytes are those of the feed",
    () => {
      const receivers = new W.Receivers()
      return Effect.gen(function* () {
        yield* TestClock.setTime(1_767_225_600_000)
        yield* W.happen("before")
        yield* W.register(body)
        expect(receivers.got).toEqual([])
        yield* W.happen("after")
        yield* W.settle
        const page = yield* feed
        const last = page.value[page.value.length - 1]
        expect(last?.type).toBe("approval.requested")
        expect(receivers.got.map((one) => one.body)).toEqual([EventReads.print(last as never)])
        const kept = yield* W.kept("wh-1")
        expect(kept.map(({ state, attempts }) => [state, attempts])).toEqual([["taken", 1]])
        const listed = yield* Effect.flatMap(Reads, (reads) =>
          reads.page(listWebhooks, {
            caller: W.auditor,
            params: {},
            point: {},
            page: { limit: 10 }
          })
        )
        expect(listed.value.map(({ webhookId }) => webhookId)).toEqual(["wh-1"])
      }).pipe(Effect.provide(W.posting(receivers)))
    }
  )
})
