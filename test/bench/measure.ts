/**
 * Benchmark arithmetic: two sides take turns in rounds, and a row of the table gives the median and
 * the spread of their speeds, of the ratio of each round, and the cost of one unit of work.
 */
import { Effect } from "effect"
import type { Meter, Reading } from "./meter.ts"
import * as Meters from "./meter.ts"

/** Median of several rounds, with the least and the greatest of them. */
export interface Figure {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** The middle value; the mean of the two middle ones where their number is even. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  return Number.isInteger(middle) ? (upper + (sorted[middle - 1] ?? Number.NaN)) / 2 : upper
}

export const figureOf = (values: ReadonlyArray<number>): Figure => ({
  median: median(values),
  least: Math.min(...values),
  most: Math.max(...values)
})

/** Cost of one unit of work; null where it was not metered. */
export type Cost = { readonly [Part in keyof Reading]: number | null }

export const unmetered: Cost = {
  postgresMillis: null,
  nodeMillis: null,
  statements: null,
  walBytes: null
}

/** Work of one round: how many units, and the milliseconds they took. */
export interface Work {
  readonly units: number
  readonly millis: number
}

export interface Side<E = never, R = never> {
  /** Work before a round that is neither timed nor metered. */
  readonly prepare?: (round: number) => Effect.Effect<unknown, E, R>
  readonly run: (round: number) => Effect.Effect<Work, E, R>
  readonly meter: Meter
}

export interface Measured {
  /** Units per second, unless the row's unit says otherwise. */
  readonly speed: Figure
  readonly cost: Cost
}

export interface Compared {
  readonly ours: Measured
  readonly bound: Measured
  /** Speed of ours divided by the bound's, of the same round. */
  readonly ratio: Figure
}

/** Measures how long an effect takes that does so many units. */
export const timed = <A, E, R>(
  units: number,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<Work, E, R> =>
  Effect.suspend(() => {
    const began = performance.now()
    return Effect.map(effect, () => ({ units, millis: performance.now() - began }))
  })

interface Round extends Work {
  readonly cost: Reading
}

const parts = ["postgresMillis", "nodeMillis", "statements", "walBytes"] as const

/** Runs one round of a side between two readings of its meter. */
export const metered = Effect.fnUntraced(function* <E, R>(
  side: Side<E, R>,
  round: number
): Effect.fn.Return<Round, E, R> {
  if (side.prepare !== undefined) yield* side.prepare(round)
  const before = yield* side.meter
  const work = yield* side.run(round)
  const after = yield* side.meter
  const cost = Object.fromEntries(
    parts.map((part) => [part, after[part] - before[part]])
  ) as unknown as Reading
  return { ...work, cost }
})

const speedOf = ({ units, millis }: Work): number => (units * 1000) / millis

const measuredOf = (rounds: ReadonlyArray<Round>): Measured => {
  const costOf = (part: (typeof parts)[number]) => {
    const costs = rounds.map((round) => round.cost[part] / round.units)
    return costs.some(Number.isNaN) ? null : median(costs)
  }
  return {
    speed: figureOf(rounds.map(speedOf)),
    cost: {
      postgresMillis: costOf("postgresMillis"),
      nodeMillis: costOf("nodeMillis"),
      statements: costOf("statements"),
      walBytes: costOf("walBytes")
    }
  }
}

/**
 * Runs both sides in turns, ours first. A round before those that count warms both up; a single
 * round has none, since that is asked for where a round is long.
 */
export const inTurns = Effect.fnUntraced(function* <E, R, F, S>(options: {
  readonly rounds: number
  readonly ours: Side<E, R>
  readonly bound: Side<F, S>
}): Effect.fn.Return<Compared, E | F, R | S> {
  const ours: Array<Round> = []
  const bound: Array<Round> = []
  const warmUps = options.rounds > 1 ? 1 : 0
  for (let round = 0; round < options.rounds + warmUps; round++) {
    ours.push(yield* metered(options.ours, round))
    bound.push(yield* metered(options.bound, round))
  }
  return comparedOf(ours.slice(warmUps), bound.slice(warmUps))
})

/** Folds the rounds of both sides to what a row of the table shows. */
export const comparedOf = (ours: ReadonlyArray<Round>, bound: ReadonlyArray<Round>): Compared => ({
  ours: measuredOf(ours),
  bound: measuredOf(bound),
  ratio: figureOf(ours.map((round, n) => speedOf(round) / speedOf(bound[n] ?? round)))
})

const roundMillis = 150
const chunkMillis = 5

/** Side of a computation without I/O, repeated until the time of a round has passed. */
export const computing = (compute: (times: number) => unknown): Side => {
  let times = 16
  const run = (): Work & { readonly kept: unknown } => {
    const began = performance.now()
    let units = 0
    for (;;) {
      const from = performance.now()
      // Returned to the caller, so that the compiler does not remove the computation.
      const kept = compute(times)
      units += times
      const now = performance.now()
      if (now - began > roundMillis) return { units, millis: now - began, kept }
      if (now - from < chunkMillis) times *= 2
    }
  }
  return { meter: Meters.ofThisProcess, run: () => Effect.sync(run) }
}

/** Measured figure of a quantity that is no speed, such as bytes held. */
export const quantity = (value: number): Measured => ({
  speed: figureOf([value]),
  cost: unmetered
})

/** A line of the table. */
export interface Row extends Compared {
  readonly bench: string
  readonly unit: string
  /** Name of the bound: the program that does the same work beside ours. */
  readonly against: string
  /** The ratio the row is to reach; null where the figure is only reported. */
  readonly goal: number | null
  readonly note?: string
}

/** Options of a run, from the command line. */
export interface Options {
  readonly rounds: number
  /** Size of the data that a bench builds or works off; its own default where undefined. */
  readonly size: number | undefined
}

export type Bench = (options: Options) => Promise<ReadonlyArray<Row>>
