/** Carries a holder's restrictions to its successor in a recovery. */
import { Effect, Stream } from "effect"
import type { Holder } from "../../holders/holder/Holder.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { inForce, lockRestrictions } from "./RestrictionLookups.ts"
import { type Restriction, RestrictionId, restrictions, RestrictionMachine } from "./Restriction.ts"

/** One move of a recovery: units of one instrument, from a holder to its successor. */
export interface CarriedMove {
  readonly from: Pick<Holder, "holderId">
  readonly to: Pick<Holder, "holderId" | "party">
  /** The instrument that was moved. */
  readonly instrumentId: string
  /**
   * Units that the predecessor still has after the move: of this instrument, of others only, or
   * none.
   */
  readonly holderLeft: "units" | "other-instruments" | "nothing"
  /** The recovery's operation, and its maker by subject claim (`sub`). */
  readonly operationId: string
  readonly by: string
}

/**
 * Copies the predecessor's restrictions in force to the successor: for each that covers the moved
 * instrument the successor gets one with the same members, in force from now on, which names the
 * original in `supersedes`. Must run in the transaction that records the move, once for each
 * instrument moved; repeated for the same move it changes nothing. Returns the restrictions opened.
 *
 * - The original stays in force until the predecessor has no units of any instrument left, and then
 *   ends as `carried`. If it ended with its own instrument, the predecessor could order that
 *   instrument again although nobody had lifted the restriction.
 * - Where the successor's copy of a restriction on all instruments was lifted before another
 *   instrument follows, the move of that instrument opens a new copy, because the lift was not about
 *   its units. A lifted copy of a restriction on one instrument is opened again only by a move of
 *   that instrument.
 * - With the last instrument all other restrictions in force are copied too, on whichever
 *   instrument: the successor is the same person.
 */
export const carry = Effect.fn("restriction.carry")(function* (carrying: CarriedMove, act: Act) {
  const records = yield* Records
  yield* lockRestrictions
  const { from, instrumentId, holderLeft } = carrying
  const bearing = yield* inForce({
    holderIds: [from.holderId],
    ...(holderLeft === "nothing" ? {} : { instrumentId })
  })
  // Read again by id: a list by holder reads committed records only, not this transaction's writes.
  const sources = (yield* records.many(
    restrictions,
    bearing.map(({ restrictionId }) => restrictionId)
  )).filter(({ state }) => Machine.allows(RestrictionMachine, state, "carry"))
  const opened = yield* opening(sources, carrying, act)
  const carried = holderLeft === "nothing" ? sources : []
  for (const restriction of carried) {
    yield* records.append(restrictions, restriction, { on: "carry", at: act.now }, act)
  }
  return opened
})

/** Opens the restrictions that the successor does not have yet. */
const opening = Effect.fnUntraced(function* (
  sources: ReadonlyArray<Stored<Restriction>>,
  { to, operationId, by, instrumentId: moved }: CarriedMove,
  act: Act
) {
  const records = yield* Records
  const copied = new Set(
    (yield* inForce({ holderIds: [to.holderId] })).map(({ supersedes }) => supersedes)
  )
  const elsewhere = sources.filter(
    ({ instrumentId }) => instrumentId !== null && instrumentId !== moved
  )
  if (elsewhere.length > 0) {
    const supersedes = elsewhere.map(({ restrictionId }) => restrictionId)
    const earlier = records.stream(restrictions, {
      where: { holderId: [to.holderId], supersedes }
    })
    yield* Stream.runForEach(earlier, ({ record }) =>
      Effect.sync(() => copied.add(record.supersedes))
    )
  }
  const drafts = sources
    .filter(({ restrictionId }) => !copied.has(restrictionId))
    .map((source) => ({
      ...draftOf(source),
      restrictionId: idOf(source.restrictionId, operationId),
      holderId: to.holderId,
      party: to.party,
      by,
      from: act.now,
      supersedes: source.restrictionId,
      operationId
    }))
  const ids = drafts.map(({ restrictionId }) => restrictionId)
  const opened = new Set(
    (yield* records.many(restrictions, ids)).map(({ restrictionId }) => restrictionId)
  )
  return yield* Effect.forEach(
    drafts.filter(({ restrictionId }) => !opened.has(restrictionId)),
    (draft) =>
      records
        .open(restrictions, draft, act)
        .pipe(
          Effect.catchTag("Refused", () =>
            Effect.die(new Error("a carried restriction was opened twice"))
          )
        )
  )
})

/** Members that are copied to the successor: mode, reason, order, end. */
const draftOf = ({ instrumentId, mode, reason, order, autoReleaseAt }: Restriction) => ({
  instrumentId,
  mode,
  reason,
  order,
  autoReleaseAt,
  state: RestrictionMachine.initial,
  liftedBy: null,
  liftReason: null,
  endedAt: null
})

/**
 * Id of the successor's restriction, the same each time the same move is read. It begins with the
 * id of the first restriction of the chain, so that ids do not grow with every recovery.
 */
const idOf = (source: RestrictionId, operationId: string): RestrictionId =>
  RestrictionId.make(`${source.split("~")[0]}~${operationId}`)
