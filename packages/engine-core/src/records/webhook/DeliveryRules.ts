/** Pure rules of deliveries: which webhooks take an event, retry times, signatures. */
import type { SigningKey } from "../../engine/Keys.ts"
import * as Base64 from "../../kernel/Base64.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Trace } from "../../kernel/Trace.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { EventRow, StoreRestore } from "../../ports/storage/Feed.ts"
import { EventType } from "../../vocabulary/EventType.ts"
import { type Attempt, type Delivery, type Fact, pending } from "./Delivery.ts"
import { takes, type Webhook } from "./Webhook.ts"

export type { SigningKey } from "../../engine/Keys.ts"

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/**
 * Milliseconds before each attempt, from the end of the one before it
 * (docs/contract/webhooks.md#retries).
 */
export const schedule: ReadonlyArray<number> = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour
]

/** Largest number of attempts of one delivery. */
export const attemptsMax = schedule.length

/** Longest wait that a receiver's Retry-After may ask for, in milliseconds. */
const putOffMax = 24 * hour

/**
 * Parses Retry-After: whole seconds or an HTTP date, as milliseconds from `now`; undefined:
 * neither.
 */
export const retryAfterMillis = (text: string, now: Instant.Instant): number | undefined => {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * second
  if (!/^[A-Za-z]{3,9},? [A-Za-z0-9 :-]{10,40} GMT$/.test(text)) return undefined
  const at = globalThis.Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Instant.toEpochMillis(now))
}

/**
 * Milliseconds until a delivery is tried again after `attempts` failed attempts; undefined: never.
 * `chance` is uniform in [0, 1) and moves the wait by a tenth either way.
 */
export const waitAfter = ({
  attempts,
  chance,
  status,
  retryAfter,
  now
}: {
  readonly attempts: number
  readonly chance: number
  readonly status: number | null
  readonly retryAfter: string | null
  readonly now: Instant.Instant
}): number | undefined => {
  const base = schedule[attempts]
  if (base === undefined) return undefined
  const wait = base * (0.9 + 0.2 * chance)
  const isAsked = (status === 429 || status === 503) && retryAfter !== null
  const askedMillis = isAsked ? (retryAfterMillis(retryAfter ?? "", now) ?? 0) : 0
  return Math.round(Math.max(wait, Math.min(askedMillis, putOffMax)))
}

/** Four random bytes as a number in [0, 1). */
export const chanceOf = (bytes: Uint8Array): number =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0) / 2 ** 32

/** Whether a status takes a delivery: any of 200 to 299. */
export const isTaken = (status: number): boolean => status >= 200 && status < 300

/**
 * `webhook-id` of an event, by which receivers drop repeats: the same over attempts, webhooks and
 * replays. A restore of the store uses the numbers of lost events again: from then on the id ends with
 * the microseconds of the restore since the epoch.
 */
export const eventId = (
  tenantId: string,
  { restoredAt, seq }: Pick<Delivery, "seq" | "restoredAt">
): string =>
  restoredAt === null
    ? `evt_${tenantId}_${seq}`
    : `evt_${tenantId}_${seq}_${Instant.toEpochMicros(restoredAt)}`

/** Returns the instant of the restore after which a number of the feed was used; null: none. */
export const restoredAtOf = (
  restores: ReadonlyArray<StoreRestore>,
  seq: number
): Instant.Instant | null => {
  const restore = restores.findLast((each) => each.seq < seq)
  return restore === undefined ? null : Instant.of(restore.at)
}

/** Id prefix of the delivery of a test; ids of other deliveries name event and webhook. */
const testPrefix = "test."

/** Identifier of the delivery of a test of a webhook. */
export const testDelivery = (operationId: string): string => `${testPrefix}${operationId}`

/** Whether a delivery is the test of a webhook. */
export const isTest = ({ deliveryId }: Pick<Delivery, "deliveryId">): boolean =>
  deliveryId.startsWith(testPrefix)

/** Checks for the test event of a webhook, which is posted to it whatever types it takes. */
const isTestOf = (event: EventRow, webhook: Pick<Webhook, "webhookId">): boolean =>
  event.type === "webhook.test" && event.resourceId === webhook.webhookId

