/**
 * Locks the id and the party of a new holder, so that two parallel registrations never share
 * one.
 */
import { Effect, Option } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import type * as Party from "../../kernel/Party.ts"
import { condition, failed, judge } from "../../kernel/Gates.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { OperationMachine } from "../../writes/OperationMachine.ts"
import { operations } from "../../writes/OperationRecord.ts"
import type { HolderId } from "./HolderId.ts"
import { holderParties, holders } from "./Holder.ts"
import { holderNameLocks } from "./HolderNameLock.ts"

interface NewHolder {
  readonly holderId: HolderId
  readonly party: Party.Party
}

/**
 * Judges that the holder id and the party are free and that the party is not the venue's, and
 * locks both in the transaction that plans the registration. Refuses `already-exists` where a
 * holder or another registration under way has one of them, and `rule-refused` for the venue's
 * party.
 */
export const judgeNew = Effect.fnUntraced(function* (
  { holderId, party }: NewHolder,
  act: OperationAct
) {
  const records = yield* Records
  const idName = `holder:${holderId}`
  const partyName = `party:${party}`
  const locks = yield* records.many(holderNameLocks, [idName, partyName])
  const underWay = yield* underWayOf(locks, act)
  if (underWay.has(idName) || Option.isSome(yield* records.find(holders, holderId))) {
    return yield* Effect.fail(
      refused("already-exists", failed("holder-id", { detail: "A holder of this id exists." }))
    )
  }
  if (underWay.has(partyName) || Option.isSome(yield* records.find(holderParties, party))) {
    return yield* Effect.fail(
      refused(
        "already-exists",
        failed("party", { party, detail: "The party is a holder already." })
      )
    )
  }
  yield* Effect.fromResult(judge([condition("holder-is-venue", party !== act.venue)]))
  const { operationId } = act
  for (const name of [idName, partyName]) {
    const before = locks.find((lock) => lock.name === name)
    yield* before === undefined
      ? records
          .open(holderNameLocks, { name, operationId }, act)
          .pipe(Effect.catchTag("Refused", (again) => Effect.die(new Error(again.slug))))
      : records.append(holderNameLocks, before, { on: "take", operationId }, act)
  }
})

/** Names that another registration has locked which has not ended. */
const underWayOf = Effect.fnUntraced(function* (
  locks: ReadonlyArray<{ readonly name: string; readonly operationId: string }>,
  act: OperationAct
) {
  const records = yield* Records
  const others = locks.filter(({ operationId }) => operationId !== act.operationId)
  const found = yield* records.many(operations, [
    ...new Set(others.map(({ operationId }) => operationId))
  ])
  const running = new Set(
    found
      .filter(({ state }) => !Machine.isTerminal(OperationMachine, state))
      .map(({ operationId }) => operationId as string)
  )
  return new Set(
    others.filter(({ operationId }) => running.has(operationId)).map(({ name }) => name)
  )
})
