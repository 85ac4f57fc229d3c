/**
 * Declaration of a consequence: a judgement of a room above, made in the transaction of a record's
 * change by any write, clock move or ledger update.
 */
import { Context, Effect } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { Bulk } from "../ports/storage/Bulk.ts"
import type { Act } from "./Act.ts"
import type { Records } from "./Records.ts"
import { current } from "./Transactions.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"

/** A record before and after a fact; `before` is undefined where the fact opened it. */
export interface Change<R = unknown> {
  readonly before: R | undefined
  readonly after: R
}

export interface Consequence<R = unknown, C = unknown> {
  /** One sentence: the judgement, and the change after which it is made. */
  readonly doc: string
  readonly collection: Pick<Collection<R>, "name">
  /** Subject of the change, as text that is equal where one judgement is enough; null: none. */
  concerns(change: Change<R>): { readonly key: string; readonly of: C } | null
  /** Judges what changes of one act concern, each once. Runs inside their transaction. */
  follow(
    concerned: ReadonlyArray<C>,
    act: Act
  ): Effect.Effect<void, Unavailable, Records | Bulk | Crypto>
}

/** Declares a consequence; the type of its record follows from the collection. */
export const define = <R, F, C>(
  declaration: Omit<Consequence<R, C>, "collection"> & { readonly collection: Collection<R, F> }
): Consequence<R, C> => declaration

/** All consequences; every write of a record looks up those of its collection. */
export const Declared = Context.Reference<ReadonlyArray<Consequence>>(
  "@bursar/engine-core/records/Consequence",
  { defaultValue: () => [] }
)

/** Largest number of rounds of consequences of consequences; more are a loop, which is a defect. */
const roundsMax = 8

const rounds = Effect.fnUntraced(function* ({ pending }: UnitOfWork) {
  for (let round = 0; pending.length > 0; round++) {
    if (round === roundsMax) return yield* Effect.die(new Error("consequences do not end"))
    for (const [{ follow }, ofOne] of Map.groupBy(pending.splice(0), (each) => each.consequence)) {
      for (const [act, ofAct] of Map.groupBy(ofOne, (each) => each.act)) {
        yield* follow([...new Map(ofAct.map(({ key, of }) => [key, of])).values()], act)
      }
    }
  }
})

/**
 * Runs the consequences of what the transaction has changed since the last time, act by act: at the end
 * of every transaction, and of each ledger update inside one. Does nothing outside a transaction.
 */
export const settle: Effect.Effect<void, Unavailable, Records | Bulk | Crypto> = Effect.flatMap(
  current,
  (work) =>
    // Fast path: nearly every transaction makes no change with consequences, and then starts no
    // generator.
    work === undefined || work.pending.length === 0 ? Effect.void : rounds(work)
)
