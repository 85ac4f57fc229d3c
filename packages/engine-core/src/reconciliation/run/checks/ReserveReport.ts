/**
 * Name of the check `reserve-report` (docs/domain/reconciliation.md#checks-of-reserves). There are no records
 * of reserves yet, so that it has nothing to compare. Will compare the ledger's report of a reserve with the figures computed again: blocking beyond one atom of its prices.
 */
export const check = "reserve-report"
