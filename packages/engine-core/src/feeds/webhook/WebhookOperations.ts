/** Writes of webhooks: register, remove, test. */
import { Effect, Option, Schema } from "effect"
import { Settings } from "../../engine/Settings.ts"
import * as Integer from "../../kernel/Integer.ts"
import { failed } from "../../kernel/Gates.ts"
import { refused } from "../../kernel/Refusal.ts"
import { WorkQueue } from "../../ports/storage/WorkQueue.ts"
import { WebhookSender } from "../../ports/WebhookSender.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { count, sentence } from "../../writes/Summary.ts"
import { deliveries, AttemptFailure, queueOf } from "../../records/webhook/Delivery.ts"
import * as DeliveryRules from "../../records/webhook/DeliveryRules.ts"
import * as AttemptSteps from "./AttemptSteps.ts"
import {
  active,
  activeMax,
  ControlTypes,
  isActive,
  view,
  WebhookId,
  webhooks,
  WebhookView,
  webhookEvents
} from "../../records/webhook/Webhook.ts"
import { announcing } from "../../records/EventDeclaration.ts"

const makeEvent = announcing(webhookEvents)

const Secret = Schema.String.check(
  Schema.isMaxLength(128),
  Schema.makeFilter((text: string) =>
    DeliveryRules.secretOf(text) === undefined
      ? "a secret is whsec_ and 24 to 64 bytes in base64"
      : undefined
  )
)

const urlMax = 2_048

const Body = Schema.Struct({
  /** Null: the engine makes one. */
  webhookId: Schema.optionalKey(Schema.NullOr(WebhookId)),
  url: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(urlMax)),
  /** Absent, null or empty: every control event. */
  events: Schema.optionalKey(Schema.NullOr(ControlTypes)),
  /** Made by the receiver's owner, and never shown again. */
  secret: Schema.optionalKey(Schema.NullOr(Secret))
})

const href = (webhookId: string): string => `/v1/webhooks/${webhookId}`

const notFound = () => Effect.fail(refused("not-found", { detail: "There is no such webhook." }))

/** Loads a webhook; refuses `not-found` where it was removed. */
const load = Effect.fnUntraced(function* (webhookId: string) {
  const records = yield* Records
  const webhook = yield* records.get(webhooks, webhookId)
  return isActive(webhook) ? webhook : yield* notFound()
})

const urlRefused = (detail: string) =>
  Effect.fail(
    refused("webhook-url-refused", { detail, errors: [{ pointer: "/body/url", detail }] })
  )

export const register = Operation.define("webhook.register", {
  doc: "Registers a webhook: control events are posted to it from the next event on.",
  summary: ({ events }, { resource }) =>
    sentence`Registers webhook ${resource.id} for ${(events ?? []).length === 0 ? "every control event" : count((events ?? []).length, "type of event", "types of event")}.`,
  route: "POST /v1/webhooks",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "webhook",
    prefix: "wh",
    id: ({ webhookId }) => webhookId ?? "",
    href: ({ webhookId }) => href(webhookId ?? "")
  },
  input: Body,
  secrets: { secret: "digest" },
  complete: (input, makeId) => ({
    ...input,
    webhookId: input.webhookId ?? WebhookId.make(makeId())
  }),
  judge: Effect.fnUntraced(function* ({ secret, url }) {
    const sender = yield* WebhookSender
    const fault = yield* sender.judge(url)
    if (fault !== undefined) return yield* urlRefused(fault)
    const { sealingKeys } = yield* Settings
    if (typeof secret === "string" && sealingKeys.length === 0) {
      return yield* Effect.die(new Error("the deployment has no key to seal a webhook's secret"))
    }
  }),
  lasts: Lasting.whileIn(webhooks, ({ webhookId }) => [webhookId ?? ""], ["active"]),
  result: WebhookView,
  refuses: ["already-exists", "rule-refused", "webhook-url-refused"],
  run: Effect.fn("webhook.register")(function* (input, act) {
    const records = yield* Records
    const { webhookId } = input
    if (webhookId === undefined || webhookId === null) {
      return yield* Effect.die(new Error("a webhook was not given its id"))
    }
    const registered = yield* records.list(webhooks, {
      where: { source: ["api"], ...active },
      limit: activeMax
    })
    if (registered.length >= activeMax) {
      const detail = `There are ${activeMax} webhooks, which is the most.`
      return yield* Effect.fail(refused("rule-refused", failed("webhooks-max", { detail })))
    }
    const opened = yield* records.open(
      webhooks,
      {
        webhookId,
        url: input.url,
        events: input.events ?? [],
        source: "api",
        sealed: act.sealed?.["secret"] ?? null,
        createdBy: act.actor,
        removedAt: null
      },
      act
    )
    return view(opened)
  })
})

