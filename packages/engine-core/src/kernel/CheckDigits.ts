/** Check digits of identifiers: ISIN, CUSIP and FIGI of securities, LEI of legal entities. */

const isDigits = (text: string): boolean => /^[0-9]+$/.test(text)

/** Value of a character in the ISO schemes: digits as they are, letters from A = 10. */
const valueOf = (sign: string): number => Number.parseInt(sign, 36)

const digitSum = (value: number): number => Math.floor(value / 10) + (value % 10)

/** Check digit that completes a sum to a multiple of ten. */
const completing = (sum: number): number => (10 - (sum % 10)) % 10

/** Whether the text is an ISIN with its check digit (ISO 6166). */
export const isIsin = (text: string): boolean => {
  if (!/^[A-Z]{2}[A-Z0-9]{9}[0-9]$/.test(text)) return false
  const digits = [...text.slice(0, -1)].map((sign) => String(valueOf(sign))).join("")
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, i) => total + digitSum(Number(digit) * (i % 2 === 0 ? 2 : 1)), 0)
  return completing(sum) === Number(text.slice(-1))
}

const CUSIP_SIGNS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ*@#"

/** Sum of digits with every second value doubled, from the left. */
const doubledSum = (text: string, value: (sign: string) => number): number =>
  [...text].reduce((total, sign, i) => total + digitSum(value(sign) * (i % 2 === 0 ? 1 : 2)), 0)

export const isCusip = (text: string): boolean =>
  /^[0-9A-Z*@#]{8}[0-9]$/.test(text) &&
  completing(doubledSum(text.slice(0, -1), (sign) => CUSIP_SIGNS.indexOf(sign))) ===
    Number(text.slice(-1))

/** Prefixes that no FIGI has, so that none can be read as an ISIN. */
const FIGI_NEVER = /^(?:BS|BM|GG|GB|GH|KY|VG)/

export const isFigi = (text: string): boolean =>
  /^[BCDFGHJKLMNPQRSTVWXYZ]{2}G[0-9BCDFGHJKLMNPQRSTVWXYZ]{8}[0-9]$/.test(text) &&
  !FIGI_NEVER.test(text) &&
  completing(doubledSum(text.slice(0, -1), valueOf)) === Number(text.slice(-1))

/** Whether the text is an LEI with its check digits (ISO 17442, modulo 97). */
export const isLei = (text: string): boolean => {
  if (!/^[A-Z0-9]{18}[0-9]{2}$/.test(text)) return false
  const digits = [...text].map((sign) => String(valueOf(sign))).join("")
  return isDigits(digits) && [...digits].reduce((rest, d) => (rest * 10 + Number(d)) % 97, 0) === 1
}
