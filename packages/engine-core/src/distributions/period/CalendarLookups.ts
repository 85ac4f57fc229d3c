/** Loads the facts of an instrument that the states of its months are judged by. */
import { Effect, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import type { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import { openOn } from "../../restraints/hold/OpenHoldLookups.ts"
import { distributions } from "../distribution/Distribution.ts"
import { hasUnrolled } from "../distribution/LineLookups.ts"
import { scheduledDistributions } from "../schedule/ScheduledDistribution.ts"
import type * as Calendar from "./Calendar.ts"
import * as PeriodLookups from "./PeriodLookups.ts"

/** Loads the facts at the pin; the latest when absent. */
export const subjectOf = Effect.fnUntraced(function* (
  instrumentId: InstrumentId,
  pin?: Pin.Resolved
) {
  const records = yield* Records
  const settings = yield* Settings
  const executed = yield* PeriodLookups.lastExecutedOf(instrumentId, pin)
  const query = { ...(pin === undefined ? {} : { pin }), where: { instrumentId: [instrumentId] } }
  const paid = yield* Stream.runCollect(records.stream(distributions, query))
  const scheduled = yield* Stream.runCollect(records.stream(scheduledDistributions, query))
  return {
    instrumentId,
    facts: yield* PeriodLookups.factsOf({ instrumentId, executed }, pin),
    distributions: new Map(paid.map(({ record }) => [record.month, record])),
    refusals: new Map(scheduled.map(({ record }) => [record.month, record.refused])),
    holds: (yield* openOn([instrumentId], pin)).length,
    hasUnrolled: yield* hasUnrolled(instrumentId, pin ?? null),
    wordsOf: (version) => PeriodLookups.wordsBy(settings, version, null)
  } satisfies Calendar.Subject
})
