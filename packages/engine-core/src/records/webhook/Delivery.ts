/** Delivery of one event to one webhook: its attempts and its end (an outbox row). */
import { Effect, Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import { Trace } from "../../kernel/Trace.ts"
import { EventType } from "../../vocabulary/EventType.ts"
import { DeliveryFailure } from "../../vocabulary/sets.ts"
import { OperationKind } from "../../vocabulary/OperationKind.ts"

export const DeliveryMachine = Machine.declare("DeliveryState", {
  doc: "An event on its way to one webhook, from its writing to its last attempt.",
  states: {
    pending: "Not taken yet; the next attempt is due now or later.",
    taken: "The receiver answered with a 2xx status.",
    exhausted: "The last attempt failed too; the event is still on the feed.",
    cancelled: "Its webhook was removed first."
  },
  triggers: {
    take: { by: ["worker"] },
    exhaust: { by: ["worker"] },
    cancel: { by: ["webhook.remove"] }
  },
  initial: "pending",
  // Opened by the event's transaction, whoever caused the event.
  opens: {
    by: [...OperationKind.members, "ledger", "run", "clock", "approver", "maker", "worker"]
  },
  moves: {
    pending: { take: "taken", exhaust: "exhausted", cancel: "cancelled" },
    taken: {},
    exhausted: {},
    cancelled: {}
  },
  forward: ["take"]
})

export const AttemptFailure = DeliveryFailure.schema
export type AttemptFailure = typeof AttemptFailure.Type

/** Outcome of one attempt; of the receiver's answer only the status is kept. */
export const Attempt = Schema.Struct({
  at: Instant.schema,
  status: Schema.NullOr(Integer.schema),
  durationMs: Integer.schema,
  /** Null: the receiver took it. */
  failure: Schema.NullOr(AttemptFailure)
})
export type Attempt = typeof Attempt.Type

export const Delivery = Schema.Struct({
  deliveryId: Schema.String,
  webhookId: Schema.String,
  /** The event's number on the feed. */
  seq: Integer.schema,
  /** The restore after which the number was used; null: none (docs/contract/webhooks.md#deliveries). */
  restoredAt: Schema.NullOr(Instant.schema).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(null))
  ),
  type: EventType.schema,
  state: DeliveryMachine.schema,
  attempts: Integer.schema,
  last: Schema.NullOr(Attempt),
  /**
   * Instant before which it is not attempted again; absent: the first attempt is due, it is over, or its
   * last attempt was recorded before the instant was kept.
   */
  next: Schema.optionalKey(Instant.schema),
  /** Trace of the call that caused the event. */
  trace: Schema.NullOr(Trace),
  endedAt: Schema.NullOr(Instant.schema)
})
export type Delivery = typeof Delivery.Type

/** A failed attempt; another follows, no earlier than `next`. */
const Missed = Schema.Struct({
  on: Schema.Literal("miss"),
  attempt: Attempt,
  next: Schema.optionalKey(Instant.schema)
})
/** The last attempt of a delivery. */
const Tried = Schema.Struct({ on: Schema.Literals(["take", "exhaust"]), attempt: Attempt })
const Cancelled = Schema.Struct({ on: Schema.Literal("cancel"), at: Instant.schema })
export const Fact = Schema.Union([Missed, Tried, Cancelled])
export type Fact = typeof Fact.Type

/** Fold: the delivery after `fact`. */
const evolve = ({ next: _, ...self }: Delivery, fact: Fact): Delivery =>
  match(fact)
    .with({ on: "miss" }, ({ attempt, next }) => ({
      ...self,
      attempts: self.attempts + 1,
      last: attempt,
      ...(next === undefined ? {} : { next })
    }))
    .with({ on: "take" }, { on: "exhaust" }, ({ on, attempt }) => ({
      ...self,
      state: Machine.follow(DeliveryMachine, self.state, on),
      attempts: self.attempts + 1,
      last: attempt,
      endedAt: attempt.at
    }))
    .with({ on: "cancel" }, ({ on, at }) => ({
      ...self,
      state: Machine.follow(DeliveryMachine, self.state, on),
      endedAt: at
    }))
    .exhaustive()

/** A new delivery, opened in its event's transaction. */
export const pending = (
  delivery: Pick<Delivery, "deliveryId" | "webhookId" | "seq" | "restoredAt" | "type" | "trace">
): Delivery => ({ ...delivery, state: "pending", attempts: 0, last: null, endedAt: null })

/** A delivery as staff read it: its event by number and type, never the payload or the address. */
export const DeliveryView = Schema.Struct({
  deliveryId: Schema.String,
  webhookId: Schema.String,
  seq: Integer.schema,
  type: EventType.schema,
  state: DeliveryMachine.schema,
  attempts: Integer.schema,
  /** Null: it was not attempted yet. */
  last: Schema.NullOr(Attempt),
  /** Instant before which it is not attempted again; null: it is due, or over. */
  next: Schema.NullOr(Instant.schema),
  createdAt: Instant.schema,
  endedAt: Schema.NullOr(Instant.schema)
}).annotate({
  identifier: "WebhookDelivery",
  description: "The delivery of one event to one webhook."
})
export type DeliveryView = typeof DeliveryView.Type

export const view = (self: Delivery & Collection.StoreColumns): DeliveryView => ({
  deliveryId: self.deliveryId,
  webhookId: self.webhookId,
  seq: self.seq,
  type: self.type,
  state: self.state,
  attempts: self.attempts,
  last: self.last,
  next: self.next ?? null,
  createdAt: self.createdAt,
  endedAt: self.endedAt
})

/** List filter of a webhook's pending deliveries. */
export const pendingOf = (webhookId: string) => ({ webhookId: [webhookId], state: ["pending"] })

export const deliveries = Collection.define<Delivery, Fact>("delivery", {
  doc: "The delivery of one event to one webhook.",
  id: (self) => self.deliveryId,
  record: Delivery,
  fact: Fact,
  evolve,
  keptBy: "own",
  ids: "made",
  sortKey: (self, createdAt) => `${Instant.sortable(createdAt)} ${self.deliveryId}`,
  filters: {
    webhookId: (self) => self.webhookId,
    state: (self) => self.state,
    endedAt: (self) => (self.endedAt === null ? null : Instant.sortable(self.endedAt))
  },
  invariants: {
    "a delivery that is over says since when": (self) =>
      Machine.isTerminal(DeliveryMachine, self.state) === (self.endedAt !== null),
    "a taken delivery's last attempt was taken": (self) =>
      self.state !== "taken" || self.last?.failure === null,
    "whoever tried has tried at least once": (self) => self.attempts > 0 === (self.last !== null)
  }
})

/** Name of a webhook's own queue: a slow webhook does not delay the others. */
export const queueOf = (webhookId: string): string => `deliveries:${webhookId}`
