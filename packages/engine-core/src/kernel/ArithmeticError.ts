/** Error of arithmetic without a result: a division by zero, or a figure or an instant beyond its range. */

/**
 * Thrown where exact arithmetic has no result: a division by zero, a decimal of more than 28 digits before
 * the point, a date or an instant outside the years 0001 to 9999, a duration that is longer. Whoever computes with figures of outside parties
 * judges them first; a ledger refuses a choice whose arithmetic ends so.
 */
export class ArithmeticError extends RangeError {
  override readonly name = "ArithmeticError"
}
