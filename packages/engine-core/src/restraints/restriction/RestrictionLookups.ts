/** Look-ups of the restrictions in force. */
import { Effect, Stream } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import { type Query, Records } from "../../records/Records.ts"
import { everything, restrictions } from "./Restriction.ts"

/**
 * Query of restrictions: of these holders, on the named instrument or on everything; without an
 * instrument, all.
 */
export interface Of {
  readonly holderIds?: ReadonlyArray<string>
  readonly instrumentId?: string
}

/** Page size of the first query; more restrictions are read as a stream. */
const usually = 1_000

/** Holders that one look-up names. */
const holdersMax = 1_000

const whereOf = ({ instrumentId }: Of, holderIds: ReadonlyArray<string> | undefined) => ({
  state: ["active"],
  ...(instrumentId === undefined ? {} : { reach: [instrumentId, everything] }),
  ...(holderIds === undefined ? {} : { holderId: holderIds })
})

const found = Effect.fnUntraced(function* (query: Query) {
  const records = yield* Records
  const rows = yield* records.list(restrictions, { ...query, limit: usually })
  return rows.length < usually
    ? rows
    : yield* Stream.runCollect(records.stream(restrictions, query))
})

/**
 * The restrictions in force at the pin: one that has ended by its own date by then is
 * none of them, whether or not its end has been noted. However many holders are named, they are
 * looked up together. It reads what is committed, not what the transaction around it wrote itself.
 */
export const inForce = Effect.fn("controls.inForce")(function* (of: Of, pin?: Pin.Resolved) {
  const at = pin === undefined ? {} : { pin }
  if (of.holderIds === undefined) {
    return (yield* found({ ...at, where: whereOf(of, undefined) })).map(({ record }) => record)
  }
  const holderIds = [...new Set(of.holderIds)]
  const groups = Array.from({ length: Math.ceil(holderIds.length / holdersMax) }, (_, nth) =>
    holderIds.slice(nth * holdersMax, (nth + 1) * holdersMax)
  )
  const rows = yield* Effect.forEach(groups, (group) => found({ ...at, where: whereOf(of, group) }))
  return rows.flat().map(({ record }) => record)
})

/**
 * Lock between restricting and carrying restrictions, for all holders: otherwise a restriction set
 * on a predecessor while it is being succeeded would not be carried. Only inside `transact`, before
 * anything is read.
 */
export const inTurn = Effect.flatMap(Records, (records) => records.lock("restrictions"))

/** A restriction of the holder in force, of any mode and on anything; null: there is none. */
export const restrictionOf = (holderId: string) =>
  Effect.map(inForce({ holderIds: [holderId] }), ([first]) => first?.restrictionId ?? null)
