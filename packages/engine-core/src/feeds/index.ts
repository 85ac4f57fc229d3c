/** Nouns of the room feeds: webhooks and their deliveries, retention and scheduled tasks. */
import * as Noun from "../nouns/Noun.ts"
import { deliveries, DeliveryMachine } from "../records/webhook/Delivery.ts"
import { webhooks, webhookEvents } from "../records/webhook/Webhook.ts"
import { retentionEvents } from "./RetentionRunner.ts"
import { scheduleWorker } from "./ScheduleRunner.ts"
import { deliveryWorker, removedWebhookWorker } from "./webhook/DeliveryRunner.ts"
import { register, remove, test } from "./webhook/WebhookOperations.ts"
import { getWebhook, listDeliveries, listWebhooks } from "./webhook/WebhookQueries.ts"

const webhook = Noun.declare({
  collections: [webhooks],
  writes: [register, remove, test],
  queries: [listWebhooks, getWebhook, listDeliveries],
  events: webhookEvents
})

const delivery = Noun.declare({
  collections: [deliveries],
  machine: DeliveryMachine,
  workers: [deliveryWorker, removedWebhookWorker]
})

const scheduledTask = Noun.declare({ events: retentionEvents, workers: [scheduleWorker] })

export const nouns = [webhook, delivery, scheduledTask] as const
