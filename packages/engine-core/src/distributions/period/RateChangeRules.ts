/**
 * Pure rules of a period whose points state more than one withholding rate: acknowledged, announced
 * or refused (docs/domain/distributions.md#rate-changes).
 */
import { isRate } from "../../kernel/Amount.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import type { PartialDistribution, RateChange } from "../../vocabulary/sets.ts"

/** The strictest setting applies, of deployment, policy or standing approval. */
export const isRefused = (settings: ReadonlyArray<RateChange | PartialDistribution>): boolean =>
  settings.includes("refuse")

export interface Rates {
  /** Distinct rates of the period's points; the final one is the latest. */
  readonly ratesSeen: ReadonlyArray<Decimal.Decimal>
  /** Rate that the body of the execution acknowledges; null: none. */
  readonly acknowledgedRate: Decimal.Decimal | null
}

/**
 * Checks whether every rate is from 0 to 1. A point that states another one is kept as a breach
 * today; points that were read before that rule may still state one.
 */
export const areRates = (ratesSeen: Rates["ratesSeen"]): boolean => ratesSeen.every(isRate)

/** Checks whether rates differ and the latest is not acknowledged. */
export const isUnacknowledged = ({ ratesSeen, acknowledgedRate }: Rates): boolean =>
  ratesSeen.length > 1 && acknowledgedRate !== ratesSeen.at(-1)

/**
 * Checks whether the execution may acknowledge the rate that it names: the latest, of rates that
 * differ. An execution that names none acknowledges nothing.
 */
export const mayAcknowledge = (rates: Rates): boolean =>
  rates.acknowledgedRate === null || (rates.ratesSeen.length > 1 && !isUnacknowledged(rates))
