/** Pure estimate of the contracts that settling a cycle uses in its one ledger transaction. */
import type { Counts } from "./DealingCycle.ts"

/** Contracts of a subscription: lot, allocation, locked cash, the holder's credential, the venue's request. */
const perSubscription = 5

/** Contracts of a redemption: priced order, allocation, locked units, the venue's request, the fund's cash. */
const perRedemption = 6

/** Contracts of the cycle itself: cycle, market, the instrument's configuration, the fund's cash for its net. */
const shared = 48

/** Holdings of a draw on the fund that `shared` includes. */
const drawnRoom = 16

/** Returns the number of drawn holdings beyond those that `shared` includes. */
export const beyondRoom = (drawn: number): number => Math.max(0, drawn - drawnRoom)

/**
 * Returns the largest number of existing contracts that settling so many orders uses; the setting
 * `ledger.maxInputs` is the limit (docs/domain/dealing-cycles.md#size).
 */
export const inputsOf = ({ subscriptions, redemptions }: Counts): number =>
  shared + perSubscription * subscriptions + perRedemption * redemptions

/**
 * Contracts of an order of an iteration: lot and credential, or priced order, units and their lock; and the
 * venue's request.
 */
const perIterated = 4

/** Contracts of a commitment: commitment, allocation, locked cash or units. */
const perCommitment = 3

/** Returns the largest number of existing contracts that an iteration of a standing settlement uses. */
export const inputsOfIteration = ({
  orders,
  commitments
}: {
  readonly orders: number
  readonly commitments: number
}): number => shared + perIterated * orders + perCommitment * commitments
