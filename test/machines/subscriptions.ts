/** A subscription just claimed, and bank lines, for the tests that move it. */
import { Date, Decimal, Instant, Party, RecordId, Zone } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { judge } from "#core/kernel/Gates.ts"
import * as Machine from "#core/kernel/Machine.ts"
import {
  type Command as JudgedCommand,
  objections,
  type Subscription,
  SubscriptionMachine
} from "#core/orders/subscription/Subscription.ts"

export const party = (hint: string) => Party.of(`${hint}::1220aa`)
export const id = <const N extends string>(text: string) =>
  Result.getOrThrow(RecordId.parse<N>(text))
export const at = Instant.of("2026-07-31T12:00:00Z")

export const claimed = (changes: Partial<Subscription> = {}): Subscription => ({
  subscriptionId: id("sub-1"),
  instrumentId: id("fund-1"),
  registrar: party("registrar"),
  holderId: id("holder-1"),
  party: party("holder"),
  state: "claimed",
  payment: "wire",
  orderedAs: "amount",
  amount: Decimal.of("100000"),
  units: null,
  currency: "USD",
  fee: Decimal.zero,
  price: null,
  pointCid: null,
  index: null,
  baseUnits: null,
  policyVersion: 1,
  cutOffAt: Instant.of("2026-07-31T16:00:00Z"),
  dealingDate: Date.of("2026-07-31"),
  cycleId: null,
  residual: null,
  refund: null,
  refunded: null,
  refunds: [],
  attestors: [],
  lot: null,
  cash: { expected: Decimal.of("100000"), matched: Decimal.zero, lines: [] },
  settleBy: null,
  valueDate: null,
  claimedAt: at,
  pricedAt: null,
  deliveredAt: null,
  endedAt: null,
  endedAs: null,
  remainderOf: null,
  formerCycle: null,
  recovered: false,
  lost: false,
  pricing: "forward",
  feeRate: Decimal.zero,
  isRebasing: false,
  unitDecimals: 6,
  cashDecimals: 2,
  residualRule: "refund",
  zone: Zone.utc,
  attesting: { parties: [party("attestor")], required: 1, oracle: party("oracle") },
  fund: null,
  paymentAsset: null,
  orderId: null,
  claimCid: "0001",
  mispricedCid: null,
  deliveredLotCid: null,
  owedRefundCid: null,
  mintRequestCid: null,
  intentCid: null,
  allocation: null,
  ...changes
})

/** Commands of the venue: those that its conditions judge, and the ends that the state alone allows. */
export type Command = JudgedCommand | { readonly on: "withdraw" | "release" }

/** Judges a command as the writes of a subscription do: by its state, then by its conditions. */
export const decide = (self: Subscription, command: Command) =>
  Machine.admit(SubscriptionMachine, self, command.on).pipe(
    Result.flatMap(() => ("cash" in command ? judge(objections(self, command)) : Result.void)),
    Result.map(() => command)
  )

/** A line of one bank statement. */
export const line = (line: number, amount: string) => ({
  statementId: id<"ExternalStatementId">("stmt-1"),
  line,
  amount: Decimal.of(amount)
})
