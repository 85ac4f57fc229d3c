/** Loads a holder's restrictions, also those that recoveries carried to its successors. */
import { Effect, Option } from "effect"
import { type Holder, holderParties, holders } from "../../holders/holder/Holder.ts"
import { Records } from "../../records/Records.ts"
import { inForce } from "./RestrictionLookups.ts"

/**
 * Loads the restrictions in force on cash that a holder is still owed, with the holder's own id:
 * those of the holder, and those that recoveries carried to its successors. Once the holder is
 * succeeded all restrictions of its successors count, since they are the same person. Each
 * successor costs two more queries.
 */
export const followed = Effect.fn("controls.followed")(function* ({
  holderId,
  instrumentId
}: {
  readonly holderId: string
  readonly instrumentId: string
}) {
  const records = yield* Records
  const holder = Option.getOrNull(yield* records.find(holders, holderId))
  const successors = holder === null ? [] : yield* successorsOf(holder)
  const found = yield* inForce({
    holderIds: [holderId, ...successors.map((successor) => successor.holderId)],
    instrumentId
  })
  return found
    .filter(
      (restriction) =>
        restriction.holderId === holderId ||
        restriction.supersedes !== null ||
        holder?.state === "succeeded"
    )
    .map((restriction) => ({ ...restriction, holderId }))
})

/** Loads the chain of a holder's successors; a party succeeds one holder at most. */
const successorsOf = Effect.fnUntraced(function* (holder: Holder) {
  const records = yield* Records
  const successors: Array<Holder> = []
  let current = holder
  while (current.successor !== null) {
    const entry = yield* records.find(holderParties, current.successor.party)
    const next = Option.isNone(entry) ? entry : yield* records.find(holders, entry.value.holderId)
    if (Option.isNone(next)) break
    successors.push(next.value)
    current = next.value
  }
  return successors
})
