/** Pure estimate of the contracts that settling a cycle uses in its one ledger transaction. */
import type { Counts } from "./DealingCycleMachine.ts"

/** Its lot, its allocation, the cash that it locks, its holder's credential, the venue's request. */
const perSubscription = 5

/** Its price, its allocation, the units that it locks, the venue's request, the fund's cash for it. */
const perRedemption = 6

/** The cycle, its market, the instrument's configuration, and what the fund adds for its net. */
const shared = 48

/** The holdings of a fund that is drawn on which `shared` has room for. */
const drawnRoom = 16

/** What a draw on so many holdings uses beyond that room. */
export const beyondRoom = (drawn: number): number => Math.max(0, drawn - drawnRoom)

/**
 * The most contracts of earlier transactions that settling so many orders uses, each counted once;
 * `ledger.maxInputs` is the limit (docs/domain/dealing-cycles.md#size).
 */
export const inputsOf = ({ subscriptions, redemptions }: Counts): number =>
  shared + perSubscription * subscriptions + perRedemption * redemptions

/** Its lot, its holder's credential, the market's word; its price, its units and what locks them. */
const perIterated = 4

/** A commitment, its allocation, the cash or units that it locks. */
const perCommitment = 3

/** The same for an iteration of a standing settlement, which draws on commitments. */
export const inputsOfIteration = (of: {
  readonly orders: number
  readonly commitments: number
}): number => shared + perIterated * of.orders + perCommitment * of.commitments
