/**
 * Look-up of the last reconciliation run, ended or under way, in which a check ran for an instrument.
 */
import { Effect, Option, Stream } from "effect"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { Records } from "../../records/Records.ts"
import { everyInstrument, type Run, runs } from "./Run.ts"
import { runInstruments } from "./RunInstrument.ts"
import { runParts } from "./RunPart.ts"

/** Number of runs that are read together; nearly always the first one is found. */
const pageMax = 8

/** Checks whether a check ran in a run, for every instrument that the run covered. */
const ranIn = (check: string, { checks }: Pick<Run, "checks">): boolean =>
  checks.some((ran) => ran.check === check && ran.ran)

/** Streams records of a page at a time, newest first. */
const newestFirst = <A, E, R>(
  list: (query: {
    readonly direction: "desc"
    readonly limit: number
    readonly after?: string
  }) => Effect.Effect<ReadonlyArray<{ readonly sortKey: string; readonly record: A }>, E, R>
) =>
  Stream.paginate(undefined as string | undefined, (after) =>
    Effect.map(
      list({ direction: "desc", limit: pageMax, ...(after === undefined ? {} : { after }) }),
      (rows) => {
        const next = rows.length < pageMax ? undefined : rows.at(-1)?.sortKey
        return [rows.map(({ record }) => record), Option.fromUndefinedOr(next)] as const
      }
    )
  )

/** Finds the last run in which a check ran for an instrument; null before the first. */
export const lastRunOf = Effect.fnUntraced(function* (
  { instrumentId }: Pick<Instrument, "instrumentId">,
  check: string
) {
  const records = yield* Records
  const where = { covers: [everyInstrument, instrumentId] }
  const own = yield* newestFirst((page) => records.list(runs, { ...page, where })).pipe(
    Stream.filter((run) => ranIn(check, run)),
    Stream.runHead
  )
  const among = yield* newestFirst((page) =>
    records.list(runInstruments, { ...page, where: { instrumentId: [instrumentId] } })
  ).pipe(
    Stream.mapEffect(({ runId }) => records.find(runs, runId)),
    Stream.filter(Option.isSome),
    Stream.map(({ value }) => value),
    Stream.filter((run) => ranIn(check, run)),
    Stream.runHead
  )
  // A run of several instruments that has not ended may have judged this one.
  const parts = (yield* records.list(runParts, {
    where: { instrumentId: [instrumentId] },
    direction: "desc",
    limit: pageMax
  })).flatMap(({ record }) => (ranIn(check, record) ? [record] : []))
  return [...parts, ...[own, among].flatMap(Option.toArray)].reduce<Pick<Run, "asOf"> | null>(
    (last, run) => (last === null || run.asOf > last.asOf ? run : last),
    null
  )
})
