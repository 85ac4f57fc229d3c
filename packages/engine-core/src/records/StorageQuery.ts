/** Storage queries: which stored version a pin selects, and which rows a list's filters select. */
import { Effect } from "effect"
import type * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { ListQuery, StoredPin } from "../ports/storage/Documents.ts"
import * as Columns from "./Columns.ts"
import { JudgedAt } from "./JudgedAt.ts"
import type { Query } from "./Records.ts"

/**
 * The instant at which a read judges clock states: that of its pin; without one, that of the update
 * being folded, else the engine's clock.
 */
export const judgedAt = (pin: Pin.ResolvedPin | undefined): Effect.Effect<Instant.Instant> =>
  pin === undefined
    ? Effect.flatMap(JudgedAt, (at) => (at === null ? Instant.now : Effect.succeed(at)))
    : Effect.succeed(pin.judgedAt)

/**
 * Maps the pin of a read to the pin of its versions. Records that the ledger keeps are selected by
 * the offset that an instant resolves to, records of the engine by the instant of recording, and
 * records that no offset dates always by their latest version. A snapshot selects all by instant.
 */
export const storedPin = (
  keptBy: Collection.Collection["keptBy"],
  pin: Pin.ResolvedPin | undefined
): StoredPin => {
  if (pin === undefined || pin.select.by === "latest") return { by: "latest" }
  if (pin.select.by === "offset") {
    return keptBy === "own" ? { by: "latest" } : { by: "offset", offset: pin.offset }
  }
  return pin.select.by === "instant" && keptBy === "ledger"
    ? { by: "offset", offset: pin.offset }
    : { by: "instant", instant: Instant.sortable(pin.select.instant) }
}

/**
 * Maps a query of records to a query of rows. Filters on a column that clock moves change select by
 * its value as of `judgedAt`; all others by the stored value.
 */
export const of = <R, F>(
  collection: Collection.Collection<R, F>,
  query: Query,
  judgedAt: Instant.Instant
): ListQuery => ({
  collection: collection.name,
  pin: storedPin(collection.keptBy, query.pin),
  where: Object.entries(query.where ?? {})
    .filter(([column]) => !collection.ripens.includes(column))
    .map(([column, anyOf]) => ({ column, anyOf })),
  meets: [
    ...Object.entries(query.where ?? {})
      .filter(([column]) => collection.ripens.includes(column))
      .map(([column, anyOf]) => Columns.ripened(column, anyOf, judgedAt)),
    ...Object.entries(query.ranges ?? {}).map(([column, range]) => Columns.within(column, range))
  ],
  direction: query.direction ?? "asc",
  ...(query.updatedFrom === undefined ? {} : { updatedFrom: Instant.sortable(query.updatedFrom) }),
  ...(query.updatedTo === undefined ? {} : { updatedTo: Instant.sortable(query.updatedTo) }),
  ...(query.after === undefined ? {} : { after: query.after })
})

/** Rows that a query of records selects, and the instant at which clock states are judged. */
export const selected = Effect.fnUntraced(function* <R, F>(
  collection: Collection.Collection<R, F>,
  query: Query
) {
  const at = yield* judgedAt(query.pin)
  return { at, rows: of(collection, query, at) }
})
