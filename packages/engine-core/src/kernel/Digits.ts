/** Trimming of the digits of a number's text. */

/**
 * Drops trailing zeros in linear time: a regular expression anchored with `$` backtracks over every
 * earlier run of zeros, which is quadratic.
 */
export const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length
  while (end > 0 && digits[end - 1] === "0") end--
  return digits.slice(0, end)
}
