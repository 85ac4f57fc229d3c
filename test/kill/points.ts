/** Points at which a test kills a program: few beside the other tests, many in the long run. */

/** Lists of points by the word of the variable `KILLS`. */
interface Points {
  readonly few: ReadonlyArray<number>
  /** Points that `npm run soak` kills at; `npm run soak -- test/kill` plays this folder alone. */
  readonly many: ReadonlyArray<number>
  /** Each point that there is, where `many` leaves some out. */
  readonly all?: ReadonlyArray<number>
}

/** The points that `KILLS` asks for. Throws on a word that is none of its own. */
export const killPoints = ({ all, few, many }: Points): ReadonlyArray<number> => {
  const word = process.env["KILLS"] ?? "few"
  const points = { few, many, all: all ?? many }
  if (!Object.hasOwn(points, word)) throw new Error(`KILLS=${word} is none of few, many and all`)
  return points[word as keyof typeof points]
}

/** Whole numbers from 1 on. */
export const first = (count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, n) => n + 1)
