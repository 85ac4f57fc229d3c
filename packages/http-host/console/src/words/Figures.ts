/** Figures as texts: all digits as they came, in groups for the eye, and hashes of the figures of a write. */

/** Form of a decimal in an answer. */
export const isDecimal = (text: string): boolean => /^-?\d+(?:\.\d+)?$/u.test(text)

export interface GroupedFigure {
  readonly sign: "-" | ""
  /** Digits before the point, in groups of three from the right. */
  readonly groups: ReadonlyArray<string>
  /** Point and digits after it; empty where there are none. */
  readonly rest: string
}

/** Groups a decimal for the eye; joined again, the parts are the text as it came. */
export const grouped = (text: string): GroupedFigure => {
  const sign = text.startsWith("-") ? "-" : ""
  const [whole = "", fraction] = text.slice(sign.length).split(".")
  const first = whole.length % 3
  const groups = [
    ...(first === 0 ? [] : [whole.slice(0, first)]),
    ...(whole.slice(first).match(/\d{3}/gu) ?? [])
  ]
  return { sign, groups, rest: fraction === undefined ? "" : `.${fraction}` }
}

/** Text of a figure again, without what the eye gets. */
export const plain = ({ groups, rest, sign }: GroupedFigure): string =>
  sign + groups.join("") + rest
