/** Invariants of a record, checked on every write and load; a breach is a bug, never a refusal. */

export type Invariants<R> = Readonly<Record<string, { of(record: R): boolean }["of"]>>

/** The names of the invariants that do not hold. */
export const breaches = <R>(invariants: Invariants<R>, record: R): ReadonlyArray<string> =>
  Object.entries(invariants)
    .filter(([, holds]) => !holds(record))
    .map(([name]) => name)

/** Throws, naming record and invariant, unless all hold: checked on every write and every load. */
export const assert = <R>(invariants: Invariants<R>, record: R, what: string): void => {
  if (hold(invariants, record)) return
  const broken = breaches(invariants, record)
  throw new Error(`${what} breaks its invariant ${broken.join(", ")}`)
}

/** As `assert`, of records that are loaded together. */
export const assertAll = <R>(
  invariants: Invariants<R>,
  records: ReadonlyArray<R>,
  what: string
): void => {
  for (const name in invariants) {
    const holds = invariants[name]!
    for (const record of records) if (!holds(record)) assert(invariants, record, what)
  }
}

/** `breaches` is empty; makes no list, since nearly every record passes. */
const hold = <R>(invariants: Invariants<R>, record: R): boolean => {
  for (const name in invariants) if (!invariants[name]!(record)) return false
  return true
}
