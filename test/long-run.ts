/** Switch of the long run, in which a slow test runs its whole form. */
export const isLong = process.env["LONG_RUN"] !== undefined

/** All cases of a table in the long run, and otherwise the first of them. */
export const firstOf = <A>(count: number, cases: ReadonlyArray<A>): ReadonlyArray<A> =>
  isLong ? cases : cases.slice(0, count)
