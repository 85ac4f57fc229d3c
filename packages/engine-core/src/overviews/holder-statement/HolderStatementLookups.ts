/**
 * Look-ups of holder statements: instruments, openings, price points, movements and payments of a run
 * of months. Their number does not grow with the months or the movements.
 */
import { Effect, Option, Stream } from "effect"
import { distributionLines, paidInOf } from "../../distributions/distribution/DistributionLine.ts"
import { counted } from "../../distributions/period/PeriodLookups.ts"
import { type Instrument, instruments } from "../../instruments/instrument/Instrument.ts"
import { type PolicyVersion, policyVersions } from "../../instruments/policy/PolicyVersion.ts"
import { hasPlace } from "../../instruments/price/QuoteOrder.ts"
import { type PricePoint, pricePoints } from "../../instruments/price/PricePoint.ts"
import { idOf as lotIdOf, type Lot, lots } from "../../instruments/lot/Lot.ts"
import * as LotRules from "../../instruments/lot/LotRules.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import {
  afterOffset,
  lockings,
  moving,
  type PartyMovement,
  partyMovements
} from "../../instruments/register/Movement.ts"
import { idOf as entryIdOf, registerEntries } from "../../instruments/register/RegisterEntry.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import * as Offset from "../../kernel/Offset.ts"
import type * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { ProjectionLog } from "../../ports/storage/ProjectionLog.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import type { MovementKind } from "../../vocabulary/sets.ts"
import { type End, inOrder, type Points } from "./StatementPointRules.ts"

/** Look-ups that do not follow from one another: those of a page's reading scope go out together. */
export const together = { concurrency: "unbounded" } as const

/** Party whose statements are asked for, and the point of the read. */
interface PartyRead {
  readonly party: Party.Party
  readonly pin: Pin.ResolvedPin
}

/** Loads the first movement of a party's units; null: there is none. */
export const firstMovementOf = Effect.fnUntraced(function* ({ party, pin }: PartyRead) {
  const records = yield* Records
  const [first] = yield* records.list(partyMovements, {
    pin,
    where: { party: [party], kind: moving },
    limit: 1
  })
  return first?.record ?? null
})

/** Instruments of which a party has or had units at the pin. */
export const instrumentsHeldAt = ({ party, pin }: PartyRead) =>
  hadBy([party], { pin, at: pin.offset })

interface InstrumentsQuestion {
  readonly parties: ReadonlyArray<Party.Party>
  readonly pin: Pin.ResolvedPin
  /** End of the time in question, and the last offset before it; null: before the kept history. */
  readonly end: Instant.Instant
  readonly before: Offset.Offset | null
}

/**
 * Instruments of which parties had units before an instant. Before the kept history the register
 * cannot be read, and the movements before the instant are counted.
 */
export const instrumentsHadBefore = Effect.fnUntraced(function* ({
  parties,
  pin,
  end,
  before
}: InstrumentsQuestion) {
  if (before !== null) return yield* hadBy(parties, { pin, at: before })
  const records = yield* Records
  const counts = yield* records.countBy(partyMovements, "instrumentId", {
    pin,
    where: { party: parties },
    ranges: { at: { to: Instant.sortable(end) } }
  })
  return new Set(counts.keys())
})

/**
 * Instruments of which parties had units up to an offset: those that they held then, and those that
 * they had ceased to hold. It reads where they began or ceased to hold one, not their movements.
 */
const hadBy = Effect.fnUntraced(function* (
  parties: ReadonlyArray<Party.Party>,
  { at, pin }: { readonly at: Offset.Offset; readonly pin: Pin.ResolvedPin }
) {
  const records = yield* Records
  const then = atOffset(pin, at)
  const { turned, held } = yield* Effect.all(
    {
      turned: records.countBy(partyMovements, "instrumentId", {
        pin: then,
        where: { turned: parties }
      }),
      held: Stream.runCollect(
        records.stream(registerEntries, { pin: then, where: { party: parties } })
      )
    },
    together
  )
  const ids = new Set(turned.keys())
  for (const { record } of held) ids.add(record.instrumentId)
  return ids
})

const atOffset = (pin: Pin.ResolvedPin, offset: Offset.Offset): Pin.ResolvedPin =>
  offset === pin.offset ? pin : { ...pin, offset, select: { by: "offset" } }

/**
 * Loads the first movement of a party's units in each of these instruments, by instrument; one that
 * it had only since a snapshot, or never, has none.
 */
