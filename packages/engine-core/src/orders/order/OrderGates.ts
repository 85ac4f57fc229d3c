/** Checks that the claims of subscriptions and redemptions share, by gate. */
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { notBacked } from "../../instruments/instrument/InstrumentGates.ts"
import type { Manifest } from "../../instruments/instrument/Manifest.ts"
import type { VersionTerms } from "../../instruments/policy/Policy.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { PaymentMode } from "../../vocabulary/sets.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"

/** Members of a claim that the conditions of both kinds of order read. */
export interface ClaimContext {
  readonly instrument: Pick<Instrument, "backedBy">
  readonly payment: PaymentMode
  /** The cash ordered; null for an order in units. */
  readonly amount: Decimal.Decimal | null
  /** The units ordered; null for an order by amount. */
  readonly units: Decimal.Decimal | null
  /** Decimal places of the instrument's currency. */
  readonly cashDecimals: number
  readonly market: Pick<PrimaryMarket, "state"> | null
  readonly now: Instant.Instant
}

/** Checks payment, market, window and decimal places; the order of rows within a gate counts. */
export const againstClaim = (
  { amount, cashDecimals, instrument, market, now, payment, units }: ClaimContext,
  { policyVersion, window }: Pick<VersionTerms, "policyVersion" | "window">,
  { currency, unitDecimals, valuation }: Pick<Manifest, "currency" | "unitDecimals" | "valuation">
): ReadonlyArray<Judgement> => [
  paidByWire({ payment, valuation, policyVersion }),
  notBacked(instrument),
  condition("primary-market", payment !== "ledger" || market?.state === "agreed", {
    policyVersion,
    recovery: "Propose a primary market and have it agreed, or pay by wire."
  }),
  condition("window-open", isWithin(window, now), { policyVersion }),
  condition("unit-decimals", units === null || Decimal.fits(units, unitDecimals), {
    detail: `Units of the instrument have at most ${unitDecimals} places.`,
    recovery: `Order units with at most ${unitDecimals} places.`
  }),
  condition("currency-decimals", amount === null || Decimal.fits(amount, cashDecimals), {
    detail: `Amounts of ${currency} have at most ${cashDecimals} places.`,
    recovery: `Order an amount with at most ${cashDecimals} places.`
  })
]

/**
 * Checks that an order of a rebasing instrument is paid by wire: one that is paid on the ledger sets
 * units aside before its index is known.
 */
export const paidByWire = ({
  payment,
  valuation,
  policyVersion
}: {
  readonly payment: PaymentMode
  readonly valuation: Manifest["valuation"]
  readonly policyVersion: number
}): Judgement =>
  condition("payment", payment === "wire" || valuation !== "rebasing", {
    policyVersion
  })

/**
 * Checks that the ordered units of a rebasing instrument are more than 0 base units, which the
 * ledger moves.
 */
export const baseUnits = ({
  buys,
  moves
}: {
  /** Units ordered; null before the price from which they follow. */
  readonly buys: Decimal.Decimal | null
  readonly moves: Decimal.Decimal | null
}): Judgement =>
  condition(
    "base-units",
    buys === null || moves === null || !Decimal.isPositive(buys) || Decimal.isPositive(moves)
  )

/**
 * Checks that an order can be priced: at the latest price it is for fewer units, and base units, than the
 * limit of one order (docs/domain/orders.md#prices-beyond-an-order).
 */
export const unitsWithinLimit = (isWithinLimit: boolean): Judgement =>
  condition("too-large", isWithinLimit)

/** Checks whether an instant is in a window: from its first instant up to, not including, its last. */
const isWithin = ({ opensAt, closesAt }: VersionTerms["window"], now: Instant.Instant): boolean =>
  (opensAt === null || Instant.atOrAfter(now, opensAt)) &&
  (closesAt === null || Instant.isBefore(now, closesAt))
