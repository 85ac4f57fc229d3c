/** Trace context: the trace of a call continues at the ledger and at the receivers of its events. */
import { type Caller, FourEyes } from "@bursar/engine-core"
import type { Ledger } from "@bursar/engine-core/ports"
import { Ids } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { outgoingFor } from "#host/wire/TraceContext.ts"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import * as Passing from "../engine/passing.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"
import { WebhookSender } from "@bursar/engine-core/ports"
import * as Webhooks from "./webhooks.ts"

const operator = Calls.person("olga", "operator")
const approver = Calls.person("anna", "approver")

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const identity: Caller.RequestIdentity = {
  requestId: "traced",
  traceId,
  traceFlags: 0b11,
  keyId: null
}

/** A venue whose one webhook takes every event. */
const venue = (
  receivers: Webhooks.Receivers,
  tamper?: (port: Ledger.Ledger["Service"]) => Ledger.Ledger["Service"]
) =>
  world({
    operations: [...Notes.operations, Toys.single, Toys.triple],
    fromLedger: Notes.fromLedger,
    ...(tamper === undefined ? {} : { tamper }),
    settings: {
      ...Webhooks.settings,
      webhooks: [
        {
          webhookId: "wh-all",
          url: "https://receiver.example/",
          events: [],
          secrets: [Webhooks.contractSecret]
        }
      ]
    }
  }).pipe(Layer.provideMerge(Layer.succeed(WebhookSender.WebhookSender, receivers.sender)))

const tracesOf = (receivers: Webhooks.Receivers) =>
  receivers.postsTo("wh-all").map(({ body, trace }) => ({
    type: String((JSON.parse(body) as { readonly type: string }).type),
    trace
  }))

describe("the trace of a call", () => {
  it.effect("is not lost between a write and the receivers of its events", () => {
    const receivers = new Webhooks.Receivers()
    return Effect.gen(function* () {
      yield* Calls.submit(Toys.single, operator, {
        params: { counterId: "c" },
        body: '{"by":1}',
        identity
      })
      yield* Calls.settle
      assert.deepStrictEqual(tracesOf(receivers), [
        { type: "operation.succeeded", trace: { traceId, flags: 0b11 } }
      ])
    }).pipe(Effect.provide(venue(receivers)))
  })

  it.effect("of each person is the one of that person's act: the maker's of what runs", () => {
    const receivers = new Webhooks.Receivers()
    return Effect.gen(function* () {
      const made = yield* Calls.submit(Toys.triple, operator, {
        params: { counterId: "c" },
        body: '{"by":1}',
        identity
      })
      const door = yield* FourEyes
      const other = { requestId: "signs", traceId: "a".repeat(32), keyId: null }
      for (const one of [approver, Calls.person("abel", "approver")]) {
        const actionKey = String(Calls.field(made, "actionKey"))
        yield* door.approve({ actionKey, caller: one, identity: other })
      }
      yield* Calls.settle
      const signed = { traceId: other.traceId, flags: 0b01 }
      const requestTrace = { traceId, flags: 0b11 }
      assert.deepStrictEqual(
        tracesOf(receivers).toSorted((a, b) => (a.type < b.type ? -1 : 1)),
        [
          { type: "approval.approved", trace: signed },
          { type: "approval.requested", trace: requestTrace },
          { type: "approval.signed", trace: signed },
          { type: "operation.succeeded", trace: requestTrace }
        ]
      )
    }).pipe(Effect.provide(venue(receivers)))
  })

  it.effect(
    "is told to the ledger under a parent of its own, and to receivers of what came of it",
    () => {
      const receivers = new Webhooks.Receivers()
      const said: Array<Ledger.Submission> = []
      const tamper = (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
        ...port,
        submit: (submission) => {
          said.push(submission)
          return port.submit(submission)
        }
      })
      return Effect.gen(function* () {
        const { party } = yield* Notes.outsider("registrar")
        yield* Calls.submit(Notes.twice, operator, {
          params: { noteId: "a" },
          body: `{"registrar":"${party}"}`,
          identity
        })
        yield* Effect.andThen(Passing.working, Passing.seconds(30))
        const parents = said.map(({ traceparent = "" }) => {
          const [version, trace, span, flags] = traceparent.split("-")
          assert.deepStrictEqual([version, trace, flags], ["00", traceId, "03"])
          assert.match(span ?? "", /^[0-9a-f]{16}$/)
          return span
        })
        assert.strictEqual(new Set(parents).size, 2)
        assert.deepStrictEqual(tracesOf(receivers), [
          { type: "operation.succeeded", trace: { traceId, flags: 0b11 } }
        ])
      }).pipe(Effect.provide(venue(receivers, tamper)))
    }
  )

  it.effect("is printed with its flags; where there is none a new one begins", () =>
    Effect.gen(function* () {
      const kept = yield* outgoingFor({ traceId, flags: 0b10 })
      assert.match(kept["traceparent"] ?? "", new RegExp(`^00-${traceId}-[0-9a-f]{16}-02$`))
      const fresh = yield* outgoingFor(null)
      assert.match(fresh["traceparent"] ?? "", /^00-[0-9a-f]{32}-[0-9a-f]{16}-03$/)
      const zero = { make: () => Effect.succeed(""), uuid: Effect.succeed("") }
      const dark = yield* Effect.provideService(outgoingFor({ traceId, flags: 1 }), Ids, {
        ...zero,
        bytes: (count) => Effect.succeed(new Uint8Array(count))
      })
      assert.strictEqual(dark["traceparent"], `00-${traceId}-0000000000000001-01`)
    }).pipe(Effect.provide(world()))
  )
})
