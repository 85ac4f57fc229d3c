/** Laws of the webhook dispatcher: free attempts, turns, answers, and the webhooks of a configuration. */
import { Instant } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { changeOf } from "#core/feeds/webhook/ConfiguredWebhookSteps.ts"
import { atOnce, freeAttempts, rotate, madeOf } from "#core/feeds/webhook/DispatchRules.ts"
import type { EventType } from "#core/vocabulary/EventType.ts"
import { WebhookId } from "#core/records/webhook/Webhook.ts"

describe("free attempts", () => {
  it("fill the webhook and the instance, never beyond either limit", () => {
    const running = fc.record({ webhook: fc.nat(8), instance: fc.nat(64) })
    fc.assert(
      fc.property(running, ({ webhook, instance }) => {
        const free = freeAttempts({ webhook, instance })
        const left = [atOnce.webhook - webhook, atOnce.instance - instance]
        if (left.some((attempts) => attempts <= 0)) expect(free).toBe(0)
        else {
          expect(left).toContain(free)
          expect(left.every((attempts) => attempts >= free)).toBe(true)
        }
      })
    )
  })
})

describe("turns", () => {
  it("serve every webhook once a turn, and each first once in as many turns as there are", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(), { maxLength: 8 }), fc.nat(1_000), (list, turn) => {
        expect(rotate(list, turn).toSorted()).toEqual(list.toSorted())
        const firsts = list.map((_, nth) => rotate(list, turn + nth)[0])
        expect(firsts.toSorted()).toEqual(list.toSorted())
      })
    )
  })
})

describe("an answer", () => {
  const timed = { at: Instant.fromNanos(0n), durationMs: 7 }

  it("is taken with a status of 200 to 299, and a failure of status with any other", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), (status) => {
        const failure = status >= 200 && status < 300 ? null : "status"
        expect(madeOf({ status, retryAfter: "5" }, timed)).toEqual({
          attempt: { ...timed, status, failure },
          retryAfter: "5"
        })
      })
    )
  })

  it("that never came leaves its failure, without a status", () => {
    expect(madeOf({ failure: "timeout" }, timed)).toEqual({
      attempt: { ...timed, status: null, failure: "timeout" },
      retryAfter: null
    })
  })
})

describe("a webhook of the configuration", () => {
  const url = "https://example.com/hook"
  const events: ReadonlyArray<EventType> = ["instrument.paused", "retention.pruned"]
  const configured = { webhookId: WebhookId.make("w"), url, events }
  const stored = { source: "config" as const, removedAt: null, url, events }

  it("is opened where none is stored, and left where the stored one is the same", () => {
    expect(changeOf(undefined, configured)).toBe("open")
    expect(changeOf(stored, configured)).toBe("none")
    expect(changeOf({ ...stored, events: events.toReversed() }, configured)).toBe("none")
  })

  it("is configured anew after a change of its address or events, and after its removal", () => {
    for (const change of [
      { url: "https://example.com/other" },
      { events: events.slice(1) },
      { removedAt: Instant.fromNanos(0n) }
    ]) {
      expect(changeOf({ ...stored, ...change }, configured)).toBe("configure")
    }
  })

  it("never takes over a webhook that a caller registered", () => {
    expect(() => changeOf({ ...stored, source: "api" }, configured)).toThrow("registered already")
  })
})
