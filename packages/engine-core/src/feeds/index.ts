/**
 * Declarations of the room feeds: the states of a delivery, and the writes and reads of webhooks.
 */
import { deliveries } from "../records/webhook/Delivery.ts"
import { DeliveryMachine } from "../records/webhook/DeliveryMachine.ts"
import { webhooks } from "../records/webhook/Webhook.ts"
import { scheduleWorker } from "./ScheduleRunner.ts"
import { deliveryWorker, removedWebhookWorker } from "./webhook/DeliveryRunner.ts"
import { register, remove, test } from "./webhook/WebhookOperations.ts"
import { getWebhook, listWebhooks } from "./webhook/WebhookQueries.ts"

export const machines = [DeliveryMachine] as const
export const operations = [register, remove, test]
export const collections = [webhooks, deliveries] as const
export const queries = [listWebhooks, getWebhook]
export const workers = [deliveryWorker, removedWebhookWorker, scheduleWorker] as const
export { events } from "./events.ts"
