/** Attempts of webhook deliveries, by the dispatcher and by the test of a webhook: made, then recorded. */
import { Duration, Effect, Metric, Option } from "effect"
import { type SigningKey, signingAt } from "../../engine/Keys.ts"
import * as Metrics from "../../engine/Metrics.ts"
import { Settings } from "../../engine/Settings.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Ids } from "../../ports/Ids.ts"
import { WebhookSender } from "../../ports/WebhookSender.ts"
import * as Audit from "../../records/Audit.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { deliveries, type Delivery } from "../../records/webhook/Delivery.ts"
import * as DeliveryRules from "../../records/webhook/DeliveryRules.ts"
import type { Webhook } from "../../records/webhook/Webhook.ts"
import * as Secrets from "../../writes/Secrets.ts"
import { type AttemptResult, madeOf } from "./DispatchRules.ts"

/**
 * Milliseconds after which an attempt counts as failed, should the port not end it within its own
 * 15 s.
 */
const attemptWithin = 16_000

/** Makes one attempt; its outcome is still to be recorded by `note`. */
export const attempt = Effect.fnUntraced(function* ({
  webhook,
  delivery,
  body
}: {
  readonly webhook: Webhook
  readonly delivery: Pick<Delivery, "seq" | "restoredAt" | "attempts" | "trace">
  readonly body: string
}) {
  const settings = yield* Settings
  const sender = yield* WebhookSender
  const crypto = yield* Crypto
  const began = yield* Instant.now
  const id = DeliveryRules.eventId(settings.tenantId, delivery)
  const timestamp = String(Math.floor(Instant.toEpochMillis(began) / 1_000))
  const signature = DeliveryRules.signature(crypto, {
    id,
    timestamp,
    body,
    secrets: yield* secretsOf(webhook),
    keys: signingKeys(settings.webhookKeys, began)
  })
  const headers = DeliveryRules.headers({
    id,
    timestamp,
    signature,
    webhookId: webhook.webhookId,
    attempt: delivery.attempts + 1
  })
  const answered = yield* sender
    .post({ url: webhook.url, headers, body, trace: delivery.trace })
    .pipe(Effect.timeoutOption(Duration.millis(attemptWithin)))
  const at = yield* Instant.now
  const durationMs = Instant.toEpochMillis(at) - Instant.toEpochMillis(began)
  return madeOf(
    Option.getOrElse(answered, () => ({ failure: "timeout" as const })),
    { at, durationMs }
  )
})

/**
 * Records an attempt on its delivery; returns the milliseconds until the next one, undefined
 * where the delivery has ended. Only inside `Records.transact`.
 */
export const note = Effect.fnUntraced(function* (
  before: Stored<Delivery>,
  { attempt, retryAfter }: AttemptResult
) {
  const records = yield* Records
  const chance = DeliveryRules.chanceOf(yield* (yield* Ids).bytes(4))
  const { fact, again } = DeliveryRules.judge(before, { attempt, retryAfter, chance })
  const { seq, webhookId } = before
  yield* records.append(deliveries, before, fact, {
    cause: { by: "event", seq },
    now: attempt.at
  })
  const outcome = attempt.failure ?? "taken"
  yield* records.whenCommitted(
    Metric.update(Metric.withAttributes(Metrics.webhookAttempts, { outcome }), 1)
  )
  if (fact.on === "exhaust") {
    yield* records.audit([
      Audit.entry({
        action: "webhook.exhausted",
        stage: "failed",
        resourceKind: "webhook",
        resourceId: webhookId,
        detail: { seq, attempts: before.attempts + 1, failure: outcome }
      })
    ])
    yield* records.whenCommitted(Metric.update(Metrics.webhookExhausted, 1))
  }
  return again
})

/** Checks whether a delivery can be signed at an instant: a deployment has no keys, or one that has begun. */
export const canSign = (keys: ReadonlyArray<SigningKey>, at: Instant.Instant): boolean =>
  keys.length === 0 || signingAt(keys, at).length > 0

/**
 * Selects the keys that sign. A deployment without keys signs by secrets alone; where it has keys and
 * none has begun, the delivery is not attempted and waits, as one whose secret cannot be read.
 */
const signingKeys = (keys: ReadonlyArray<SigningKey>, at: Instant.Instant) => {
  if (!canSign(keys, at)) {
    throw new Error("no key of webhooks is valid yet: each begins later (notBefore)")
  }
  return signingAt(keys, at)
}

/** Loads the secrets that sign deliveries to a webhook. */
const secretsOf = Effect.fnUntraced(function* (webhook: Webhook) {
  const settings = yield* Settings
  if (webhook.source === "config") {
    const configured = settings.webhooks.find(({ webhookId }) => webhookId === webhook.webhookId)
    return configured?.secrets ?? []
  }
  if (webhook.sealed === null) return []
  const text = Secrets.unseal(webhook.sealed, { keys: settings.sealingKeys }, yield* Crypto)
  const secret = DeliveryRules.secretOf(text)
  if (secret === undefined) throw new Error("a webhook's stored secret does not parse")
  return [secret]
})
