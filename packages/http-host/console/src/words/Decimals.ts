/** Exact arithmetic of decimals as texts: each is a whole number of its last place, of any length. */

interface ScaledNumber {
  readonly whole: bigint
  readonly places: number
}

const form = /^-?\d+(?:\.\d+)?$/u

const scaledOf = (text: string): ScaledNumber => {
  if (!form.test(text)) throw new Error(`${text} is no decimal`)
  const [whole = "", fraction = ""] = text.split(".")
  return { whole: BigInt(whole + fraction), places: fraction.length }
}

const atPlaces = ({ places, whole }: ScaledNumber, more: number): bigint =>
  whole * 10n ** BigInt(more - places)

const textOf = ({ places, whole }: ScaledNumber): string => {
  const digits = (whole < 0n ? -whole : whole).toString().padStart(places + 1, "0")
  const sign = whole < 0n ? "-" : ""
  const cut = digits.length - places
  return sign + digits.slice(0, cut) + (places === 0 ? "" : `.${digits.slice(cut)}`)
}

const widest = (terms: ReadonlyArray<ScaledNumber>): number =>
  terms.reduce((most, { places }) => (places > most ? places : most), 0)

/** Sum of decimals, with the places of the one that has most. Throws on a text that is none. */
export const sum = (texts: ReadonlyArray<string>): string => {
  const terms = texts.map(scaledOf)
  const places = widest(terms)
  return textOf({ whole: terms.reduce((all, term) => all + atPlaces(term, places), 0n), places })
}

/** The same decimal with the other sign. */
export const negated = (text: string): string => {
  const { places, whole } = scaledOf(text)
  return textOf({ whole: -whole, places })
}

/** The first decimal less the second. */
export const less = (left: string, right: string): string => sum([left, negated(right)])

/** Below 0, 0 or above it, as the first decimal is less than, equal to or greater than the second. */
export const compare = (left: string, right: string): -1 | 0 | 1 => {
  const { whole } = scaledOf(less(left, right))
  return whole < 0n ? -1 : whole > 0n ? 1 : 0
}

/** True: both are one number, whatever zeros follow the point. */
export const same = (left: string, right: string): boolean => compare(left, right) === 0

/** Text of a member that is a decimal or a whole number; null: it is none. */
export const figureOf = (value: unknown): string | null =>
  typeof value === "string" && form.test(value)
    ? value
    : typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value))
      ? value.toString()
      : null
