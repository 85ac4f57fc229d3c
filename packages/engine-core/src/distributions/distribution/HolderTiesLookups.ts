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

type Closing = Pick<Holder, "holderId" | "party">

/** Instruments whose distributions are looked at together. */
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
 * Finds an instrument whose last distribution left the holder a carry that pays something: at least
 * the smallest amount of its payouts. Null: there is none.
 */
export const carryOf = (holder: Closing): Effect.Effect<string | null, Unavailable, Records> =>
  lastExecuted.pipe(
    Stream.mapEffect((group) =>
      Effect.map(
        linesOfPayees(
          group.map(({ distributionId }) => distributionId),
          [holder],
          null
        ),
        (lines) =>
          group.find(({ distributionId, payoutDecimals }) => {
            const own = lines.filter((line) => line.distributionId === distributionId)
            const carry = Decimal.sum(own.map(({ carryOut }) => carryOut))
            return Decimal.atLeast(carry, smallestOf(payoutDecimals))
          })?.instrumentId ?? null
      )
    ),
    Stream.filter((instrumentId) => instrumentId !== null),
    Stream.runHead,
    Effect.map(Option.getOrNull)
  )

const smallestOf = (places: number): Decimal.Decimal =>
  places === 0 ? Decimal.one : Decimal.of(`0.${"1".padStart(places, "0")}`)

/**
 * Finds an instrument that distributes a daily income and whose units the holder has had since the
 * record date of the last distribution: the income of those days is not paid yet. Null: there is none.
 */
export const accrualOf = ({ party }: Closing): Effect.Effect<string | null, Unavailable, Records> =>
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
        Stream.mapEffect((group) => accruingIn(group, party)),
        Stream.filter((instrumentId) => instrumentId !== null)
      )
    )
  ).pipe(Stream.runHead, Effect.map(Option.getOrNull))

/** Finds the first of these instruments whose units the party has had since its last record date. */
const accruingIn = Effect.fnUntraced(function* (
  group: ReadonlyArray<Pick<Instrument, "instrumentId" | "registrar">>,
  party: Holder["party"]
) {
  const records = yield* Records
  const found = yield* records.many(
    registerEntries,
    group.map((instrument) => entryIdOf({ ...instrument, party }))
  )
  if (found.length === 0) return null
  const entries = new Map(found.map((entry) => [entry.instrumentId, entry]))
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
    const entry = entries.get(instrumentId)
    if (entry === undefined) return false
    return (
      entry.emptySince === null || (last.get(instrumentId)?.recordOffset ?? 0) < entry.emptySince
    )
  })
  return accruing?.instrumentId ?? null
})
