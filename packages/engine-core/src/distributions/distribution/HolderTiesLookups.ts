/** Look-ups of what distributions still owe a holder that is to be closed (docs/domain/holders.md#closing). */
import { Effect, Option, Stream } from "effect"
import type { Holder } from "../../holders/holder/Holder.ts"
import {
  type Instrument,
  instruments,
  isRecorded
} from "../../instruments/instrument/Instrument.ts"
import { idOf as entryIdOf, registerEntries } from "../../instruments/register/RegisterEntry.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import { type Distribution, distributions } from "./Distribution.ts"
import { distributionSlots } from "./DistributionSlot.ts"
import { linesOfPayees } from "./LineLookups.ts"
import { predecessorsOf } from "./SuccessionLookups.ts"

/** Number of instruments whose distributions are loaded together. */
const groupMax = 100

/** Last executed distribution of each instrument that has one. */
const lastExecuted: Stream.Stream<
  ReadonlyArray<Distribution>,
  Unavailable,
  Records
> = Stream.unwrap(
  Effect.map(Records, (records) =>
    records.stream(distributionSlots, {}).pipe(
      Stream.flatMap(({ record: { distributionId } }) =>
        Stream.fromIterable(distributionId === null ? [] : [distributionId])
      ),
      Stream.grouped(groupMax),
      Stream.mapEffect((ids) => records.many(distributions, ids))
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
 * Finds an instrument whose last distribution left the holder, and the predecessors whose income is
 * the holder's, a carry that can be paid: at least the smallest amount of the instrument's payouts.
 * Null: there is none.
 */
export const carryOf = (holder: Holder): Effect.Effect<string | null, Unavailable, Records> =>
  lastExecuted.pipe(
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
 * Finds an instrument that distributes a daily income and whose units the holder, or a predecessor
 * whose income is the holder's, has had since the record date of the last distribution: the income of
 * those days is not paid yet. Null: there is none.
 */
export const accrualOf = (holder: Holder): Effect.Effect<string | null, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(instruments, { where: { listed: ["yes"] } }).pipe(
        Stream.map(({ record }) => record),
        Stream.filter((instrument) => isRecorded(instrument)),
        Stream.filter(
          ({ manifest }) =>
            manifest.valuation === "par" && manifest.distribution.schedule === "monthly"
        ),
        Stream.grouped(groupMax),
        Stream.mapEffect((group) => accruingIn(group, holder)),
        Stream.filter((instrumentId) => instrumentId !== null)
      )
    )
  ).pipe(Stream.runHead, Effect.map(Option.getOrNull))

/** Finds the first of these instruments whose units the holder has had since its last record date. */
const accruingIn = Effect.fnUntraced(function* (
  group: ReadonlyArray<Pick<Instrument, "instrumentId" | "registrar">>,
  holder: Holder
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
  const last = new Map(
    (ids.length === 0 ? [] : yield* records.many(distributions, ids)).map((executed) => [
      executed.instrumentId as string,
      executed
    ])
  )
  const accruing = group.find(({ instrumentId }) => {
    const recordOffset = last.get(instrumentId)?.recordOffset ?? 0
    return (entriesOf.get(instrumentId) ?? []).some(
      ({ emptySince }) => emptySince === null || recordOffset < emptySince
    )
  })
  return accruing?.instrumentId ?? null
})
