/**
 * Arithmetic of a fault: what became of the jobs that a worker was in the middle of when it was
 * killed, or paused for longer than its lease.
 */
import type { Figure } from "../measure.ts"
import { figureOf } from "../measure.ts"

/** A row that a worker wrote about a job, at milliseconds of the database's clock. */
export interface Entry {
  readonly job: string
  readonly worker: string
  readonly at: number
}

export interface Observed {
  readonly orders: ReadonlyArray<string>
  readonly begun: ReadonlyArray<Entry>
  readonly steps: ReadonlyArray<Entry>
  /** Worker that was stopped. */
  readonly victim: string
  readonly stoppedAt: number
  /** Null where the worker was killed. */
  readonly resumedAt: number | null
}

export interface Outcome {
  readonly jobs: number
  /** Jobs that the victim had begun and had not ended when it was stopped. */
  readonly interrupted: number
  /** Jobs without a step. */
  readonly lost: number
  /** Jobs that were begun more than once. */
  readonly begunTwice: number
  /** Jobs with more than one step: their effect happened twice. */
  readonly writtenTwice: number
  /** Interrupted jobs that another worker had begun when the victim was resumed. */
  readonly lateFinishes: number
  /** Late finishes whose step was stored. */
  readonly lateAccepted: number
  /** Seconds from the stop until another worker began each interrupted job. */
  readonly takeovers: ReadonlyArray<number>
}

/** Counts the jobs that have several rows. */
const repeated = (entries: ReadonlyArray<Entry>): number =>
  [...Map.groupBy(entries, ({ job }) => job).values()].filter((rows) => rows.length > 1).length

export const outcomeOf = (observed: Observed): Outcome => {
  const { orders, begun, steps, victim, stoppedAt, resumedAt } = observed
  const silentUntil = resumedAt ?? Number.POSITIVE_INFINITY
  const written = new Set(steps.map(({ job }) => job))
  const ofVictim = ({ worker }: Entry) => worker === victim
  const ended = new Set(
    steps.filter((step) => ofVictim(step) && step.at < silentUntil).map(({ job }) => job)
  )
  const interrupted = begun.filter(
    (row) => ofVictim(row) && row.at < silentUntil && !ended.has(row.job)
  )
  const takeovers = interrupted.flatMap(({ job, at }) => {
    const others = begun.filter((row) => row.job === job && !ofVictim(row) && row.at > at)
    return others.length === 0 ? [] : [{ job, at: Math.min(...others.map((row) => row.at)) }]
  })
  const late = new Set(takeovers.filter(({ at }) => at < silentUntil).map(({ job }) => job))
  const isLate = (step: Entry) => ofVictim(step) && step.at >= silentUntil && late.has(step.job)
  return {
    jobs: orders.length,
    interrupted: interrupted.length,
    lost: orders.filter((job) => !written.has(job)).length,
    begunTwice: repeated(begun),
    writtenTwice: repeated(steps),
    lateFinishes: resumedAt === null ? 0 : late.size,
    lateAccepted: steps.filter(isLate).length,
    takeovers: takeovers.map(({ at }) => (at - stoppedAt) / 1000)
  }
}

/** Adds the outcomes of several runs of a fault. */
export const sumOf = (outcomes: ReadonlyArray<Outcome>): Outcome => {
  const total = (count: (outcome: Outcome) => number) =>
    outcomes.reduce((sum, outcome) => sum + count(outcome), 0)
  return {
    jobs: total(({ jobs }) => jobs),
    interrupted: total(({ interrupted }) => interrupted),
    lost: total(({ lost }) => lost),
    begunTwice: total(({ begunTwice }) => begunTwice),
    writtenTwice: total(({ writtenTwice }) => writtenTwice),
    lateFinishes: total(({ lateFinishes }) => lateFinishes),
    lateAccepted: total(({ lateAccepted }) => lateAccepted),
    takeovers: outcomes.flatMap(({ takeovers }) => takeovers)
  }
}

export const header = [
  "| Queue | Fault | Jobs | In the middle of | Lost | Begun twice | Written twice | Late finishes accepted | Seconds until taken over |",
  "|---|---|---|---|---|---|---|---|---|"
]

const seconds = ({ median, least, most }: Figure): string =>
  `${median.toFixed(1)} (${least.toFixed(1)}–${most.toFixed(1)})`

/** Line of the table; a fault after which nothing resumes has no late finishes. */
export const lineOf = (queue: string, fault: string, outcome: Outcome): string =>
  `| ${[
    queue,
    fault,
    outcome.jobs,
    outcome.interrupted,
    outcome.lost,
    outcome.begunTwice,
    outcome.writtenTwice,
    outcome.lateFinishes === 0 ? "–" : `${outcome.lateAccepted} of ${outcome.lateFinishes}`,
    outcome.takeovers.length === 0 ? "–" : seconds(figureOf(outcome.takeovers))
  ].join(" | ")} |`
