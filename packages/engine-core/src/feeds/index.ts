/** What the feeds context holds: the states of a delivery, and the writes and reads of webhooks. */
import { deliveries } from "./webhook/Delivery.ts"
import { DeliveryMachine } from "./webhook/DeliveryMachine.ts"
import { webhooks } from "./webhook/Webhook.ts"
import { register, remove, test } from "./webhook/WebhookOperations.ts"
import { getWebhook, listWebhooks } from "./webhook/WebhookReads.ts"

export const machines = [DeliveryMachine] as const
export const judged = [] as const
export const operations = [register, remove, test]
export const collections = [webhooks, deliveries] as const
export const reads = [listWebhooks, getWebhook]
