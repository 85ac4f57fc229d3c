/** Members, filters, invariants and events that the records of subscriptions and redemptions share. */
import { Effect, Schema } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import type { Announcement } from "../../kernel/Announcement.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { type ControlEventType, isControl } from "../../vocabulary/EventType.ts"
import * as sets from "../../vocabulary/sets.ts"
import { cycleNamedBy, FormerCycle } from "../dealing-cycle/FormerCycle.ts"
import { CashLine } from "./CashLine.ts"
import type { OrderKind } from "./HolderOrder.ts"

const { NullOr } = Schema

/** Members: the instrument and its registrar, the holder and its party. */
export const parties = {
  instrumentId: InstrumentId,
  registrar: Party.schema,
  holderId: HolderId,
  party: Party.schema
} as const

/** The cash or units ordered, and the price that the order deals at. */
export const ordered = {
  payment: sets.PaymentMode.schema,
  orderedAs: sets.OrderedAs.schema,
  /** The cash ordered; null for an order in units. */
  amount: NullOr(Decimal.schema),
  /** The units ordered, or those that the amount buys or sells at the price; null before that price. */
  units: NullOr(Decimal.schema),
  currency: Schema.String,
  /** The fund's fee, in the currency; null until it is computed. */
  fee: NullOr(Decimal.schema),
  price: NullOr(Decimal.schema),
  pointCid: NullOr(Field.contractId),
  /**
   * The index of the point that priced the order, of a rebasing instrument alone, whose shown units are
   * ordered at a price of 1; null before that price.
   */
  index: Field.optional(Decimal.schema),
  /** The base units that the order mints or burns, of a rebasing instrument alone; null before the price. */
  baseUnits: Field.optional(Decimal.schema)
} as const

/** The cut-off and the dealing date, the version of the policy, and the dealing cycle. */
export const dealing = {
  policyVersion: Integer.schema,
  cutOffAt: Instant.schema,
  dealingDate: Date.schema,
  cycleId: NullOr(Schema.String),
  /** The cycle that ended without the order: since then the order settles by itself. */
  formerCycle: Field.optional(FormerCycle),
  /**
   * True where the projection opened the order from a snapshot of the ledger: the terms that its
   * contract leaves out are those at its claim, and the claim counts as made when the contract was.
   */
  recovered: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  /**
   * True where a new ledger epoch began without the contract of the order, which ended meanwhile
   * nobody knows how: its state is the last that is known.
   */
  lost: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))
} as const

/** The expected cash, the bank lines that paid it, and the instants of claim, price and latest settlement. */
export const settling = {
  cash: Schema.Struct({
    expected: NullOr(Decimal.schema),
    matched: Decimal.schema,
    lines: Schema.Array(CashLine)
  }),
  settleBy: NullOr(Instant.schema),
  valueDate: NullOr(Date.schema),
  claimedAt: Instant.schema,
  pricedAt: NullOr(Instant.schema)
} as const

/** Terms of the policy at the claim; a later policy version does not change them. */
export const terms = {
  pricing: sets.PricingRule.schema,
  feeRate: Decimal.plain,
  /** True if its claim counts units as a rebasing instrument shows them. */
  isRebasing: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  unitDecimals: Integer.schema,
  cashDecimals: Integer.schema
} as const

/** Members of a ledger-paid order: the fund, the payment asset, the holder's order id; and the claim contract. */
export const onLedger = {
  fund: NullOr(Party.schema),
  paymentAsset: NullOr(Field.asset),
  orderId: NullOr(Schema.String),
  claimCid: NullOr(Field.contractId),
  /**
   * The contract of a price whose figures are beyond those of an order; null: none was signed. The order
   * stays claimed, and its withdrawal ends the contract.
   */
  mispricedCid: Field.optional(Field.contractId)
} as const

const Members = Schema.Struct({ ...parties, ...ordered, ...dealing, ...settling })
type Members = typeof Members.Type

/** Checks whether the cash leg is covered: matched when paid by wire, allocated when paid on the ledger. */
export const cashStands = ({
  allocation,
  cash,
  payment
}: Pick<Members, "cash" | "payment"> & { readonly allocation: object | null }): boolean =>
  payment === "ledger"
    ? allocation !== null
    : cash.expected !== null && Decimal.atLeast(cash.matched, cash.expected)

/**
 * Members that no contract of an order states but its claim, or none at all: the terms that were in force
 * at its claim, and the instants of what happened to it.
 */
export const untold: ReadonlyArray<string> = [
  "recovered",
  "policyVersion",
  "cutOffAt",
  "dealingDate",
  "settleBy",
  "claimedAt",
  "pricedAt",
  "fundedAt",
  "deliveredAt",
  "fee",
  "residual",
  "refund",
  "attesting",
  "residualRule",
  "zone",
  ...Object.keys(terms)
]

/** The order after a snapshot without its contracts: it has its last known state, and waits for nobody. */
export const lost = <R extends { readonly lost: boolean }>(self: R): R => ({ ...self, lost: true })

export const filters = {
  instrumentId: (self: Members) => self.instrumentId,
  holderId: (self: Members) => self.holderId,
  registrar: (self: Members) => self.registrar,
  /** Contract of the point that priced it. */
  pointCid: (self: Members) => self.pointCid,
  /** The order's cycle, or the cycle that ended without the order; no cycle settles a lost order. */
  cycleId: (self: Members) => (self.lost ? null : cycleNamedBy(self))
} as const

export const invariantsOf = <S extends string>(machine: Machine.Machine<S>) => ({
  "an ended order says when and how": (self: {
    readonly state: S
    readonly endedAt: Instant.Instant | null
    readonly endedAs: string | null
  }) =>
    Machine.isTerminal(machine, self.state) === (self.endedAt !== null) &&
    (self.endedAt === null) === (self.endedAs === null),
  "cash is never matched beyond what is expected": ({ cash }: Members) =>
    cash.expected === null || Decimal.atMost(cash.matched, cash.expected),
  "an order names either an amount or units": ({ amount, orderedAs, units }: Members) =>
    (orderedAs === "amount") === (amount !== null) && (orderedAs !== "units" || units !== null)
})

/** Checks that no order that is priced or has ended has a contract of a price beyond an order. */
export const isMispricedOnlyAsClaimed = ({
  claimCid,
  mispricedCid,
  state
}: {
  readonly claimCid: string | null
  readonly mispricedCid: string | null
  readonly state: string
}): boolean => mispricedCid === null || (state === "claimed" && claimCid === null)

/** Returns the control events that the machine's table announces for a fact; none if it is no trigger. */
export const announcedBy = (
  { triggers }: { readonly triggers: Readonly<Record<string, Machine.Trigger>> },
  on: string
): ReadonlyArray<ControlEventType> =>
  Object.hasOwn(triggers, on) ? (triggers[on]?.announces ?? []).filter(isControl) : []

/** Makes an event of an order, with its instrument, its holder and its record. */
export const announcement = (
  order: Pick<Members, "instrumentId" | "party" | "holderId"> & {
    readonly kind: OrderKind
    readonly id: string
  },
  event: Pick<Announcement, "type" | "payload">
): Announcement => ({
  ...event,
  resourceKind: order.kind,
  resourceId: order.id,
  instrumentId: order.instrumentId,
  party: order.party,
  holderIds: [order.holderId]
})