/** The deliveries of one event: one for each webhook that takes it. */
export const deliveriesOf = (
  event: EventRow,
  webhooks: ReadonlyArray<Pick<Webhook, "webhookId" | "events">>,
  {
    operationOf,
    restores,
    trace
  }: {
    readonly operationOf: (event: EventRow) => string
    readonly restores: ReadonlyArray<StoreRestore>
    readonly trace: Trace | null
  }
): ReadonlyArray<Delivery> => {
  const { kind, type, seq } = event
  if (kind !== "control" || !EventType.has(type)) return []
  const restoredAt = restoredAtOf(restores, seq)
  return webhooks.flatMap((webhook) => {
    const { webhookId } = webhook
    const tested = isTestOf(event, webhook)
    if (!tested && !takes(webhook, type)) return []
    const deliveryId = tested ? testDelivery(operationOf(event)) : `${seq}.${webhookId}`
    return [pending({ deliveryId, webhookId, seq, restoredAt, type, trace })]
  })
}

interface SignedDelivery {
  readonly id: string
  /** Whole seconds since the epoch. */
  readonly timestamp: string
  readonly body: string
  readonly secrets: ReadonlyArray<Uint8Array>
}

const signedText = ({ body, id, timestamp }: Omit<SignedDelivery, "secrets">): string =>
  `${id}.${timestamp}.${body}`

/** The value of `webhook-signature` by secrets alone: Standard Webhooks 1.0.0, `v1` for each. */
export const signatureBySecrets = (
  crypto: Pick<Crypto["Service"], "hmacSha256">,
  { secrets, ...delivery }: SignedDelivery
): string =>
  secrets
    .map((secret) => `v1,${Base64.encode(crypto.hmacSha256(secret, signedText(delivery)))}`)
    .join(" ")

/** The value of `webhook-signature`: `v1` for each secret, and `v1a` for each key. */
export const signature = (
  crypto: Pick<Crypto["Service"], "hmacSha256" | "ed25519">,
  { keys, ...delivery }: SignedDelivery & { readonly keys: ReadonlyArray<Pick<SigningKey, "seed">> }
): string =>
  [
    ...(delivery.secrets.length === 0 ? [] : [signatureBySecrets(crypto, delivery)]),
    ...keys.map(
      ({ seed }) => `v1a,${Base64.encode(crypto.ed25519.sign(seed, signedText(delivery)))}`
    )
  ].join(" ")

/** Headers of one attempt, without those that the transport adds. */
export const headers = ({
  id,
  timestamp,
  signature,
  webhookId,
  attempt
}: {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
  readonly webhookId: string
  readonly attempt: number
}): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  "user-agent": "bursar/1",
  "webhook-id": id,
  "webhook-timestamp": timestamp,
  "webhook-signature": signature,
  "x-webhook-id": webhookId,
  "x-webhook-attempt": String(attempt)
})

const secretGrammar = /^whsec_([A-Za-z0-9+/]+={0,2})$/
const secretBytes = { min: 24, max: 64 }

/** Parses a secret `whsec_…`; undefined: the text is none. */
export const secretOf = (text: string): Uint8Array | undefined => {
  const bytes = Base64.decode(secretGrammar.exec(text)?.[1] ?? "")
  return bytes !== undefined && bytes.length >= secretBytes.min && bytes.length <= secretBytes.max
    ? bytes
    : undefined
}

/** A public key as the tenant's record shows it. */
export const publicKeyText = (key: Uint8Array): string => `whpk_${Base64.encode(key)}`

/** Result of a webhook's test. */
export const outcomeOf = ({ status, durationMs, failure }: Attempt) => ({
  delivered: failure === null,
  status,
  durationMs,
  failure
})

/** The fact of an attempt, and the milliseconds until the next one, if there is one. */
export const judge = (
  before: Pick<Delivery, "attempts">,
  {
    attempt,
    chance,
    retryAfter
  }: {
    readonly attempt: Attempt
    readonly retryAfter: string | null
    readonly chance: number
  }
): { readonly fact: Fact; readonly again: number | undefined } => {
  if (attempt.failure === null) return { fact: { on: "take", attempt }, again: undefined }
  const again = waitAfter({
    attempts: before.attempts + 1,
    chance,
    status: attempt.status,
    retryAfter,
    now: attempt.at
  })
  if (again === undefined) return { fact: { on: "exhaust", attempt }, again }
  const next = Instant.add(attempt.at, Duration.millis(again))
  return { fact: { on: "miss", attempt, next }, again }
}