export const firstMovementsOf = Effect.fnUntraced(function* (
  { party, pin }: PartyRead,
  ids: ReadonlyArray<string>
) {
  const firsts = new Map<string, PartyMovement>()
  if (ids.length === 0) return firsts
  const records = yield* Records
  yield* records
    .stream(partyMovements, { pin, where: { turned: [party], instrumentId: ids } })
    .pipe(
      Stream.takeUntil(({ record }) => {
        if (!firsts.has(record.instrumentId)) firsts.set(record.instrumentId, record)
        return firsts.size === ids.length
      }),
      Stream.runDrain
    )
  return firsts
})

type Asset = Pick<Instrument, "registrar" | "instrumentId">

/** Checks whether the kept history begins with the ledger, and with no snapshot of it. */
export const isHistoryWhole = (pin: Pin.ResolvedPin) =>
  Effect.map(offsetBefore(Instant.fromNanos(0n), pin), (offset) => offset !== null)

/**
 * Loads the lots of a party that a snapshot of the ledger began with, by asset: since when the kept
 * history knows its units, and how many they were.
 */
export const snapshotLotsOf = Effect.fnUntraced(function* (
  assets: ReadonlyArray<Asset>,
  { party, pin }: PartyRead
) {
  if (assets.length === 0) return new Map<string, Lot>()
  const records = yield* Records
  const lotId = LotRules.snapshotLotIdOf(party)
  const found = yield* records.many(
    lots,
    assets.map((asset) => lotIdOf({ ...asset, lotId })),
    pin
  )
  return new Map(found.map((lot): [string, Lot] => [assetKeyOf(lot), lot]))
})

/** Loads recorded and configured instruments by id, with the versions of their policies. */
export const subjectsOf = Effect.fnUntraced(function* (
  ids: ReadonlyArray<string>,
  pin: Pin.ResolvedPin
) {
  if (ids.length === 0) return []
  const records = yield* Records
  const where = { instrumentId: ids, state: [...counted] }
  const { found, rows } = yield* Effect.all(
    {
      found: records.many(instruments, ids, pin),
      rows: Stream.runCollect(records.stream(policyVersions, { pin, where }))
    },
    together
  )
  const versionsOf = Map.groupBy(
    rows.map(({ record }): PolicyVersion => record),
    ({ instrumentId }) => instrumentId as string
  )
  return found
    .map((instrument) => ({
      instrument: instrument as Instrument,
      versions: versionsOf.get(instrument.instrumentId) ?? []
    }))
    .toSorted((a, b) => (a.instrument.instrumentId < b.instrument.instrumentId ? -1 : 1))
})

/** The last offset before an instant; null where the history begins at it or later. */
export const offsetBefore = (instant: Instant.Instant, { offset }: Pin.ResolvedPin) =>
  Effect.gen(function* () {
    const log = yield* ProjectionLog
    const question = { instant: Instant.sortable(instant), through: offset }
    return Option.getOrNull(Option.map(yield* orUnavailable(log.offsetBefore(question)), Offset.of))
  })

interface OpeningQuestion extends PartyRead {
  /** Start of the first month, and the last offset before it; null: before the kept history. */
  readonly start: Instant.Instant
  readonly before: Offset.Offset | null
}

/**
 * Loads the stored units of a party at the start of a month, by asset, of instruments that it had by
 * then: from the register at that offset. Where the kept history begins later, they are the balance
 * after the last movement before it, or the units of the snapshot.
 */
export const openingsOf = Effect.fnUntraced(function* (
  assets: ReadonlyArray<Asset>,
  {
    party,
    pin,
    start,
    before,
    openingLots
  }: OpeningQuestion & { readonly openingLots: ReadonlyMap<string, Lot> }
) {
  const records = yield* Records
  const openings = new Map<string, Decimal.Decimal>()
  if (assets.length === 0) return openings
  if (before !== null) {
    const ids = assets.map((asset) => entryIdOf({ ...asset, party }))
    const entries = yield* records.many(registerEntries, ids, atOffset(pin, before))
    for (const entry of entries) openings.set(assetKeyOf(entry), entry.units)
    return openings
  }
  const query = { pin, where: { party: [party] }, ranges: { at: { to: Instant.sortable(start) } } }
  const moved = yield* records.countBy(partyMovements, "instrumentId", query)
  const wanted = assets.filter(({ instrumentId }) => moved.has(instrumentId))
  if (wanted.length > 0) {
    const where = { ...query.where, instrumentId: wanted.map(({ instrumentId }) => instrumentId) }
    const keys = new Set(wanted.map(assetKeyOf))
    yield* records.stream(partyMovements, { ...query, where, direction: "desc" }).pipe(
      Stream.takeUntil(({ record }) => {
        const key = assetKeyOf(record)
        if (!openings.has(key)) openings.set(key, record.balanceAfter)
        keys.delete(key)
        return keys.size === 0
      }),
      Stream.runDrain
    )
  }
  for (const [key, lot] of openingLots) if (!openings.has(key)) openings.set(key, lot.units)
  return openings
})