export const remove = Operation.define("webhook.remove", {
  doc: "Removes a webhook; its pending deliveries are cancelled.",
  summary: ({ webhookId }) =>
    sentence`Removes webhook ${webhookId} and cancels its pending deliveries.`,
  route: "DELETE /v1/webhooks/{webhookId}",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "webhook",
    id: ({ webhookId }) => webhookId,
    href: ({ webhookId }) => href(webhookId)
  },
  input: Schema.Struct({ webhookId: WebhookId }),
  result: WebhookView,
  refuses: ["not-found", "webhook-configured"],
  run: Effect.fn("webhook.remove")(function* ({ webhookId }, act) {
    const records = yield* Records
    const before = yield* load(webhookId)
    if (before.source === "config") {
      const detail = "The configuration names this webhook; it is removed there."
      return yield* Effect.fail(refused("webhook-configured", { detail }))
    }
    yield* records.append(webhooks, before, { on: "remove", at: act.now }, act)
    return view(before)
  })
})

/** Result of the one attempt of a test. */
const Tested = Schema.Struct({
  delivered: Schema.Boolean,
  status: Schema.NullOr(Integer.schema),
  durationMs: Integer.schema,
  failure: Schema.NullOr(AttemptFailure)
}).annotate({
  identifier: "WebhookTested",
  description: "Outcome of a test's one attempt."
})

export const test = Operation.defineOutside("webhook.test", {
  doc: "Posts a webhook.test event to a webhook, once and at once, and reports the outcome.",
  summary: ({ webhookId }) => sentence`Posts a test event to webhook ${webhookId}.`,
  route: "POST /v1/webhooks/{webhookId}:test",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "webhook",
    id: ({ webhookId }) => webhookId,
    href: ({ webhookId }) => href(webhookId)
  },
  input: Schema.Struct({ webhookId: WebhookId }),
  result: Tested,
  refuses: ["not-found", "rule-refused"],
  /** Announces the event, whose delivery is reserved for this operation. */
  begin: Effect.fnUntraced(function* ({ webhookId }, { operationId, now }) {
    const records = yield* Records
    yield* load(webhookId)
    const made = yield* records.find(deliveries, DeliveryRules.testDelivery(operationId))
    if (Option.isSome(made)) return
    const { webhookKeys } = yield* Settings
    // Nothing is posted unsigned, and an event that waits for a key would be no test.
    if (!AttemptSteps.canSign(webhookKeys, now)) {
      return yield* Effect.fail(refused("rule-refused", failed("signing-key")))
    }
    yield* records.announce([
      {
        ...makeEvent("webhook.test", { operationId }),
        resourceKind: "webhook",
        resourceId: webhookId,
        instrumentId: null,
        party: null,
        holderIds: []
      }
    ])
  }),
  reach: Effect.fnUntraced(function* ({ webhookId }, { operationId }) {
    const records = yield* Records
    const work = yield* WorkQueue
    const webhook = yield* load(webhookId)
    const itemId = DeliveryRules.testDelivery(operationId)
    const delivery = yield* records.get(deliveries, itemId)
    const item = yield* orUnavailable(work.find({ queue: queueOf(webhookId), itemId }))
    // The webhook was removed in the meantime and its delivery cancelled; or the dispatcher took
    // the delivery after a crash.
    if (Option.isNone(item)) return { delivery, made: undefined, body: "" }
    const body = item.value.payload
    return { delivery, made: yield* AttemptSteps.attempt({ webhook, delivery, body }), body }
  }),
  /** Records the attempt as the delivery's first; a failed one is retried as any other. */
  finish: Effect.fnUntraced(function* ({ webhookId }, { operationId }, { made, body, delivery }) {
    const records = yield* Records
    const work = yield* WorkQueue
    const itemId = DeliveryRules.testDelivery(operationId)
    const queue = queueOf(webhookId)
    const before = yield* records.find(deliveries, itemId)
    if (made !== undefined && Option.isSome(before) && isUntried(before.value)) {
      const again = yield* AttemptSteps.note(before.value, made)
      yield* orUnavailable(work.settle({ queue, itemIds: [itemId] }))
      if (again !== undefined) {
        yield* records.enqueue([{ queue, itemId, resource: itemId, payload: body, delay: again }])
      }
    }
    const attempt = made?.attempt ?? Option.getOrElse(before, () => delivery).last
    return attempt === null || attempt === undefined
      ? { delivered: false, status: null, durationMs: 0, failure: "connect" as const }
      : DeliveryRules.outcomeOf(attempt)
  })
})

const isUntried = (delivery: { readonly state: string; readonly attempts: number }): boolean =>
  delivery.state === "pending" && delivery.attempts === 0
