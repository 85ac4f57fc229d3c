/** Rounding: all digits of figures are dropped here, by a named rule. */

/**
 * Rounding of a quotient to an integer:
 * - `floor`: down, towards minus infinity;
 * - `ceiling`: up, towards plus infinity;
 * - `half-up`: to the nearest, a tie away from zero (0.5 → 1, −0.5 → −1);
 * - `half-even`: to the nearest, a tie to the even neighbour (0.5 → 0, 1.5 → 2, −0.5 → 0);
 * - `nearest`: to the nearest, a tie towards plus infinity (0.5 → 1, −0.5 → 0). It is
 *   floor(x + 1/2), so it moves with the number line: nearest(x + n) = nearest(x) + n for every
 *   integer n. It differs from `half-up` in the ties below zero, and there alone.
 */
export type Rounding = "floor" | "ceiling" | "half-up" | "half-even" | "nearest"

/** Places and rounding rule: every division names both. */
export interface RoundTo {
  readonly places: number
  readonly rounding: Rounding
}

/** `numerator / denominator` as an integer; the denominator must be above zero. */
export const quotient = (numerator: bigint, denominator: bigint, rounding: Rounding): bigint =>
  divided(numerator, { denominator, half: denominator >> 1n, coarse: false }, rounding)

/** A denominator above zero, with its half rounded down. */
interface Divisor {
  readonly denominator: bigint
  readonly half: bigint
  /** A multiple of 2^10: a tie then ends in nine zero bits, which rules most numerators out at once. */
  readonly coarse: boolean
}

/** Bigint operations dominate money arithmetic, so each way of rounding makes as few as it can. */
const divided = (numerator: bigint, divisor: Divisor, rounding: Rounding): bigint => {
  const { denominator, half } = divisor
  const negative = numerator < 0n
  switch (rounding) {
    case "floor":
      return negative ? -((denominator - 1n - numerator) / denominator) : numerator / denominator
    case "ceiling":
      return negative ? numerator / denominator : (numerator + denominator - 1n) / denominator
    // With an odd denominator there is no tie, and its half rounded down still gives the nearest.
    case "half-up":
      return negative ? -((half - numerator) / denominator) : (numerator + half) / denominator
    case "half-even": {
      const magnitude = negative ? -numerator : numerator
      const count = (magnitude + half) / denominator
      const tied =
        !(divisor.coarse && BigInt.asUintN(9, magnitude) !== 0n) && isTie(magnitude, divisor)
      const even = tied && (count & 1n) === 1n ? count - 1n : count
      return negative ? -even : even
    }
    case "nearest":
      return divided(numerator + half, divisor, "floor")
  }
}

const isTie = (magnitude: bigint, { denominator, half }: Divisor): boolean =>
  magnitude % denominator === half && half * 2n === denominator

/** Number of places of every decimal: the largest number that a rounding can name. */
export const placesMax = 10

const POWERS = Array.from({ length: placesMax + 1 }, (_, n) => 10n ** BigInt(n))

/** 10^n for n from 0 to 10; any other number of places is a bug. */
export const tenTo = (n: number): bigint => {
  const power = POWERS[n]
  if (power === undefined) throw new RangeError(`Decimal: places must be 0 to 10, not ${n}`)
  return power
}

/** One unit at `n` places, as a count of 10^-10. */
export const unitAt = (n: number): bigint => tenTo(placesMax - n)

/** The product of two counts of 10^-10 as such a count, rounded to its places. */
export const product = (left: bigint, right: bigint, to: RoundTo): bigint => {
  const step = STEPS[to.places]
  if (step === undefined) return tenTo(to.places)
  const count = narrow(left, right, step, to.rounding) ?? divided(left * right, step, to.rounding)
  return step.unit === 1n ? count : count * step.unit
}

const GIGA = 1_000_000_000n
const EXA = GIGA * GIGA
const NARROW = 2n ** 62n
const INT64 = 2n ** 63n - 1n
const word = (value: bigint): bigint => BigInt.asIntN(64, value)

/**
 * The same in 64-bit words, for two factors that are not negative and below 2^62 (461 million at 10
 * places): the engine compiles arithmetic that is cut to 64 bits to machine instructions without an
 * allocation, three times as fast as one division of whole bigints (measured with `npm run bench`).
 * Both factors are split at 10^9, so no partial product passes 2^63; undefined where one would.
 */
const narrow = (
  left: bigint,
  right: bigint,
  step: Step,
  rounding: Rounding
): bigint | undefined => {
  if (step.spread === 0n || left < 0n || right < 0n || left >= NARROW || right >= NARROW) {
    return undefined
  }
  const a = word(left)
  const b = word(right)
  const aHigh = word(a / GIGA)
  const bHigh = word(b / GIGA)
  if (aHigh > GIGA && bHigh > GIGA) return undefined
  const aLow = word(a % GIGA)
  const bLow = word(b % GIGA)
  const low = word(aLow * bLow)
  const middle = word(word(word(aHigh * bLow) + word(aLow * bHigh)) + word(low / GIGA))
  // left × right = whole × 10^18 + rest, exactly.
  const whole = word(word(aHigh * bHigh) + word(middle / GIGA))
  const rest = word(word(word(middle % GIGA) * GIGA) + word(low % GIGA))
  if (whole > step.wholeMax) return undefined
  const count = word(word(whole * step.spread) + word(rest / step.denominator))
  const over = word(rest % step.denominator)
  switch (rounding) {
    case "floor":
      return count
    case "ceiling":
      return over > 0n ? count + 1n : count
    case "half-up":
    case "nearest":
      return over >= step.half ? count + 1n : count
    case "half-even":
      if (over === step.half) return count + (count & 1n)
      return over > step.half ? count + 1n : count
  }
}

interface Step extends Divisor {
  readonly unit: bigint
  /** 10^18 ÷ denominator; 0 where the denominator is the larger one. */
  readonly spread: bigint
  /** The most whole 10^18 whose count still fits 63 bits, with room for the rest and a rounding. */
  readonly wholeMax: bigint
}

/** Divisor of a product of two decimals and the factor after it, by number of places. */
const STEPS: ReadonlyArray<Step> = POWERS.map((_, places) => {
  const denominator = 10n ** BigInt(2 * placesMax - places)
  const spread = EXA / denominator
  return {
    denominator,
    half: denominator >> 1n,
    coarse: true,
    unit: unitAt(places),
    spread,
    wholeMax: spread === 0n ? 0n : INT64 / spread - 2n
  }
})
