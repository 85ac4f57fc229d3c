/** A redemption just claimed, by wire or on the ledger, and the facts that move it, for the tests. */
import { Date, Decimal, Instant, Zone } from "@bursar/engine-core/kernel"
import type { Redemption, Fact } from "#core/orders/redemption/Redemption.ts"
import { at, id, party } from "./subscriptions.ts"

export const onValueDate = Instant.of("2026-08-03T09:00:00Z")
export const settleBy = Instant.of("2026-08-05T16:00:00Z")
export const valueDate = Date.of("2026-08-03")

export const claimed = (changes: Partial<Redemption> = {}): Redemption => ({
  redemptionId: id("red-1"),
  instrumentId: id("fund-1"),
  registrar: party("registrar"),
  holderId: id("holder-1"),
  party: party("holder"),
  state: "claimed",
  payment: "wire",
  orderedAs: "units",
  amount: null,
  units: Decimal.of("1234.567891"),
  currency: "USD",
  fee: null,
  price: null,
  pointCid: null,
  index: null,
  baseUnits: null,
  proceeds: null,
  policyVersion: 1,
  cutOffAt: Instant.of("2026-07-31T16:00:00Z"),
  dealingDate: Date.of("2026-07-31"),
  cycleId: null,
  cash: { expected: null, matched: Decimal.zero, lines: [] },
  settleBy: null,
  valueDate: null,
  claimedAt: at,
  pricedAt: null,
  burnRequestCid: null,
  fundedAt: null,
  burnedAt: null,
  settledAt: null,
  endedAt: null,
  endedAs: null,
  remainderOf: null,
  formerCycle: null,
  recovered: false,
  lost: false,
  pricing: "forward",
  feeRate: Decimal.of("0.005"),
  isRebasing: false,
  unitDecimals: 6,
  cashDecimals: 2,
  zone: Zone.utc,
  oracle: party("oracle"),
  custodian: party("custodian"),
  freeUnits: null,
  fund: null,
  paymentAsset: null,
  orderId: null,
  claimCid: "0001",
  mispricedCid: null,
  pricedCid: null,
  intentCid: null,
  unitsAllocation: null,
  allocation: null,
  ...changes
})

export const claimedOnLedger = (changes: Partial<Redemption> = {}): Redemption =>
  claimed({
    payment: "ledger",
    fund: party("fund"),
    paymentAsset: { admin: party("bank"), id: "USD" },
    settleBy,
    ...changes
  })

/** G6: 1234.567891 units at 1.0437, less half a percent. */
export const proceeds = Decimal.of("1282.07")

export const price: Fact = {
  on: "price",
  pricedCid: "0002",
  pointCid: "0009",
  price: Decimal.of("1.0437"),
  index: null,
  units: Decimal.of("1234.567891"),
  baseUnits: null,
  proceeds,
  fee: Decimal.of("6.45"),
  at: onValueDate
}
export const fund: Fact = { on: "fund", burnRequestCid: "0003", at: onValueDate }
export const burn: Fact = { on: "burn", at: onValueDate }
export const takenBack: Fact = { on: "request-burn", burnRequestCid: null }
export const settle: Fact = { on: "settle", valueDate, at: onValueDate }
export const exchange: Fact = {
  on: "exchange",
  units: Decimal.of("1234.567891"),
  proceeds,
  fee: Decimal.of("6.45"),
  valueDate,
  at: onValueDate
}
const locked = (cid: string, amount: Decimal.Decimal) => ({ cid, amount, settleBefore: settleBy })
export const units: Fact = {
  on: "allocate-units",
  allocation: locked("0004", Decimal.of("1234.567891"))
}
export const cash: Fact = { on: "allocate-cash", allocation: locked("0005", proceeds) }
