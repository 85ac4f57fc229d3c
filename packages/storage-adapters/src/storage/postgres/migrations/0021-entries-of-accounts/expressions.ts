/** Expressions of the indexes of booked entries: a query that has them as they are uses the index. */

/** Characters of a match that are indexed: a text may be longer than an entry of an index. */
export const CHARACTERS = 64

export const IS_ENTRY = `"group" ~ '^(credit|debit)(-reversal)?/'`
export const IS_REVERSAL = `"group" ~ '^(credit|debit)-reversal/'`
export const MATCH = `left(match, ${CHARACTERS})`
export const AMOUNT = "(amounts[1])"
/** Booking date of an entry, which its body names before any text of a bank. */
export const DAY = `(substring(body from '"bookingDate":"([0-9]{4}-[0-9]{2}-[0-9]{2})"'))`
