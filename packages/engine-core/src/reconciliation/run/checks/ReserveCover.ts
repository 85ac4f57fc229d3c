/**
 * Name of the check `reserve-cover` (docs/domain/reconciliation.md#checks-of-reserves). There are no records
 * of reserves yet, so that it has nothing to compare. Will compare the counted assets of a reserve, computed again, with what its terms require: blocking, and the hold is a cover hold.
 */
export const check = "reserve-cover"
