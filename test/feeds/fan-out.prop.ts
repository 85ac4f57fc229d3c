/**
 * Fan-out of events: a webhook that subscribes to an event's type when the event is written gets it
 * once, and no other webhook does, in whatever order writes, registrations and removals happen.
 */
import { EventQueries, Vocabulary } from "@bursar/engine-core"
import { Effect, Fiber } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { deliveriesOf } from "#core/records/webhook/DeliveryRules.ts"
import { WebhookId } from "#core/records/webhook/Webhook.ts"
import * as W from "./webhooks.ts"

type Step =
  | { readonly do: "register"; readonly id: number; readonly takes: number }
  | { readonly do: "remove"; readonly id: number }
  | { readonly do: "happen"; readonly times: number }

const takes: ReadonlyArray<ReadonlyArray<string>> = [
  [],
  ["approval.requested"],
  ["operation.succeeded", "approval.approved"],
  ["hold.released"]
]

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("register" as const),
    id: fc.nat(3),
    takes: fc.nat(takes.length - 1)
  }),
  fc.record({ do: fc.constant("remove" as const), id: fc.nat(3) }),
  fc.record({ do: fc.constant("happen" as const), times: fc.integer({ min: 1, max: 5 }) })
)

/** The test's own book: which webhook takes what, from the first event after which one. */
interface Entry {
  readonly webhookId: string
  readonly types: ReadonlyArray<string>
  readonly from: number
  to: number
}

const head = Effect.flatMap(EventQueries.EventQueries, (events) =>
  Effect.map(
    events.page({ caller: W.auditor, params: { order: "desc" }, limit: 1 }),
    ({ value }) => value[0]?.seq ?? 0
  )
)

const all = Effect.flatMap(EventQueries.EventQueries, (events) =>
  Effect.map(events.page({ caller: W.auditor, params: {}, limit: 1000 }), ({ value }) => value)
)

const story = (steps: ReadonlyArray<Step>, receivers: W.Receivers) =>
  Effect.gen(function* () {
    const book: Array<Entry> = []
    let made = 0
    for (const one of steps) {
      const live = book.filter(({ to }) => to === Number.POSITIVE_INFINITY)
      if (one.do === "register") {
        const webhookId = `wh-${++made}`
        const types = takes[one.takes] ?? []
        yield* W.register({ webhookId, url: "https://a.example/", events: types })
        book.push({ webhookId, types, from: yield* head, to: Number.POSITIVE_INFINITY })
      } else if (one.do === "remove") {
        const gone = live[one.id % Math.max(1, live.length)]
        if (gone === undefined) continue
        // Delivers all events so far, so that the removal's own events are the only ones to be
        // cancelled.
        yield* W.settle
        const params = { webhookId: gone.webhookId }
        yield* W.call("webhook.remove", { params, key: null })
        yield* W.settle
        gone.to = yield* head
        yield* W.call("webhook.remove", { params, key: null, caller: W.approver })
      } else {
        // All at once, so that several share a transaction.
        const fibers = yield* Effect.forEach(Array.from({ length: one.times }), () =>
          Effect.forkChild(W.happen(`some-${++made}`))
        )
        yield* Effect.forEach(fibers, Fiber.join)
      }
    }
    yield* W.settle
    const events = (yield* all).filter(({ kind }) => kind === "control")
    for (const { webhookId, types, from, to } of book) {
      const expected = events
        .filter(({ seq }) => seq > from && seq <= to)
        .filter(({ type }) => types.length === 0 || types.includes(type))
      const got = receivers.postsTo(webhookId)
      const names = got.map(({ headers }) => headers["webhook-id"])
      expect(names.toSorted(), webhookId).toEqual(
        expected.map(({ seq }) => `evt_venue-1_${seq}`).toSorted()
      )
      expect(new Set(got.map(({ body }) => body))).toEqual(
        new Set(expected.map(EventQueries.print))
      )
    }
  })

describe("every event", () => {
  it("comes once to each webhook that takes it when it is written, and to no other", async () => {
    // Red when the list of webhooks is kept after one was registered or removed (Outbox.current).
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), (steps) => {
        const receivers = new W.Receivers()
        return Effect.runPromise(
          story(steps, receivers).pipe(Effect.provide(W.posting(receivers)), Effect.scoped)
        )
      }),
      { numRuns: 40 }
    )
  })
})

describe("an event of the ledger", () => {
  const row = (type: string, kind: string) => ({
    seq: 1,
    kind,
    type,
    at: null,
    offset: null,
    instrumentId: null,
    party: null,
    resourceKind: "contract",
    resourceId: "c-1",
    holderIds: [],
    payload: "{}",
    source: null
  })
  const everything = [{ webhookId: WebhookId.make("wh-1"), events: [] }]

  it.each(Object.keys(Vocabulary.journalEvents))("%s is posted to nobody", (type) => {
    expect(
      deliveriesOf(row(type, "journal"), everything, {
        operationOf: () => "",
        restores: [],
        trace: null
      })
    ).toEqual([])
  })

  it.each(Object.keys(Vocabulary.controlEvents))("%s, an act of the engine, is", (type) => {
    expect(
      deliveriesOf(row(type, "control"), everything, {
        operationOf: () => "",
        restores: [],
        trace: null
      })
    ).toHaveLength(1)
  })
})
