/** Switch of the long run, in which a slow test runs its whole form. */
export const isLong = process.env["LONG_RUN"] !== undefined

/** All cases of a table in the long run, and otherwise the first of them. */
export const firstOf = <A>(count: number, cases: ReadonlyArray<A>): ReadonlyArray<A> =>
  isLong ? cases : cases.slice(0, count)

/**
 * Number of cases that a property draws: `RUNS`, or as many as given in the long run, whose seed is
 * another each time. Otherwise half of them: the seed is fixed, and draws the same again.
 */
export const runsOf = (many: number): number =>
  Number(process.env["RUNS"] ?? (isLong ? many : Math.ceil(many / 2)))
