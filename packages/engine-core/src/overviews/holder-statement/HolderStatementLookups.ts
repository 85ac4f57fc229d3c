/**
 * Look-ups of holder statements: instruments, openings, price points, movements and payments of a run
 * of months. Their number does not grow with the months or the movements.
 */
import { Effect, Option, Stream } from "effect"
import { distributionLines, paid } from "../../distributions/distribution/DistributionLine.ts"
import { counted } from "../../distributions/period/PeriodLookups.ts"
import { type Instrument, instruments } from "../../instruments/instrument/Instrument.ts"
import { type PolicyVersion, policyVersions } from "../../instruments/policy/PolicyVersion.ts"
import { type PricePoint, pricePoints } from "../../instruments/price/PricePoint.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import {
  afterOffset,
  lockings,
  type PartyMovement,
  partyMovements
} from "../../instruments/register/Movement.ts"
import { idOf as entryIdOf, registerEntries } from "../../instruments/register/RegisterEntry.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import type * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { ProjectionLog } from "../../ports/storage/ProjectionLog.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import { MovementKind } from "../../vocabulary/sets.ts"
import { type End, inOrder, type Points } from "./StatementPointRules.ts"

/** Kinds of movements that change balances: all but locks and unlocks. */
const moving: ReadonlyArray<MovementKind> = MovementKind.members.filter(
  (kind) => !lockings.includes(kind)
)

/** Party whose statements are asked for, and the point of the read. */
export interface Asked {
  readonly party: Party.Party
  readonly pin: Pin.Resolved
}

/** Loads the first movement of a party's units, of one instrument or of all; null: there is none. */
export const firstMovementOf = Effect.fnUntraced(function* (
  { party, pin }: Asked,
  instrumentId?: string
) {
  const records = yield* Records
  const [first] = yield* records.list(partyMovements, {
    pin,
    where: {
      party: [party],
      kind: moving,
      ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] })
    },
    limit: 1
  })
  return first?.record ?? null
})

/** Instruments of whose units a party had movements before an instant. */
export const instrumentsMovedBefore = Effect.fnUntraced(function* (
  { party, pin }: Asked,
  instant: Instant.Instant
) {
  const records = yield* Records
  const counts = yield* records.countBy(partyMovements, "instrumentId", {
    pin,
    where: { party: [party] },
    ranges: { at: { to: Instant.sortable(instant) } }
  })
  return new Set(counts.keys())
})

/** Loads recorded and configured instruments by id, with the versions of their policies. */
export const subjectsOf = Effect.fnUntraced(function* (
  ids: ReadonlyArray<string>,
  pin: Pin.Resolved
) {
  if (ids.length === 0) return []
  const records = yield* Records
  const found = yield* records.many(instruments, ids, pin)
  const rows = yield* Stream.runCollect(
    records.stream(policyVersions, { pin, where: { instrumentId: ids, state: [...counted] } })
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
export const offsetBefore = (instant: Instant.Instant, { offset }: Pin.Resolved) =>
  Effect.gen(function* () {
    const log = yield* ProjectionLog
    const found = yield* orUnavailable(log.offsetBefore(Instant.sortable(instant)))
    return Option.getOrNull(Option.map(found, (before) => Offset.min(Offset.of(before), offset)))
  })

interface Opening extends Asked {
  /** Start of the first month, and the last offset before it; null: before the kept history. */
  readonly start: Instant.Instant
  readonly before: Offset.Offset | null
}

/**
 * Loads the stored units of a party at the start of a month, by asset, of instruments with a movement
 * before it: from the register at that offset, or, where the kept history begins later, from the last
 * movement before it of each.
 */
export const openingsOf = Effect.fnUntraced(function* (
  assets: ReadonlyArray<Pick<Instrument, "registrar" | "instrumentId">>,
  { party, pin, start, before }: Opening
): Effect.fn.Return<
  ReadonlyMap<string, Decimal.Decimal>,
  Effect.Error<ReturnType<typeof firstMovementOf>>,
  Records
> {
  const records = yield* Records
  if (before !== null) {
    const at: Pin.Resolved = { ...pin, offset: before, select: { by: "offset" } }
    const ids = assets.map((asset) => entryIdOf({ ...asset, party }))
    const entries = ids.length === 0 ? [] : yield* records.many(registerEntries, ids, at)
    return new Map(entries.map((entry) => [assetKeyOf(entry), entry.units]))
  }
  const last = yield* Effect.forEach(assets, ({ instrumentId }) =>
    records.list(partyMovements, {
      pin,
      where: { party: [party], instrumentId: [instrumentId] },
      ranges: { at: { to: Instant.sortable(start) } },
      direction: "desc",
      limit: 1
    })
  )
  return new Map(
    last.flat().map(({ record }) => [assetKeyOf(record), record.balanceAfter] as const)
  )
})

/** Rows of the first query of movements; each later one asks for twice as many, up to the largest. */
const firstRows = 64
const rowsMax = 1_000

interface Run extends Opening {
  /** End of the last month. */
  readonly end: Instant.Instant
}

/** Streams the movements of a party's units in a run of months, in their order; locks are left out. */
export const movementsIn = ({ party, pin, start, end, before }: Run) =>
  Stream.paginate(
    { after: before === null ? undefined : afterOffset(before), limit: firstRows },
    Effect.fnUntraced(function* ({ after, limit }) {
      const records = yield* Records
      const found = yield* records.list(partyMovements, {
        pin,
        where: { party: [party] },
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
      ] as const
    })
  )

/** Time before a month within which its last price is looked for first. */
const recent = Duration.days(45)

interface PointsAsked {
  readonly subjects: ReadonlyArray<{
    readonly instrument: Pick<Instrument, "instrumentId">
    readonly versions: Points["versions"]
  }>
  readonly pin: Pin.Resolved
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
          (rows) => rows.map(({ record }): PricePoint => record)
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
  return (of: PointsAsked["subjects"][number]): Points => ({
    versions: of.versions,
    points: inOrder(byInstrument.get(of.instrument.instrumentId) ?? []),
    ends
  })
})

/** Finds when points that are no longer official were corrected or withdrawn. */
const endsOf = Effect.fnUntraced(function* (points: ReadonlyArray<PricePoint>, pin: Pin.Resolved) {
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

/** Loads the lines of holders that were paid, with the changes up to the pin. */
export const paidLinesOf = Effect.fnUntraced(function* (
  holderIds: ReadonlyArray<string>,
  pin: Pin.Resolved
) {
  const records = yield* Records
  const rows = yield* Stream.runCollect(
    records.stream(distributionLines, { pin, where: { holderId: holderIds, state: [...paid] } })
  )
  return rows.map(({ record }) => record)
})
