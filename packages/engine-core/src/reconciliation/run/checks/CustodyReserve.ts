/**
 * Name of the check `custody-reserve` (docs/domain/reconciliation.md#checks-of-reserves). There are no records
 * of reserves yet, so that it has nothing to compare. Will compare the lines of a custodian's statement with the holdings that are locked for a reserve, at the statement's moment: blocking.
 */
export const check = "custody-reserve"
