/** Pure choice of a fund's holdings for a payment: the fewest that reach the sum. */
import * as Decimal from "../../kernel/Decimal.ts"

/** A draw on a fund's provision: the contract, the holdings it takes, and the amount. */
export interface Provision {
  readonly provisionCid: string
  readonly holdingCids: ReadonlyArray<string>
  readonly amount: Decimal.Decimal
}

/** A holding that nothing locks. */
export interface Free {
  readonly contractId: string
  readonly amount: Decimal.Decimal
}

/** Accumulator over holdings: their sum, and the largest ones. */
export interface Seen {
  readonly total: Decimal.Decimal
  readonly largest: ReadonlyArray<Free>
}

export const none: Seen = { total: Decimal.zero, largest: [] }

/** With these too; of all that passed no more than the `most` largest are kept. */
export const seen = (self: Seen, more: ReadonlyArray<Free>, most: number): Seen => ({
  total: Decimal.sum([self.total, ...more.map(({ amount }) => amount)]),
  largest: [...self.largest, ...more].toSorted(byAmount).slice(0, most)
})

/** The largest first; of one size the lower id first, so that everybody draws alike. */
const byAmount = (a: Free, b: Free): number =>
  Decimal.compare(b.amount, a.amount) || (a.contractId < b.contractId ? -1 : 1)

/**
 * The fewest holdings that bring the amount; null where all together do not. Where more would be
 * needed than were kept these are all that were: more than one transaction may use, and that is what
 * it is refused for.
 */
export const drawn = (
  { largest, total }: Seen,
  amount: Decimal.Decimal
): ReadonlyArray<string> | null => {
  if (Decimal.lessThan(total, amount)) return null
  let sum = Decimal.zero
  const needed = largest.findIndex((one) => {
    sum = Decimal.add(sum, one.amount)
    return Decimal.atLeast(sum, amount)
  })
  return largest
    .slice(0, needed === -1 ? largest.length : needed + 1)
    .map(({ contractId }) => contractId)
}
