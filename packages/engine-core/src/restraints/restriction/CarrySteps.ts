/** Carries a holder's restrictions to its successor in a recovery. */
import { Effect, Stream } from "effect"
import type { Holder } from "../../holders/holder/Holder.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { inForce, inTurn } from "./RestrictionLookups.ts"
import { type Restriction, RestrictionId, restrictions } from "./Restriction.ts"
import { RestrictionMachine } from "./RestrictionMachine.ts"

/** One instrument that a recovery has moved, or part of it. */
export interface Carrying {
  readonly from: Pick<Holder, "holderId">
  readonly to: Pick<Holder, "holderId" | "party">
  /** What was moved. */
  readonly instrumentId: string
  /**
   * What the predecessor still holds after the move: units of this instrument, units of others
   * only, or nothing.
   */
  readonly left: "units" | "other-instruments" | "nothing"
  /** The recovery, and who asked for it, by sub. */
  readonly operationId: string
  readonly by: string
}

/**
 * Carries what is in force on the predecessor: for each restriction that bears on what was moved the
 * successor gets one of its own, the same in all but its holder, since now, with `supersedes`. It is
 * called inside the transaction that notes the move, once for each instrument that moved, with what
 * is left by then; called again for the same move it changes nothing. It answers what it opened.
 *
 * - What bears on the moved instrument is copied with it, and ends on the predecessor as `carried`
 *   once nothing is left there of any instrument; until then both stand. Did it end with its own
 *   instrument, the predecessor could order that one anew, and nobody would have lifted anything.
 * - Should the successor's copy of one on everything have been lifted when a further instrument
 *   follows, that one brings it along again: its units were not what the lift was about. A lifted
 *   copy of one on a single instrument comes again with units of that instrument alone.
 * - With the last instrument everything else that is in force follows, on whichever instrument: the
 *   successor is the same person.
 */
export const carry = Effect.fn("restriction.carry")(function* (carrying: Carrying, act: Act) {
  const records = yield* Records
  yield* inTurn
  const { from, instrumentId, left } = carrying
  const bearing = yield* inForce({
    holderIds: [from.holderId],
    ...(left === "nothing" ? {} : { instrumentId })
  })
  // Read again by id, because a look-up by holder does not see this transaction's own writes.
  const sources = (yield* records.many(
    restrictions,
    bearing.map(({ restrictionId }) => restrictionId)
  )).filter(({ state }) => Machine.allows(RestrictionMachine, state, "carry"))
  const opened = yield* opening(sources, carrying, act)
  const gone = left === "nothing" ? sources : []
  for (const one of gone) {
    yield* records.record(restrictions, one, { on: "carry", at: act.now }, act)
  }
  return opened
})

/** Opens the successor's restrictions that it does not have yet. */
const opening = Effect.fnUntraced(function* (
  sources: ReadonlyArray<Stored<Restriction>>,
  { to, operationId, by, instrumentId: moved }: Carrying,
  act: Act
) {
  const records = yield* Records
  const has = new Set((yield* inForce({ holderIds: [to.holderId] })).map((one) => one.supersedes))
  const elsewhere = sources.filter(
    ({ instrumentId }) => instrumentId !== null && instrumentId !== moved
  )
  if (elsewhere.length > 0) {
    const supersedes = elsewhere.map(({ restrictionId }) => restrictionId)
    const followed = records.stream(restrictions, {
      where: { holderId: [to.holderId], supersedes }
    })
    yield* Stream.runForEach(followed, ({ record }) =>
      Effect.sync(() => has.add(record.supersedes))
    )
  }
  const drafts = sources
    .filter(({ restrictionId }) => !has.has(restrictionId))
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
  const there = new Set(
    (yield* records.many(restrictions, ids)).map(({ restrictionId }) => restrictionId)
  )
  return yield* Effect.forEach(
    drafts.filter(({ restrictionId }) => !there.has(restrictionId)),
    (draft) =>
      records
        .open(restrictions, draft, act)
        .pipe(Effect.catchTag("Refused", () => Effect.die(new Error("an id was taken twice"))))
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
 * The successor's restriction id, the same however often the same move is read. What was carried
 * here before keeps the id that the first of its line began with, so that ids do not grow with
 * every recovery.
 */
const idOf = (source: RestrictionId, operationId: string): RestrictionId =>
  RestrictionId.make(`${source.split("~")[0]}~${operationId}`)
