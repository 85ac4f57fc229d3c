/** Pure rules of the webhook dispatcher: parallel attempts, turns of webhooks, meaning of an answer. */
import type { AttemptOutcome } from "../../ports/WebhookSender.ts"
import type { Attempt } from "../../records/webhook/Delivery.ts"
import { isTaken } from "../../records/webhook/DeliveryRules.ts"

/**
 * Attempts that run at one time: to one webhook, and in an instance
 * (docs/contract/webhooks.md#retries).
 */
export const atOnce = { webhook: 4, instance: 32 }

/** Attempts that may begin for a webhook, where so many run for it and in the instance. */
export const freeAttempts = (running: typeof atOnce): number =>
  Math.max(0, Math.min(atOnce.webhook - running.webhook, atOnce.instance - running.instance))

/** Round robin: the list from another start each turn, so that no webhook is always served last. */
export const rotate = <A>(list: ReadonlyArray<A>, turn: number): ReadonlyArray<A> => {
  const first = list.length === 0 ? 0 : turn % list.length
  return [...list.slice(first), ...list.slice(0, first)]
}

/** An attempt, and the Retry-After of its answer. */
export interface AttemptResult {
  readonly attempt: Attempt
  readonly retryAfter: string | null
}

/** Judges an answer: the attempt as recorded, and the Retry-After to respect. */
export const madeOf = (
  answered: AttemptOutcome,
  timed: Pick<Attempt, "at" | "durationMs">
): AttemptResult => {
  if ("failure" in answered) {
    const { failure } = answered
    return { attempt: { ...timed, status: null, failure }, retryAfter: null }
  }
  const { status, retryAfter } = answered
  const failure = isTaken(status) ? null : ("status" as const)
  return { attempt: { ...timed, status, failure }, retryAfter }
}
