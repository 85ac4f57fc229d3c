/** Look-ups of distributions: the last executed of an instrument, and its earlier ones. */
import { Effect, Option, Stream } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Distribution, distributions } from "./Distribution.ts"
import { type DistributionSlot, distributionSlots } from "./DistributionSlot.ts"

/** Finds the instrument's slot, with the last executed month; null before the first execution. */
export const slotOf = (
  instrumentId: string,
  pin: Pin.ResolvedPin | null
): Effect.Effect<Stored<DistributionSlot> | null, Unavailable, Records> =>
  Effect.flatMap(Records, (records) =>
    Effect.map(records.find(distributionSlots, instrumentId, pin ?? undefined), Option.getOrNull)
  )

/** Finds the last executed distribution of an instrument; null before the first execution. */
export const lastExecuted = (
  instrumentId: string,
  pin: Pin.ResolvedPin | null
): Effect.Effect<Stored<Distribution> | null, Unavailable, Records> =>
  Effect.gen(function* () {
    const distributionId = (yield* slotOf(instrumentId, pin))?.distributionId ?? null
    if (distributionId === null) return null
    const records = yield* Records
    return Option.getOrNull(yield* records.find(distributions, distributionId, pin ?? undefined))
  })

/** Streams the distributions of an instrument, the last executed first. */
export const executedOf = (
  instrumentId: string,
  pin: Pin.ResolvedPin | null
): Stream.Stream<Stored<Distribution>, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      Stream.map(
        records.stream(distributions, {
          where: { instrumentId: [instrumentId] },
          direction: "desc",
          ...(pin === null ? {} : { pin })
        }),
        ({ record }) => record
      )
    )
  )
