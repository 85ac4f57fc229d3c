/** Look-up of a holder's restrictions on its successors, to whom recoveries carried them. */
import { Effect, Option } from "effect"
import { type Holder, holderParties, holders } from "../../holders/holder/Holder.ts"
import { Records } from "../../records/Records.ts"
import { inForce } from "./RestrictionLookups.ts"

/**
 * The restrictions in force on what a holder is still owed, as its own: those on itself, and those
 * that recoveries have carried to whoever followed it. Once it is succeeded all of its successors'
 * count: they are the same person, and what is owed is owed to that person. One look-up more for
 * each successor after the first.
 */
export const followed = Effect.fn("controls.followed")(function* (of: {
  readonly holderId: string
  readonly instrumentId: string
}) {
  const records = yield* Records
  const { holderId, instrumentId } = of
  const holder = Option.getOrNull(yield* records.find(holders, holderId))
  const heirs = holder === null ? [] : yield* heirsOf(holder)
  const found = yield* inForce({
    holderIds: [holderId, ...heirs.map((heir) => heir.holderId)],
    instrumentId
  })
  return found
    .filter(
      (one) => one.holderId === holderId || one.supersedes !== null || holder?.state === "succeeded"
    )
    .map((one) => ({ ...one, holderId }))
})

/** The holder's successors and theirs in turn: a party succeeds one holder at most. */
const heirsOf = Effect.fnUntraced(function* (holder: Holder) {
  const records = yield* Records
  const heirs: Array<Holder> = []
  let last = holder
  while (last.successor !== null) {
    const known = yield* records.find(holderParties, last.successor.party)
    const next = Option.isNone(known) ? known : yield* records.find(holders, known.value.holderId)
    if (Option.isNone(next)) break
    heirs.push(next.value)
    last = next.value
  }
  return heirs
})
