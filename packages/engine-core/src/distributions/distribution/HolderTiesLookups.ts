/** Look-ups of what distributions still owe a holder that is to be closed (docs/domain/holders.md#closing). */
import { Effect, Option, Stream } from "effect"
import type { Holder } from "../../holders/holder/Holder.ts"
import {
  instruments,
  isRecorded,
  type RecordedInstrument
} from "../../instruments/instrument/Instrument.ts"
import {
  idOf as entryIdOf,
  registerEntries,
  type RegisterEntry
} from "../../instruments/register/RegisterEntry.ts"
import { pricePoints } from "../../instruments/price/PricePoint.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { LedgerReach } from "../../records/LedgerReach.ts"
import { Records } from "../../records/Records.ts"
import { versionsOf } from "../period/PeriodLookups.ts"
import { datesOf } from "../period/PeriodTermsRules.ts"
import { endOfDay } from "../period/RecordDateRules.ts"
import { type Distribution, distributions } from "./Distribution.ts"
import { executedOf } from "./DistributionLookups.ts"
import { distributionSlots } from "./DistributionSlot.ts"
import { linesOfPayees } from "./LineLookups.ts"
import { predecessorsOf } from "./SuccessionLookups.ts"

/** Number of instruments whose distributions are loaded together. */
const groupMax = 100

/**
 * Finds the last distribution of an instrument that has all of its lines: itself, or of one that is
 * executed and not sealed the sealed one before it. What an unsealed distribution will pay does not
 * show in the lines that it has so far. Null: none is sealed.
 */
const sealedOf = (last: Distribution): Effect.Effect<Distribution | null, Unavailable, Records> =>
  last.sealedAt === null
    ? executedOf(last.instrumentId, null).pipe(
        Stream.filter(({ sealedAt }) => sealedAt !== null),
        Stream.runHead,
        Effect.map(Option.getOrNull)
      )
    : Effect.succeed(last)

const sealedAmong = (last: ReadonlyArray<Distribution>) =>
  Effect.map(Effect.forEach(last, sealedOf), (found) => found.filter((sealed) => sealed !== null))

/** Last sealed distribution of each instrument that has one. */
const lastSealed: Stream.Stream<ReadonlyArray<Distribution>, Unavailable, Records> = Stream.unwrap(
  Effect.map(Records, (records) =>
    records.stream(distributionSlots, {}).pipe(
      Stream.flatMap(({ record: { distributionId } }) =>
        Stream.fromIterable(distributionId === null ? [] : [distributionId])
      ),
      Stream.grouped(groupMax),
      Stream.mapEffect((ids) => records.many(distributions, ids)),
      Stream.mapEffect(sealedAmong)
    )
  )
)

/**
 * Loads, for each of these instruments in their order, the holders whose income of the instrument is
 * the holder's: itself and its predecessors.
 */
const earnersIn = Effect.fnUntraced(function* (
  group: ReadonlyArray<{ readonly instrumentId: string }>,
  holder: Holder
) {
  return yield* Effect.forEach(group, ({ instrumentId }) =>
    holder.predecessor === null
      ? Effect.succeed([holder])
      : Effect.map(predecessorsOf(instrumentId, [holder]), (chains) => [
          holder,
          ...(chains.get(holder.holderId) ?? [])
        ])
  )
})

/**
 * Finds an instrument whose last sealed distribution left the holder, and the predecessors whose income is
 * the holder's, a carry that can be paid: at least the smallest amount of the instrument's payouts.
 * Null: there is none.
 */
export const carryOf = (holder: Holder): Effect.Effect<string | null, Unavailable, Records> =>
  lastSealed.pipe(
    Stream.mapEffect((group) => carryingIn(group, holder)),
    Stream.filter((instrumentId) => instrumentId !== null),
    Stream.runHead,
    Effect.map(Option.getOrNull)
  )

/** Finds the instrument of the first of these distributions that left the holder such a carry. */
const carryingIn = Effect.fnUntraced(function* (
  group: ReadonlyArray<Distribution>,
  holder: Holder
) {
  const earners = yield* earnersIn(group, holder)
  const lines = yield* linesOfPayees(
    group.map(({ distributionId }) => distributionId),
    [...new Map(earners.flat().map((earner) => [earner.holderId, earner])).values()],
    null
  )
  const carrying = group.find(({ distributionId, payoutDecimals }, nth) => {
    const own = lines.filter(
      (line) =>
        line.distributionId === distributionId &&
        earners[nth]!.some(
          ({ holderId, party }) => line.holderId === holderId || line.party === party
        )
    )
    const carry = Decimal.sum(own.map(({ carryOut }) => carryOut))
    return Decimal.atLeast(carry, smallestOf(payoutDecimals))
  })
  return carrying?.instrumentId ?? null
})

const smallestOf = (places: number): Decimal.Decimal =>
  places === 0 ? Decimal.one : Decimal.of(`0.${"1".padStart(places, "0")}`)

/**
 * Finds an instrument that owes the holder, or a predecessor whose income is the holder's, an income
 * that no sealed distribution has yet. A daily income (par) is owed for all days on which it had units
 * since the last point of the last sealed distribution, which may reach beyond its record date, while the
 * instrument distributes, and after that as far as months of its schedule are not executed; the gain in
 * the price of an accumulating instrument for its units at each record date that has passed since. Null:
 * there is none.
 */