/** Rows of the first page of movements; each later one has twice as many, up to the largest. */
const firstRows = 256
const rowsMax = 1_000

interface Run extends Omit<OpeningQuestion, "party"> {
  readonly parties: ReadonlyArray<Party.Party>
  /** End of the last month. */
  readonly end: Instant.Instant
  /** Kinds that are asked for; absent: all that change balances. */
  readonly kinds?: ReadonlyArray<MovementKind>
  /** Instruments that are asked for; absent: all. */
  readonly instrumentIds?: ReadonlyArray<string>
}

/** Place of a page of movements, and its size. */
interface Place {
  readonly after: string | undefined
  readonly limit: number
}

/** Movements of one page, and the place of the next one; none: it is the last. */
type Page = readonly [found: ReadonlyArray<PartyMovement>, next: Option.Option<Place>]

const pageOf = (run: Run) =>
  Effect.fnUntraced(function* ({ after, limit }: Place) {
    const { parties, pin, start, end, before, kinds, instrumentIds } = run
    const records = yield* Records
    const found = yield* records.list(partyMovements, {
      pin,
      where: {
        party: parties,
        ...(kinds === undefined ? {} : { kind: kinds }),
        ...(instrumentIds === undefined ? {} : { instrumentId: instrumentIds })
      },
      ...(before === null
        ? { ranges: { at: { from: Instant.sortable(start), to: Instant.sortable(end) } } }
        : {}),
      ...(after === undefined ? {} : { after }),
      limit
    })
    // Ledger time never decreases from one movement to the next.
    const within = found.filter(({ record }) => Instant.isBefore(record.ledgerTime, end))
    const isMore = found.length === limit && within.length === found.length
    const next = { after: found.at(-1)?.sortKey, limit: Math.min(rowsMax, 2 * limit) }
    return [
      within
        .map(({ record }): PartyMovement => record)
        .filter(({ kind }) => !lockings.includes(kind)),
      isMore ? Option.some(next) : Option.none()
    ] satisfies Page as Page
  })

/** Loads the first movements of parties' units in a run of months; locks are left out. */
export const firstPageOf = (run: Run) =>
  pageOf(run)({
    after: run.before === null ? undefined : afterOffset(run.before),
    limit: firstRows
  })

/** Streams the movements of a run of months, in their order, of which the first page is loaded. */
export const movementsFrom = (run: Run, [found, next]: Page) =>
  Stream.concat(
    Stream.fromIterable(found),
    Option.match(next, {
      onNone: () => Stream.empty,
      onSome: (place) => Stream.paginate(place, pageOf(run))
    })
  )

/** Streams the movements of parties' units in a run of months, in their order; locks are left out. */
export const movementsIn = (run: Run) =>
  Stream.unwrap(Effect.map(firstPageOf(run), (first) => movementsFrom(run, first)))

/** Time before a month within which its last price is looked for first. */
const recent = Duration.days(45)

interface PointsAsked {
  readonly subjects: ReadonlyArray<{
    readonly instrument: Pick<Instrument, "instrumentId">
    readonly versions: Points["versions"]
  }>
  readonly pin: Pin.ResolvedPin
  /** Start of the first month, and the end of the grace of the last one. */
  readonly start: Instant.Instant
  readonly until: Instant.Instant
}

/**
 * Loads the price points that months may read, by instrument: those valued shortly before the first
 * month and up to the end of the grace of the last one, and all earlier ones of instruments that have
 * none shortly before it. The ends of points that are no longer official are loaded with them.
 */
