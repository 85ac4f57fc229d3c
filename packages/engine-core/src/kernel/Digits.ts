/** Digits of a number's text, told without those that say nothing. */

/**
 * The digits before the zeros at the end. By hand: an expression that ends in `$` looks at every run
 * of zeros before the last one too, and takes the square of their number.
 */
export const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length
  while (end > 0 && digits[end - 1] === "0") end--
  return digits.slice(0, end)
}
