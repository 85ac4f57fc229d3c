/**
 * Name of the check `reserve-price-fresh` (docs/domain/reconciliation.md#checks-of-reserves). There are no records
 * of reserves yet, so that it has nothing to compare. Will find assets of a reserve whose price is older than its terms allow: a warning.
 */
export const check = "reserve-price-fresh"