export const pointsOf = Effect.fnUntraced(function* ({ subjects, pin, start, until }: PointsAsked) {
  const source = [
    ...new Set(
      subjects.flatMap(({ versions }) => versions.flatMap(({ manifest }) => manifest.oracle ?? []))
    )
  ]
  const records = yield* Records
  const valued = (ids: ReadonlyArray<string>, range: { from?: string; to: string }) =>
    ids.length === 0 || source.length === 0
      ? Effect.succeed([])
      : Effect.map(
          Stream.runCollect(
            records.stream(pricePoints, {
              pin,
              where: { instrumentId: ids, source },
              ranges: { valuationTime: range }
            })
          ),
          (rows) =>
            rows.map(({ record }): PricePoint => record).filter((point) => hasPlace(point, pin))
        )
  const from = Instant.sortable(Instant.subtract(start, recent))
  const ids = subjects.map(({ instrument }) => instrument.instrumentId as string)
  const near = yield* valued(ids, { from, to: Instant.sortable(until) })
  const begun = new Set(
    near
      .filter(
        ({ correctedBy, isLive, valuationTime }) =>
          isLive && correctedBy === null && Instant.isBefore(valuationTime, start)
      )
      .map(({ instrumentId }) => instrumentId)
  )
  const far = yield* valued(
    ids.filter((id) => !begun.has(id)),
    { to: from }
  )
  const points = [...far, ...near]
  const ends = yield* endsOf(points, pin)
  const byInstrument = Map.groupBy(points, ({ instrumentId }) => instrumentId)
  return (subject: PointsAsked["subjects"][number]): Points => ({
    versions: subject.versions,
    points: inOrder(byInstrument.get(subject.instrument.instrumentId) ?? []),
    ends
  })
})

/** Finds when points that are no longer official were corrected or withdrawn. */
const endsOf = Effect.fnUntraced(function* (
  points: ReadonlyArray<PricePoint>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const ends = new Map<string, End>()
  const ended = points.filter(({ correctedBy, isLive }) => correctedBy !== null || !isLive)
  if (ended.length === 0) return ends
  const ids = ended.flatMap(({ correctedBy }) => correctedBy ?? [])
  const corrections = ids.length === 0 ? [] : yield* records.many(pricePoints, ids, pin)
  const byId = new Map<string, PricePoint>(corrections.map((by) => [by.contractId, by]))
  for (const { contractId, correctedBy } of ended) {
    const by = correctedBy === null ? undefined : byId.get(correctedBy)
    if (by !== undefined) ends.set(contractId, { offset: by.offset, at: by.publishedAt })
  }
  const withdrawn = ended.filter(({ contractId }) => !ends.has(contractId))
  if (withdrawn.length === 0) return ends
  const versions = yield* records.versions(
    pricePoints,
    withdrawn.map(({ contractId }) => contractId),
    { from: Offset.zero, through: pin.offset }
  )
  for (const { fromOffset, record } of versions) {
    if (record.isLive || ends.has(record.contractId)) continue
    ends.set(record.contractId, { offset: fromOffset, at: record.updatedAt })
  }
  return ends
})

/** Months of the deliveries of which a payment may count in a span of time. */
interface Deliveries {
  readonly from: Month.Month
  readonly to: Month.Month
}

/**
 * Returns the months of delivery, in UTC, of all payments that may count in a span of days of any zone: cash
 * counts up to 31 days before its delivery, and up to one day after it.
 */
export const deliveriesOf = (span: {
  readonly start: Instant.Instant
  readonly graceEnd: Instant.Instant
}): Deliveries => ({
  from: Month.fromDate(Instant.date(Instant.subtract(span.start, margin))),
  to: Month.fromDate(Instant.date(Instant.add(span.graceEnd, margin)))
})

/** More than a zone's day may differ from that of UTC. */
const margin = Duration.days(3)

/** Loads the lines of holders that were delivered in a run of months, with the changes up to the pin. */
export const paidLinesOf = Effect.fnUntraced(function* (
  holderIds: ReadonlyArray<string>,
  { from, to, pin }: Deliveries & { readonly pin: Pin.ResolvedPin }
) {
  const records = yield* Records
  const count = Month.monthsBetween({ from, to }) + 1
  if (count <= 0 || holderIds.length === 0) return []
  const months = Array.from({ length: count }, (_, nth) => Month.add(from, nth))
  const paidIn = holderIds.flatMap((holderId) => months.map((month) => paidInOf(holderId, month)))
  const rows = yield* Stream.runCollect(
    records.stream(distributionLines, { pin, where: { paidIn } })
  )
  return rows.map(({ record }) => record)
})
