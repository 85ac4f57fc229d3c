/** Loads the restrictions in force, and takes the lock on changes of restrictions. */
import { Effect, Stream } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import { type Query, Records } from "../../records/Records.ts"
import { everything, restrictions } from "./Restriction.ts"

/**
 * Query of restrictions: of these holders (absent: of all), that cover this instrument (absent:
 * any).
 */
interface RestrictionScope {
  readonly holderIds?: ReadonlyArray<string>
  readonly instrumentId?: string
}

/** Page size of the first query; more restrictions are read as a stream. */
const firstPage = 1_000

/** Largest number of holders in one query. */
const holdersMax = 1_000

/** Filters of the restrictions in force of all holders, that cover the instrument. */
export const whereInForce = (scope: Required<Pick<RestrictionScope, "instrumentId">>) =>
  whereOf(scope, undefined)

const whereOf = (
  { instrumentId }: RestrictionScope,
  holderIds: ReadonlyArray<string> | undefined
) => ({
  state: ["active"],
  ...(instrumentId === undefined ? {} : { reach: [instrumentId, everything] }),
  ...(holderIds === undefined ? {} : { holderId: holderIds })
})

const found = Effect.fnUntraced(function* (query: Query) {
  const records = yield* Records
  const rows = yield* records.list(restrictions, { ...query, limit: firstPage })
  return rows.length < firstPage
    ? rows
    : yield* Stream.runCollect(records.stream(restrictions, query))
})

/**
 * Loads the restrictions in force at the pin, without those past their date even before the clock's
 * notice is recorded. Holders are queried in groups. Reads committed records only, not those that
 * the transaction around it has written.
 */
export const inForce = Effect.fn("controls.inForce")(function* (
  scope: RestrictionScope,
  pin?: Pin.ResolvedPin
) {
  const at = pin === undefined ? {} : { pin }
  if (scope.holderIds === undefined) {
    return (yield* found({ ...at, where: whereOf(scope, undefined) })).map(({ record }) => record)
  }
  const holderIds = [...new Set(scope.holderIds)]
  const groups = Array.from({ length: Math.ceil(holderIds.length / holdersMax) }, (_, nth) =>
    holderIds.slice(nth * holdersMax, (nth + 1) * holdersMax)
  )
  const rows = yield* Effect.forEach(groups, (group) =>
    found({ ...at, where: whereOf(scope, group) })
  )
  return rows.flat().map(({ record }) => record)
})

/**
 * Takes the lock between restricting and carrying restrictions, for all holders: without it a
 * restriction set during a recovery would not be carried to the successor. Must run inside
 * `transact`, before any read.
 */
export const lockRestrictions = Effect.flatMap(Records, (records) => records.lock("restrictions"))

/** Loads the id of a restriction of the holder in force, of any mode and instrument; null: none. */
export const restrictionOf = (holderId: string) =>
  Effect.map(inForce({ holderIds: [holderId] }), ([first]) => first?.restrictionId ?? null)
