/** Queries of webhooks: those of the configuration first, then by age; never secrets. */
import { Effect, Schema } from "effect"
import { refused } from "../../kernel/Refusal.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
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
