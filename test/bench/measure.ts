/** How a bench is measured: contenders take turns in short rounds, so that ratios are of one run. */

export interface Contender {
  readonly name: string
  /** Does the work `times` over; what it answers keeps the work from being optimised away. */
  readonly run: (times: number) => unknown
}

export interface Measured {
  readonly name: string
  /** Runs per second: the median of the rounds. */
  readonly perSecond: number
}

const rounds = 15
const roundMillis = 60

let kept: unknown

/** How many runs fill a round, found by doubling. */
const calibrate = (contender: Contender): number => {
  for (let times = 16; ; times *= 2) {
    const began = performance.now()
    kept = contender.run(times)
    const took = performance.now() - began
    if (took > roundMillis / 4) return Math.max(1, Math.round((times * roundMillis) / took))
  }
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Each contender's median speed over interleaved rounds. */
export const compare = (contenders: ReadonlyArray<Contender>): ReadonlyArray<Measured> => {
  const times = contenders.map(calibrate)
  const speeds = contenders.map((): Array<number> => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const count = times[index] ?? 1
      const began = performance.now()
      kept = contender.run(count)
      speeds[index]?.push((count * 1000) / (performance.now() - began))
    }
  }
  return contenders.map((contender, index) => ({
    name: contender.name,
    perSecond: median(speeds[index] ?? [])
  }))
}

/** A line of the table: what was measured, against what, and how they stand to each other. */
export interface Row {
  readonly bench: string
  readonly ours: number
  readonly unit: string
  readonly against: string
  readonly theirs: number
  /** ours ÷ theirs. */
  readonly ratio: number
  /** The ratio it is built to reach; null where the figure is only reported. */
  readonly target: number | null
  readonly note?: string
}

export const row = (of: Omit<Row, "ratio">): Row => ({ ...of, ratio: of.ours / of.theirs })

/** The speed of the fastest of the others. */
export const fastest = (measured: ReadonlyArray<Measured>): Measured =>
  measured.reduce((best, one) => (one.perSecond > best.perSecond ? one : best))

export const sink = (): unknown => kept
