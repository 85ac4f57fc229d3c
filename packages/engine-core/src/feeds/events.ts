/** Table of events: for every type, the kind of record it is about and its payload. */
import { Schema } from "effect"
import { DistributionMachine } from "../distributions/distribution/DistributionMachine.ts"
import * as Date from "../kernel/Date.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Month from "../kernel/Month.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import { RedemptionMachine } from "../orders/redemption/RedemptionMachine.ts"
import { SubscriptionMachine } from "../orders/subscription/SubscriptionMachine.ts"
import type { EventKind } from "../vocabulary/EventKind.ts"
import { controlEvents, type EventType, isControl, journalEvents } from "../vocabulary/EventType.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import { Role } from "../vocabulary/Role.ts"
import * as sets from "../vocabulary/sets.ts"
import { ApprovalMachine } from "../writes/ApprovalMachine.ts"

/** One type of event. Payloads are thin: ids, states, counts; no names, no text of cited orders. */
export interface Declared<P> {
  /** The kind of record the event is about; `any`: whichever one the write acts on. */
  readonly resourceKind: ResourceKind | "any"
  /** The members of its payload, in order. */
  readonly members: ReadonlyArray<string>
  readonly payload: Schema.Codec<P, Plain>
  /** The payload as it is stored and sent; throws on one that is not of this type, a bug. */
  encode(payload: P): Plain
}

const about = <P>(
  resourceKind: ResourceKind | "any",
  payload: Schema.Codec<P, Plain> & { readonly fields: object }
): Declared<P> => ({
  resourceKind,
  members: Object.keys(payload.fields),
  payload,
  encode: Schema.encodeSync(payload)
})

const { NullOr, String: Text, Struct } = Schema
const Count = Integer.schema
const Counts = Schema.Record(Text, Count)

const operation = about(
  "any",
  Struct({ kind: OperationKind.schema, role: NullOr(Role.schema), operationId: Text })
)

const approvalMembers = {
  state: ApprovalMachine.schema,
  kind: OperationKind.schema,
  makerRole: Role.schema
}
const approval = about("any", Struct(approvalMembers))

/**
 * Payload members of a move between holders, nested under names that redaction removes for
 * monitors.
 */
const moved = {
  operationId: Text,
  from: Struct({ holderId: Text }),
  to: Struct({ holderId: Text }),
  quantity: Decimal.schema
}

