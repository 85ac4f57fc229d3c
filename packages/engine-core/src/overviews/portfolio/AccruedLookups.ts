/**
 * Look-ups of accrued income: computes what a holder's units of each par instrument have earned
 * since the last record date, over the days that have ended (docs/domain/distributions.md#points).
 */
import { Effect, Option } from "effect"
import {
  entitlementOf,
  type HolderAccrual
} from "../../distributions/distribution/DistributionRules.ts"
import { predecessorsByInstrument } from "../../distributions/distribution/SuccessionLookups.ts"
import * as PeriodLookups from "../../distributions/period/PeriodLookups.ts"
import { accrualsOf } from "../../distributions/period/PeriodPointRules.ts"
import { endedDaysOf } from "../../distributions/period/PeriodRules.ts"
import { endOfDay } from "../../distributions/period/RecordDateRules.ts"
import type { Holder } from "../../holders/holder/Holder.ts"
import { type Instrument, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import {
  lockings,
  type PartyMovement,
  partyMovements
} from "../../instruments/register/Movement.ts"
import {
  idOf,
  type RegisterEntry,
  registerEntries
} from "../../instruments/register/RegisterEntry.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { LedgerReach } from "../../records/LedgerReach.ts"
import { Records } from "../../records/Records.ts"

/** A position in an instrument. */
export interface HeldPosition {
  readonly instrument: Instrument
  readonly entry: RegisterEntry
}

/** Income of an instrument on days that have ended. */
interface PositionIncome {
  readonly position: HeldPosition
  /** By date; `endsAt` is the end of the point's date, at which its units count. */
  readonly accruals: ReadonlyArray<
    Pick<HolderAccrual, "id" | "income" | "days"> & { readonly endsAt: Instant.Instant }
  >
}

/** Finds the points of each par instrument that accrue on days that have ended. */
const earningsOf = Effect.fnUntraced(function* (
  positions: ReadonlyArray<HeldPosition>,
  pin: Pin.ResolvedPin
) {
  const atPar = positions.filter(
    ({ instrument }) => isRecorded(instrument) && instrument.manifest.valuation === "par"
  )
  // The instant of the read, like every clock state: a ledger that rests does not stop the income.
  const { judgedAt } = pin
  if (atPar.length === 0) return []
  const facts = yield* PeriodLookups.factsOfAll(
    atPar.map(({ instrument }) => instrument.instrumentId),
    pin
  )
  return atPar.flatMap((position): ReadonlyArray<PositionIncome> => {
    const periods = facts.get(position.instrument.instrumentId)
    const ended = periods === undefined ? undefined : endedDaysOf(periods, judgedAt)
    if (ended === undefined) return []
    const accruals = accrualsOf(ended).flatMap(({ date, days, point }) =>
      point.incomePerUnit === null
        ? []
        : [
            {
              id: point.contractId,
              income: point.incomePerUnit,
              days,
              endsAt: endOfDay(ended.zone, date)
            }
          ]
    )
    return [{ position, accruals }]
  })
})

/** First of the ends of days; undefined where nothing accrues. */
const earliestOf = (earnings: ReadonlyArray<PositionIncome>): Instant.Instant | undefined =>
  earnings
    .flatMap(({ accruals }) => accruals[0]?.endsAt ?? [])
    .reduce<Instant.Instant | undefined>(
      (first, at) => (first === undefined ? at : Instant.min(first, at)),
      undefined
    )

/**
 * Leaves out instruments with accrual before the projection's history begins, since the units of
 * those days are unknown.
 */
const withHistory = Effect.fnUntraced(function* (earnings: ReadonlyArray<PositionIncome>) {
  const { offsetBefore } = yield* LedgerReach
  const first = earliestOf(earnings)
  if (first === undefined || Option.isSome(yield* offsetBefore(first))) return earnings
  return yield* Effect.filter(earnings, (earning) => {
    const own = earliestOf([earning])
    return own === undefined ? Effect.succeed(true) : Effect.map(offsetBefore(own), Option.isSome)
  })
})

/** Movements of a page; a party rarely has more within a period. */
const pageMax = 500

/** Loads the movements of parties from an instant on, the latest first. */
const movementsSince = Effect.fnUntraced(function* (
  parties: ReadonlyArray<Party.Party>,
  since: Instant.Instant,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const found: Array<PartyMovement> = []
  for (let after: string | undefined; ; ) {
    const page = yield* records.list(partyMovements, {
      pin,
      where: { party: parties },
      direction: "desc",
      limit: pageMax,
      ...(after === undefined ? {} : { after })
    })
    const late = page.filter(({ record }) => Instant.atOrAfter(record.ledgerTime, since))
    for (const { record } of late) if (!lockings.includes(record.kind)) found.push(record)
    after = page.at(-1)?.sortKey
    // Ledger times never decrease: what comes before an earlier one is earlier too.
    if (late.length < page.length || page.length < pageMax) return found
  }
})

/** Units of a register's line at the end of a day: those of now less what has moved since. */
type UnitsAt = (entry: string, endsAt: Instant.Instant) => Decimal.Decimal

const entryIdOf = (movement: PartyMovement): string => idOf(movement)

const signedOf = ({ from, party, units }: PartyMovement): Decimal.Decimal =>
  from === party ? Decimal.negate(units) : units

/** Loads the units of these lines at every instant from `since` on. */
const unitsSince = Effect.fnUntraced(function* (
  entries: ReadonlyArray<RegisterEntry>,
  since: Instant.Instant,
  pin: Pin.ResolvedPin
) {
  const parties = [...new Set(entries.map(({ party }) => party))]
  const moved = Map.groupBy(yield* movementsSince(parties, since, pin), entryIdOf)
  const now = new Map(entries.map((entry) => [idOf(entry), entry.units]))
  const unitsAt: UnitsAt = (entry, endsAt) =>
    (moved.get(entry) ?? [])
      .filter(({ ledgerTime }) => Instant.atOrAfter(ledgerTime, endsAt))
      .reduce(
        (units, movement) => Decimal.subtract(units, signedOf(movement)),
        now.get(entry) ?? Decimal.zero
      )
  return unitsAt
})

/**
 * Computes the income that positions have earned since the last record date, in currency and rounded
 * down at 10 places, by asset. Income of the holder's predecessors in the instrument is included. An
 * instrument that does not distribute monthly at par, or whose history does not reach back to the
 * record date, is left out.
 */
export const accruedOf = Effect.fnUntraced(function* (
  holder: Holder,
  positions: ReadonlyArray<HeldPosition>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const accrued = new Map<string, Decimal.Decimal>()
  const earnings = yield* withHistory(yield* earningsOf(positions, pin))
  const since = earliestOf(earnings)
  const chains =
    holder.predecessor === null
      ? new Map<string, ReadonlyArray<Holder>>()
      : yield* predecessorsByInstrument(
          holder,
          earnings.map(({ position }) => position.instrument.instrumentId),
          pin
        )
  const entryIdsOf = ({ position: { entry, instrument } }: PositionIncome): ReadonlyArray<string> =>
    (chains.get(instrument.instrumentId) ?? []).map(({ party }) => idOf({ ...entry, party }))
  const others = earnings.flatMap(entryIdsOf)
  const entries = [
    ...earnings.map(({ position }) => position.entry),
    ...(others.length === 0 ? [] : yield* records.many(registerEntries, others, pin))
  ]
  const unitsAt = since === undefined ? null : yield* unitsSince(entries, since, pin)
  for (const earning of earnings) {
    const { accruals, position } = earning
    const members = [idOf(position.entry), ...entryIdsOf(earning)]
    const { entitlement } = entitlementOf(
      { pricing: { valuation: "par" } },
      {
        units: Decimal.zero,
        baseUnits: Decimal.zero,
        accruals: accruals.map(({ endsAt, ...accrual }) => ({
          ...accrual,
          units: Decimal.sum(members.map((entry) => unitsAt?.(entry, endsAt) ?? Decimal.zero))
        }))
      }
    )
    accrued.set(assetKeyOf(position.entry), entitlement)
  }
  return accrued
})