export const accrualOf = (
  holder: Holder,
  act: Pick<OperationAct, "now">
): Effect.Effect<string | null, Unavailable, Records | LedgerReach> =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(instruments, { where: { listed: ["yes"] } }).pipe(
        Stream.map(({ record }) => record),
        Stream.filter((instrument) => isRecorded(instrument)),
        Stream.grouped(groupMax),
        Stream.mapEffect((group) => accruingIn(group, holder, act)),
        Stream.filter((instrumentId) => instrumentId !== null)
      )
    )
  ).pipe(Stream.runHead, Effect.map(Option.getOrNull))

/** Finds the first of these instruments that owes the holder an income. */
const accruingIn = Effect.fnUntraced(function* (
  group: ReadonlyArray<RecordedInstrument>,
  holder: Holder,
  act: Pick<OperationAct, "now">
) {
  const records = yield* Records
  const earners = yield* earnersIn(group, holder)
  const found = yield* records.many(
    registerEntries,
    group.flatMap((instrument, nth) =>
      earners[nth]!.map(({ party }) => entryIdOf({ ...instrument, party }))
    )
  )
  if (found.length === 0) return null
  const entriesOf = Map.groupBy(found, (entry): string => entry.instrumentId)
  const slots = yield* records.many(
    distributionSlots,
    group.map(({ instrumentId }) => instrumentId)
  )
  const ids = slots.flatMap(({ distributionId }) => distributionId ?? [])
  const last = ids.length === 0 ? [] : yield* records.many(distributions, ids)
  const sealed = new Map(
    (yield* sealedAmong(last)).map((distribution) => [
      distribution.instrumentId as string,
      distribution
    ])
  )
  for (const instrument of group) {
    const { instrumentId, manifest } = instrument
    const distribution = sealed.get(instrumentId) ?? null
    const isPar = manifest.valuation === "par"
    const from = isPar
      ? yield* dailyFrom(distribution)
      : (distribution?.recordOffset ?? Offset.zero)
    const since = (entriesOf.get(instrumentId) ?? []).filter(
      ({ emptySince }) => emptySince === null || from < emptySince
    )
    if (since.length === 0) continue
    const isDaily = isPar && manifest.distribution.schedule === "monthly"
    if (isDaily || (yield* hadEarningUnits(since, { distribution, from }, act))) return instrumentId
  }
  return null
})

/**
 * Finds the first offset whose units the days after a sealed distribution may be paid for: the end of
 * the day of its last point, whose income reaches up to the next point. Where that point is official no
 * longer an earlier one may reach as far.
 */
const dailyFrom = Effect.fnUntraced(function* (sealed: Distribution | null) {
  if (sealed === null || sealed.recordOffset === null) return Offset.zero
  const records = yield* Records
  const point = Option.getOrUndefined(yield* records.find(pricePoints, sealed.toPoint))
  if (point === undefined || !point.isLive || point.correctedBy !== null) return Offset.zero
  const { offsetBefore } = yield* LedgerReach
  const day = Zone.dateAt(sealed.zone, point.valuationTime)
  const found = yield* offsetBefore(endOfDay(sealed.zone, day), sealed.recordOffset)
  return Option.getOrElse(found, () => Offset.zero)
})

const monthOf = (at: Instant.Instant): Month.Month => Month.fromDate(Zone.dateAt(Zone.utc, at))

/** Offsets, both included, of which one with units earns a part of a month's income. */
interface EarningSpan {
  readonly from: Offset.Offset
  readonly through: Offset.Offset
}

/**
 * Checks whether an entry had units for which a month after the last sealed one pays, whose record date
 * has passed by the clock: at the record date, where it distributes the gain in the price, and at any
 * offset up to it, of a daily income. A month whose record date lies before the history of the ledger
 * can never be executed.
 */
const hadEarningUnits = Effect.fnUntraced(function* (
  entries: ReadonlyArray<RegisterEntry>,
  last: { readonly distribution: Pick<Distribution, "month"> | null; readonly from: Offset.Offset },
  { now }: Pick<OperationAct, "now">
) {
  const { distribution: sealed, from: dailySince } = last
  const { offsetBefore } = yield* LedgerReach
  const versions = yield* versionsOf(entries[0]!.instrumentId)
  const first = versions[0]
  if (first === undefined) return false
  const spans: Array<EarningSpan> = []
  // The month of a version's first instant may begin a day earlier in the version's own zone.
  const begun = Month.previous(monthOf(first.effectiveFrom))
  for (
    let month = sealed === null ? begun : Month.next(sealed.month);
    !Month.isAfter(month, monthOf(now));
    month = Month.next(month)
  ) {
    const dates = datesOf(versions, month)
    if (dates === undefined || Instant.isAfter(dates.recordEndsAt, now)) continue
    const { valuation } = dates.terms.manifest
    const through = Option.getOrUndefined(yield* offsetBefore(dates.recordEndsAt))
    if (valuation === "rebasing" || through === undefined) continue
    spans.push({ from: valuation === "par" ? dailySince : through, through })
  }
  const [span, ...others] = spans
  if (span === undefined) return false
  const records = yield* Records
  const stood = yield* records.versions(registerEntries, entries.map(entryIdOf), {
    from: others.reduce((least, { from }) => Offset.min(least, from), span.from),
    through: others.reduce((most, { through }) => Offset.max(most, through), span.through)
  })
  return [...Map.groupBy(stood, ({ record }) => record.party).values()].some((ofParty) =>
    ofParty.some(({ fromOffset, record }, nth) => {
      const until = ofParty[nth + 1]?.fromOffset
      return (
        Decimal.isPositive(record.units) &&
        spans.some(
          ({ from, through }) => fromOffset <= through && (until === undefined || from < until)
        )
      )
    })
  )
})