/** The events table. A figure that belongs to one holder is called quantity or amount. */
const table = {
  "reconciliation.run": about(
    "reconciliation-run",
    Struct({ trigger: sets.RunTrigger.schema, verdict: sets.Verdict.schema, findings: Count })
  ),
  "reconciliation.finding": about("reconciliation-run", Struct({ counts: Counts })),
  "reconciliation.hold": about(
    "hold",
    Struct({ runId: Text, blocks: Schema.Array(sets.HoldBlock.schema), findings: Count })
  ),
  "hold.released": about(
    "hold",
    Struct({ source: sets.HoldSource.schema, operationId: Text, accepted: Count })
  ),
  "statement.received": about(
    "external-statement",
    Struct({
      externalSourceId: Text,
      kind: sets.StatementKind.schema,
      businessDate: Date.schema,
      contentHash: Text
    })
  ),
  "statement.overdue": about(
    "external-source",
    Struct({
      kind: sets.StatementKind.schema,
      businessDate: Date.schema,
      dueBy: Instant.schema,
      runId: Text
    })
  ),
  "distribution.payable": about(
    "distribution",
    Struct({ state: DistributionMachine.schema, month: Month.schema, runId: Text })
  ),
  "distribution.held": about(
    "distribution",
    Struct({ state: DistributionMachine.schema, month: Month.schema, holdId: Text })
  ),
  "distribution.paid": about(
    "distribution",
    Struct({ state: DistributionMachine.schema, month: Month.schema, rolled: Count })
  ),
  "holder.restricted": about(
    "holder",
    Struct({
      mode: sets.RestrictionMode.schema,
      reason: sets.RestrictionReason.schema,
      holderId: Text,
      orderCited: Schema.Boolean,
      operationId: Text,
      autoReleaseAt: NullOr(Instant.schema),
      restrictionId: Text
    })
  ),
  "holder.unrestricted": about(
    "holder",
    Struct({
      mode: sets.RestrictionMode.schema,
      holderId: Text,
      restrictionId: Text,
      how: Schema.Literals(["lifted", "lapsed"])
    })
  ),
  "holder.forced-transfer": about("holder", Struct({ ...moved, orderCited: Schema.Boolean })),
  "holder.recovered": about("holder", Struct(moved)),
  "instrument.paused": about(
    "instrument",
    Struct({
      holdId: Text,
      blocks: Schema.Array(sets.HoldBlock.schema),
      until: NullOr(Instant.schema)
    })
  ),
  "distribution.rate-changed": about(
    "distribution",
    Struct({ month: Month.schema, rate: Decimal.schema, ratesSeen: Schema.Array(Decimal.schema) })
  ),
  "distribution.carried": about("distribution", Struct({ month: Month.schema, carried: Count })),
  "distribution.due": about(
    "scheduled-distribution",
    Struct({
      month: Month.schema,
      recordDate: Date.schema,
      refused: NullOr(Struct({ operationId: Text, problem: Text }))
    })
  ),
  "standing-approval.granted": about(
    "standing-approval",
    Struct({ action: OperationKind.schema, rateChange: sets.RateChange.schema })
  ),
  "standing-approval.revoked": about("standing-approval", Struct({ action: OperationKind.schema })),
  "reserve.minted": about(
    "mint",
    Struct({
      reserveId: Text,
      quantity: Decimal.schema,
      amount: Decimal.schema,
      coverAfter: NullOr(Decimal.schema)
    })
  ),
  "reserve.redeemed": about(
    "reserve-redemption",
    Struct({
      reserveId: Text,
      quantity: Decimal.schema,
      amount: Decimal.schema,
      coverAfter: NullOr(Decimal.schema)
    })
  ),
  "reserve.cover-low": about(
    "reserve",
    Struct({ ratio: NullOr(Decimal.schema), minCover: Decimal.plain, holdId: Text, runId: Text })
  ),
  "reserve.reported": about(
    "reserve",
    Struct({
      reportId: Text,
      trigger: sets.ReportTrigger.schema,
      cover: sets.CoverState.schema,
      ratio: NullOr(Decimal.schema)
    })
  ),
  "reserve.amended": about(
    "reserve",
    Struct({
      amendmentId: Text,
      direction: sets.ChangeDirection.schema,
      effectiveAt: Instant.schema
    })
  ),
  "retention.pruned": about("any", Struct({ counts: Counts, before: Instant.schema })),
  "operation.succeeded": operation,
  "operation.failed": operation,
  "approval.requested": approval,
  "approval.signed": approval,
  "approval.approved": approval,
  "approval.rejected": about("any", Struct({ ...approvalMembers, withdrawn: Schema.Boolean })),
  "approval.lapsed": approval,
  "subscription.priced": about(
    "subscription",
    Struct({ state: SubscriptionMachine.schema, price: Decimal.schema })
  ),
  "subscription.delivered": about(
    "subscription",
    Struct({
      state: SubscriptionMachine.schema,
      quantity: Decimal.schema,
      valueDate: Date.schema
    })
  ),
  "subscription.ended": about("subscription", Struct({ state: SubscriptionMachine.schema })),
  "redemption.priced": about(
    "redemption",
    Struct({ state: RedemptionMachine.schema, price: Decimal.schema })
  ),
  "redemption.funded": about("redemption", Struct({ state: RedemptionMachine.schema })),
  "redemption.burned": about(
    "redemption",
    Struct({ state: RedemptionMachine.schema, quantity: Decimal.schema })
  ),
  "redemption.settled": about(
    "redemption",
    Struct({ state: RedemptionMachine.schema, amount: Decimal.schema, valueDate: Date.schema })
  ),
  "redemption.withdrawn": about(
    "redemption",
    Struct({
      state: RedemptionMachine.schema,
      how: Schema.Literals(["withdrawn", "released"])
    })
  ),
  "dealing-cycle.settled": about(
    "dealing-cycle",
    Struct({
      subscriptions: Count,
      redemptions: Count,
      fundNet: Struct({ amount: Decimal.schema, quantity: Decimal.schema })
    })
  ),
  "dealing-cycle.released": about(
    "dealing-cycle",
    Struct({ subscriptions: Count, redemptions: Count })
  ),
  "webhook.test": about("webhook", Struct({ operationId: Text })),
  "settlement.proposed": about("contract", Struct({ contractId: Text, reference: NullOr(Text) })),
  "price.point": about(
    "contract",
    Struct({
      contractId: Text,
      price: Decimal.schema,
      incomePerUnit: NullOr(Decimal.schema),
      withholding: NullOr(Decimal.schema),
      valuationTime: Instant.schema,
      corrects: NullOr(Text)
    })
  ),
  "subscription.created": about(
    "subscription",
    Struct({ contractId: Text, price: Decimal.schema, quantity: Decimal.schema })
  ),
  "admission.offered": about(
    "contract",
    Struct({ contractId: Text, holderId: Text, validUntil: NullOr(Instant.schema) })
  ),
  "admission.granted": about(
    "contract",
    Struct({ contractId: Text, holderId: Text, validUntil: NullOr(Instant.schema) })
  )
} as const satisfies Readonly<Record<EventType, Declared<unknown>>>

export type Payload<T extends EventType> = (typeof table)[T]["payload"]["Type"]

/** The table, typed so that an event's payload follows from its type. */
export const events: { readonly [T in EventType]: Declared<Payload<T>> } = table

/** An event's type and its payload as it is stored and sent; the rest of the event is its record's. */
export const make = <T extends EventType>(
  type: T,
  payload: Payload<T>
): { readonly type: T; readonly payload: Plain } => ({
  type,
  payload: events[type].encode(payload)
})

export const kindOf = (type: EventType): EventKind => (isControl(type) ? "control" : "journal")

/** The sentence that says what an event announces. */
export const sentenceOf = (type: EventType): string => sentences[type]

const sentences = { ...controlEvents, ...journalEvents }
