/** Steps that name a holder's successor, by the operation and after a snapshot of the ledger. */
import { Effect, Option } from "effect"
import { Settings } from "../../engine/Settings.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import type { Act } from "../../records/Act.ts"
import * as Consequence from "../../records/Consequence.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Holder, holderParties, holders, isEnded } from "./Holder.ts"

/** Checks whether the holder has named a successor that has not ended; an ended one can be replaced. */
export const hasSuccessor = Effect.fnUntraced(function* ({ successor }: Pick<Holder, "successor">) {
  if (successor === null) return false
  const records = yield* Records
  const entry = yield* records.find(holderParties, successor.party)
  if (Option.isNone(entry)) return false
  const named = yield* records.find(holders, entry.value.holderId)
  return Option.isSome(named) && !isEnded(named.value)
})

/**
 * Names a holder's successor, usable once the deployment's cooling time has passed since the
 * successor's registration.
 */
export const nameSuccessor = Effect.fnUntraced(function* (
  holder: Stored<Holder>,
  { party, registeredAt }: Pick<Holder, "party" | "registeredAt">,
  act: Act
) {
  const records = yield* Records
  const { successorCooling } = yield* Settings
  const usableFrom = Instant.add(registeredAt, successorCooling)
  const fact = {
    on: "name-successor",
    successor: { party, registeredAt, usableFrom },
    at: act.now
  } as const
  return yield* records.append(holders, holder, fact, act)
})

/**
 * Consequence of a snapshot: names a holder whose contract states a predecessor as the successor of
 * that one, whose own contract states none. The predecessor may be read after its successor, so that
 * this is done once all contracts of the snapshot are read (docs/domain/holders.md#successors).
 */
const ofSnapshot = Consequence.define({
  doc: "Names the successor of a holder that a snapshot of the ledger shows as a predecessor.",
  collection: holders,
  concerns: ({ before, after: { holderId, party, predecessor, registeredAt } }) =>
    before === undefined && predecessor !== null
      ? { key: holderId, subject: { party, predecessor, registeredAt } }
      : null,
  follow: Effect.fnUntraced(function* (opened, act) {
    if (!Snapshot.isOf({ act })) return
    const records = yield* Records
    for (const { party, predecessor, registeredAt } of opened) {
      const holder = Option.getOrNull(yield* records.find(holders, predecessor))
      if (holder === null || (yield* hasSuccessor(holder))) continue
      yield* nameSuccessor(holder, { party, registeredAt }, act)
    }
  })
})

export const consequences = [ofSnapshot] as const
