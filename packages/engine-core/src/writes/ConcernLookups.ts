/**
 * Look-up of the instrument and the holders that a write concerns, for the feed's filters, the lists
 * of writes and legal holds (docs/domain/every-record.md#whom-a-write-concerns).
 */
import { Effect, Option } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Records } from "../records/Records.ts"
import type { RecordConcern, StoredConcern } from "./Concern.ts"
import type { AnyOperation } from "./Operation.ts"

/**
 * Looks up a record that exists before the write and states the instrument and the holder in its
 * filter columns of these names. A record that does not exist concerns nobody.
 */
export const ofRecord =
  <I, R, F>(collection: Collection<R, F>, idOf: (input: I) => string) =>
  (input: I): Effect.Effect<RecordConcern, Unavailable, Records> =>
    Effect.flatMap(Records, (records) => records.find(collection, idOf(input))).pipe(
      Effect.map(
        Option.match({
          onNone: () => ({ instrumentId: null, holderIds: [] }),
          onSome: (record) => ofColumns(collection, record)
        })
      )
    )

const ofColumns = <R, F>({ filters }: Collection<R, F>, record: R): RecordConcern => {
  const holderId = filters["holderId"]?.(record) ?? null
  return {
    instrumentId: filters["instrumentId"]?.(record) ?? null,
    holderIds: holderId === null ? [] : [holderId]
  }
}

/** States holders that the input names, besides the one of the record that the write acts on. */
export const ofHolders =
  <I>(holderIds: (input: I) => ReadonlyArray<string | null>) =>
  (input: I): Effect.Effect<RecordConcern> =>
    Effect.succeed({
      instrumentId: null,
      holderIds: holderIds(input).filter((holderId) => holderId !== null)
    })

/**
 * Computes whom a write concerns: what its input names, and what the record says that it acts on.
 */
export const of = Effect.fnUntraced(function* ({ resource }: AnyOperation, input: unknown) {
  const found = yield* resource.concerns?.(input) ??
    Effect.succeed<RecordConcern>({ instrumentId: null, holderIds: [] })
  const named = resource.holderId?.(input) ?? null
  const holderIds = [...new Set([...(named === null ? [] : [named]), ...found.holderIds])]
  return {
    instrumentId: resource.instrumentId?.(input) ?? found.instrumentId,
    holderId: holderIds[0] ?? null,
    ...(holderIds.length > 1 ? { holderIds } : {})
  } satisfies StoredConcern
})
