/** Pure selection of a fund's holdings for a payment: the fewest that reach the amount. */
import * as Decimal from "../../kernel/Decimal.ts"

/** A draw on a fund's provision: the contract, the holdings that it uses, and the amount. */
export interface Provision {
  readonly provisionCid: string
  readonly holdingCids: ReadonlyArray<string>
  readonly amount: Decimal.Decimal
}

/** An unlocked holding. */
interface FreeHolding {
  readonly contractId: string
  readonly amount: Decimal.Decimal
}

/** Accumulator over holdings: the sum of all, and the largest ones. */
interface Candidates {
  readonly total: Decimal.Decimal
  readonly largest: ReadonlyArray<FreeHolding>
}

export const none: Candidates = { total: Decimal.zero, largest: [] }

/** Fold: adds holdings to the sum, and keeps the `most` largest of all. */
export const withHoldings = (
  self: Candidates,
  more: ReadonlyArray<FreeHolding>,
  most: number
): Candidates => ({
  total: Decimal.sum([self.total, ...more.map(({ amount }) => amount)]),
  largest: [...self.largest, ...more].toSorted(byAmount).slice(0, most)
})

/** Sorts the largest first, equal amounts by id, so that the selection is deterministic. */
const byAmount = (a: FreeHolding, b: FreeHolding): number =>
  Decimal.compare(b.amount, a.amount) || (a.contractId < b.contractId ? -1 : 1)

/**
 * Returns the ids of the fewest holdings that reach the amount; null if all holdings together do not. If
 * the kept ones do not reach it, all of them are returned: the condition of the transaction's size then
 * refuses the draw.
 */
export const select = (
  { largest, total }: Candidates,
  amount: Decimal.Decimal
): ReadonlyArray<string> | null => {
  if (Decimal.lessThan(total, amount)) return null
  let sum = Decimal.zero
  const needed = largest.findIndex((holding) => {
    sum = Decimal.add(sum, holding.amount)
    return Decimal.atLeast(sum, amount)
  })
  return largest
    .slice(0, needed === -1 ? largest.length : needed + 1)
    .map(({ contractId }) => contractId)
}
