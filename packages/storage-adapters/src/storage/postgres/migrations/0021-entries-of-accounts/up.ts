/** Migration: booked entries are found over all statements, by reference, amount and booking date. */
import { AMOUNT, DAY, IS_ENTRY, IS_REVERSAL, MATCH } from "./expressions.ts"

export const statements: ReadonlyArray<string> = [
  // Over the rows that are stored already too: no row is written again.
  `create index bulk_row_entry on bursar.bulk_row (${MATCH}, ${AMOUNT}, ${DAY}) where ${IS_ENTRY}`,
  `create index bulk_row_reversal on bursar.bulk_row (${AMOUNT}) where ${IS_REVERSAL}`,
  `create index bulk_row_reversal_owner on bursar.bulk_row (owner) where ${IS_REVERSAL}`
]
