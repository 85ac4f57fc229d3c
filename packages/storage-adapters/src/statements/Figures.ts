/** Codec of decimals as outside files write them: a sign, zeros at either end, grouped digits. */
import { Decimal } from "@bursar/engine-core/kernel"

/** Marks of a notation, such as `1.234,5`. */
interface Marks {
  readonly decimal: "." | ","
  /** Mark between groups of three digits; null: digits are not grouped. */
  readonly group: "." | "," | " " | "'" | null
}

/**
 * Reason for which a text is no decimal: its notation, more than 28 digits before the point or 10
 * after it.
 */
export type NoFigure = "notation" | "digits" | "places"

/** The notation of XML and of programs: a point, and no groups. */
export const plain: Marks = { decimal: ".", group: null }

/** Signs that print as a group mark: spreadsheets write spaces that do not break a line. */
const groups = { ".": "[.]", ",": ",", " ": "[ \u00a0\u202f]", "'": "['\u2019]" } as const

const DIGITS_MAX = 28

/** Alternative of a regular expression that nothing matches, with the group that it stands for. */
const NOTHING = "(?!)()"

/**
 * Makes the reader of decimals of one notation. Zeros at either end and a plus sign are no fault;
 * more than 10 places that are not zero are one, since no figure is rounded on its way in.
 */
export const reader = (marks: Marks): ((text: string) => Decimal.Decimal | NoFigure) => {
  const { decimal, group } = marks
  const inGroups = group === null ? NOTHING : `[0-9]{1,3}(${groups[group]})[0-9]{3}(?:\\3[0-9]{3})*`
  const grammar = new RegExp(
    `^([+-]?)(?=[${decimal}]?[0-9])([0-9]*|${inGroups})(?:[${decimal}]([0-9]*))?$`,
    "u"
  )
  const point = decimal.charCodeAt(0)
  return (text) => {
    const short = ofFewDigits(text, point)
    if (short !== null) return short
    const found = grammar.exec(text)
    if (found === null) return "notation"
    const [, sign, whole = "", mark, fraction = ""] = found
    return decimalOf({
      negative: sign === "-",
      whole: mark === undefined ? whole : whole.replaceAll(mark, ""),
      fraction
    })
  }
}

/** Digits that a double counts exactly. */
const FEW = 15

/** Fast path: a decimal of few digits without sign or groups, as most are; null: none of these. */
const ofFewDigits = (text: string, point: number): Decimal.Decimal | null => {
  if (text.length > FEW) return null
  let count = 0
  let pointAt = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) count = 10 * count + (code - 0x30)
    else if (code === point && pointAt === text.length) pointAt = at
    else return null
  }
  const places = Math.max(0, text.length - pointAt - 1)
  if (pointAt === 0 || places > Decimal.places) return null
  return Decimal.fromAtoms(BigInt(count) * (scales[places] ?? 1n))
}

/** Atoms of a unit of the last of so many places. */
const scales = Array.from(
  { length: Decimal.places + 1 },
  (_, n) => 10n ** BigInt(Decimal.places - n)
)

const decimalOf = (parts: {
  readonly negative: boolean
  readonly whole: string
  readonly fraction: string
}): Decimal.Decimal | NoFigure => {
  const fraction =
    parts.fraction.length > Decimal.places ? withoutZeros(parts.fraction) : parts.fraction
  if (fraction.length > Decimal.places) return "places"
  if (parts.whole.length > DIGITS_MAX && parts.whole.replace(/^0+/u, "").length > DIGITS_MAX) {
    return "digits"
  }
  const atoms = BigInt(parts.whole + fraction.padEnd(Decimal.places, "0"))
  return Decimal.fromAtoms(parts.negative ? -atoms : atoms)
}

/** Drops zeros at the end in linear time; a pattern anchored at the end backtracks over every run. */
const withoutZeros = (digits: string): string => {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 0x30) end--
  return digits.slice(0, end)
}

/** Sentence of a fault of a figure, of which the check `statement-places` judges the places alone. */
export const sentences: Readonly<Record<NoFigure, string>> = {
  notation: "it is no number in the notation of the source",
  digits: `it has more than ${DIGITS_MAX} digits before the point`,
  places: `it has more than ${Decimal.places} places that are not zero`
}
