/** Reconciliation of the stored webhooks with those of the configuration: adds, changes, removes. */
import { Effect, Option } from "effect"
import type { ConfiguredWebhook } from "../../engine/Settings.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import {
  active,
  activeMax,
  type Webhook,
  WebhookId,
  webhooks
} from "../../records/webhook/Webhook.ts"

/** Stores the webhooks of the configuration, in one transaction. */
export const reconcile = Effect.fnUntraced(function* (
  configured: ReadonlyArray<ConfiguredWebhook>
) {
  const records = yield* Records
  const rows = yield* records.list(webhooks, {
    where: { source: ["config"], ...active },
    limit: activeMax * 2
  })
  if (rows.length + configured.length === 0) return
  yield* records.transact(
    Effect.gen(function* () {
      const now = yield* Instant.now
      const named = new Set<string>(configured.map(({ webhookId }) => webhookId))
      for (const { record } of rows) {
        if (!named.has(record.webhookId)) yield* remove(record.webhookId, now)
      }
      for (const webhook of configured) yield* store(webhook, now)
    })
  )
})

/** Compares a configured webhook with the stored one. Throws where its id belongs to a registered webhook. */
export const changeOf = (
  before: Pick<Webhook, "source" | "removedAt" | "url" | "events"> | undefined,
  { webhookId, url, events }: Pick<ConfiguredWebhook, "webhookId" | "url" | "events">
): "open" | "configure" | "none" => {
  if (before === undefined) return "open"
  if (before.source !== "config") {
    throw new Error(`the configuration names a webhook ${webhookId}, which is registered already`)
  }
  const isSame =
    before.removedAt === null &&
    before.url === url &&
    before.events.length === events.length &&
    before.events.every((type) => events.includes(type))
  return isSame ? "none" : "configure"
}

const actAt = (now: Instant.Instant) => ({ cause: { by: "clock" as const }, now })

const remove = Effect.fnUntraced(function* (webhookId: string, now: Instant.Instant) {
  const records = yield* Records
  const before = yield* records.get(webhooks, webhookId)
  if (before.removedAt !== null) return
  yield* records.append(webhooks, before, { on: "remove", at: now }, actAt(now))
})

const store = Effect.fnUntraced(function* (configured: ConfiguredWebhook, now: Instant.Instant) {
  const records = yield* Records
  const { events, url, webhookId } = configured
  const before = Option.getOrUndefined(yield* records.find(webhooks, webhookId))
  const change = changeOf(before, configured)
  if (before === undefined) {
    yield* records.open(
      webhooks,
      {
        webhookId: WebhookId.make(webhookId),
        url,
        events,
        source: "config",
        sealed: null,
        removedAt: null,
        createdBy: "config"
      },
      actAt(now)
    )
  } else if (change === "configure") {
    yield* records.append(webhooks, before, { on: "configure", url, events }, actAt(now))
  }
})
