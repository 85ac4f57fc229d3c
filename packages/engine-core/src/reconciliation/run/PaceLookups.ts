/**
 * Look-ups of how long a caller has to wait for a reconciliation run under way, for `Retry-After`: the
 * instruments that are left, at the pace measured so far.
 */
import { Effect } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import { type Run, runs } from "./Run.ts"
import { runParts } from "./RunPart.ts"
import { type RunUnderWay, runsUnderWay } from "./RunUnderWay.ts"

/** Seconds that a caller is told to wait where nothing was measured. */
const unmeasured = 5

/** Largest number of seconds that a caller is told to wait. */
const secondsMax = 3_600

const nanosInSecond = 1_000_000_000n

/** Whole seconds of a span of nanoseconds, rounded up, at least 1 and at most an hour. */
export const wholeSeconds = (nanos: bigint): number => {
  const seconds = (nanos + nanosInSecond - 1n) / nanosInSecond
  return Math.max(1, Math.min(secondsMax, Number(seconds)))
}

/**
 * Nanoseconds until a run is done with so many of its instruments, by the time that it took for those that
 * are done since it began or was continued. Where none is done, the time that has passed is taken for one.
 */
export const nanosFor = (
  instruments: number,
  {
    doneCount,
    began,
    now
  }: { readonly doneCount: number; readonly began: Instant.Instant; readonly now: Instant.Instant }
): bigint => {
  const passed = Instant.isAfter(now, began) ? now - began : 0n
  return (passed * BigInt(instruments)) / BigInt(Math.max(1, doneCount))
}

/** Seconds until the run is expected to end. */
export const secondsLeft = Effect.fnUntraced(function* (underWay: RunUnderWay) {
  const records = yield* Records
  const { runId, instruments, continuedAt, doneBefore } = underWay
  const now = yield* Instant.now
  const parts = yield* records.countBy(runParts, "instrumentId", { where: { runId: [runId] } })
  const left = Math.max(1, instruments - parts.size)
  if (parts.size <= doneBefore && now <= continuedAt) return unmeasured
  return wholeSeconds(
    nanosFor(left, { doneCount: parts.size - doneBefore, began: continuedAt, now })
  )
})

/** Seconds until the run of every instrument that is under way is expected to end. */
export const secondsOfVenue = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(runsUnderWay, { limit: underWayMax })
  const whole = found.find(({ record }) => record.scope.instrumentIds === null)
  return whole === undefined ? unmeasured : yield* secondsLeft(whole.record)
})

/** Number of runs under way that are looked at. */
const underWayMax = 100

const lasted = ({ startedAt, finishedAt }: Run): number => wholeSeconds(finishedAt - startedAt)

/**
 * Seconds until an instrument that a run compares now is expected to be free: the time that the last run
 * of it alone took, or that a run of several under way takes for one.
 */
export const secondsOfInstrument = Effect.fnUntraced(function* (instrumentId: string) {
  const records = yield* Records
  const now = yield* Instant.now
  const [last] = yield* records.list(runs, {
    where: { covers: [instrumentId] },
    direction: "desc",
    limit: 1
  })
  const underWay = yield* records.list(runsUnderWay, { limit: underWayMax })
  const ofOne = yield* Effect.forEach(underWay, ({ record: { runId, continuedAt, doneBefore } }) =>
    Effect.map(
      records.countBy(runParts, "instrumentId", { where: { runId: [runId] } }),
      ({ size }) =>
        wholeSeconds(nanosFor(1, { doneCount: size - doneBefore, began: continuedAt, now }))
    )
  )
  const measured = [...(last === undefined ? [] : [lasted(last.record)]), ...ofOne]
  return measured.length === 0 ? unmeasured : Math.max(...measured)
})
