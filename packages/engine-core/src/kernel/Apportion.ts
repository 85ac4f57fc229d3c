/**
 * Largest-remainder apportionment: shares a whole number of atoms by weights, so that the shares
 * sum to it exactly.
 */

/** One claimant and its weight. */
interface WeightedClaimant {
  readonly id: string
  /** Not below zero. */
  readonly weight: bigint
}

/**
 * Divides `total` by the weights: each claimant gets the floor of its exact part, then the largest
 * remainders get one more each, ties to the lower id, until `total` is used up
 * (docs/domain/figures.md#cycle-figures). Shares are returned in the order of the weights, and do not
 * depend on that order. Throws on a total above zero without a claimant, a bug of the caller.
 */
export const shares = (
  total: bigint,
  weights: ReadonlyArray<WeightedClaimant>
): ReadonlyArray<bigint> => {
  if (total < 0n) throw new RangeError("Apportion: there is no sharing out less than nothing")
  const sum = weights.reduce((so, { weight }) => so + weight, 0n)
  if (sum === 0n) {
    if (total !== 0n) throw new RangeError("Apportion: nobody weighs anything")
    return weights.map(() => 0n)
  }
  const exact = weights.map(({ id, weight }, index) => {
    const part = total * weight
    return { id, index, floor: part / sum, remainder: part % sum }
  })
  const left = total - exact.reduce((so, { floor }) => so + floor, 0n)
  const result = exact.map(({ floor }) => floor)
  const first = exact.toSorted(byRemainder).slice(0, Number(left))
  for (const { index, floor } of first) result[index] = floor + 1n
  return result
}

const byRemainder = (
  a: { readonly id: string; readonly remainder: bigint },
  b: { readonly id: string; readonly remainder: bigint }
): number => {
  if (a.remainder !== b.remainder) return a.remainder > b.remainder ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
