/** The one place where a digit may be dropped: a quotient, brought to an integer in a named way. */

/**
 * How a quotient becomes an integer:
 * - `floor`: down, towards minus infinity;
 * - `ceiling`: up, towards plus infinity;
 * - `half-up`: to the nearest, a tie away from zero (0.5 → 1, −0.5 → −1);
 * - `half-even`: to the nearest, a tie to the even neighbour (0.5 → 0, 1.5 → 2, −0.5 → 0);
 * - `nearest`: to the nearest, a tie towards plus infinity (0.5 → 1, −0.5 → 0). It is
 *   floor(x + 1/2), so it moves with the number line: nearest(x + n) = nearest(x) + n for every
 *   integer n. It differs from `half-up` in the ties below zero, and there alone.
 */
export type Rounding = "floor" | "ceiling" | "half-up" | "half-even" | "nearest"

/** To how many places, and how: every division names both. */
export interface RoundTo {
  readonly places: number
  readonly rounding: Rounding
}

/** `numerator / denominator` as an integer; the denominator must be above zero. */
export const quotient = (numerator: bigint, denominator: bigint, rounding: Rounding): bigint => {
  switch (rounding) {
    case "floor":
      return numerator >= 0n
        ? numerator / denominator
        : -((denominator - 1n - numerator) / denominator)
    case "ceiling":
      return numerator > 0n ? (numerator + denominator - 1n) / denominator : numerator / denominator
    case "half-up": {
      const half = denominator >> 1n
      // For an odd denominator there is no tie and half is rounded down, which changes nothing.
      return numerator >= 0n
        ? (numerator + half) / denominator
        : -((half - numerator) / denominator)
    }
    case "nearest": {
      const doubled = 2n * numerator + denominator
      return quotient(doubled, 2n * denominator, "floor")
    }
    case "half-even": {
      const below = quotient(numerator, denominator, "floor")
      const twice = 2n * (numerator - below * denominator)
      if (twice < denominator) return below
      if (twice > denominator) return below + 1n
      return (below & 1n) === 0n ? below : below + 1n
    }
  }
}

/** How many places a decimal carries, and so the most a rounding can name. */
export const placesMax = 10

const POWERS = Array.from({ length: placesMax + 1 }, (_, n) => 10n ** BigInt(n))

/** 10^n for n from 0 to 10; any other number of places is a bug. */
export const tenTo = (n: number): bigint => {
  const known = POWERS[n]
  if (known === undefined) throw new RangeError(`Decimal: places must be 0 to 10, not ${n}`)
  return known
}

/** How many 10^-10 one unit at `n` places is. */
export const unitAt = (n: number): bigint => tenTo(placesMax - n)
