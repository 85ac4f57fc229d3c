/** Runs the consequences of the changes of a transaction, and the consequences of those. */
import { Effect } from "effect"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { Bulk } from "../ports/storage/Bulk.ts"
import type { Records } from "./Records.ts"
import { current, type UnitOfWork } from "./UnitOfWork.ts"

/** Largest number of rounds of consequences of consequences; more are a loop, which is a defect. */
const roundsMax = 8

const rounds = Effect.fnUntraced(function* ({ pending }: UnitOfWork) {
  for (let round = 0; pending.length > 0; round++) {
    if (round === roundsMax) return yield* Effect.die(new Error("consequences do not end"))
    for (const [{ follow }, ofOne] of Map.groupBy(pending.splice(0), (each) => each.consequence)) {
      for (const [act, ofAct] of Map.groupBy(ofOne, (each) => each.act)) {
        yield* follow([...new Map(ofAct.map(({ key, subject }) => [key, subject])).values()], act)
      }
    }
  }
})

/**
 * Runs the consequences of what the transaction has changed since the last time, act by act: at the end
 * of every transaction, and of each ledger update inside one. Does nothing outside a transaction.
 */
export const settleConsequences: Effect.Effect<void, Unavailable, Records | Bulk | Crypto> =
  Effect.flatMap(current, (work) =>
    // Fast path: nearly every transaction makes no change with consequences, and then starts no
    // generator.
    work === undefined || work.pending.length === 0 ? Effect.void : rounds(work)
  )
