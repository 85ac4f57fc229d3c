/** Webhook: an address that control events are posted to, the types it takes, its sealed secret. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { EventType, isControl } from "../../vocabulary/EventType.ts"
import { WebhookSource } from "../../vocabulary/sets.ts"
import { about } from "../EventDeclaration.ts"

export const WebhookId = RecordId.make("WebhookId")
export type WebhookId = typeof WebhookId.Type

/** Event types that a webhook may name: control events alone, never journal events. */
export const ControlTypes = Schema.Array(
  EventType.schema.check(
    Schema.makeFilter((type: EventType) =>
      isControl(type) ? undefined : "a ledger's fact is posted to no webhook"
    )
  )
).check(Schema.isMaxLength(100), Schema.isUnique())

export const Webhook = Schema.Struct({
  webhookId: WebhookId,
  url: Schema.String,
  /** Empty: every control event. */
  events: ControlTypes,
  source: WebhookSource.schema,
  /** The secret, encrypted; null: none, or the configuration holds it. */
  sealed: Schema.NullOr(Schema.String),
  /** The caller that registered it, by sub; `config` for a webhook of the configuration. */
  createdBy: Schema.String,
  /** Null while the webhook is active. */
  removedAt: Schema.NullOr(Instant.schema)
})
export type Webhook = typeof Webhook.Type

const Removed = Schema.Struct({ on: Schema.Literal("remove"), at: Instant.schema })
/** The configuration added or changed the webhook. */
const Configured = Schema.Struct({
  on: Schema.Literal("configure"),
  url: Schema.String,
  events: ControlTypes
})
export const Fact = Schema.Union([Removed, Configured])
export type Fact = typeof Fact.Type

/** Fold: the webhook after `fact`. */
const evolve = (self: Webhook, fact: Fact): Webhook =>
  match(fact)
    .with({ on: "remove" }, ({ at }) => ({ ...self, sealed: null, removedAt: at }))
    .with({ on: "configure" }, ({ url, events }) => ({ ...self, url, events, removedAt: null }))
    .exhaustive()

export const isActive = (self: Webhook): boolean => self.removedAt === null

/** List filter of the active webhooks. */
export const active = { state: ["active"] } as const

/**
 * Largest number of active webhooks: each event is written once for every webhook that takes it.
 */
export const activeMax = 100

export const webhooks = Collection.define<Webhook, Fact>("webhook", {
  doc: "A webhook: where control events are posted to.",
  id: (self) => self.webhookId,
  record: Webhook,
  fact: Fact,
  evolve,
  keptBy: "own",
  // The configured ones first, each group by age (docs/contract/webhooks.md#configured-webhooks).
  sortKey: (self, createdAt) =>
    `${self.source === "config" ? 0 : 1} ${Instant.sortable(createdAt)} ${self.webhookId}`,
  filters: {
    state: (self) => (isActive(self) ? "active" : "removed"),
    source: (self) => self.source
  },
  invariants: {
    "a removed webhook holds no secret": (self) => isActive(self) || self.sealed === null,
    "the configuration's secrets stay there": (self) =>
      self.source !== "config" || self.sealed === null
  }
})

/** Checks that an event of this type is posted to the webhook. */
export const takes = (self: Pick<Webhook, "events">, type: string): boolean =>
  self.events.length === 0 || self.events.some((eventType) => eventType === type)

/** A webhook as a caller reads it: without its secret, and without whether it has one. */
export const WebhookView = Schema.Struct({
  webhookId: WebhookId,
  url: Schema.String,
  events: Schema.Array(EventType.schema),
  source: WebhookSource.schema,
  createdAt: Instant.schema,
  createdBy: Schema.String
}).annotate({
  identifier: "Webhook",
  description: "A webhook: an address that control events are posted to."
})
export type WebhookView = typeof WebhookView.Type

export const view = (self: Webhook & Collection.StoreColumns): WebhookView => ({
  webhookId: self.webhookId,
  url: self.url,
  events: self.events,
  source: self.source,
  createdAt: self.createdAt,
  createdBy: self.createdBy
})

/** Events of a webhook. */
export const webhookEvents = {
  "webhook.test": about("webhook", Schema.Struct({ operationId: Schema.String }))
} as const
