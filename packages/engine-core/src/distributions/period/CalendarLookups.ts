/**
 * Look-ups of the calendar: the instruments that distribute monthly, and the facts of one that the
 * states of its months are judged by.
 */
import { Effect, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import type { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import { type PolicyVersion, policyVersions } from "../../instruments/policy/PolicyVersion.ts"
import type * as Month from "../../kernel/Month.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import { openOn } from "../../restraints/hold/OpenHoldLookups.ts"
import { distributions } from "../distribution/Distribution.ts"
import { distributionSlots } from "../distribution/DistributionSlot.ts"
import { hasUnrolled } from "../distribution/LineLookups.ts"
import { scheduledDistributions } from "../schedule/ScheduledDistribution.ts"
import type * as Calendar from "./Calendar.ts"
import * as PeriodLookups from "./PeriodLookups.ts"

/** Instrument that distributes monthly, or did, with the inputs of its months. */
export interface DistributingInstrument {
  readonly instrumentId: InstrumentId
  /** Oldest first, without withdrawn ones. */
  readonly versions: ReadonlyArray<PolicyVersion>
  /** Last executed month; null: none is executed. */
  readonly executed: { readonly month: Month.Month } | null
}

/**
 * Finds those of these instruments that distribute monthly by some version of their policy, or have
 * executed a month, with two look-ups for all.
 */
export const distributingOf = Effect.fnUntraced(function* (
  instruments: ReadonlyArray<{ readonly instrumentId: InstrumentId }>,
  pin: Pin.ResolvedPin
) {
  if (instruments.length === 0) return []
  const records = yield* Records
  const instrumentId = instruments.map((instrument) => instrument.instrumentId)
  const rows = yield* Stream.runCollect(
    records.stream(policyVersions, {
      pin,
      where: { instrumentId, state: [...PeriodLookups.counted] }
    })
  )
  const versionsOf = Map.groupBy(
    rows.map(({ record }): PolicyVersion => record),
    (version) => version.instrumentId as string
  )
  const slots = new Map(
    (yield* records.many(distributionSlots, instrumentId, pin)).map((slot) => [
      slot.instrumentId as string,
      slot
    ])
  )
  return instruments.flatMap((instrument): ReadonlyArray<DistributingInstrument> => {
    const versions = versionsOf.get(instrument.instrumentId) ?? []
    const slot = slots.get(instrument.instrumentId)
    const isMonthly = versions.some(({ manifest }) => manifest.distribution.schedule === "monthly")
    if (!isMonthly && slot === undefined) return []
    const month = slot?.distributionId == null ? null : slot.lastMonth
    const executed = month === null ? null : { month }
    return [{ instrumentId: instrument.instrumentId, versions, executed }]
  })
})

/** Loads the facts at the pin; the latest when absent. */
export const subjectOf = Effect.fnUntraced(function* (
  instrumentId: InstrumentId,
  pin?: Pin.ResolvedPin
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
    settingsOf: (version) => PeriodLookups.settingsBy(settings, version, null)
  } satisfies Calendar.Subject
})
