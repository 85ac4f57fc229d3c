/**
 * Declarations of the room feeds: the states of a delivery, and the writes and reads of webhooks.
 */
import { deliveries, DeliveryMachine } from "../records/webhook/Delivery.ts"
import { webhooks, webhookEvents } from "../records/webhook/Webhook.ts"
import { scheduleWorker } from "./ScheduleRunner.ts"
import { deliveryWorker, removedWebhookWorker } from "./webhook/DeliveryRunner.ts"
import { register, remove, test } from "./webhook/WebhookOperations.ts"
import { getWebhook, listWebhooks } from "./webhook/WebhookQueries.ts"
import { retentionEvents } from "./RetentionRunner.ts"

export const machines = [DeliveryMachine] as const
export const operations = [register, remove, test]
export const collections = [webhooks, deliveries] as const
export const queries = [listWebhooks, getWebhook]
export const workers = [deliveryWorker, removedWebhookWorker, scheduleWorker] as const
/** Events that the room announces. */
export const events = { ...retentionEvents, ...webhookEvents } as const
