/** Builder of a dealing cycle just opened, of which each test changes the members that it is about. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { type DealingCycle, nothing } from "#core/orders/dealing-cycle/DealingCycle.ts"
import { id, party } from "./subscriptions.ts"

export const cutOffAt = Instant.of("2026-07-31T20:00:00Z")
export const settleBy = Instant.of("2026-08-05T20:00:00Z")

export const opened: DealingCycle = {
  cycleId: id("c1"),
  instrumentId: id("fund-1"),
  state: "open",
  endedAs: null,
  cutOffAt,
  acceptsOrders: true,
  lost: false,
  settleBy,
  pointCid: null,
  price: null,
  swungPrice: null,
  orders: { subscriptions: [], redemptions: [] },
  members: { subscriptions: 0, redemptions: 0 },
  gross: nothing,
  fundNet: { cash: Decimal.zero, units: Decimal.zero },
  gate: null,
  fills: [],
  policyVersion: null,
  uid: null,
  openedAt: Instant.of("2026-07-31T12:00:00Z"),
  endedAt: null,
  fund: party("fund"),
  paymentAsset: { admin: party("bank"), id: "USD" },
  registrar: party("registrar"),
  currency: "USD",
  unitDecimals: 6,
  cashDecimals: 2,
  allocations: [],
  cycleCid: "0001"
}
