/** Queries of webhooks, those of the configuration first, then by age, and of their deliveries; never secrets. */
import { Effect, Schema } from "effect"
import { refused } from "../../kernel/Refusal.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import {
  deliveries,
  DeliveryMachine,
  DeliveryView,
  view as viewOf
} from "../../records/webhook/Delivery.ts"
import {
  active,
  isActive,
  view,
  WebhookId,
  webhooks,
  WebhookView
} from "../../records/webhook/Webhook.ts"

const audience = { operator: "all", auditor: "all" } as const

export const listWebhooks = Read.list({
  name: "webhooks.list",
  doc: "Lists the webhooks that control events are posted to.",
  route: "GET /v1/webhooks",
  audience,
  pinned: false,
  collection: webhooks,
  params: Schema.Struct({}),
  item: WebhookView,
  direction: "asc",
  order: "configured ones first, then by age",
  changes: false,
  where: () => active,
  view: (records) => Effect.succeed(records.map(view))
})

export const getWebhook = Read.one({
  name: "webhooks.get",
  doc: "Answers one webhook.",
  route: "GET /v1/webhooks/{webhookId}",
  audience,
  pinned: false,
  params: Schema.Struct({ webhookId: WebhookId }),
  value: WebhookView,
  refuses: ["not-found"],
  run: Effect.fnUntraced(function* ({ webhookId }) {
    const records = yield* Records
    const webhook = yield* records.get(webhooks, webhookId)
    if (isActive(webhook)) return view(webhook)
    return yield* Effect.fail(refused("not-found", { detail: "There is no such webhook." }))
  })
})

export const listDeliveries = Read.list({
  name: "webhooks.deliveries",
  doc: "Lists the deliveries of a webhook: state, attempts, how the last one ended, and when the next is due. Those that are over are there until their retention ends.",
  route: "GET /v1/webhooks/{webhookId}/deliveries",
  audience,
  pinned: false,
  collection: deliveries,
  params: Schema.Struct({
    webhookId: WebhookId,
    state: Schema.optionalKey(Schema.Array(DeliveryMachine.schema))
  }),
  item: DeliveryView,
  direction: "desc",
  order: "newest first",
  changes: false,
  parent: Effect.fnUntraced(function* ({ webhookId }) {
    const records = yield* Records
    if (isActive(yield* records.get(webhooks, webhookId))) return
    return yield* Effect.fail(refused("not-found", { detail: "There is no such webhook." }))
  }),
  where: ({ state, webhookId }) => ({
    webhookId: [webhookId],
    ...(state === undefined ? {} : { state })
  }),
  view: (found) => Effect.succeed(found.map(viewOf))
})
