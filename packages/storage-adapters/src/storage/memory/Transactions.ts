/** Transactions of the memory store: one at a time, rolled back by an undo log. */
import type { StoreIdentity } from "@bursar/engine-core/ports"
import { Context, Effect, Exit, type Result, Semaphore } from "effect"

/** One open transaction: its undo log, and its actions after commit. */
export interface Transaction {
  readonly undo: Array<() => void>
  readonly afterCommit: Array<() => void>
  /** Counts the write transactions of a store, so that a head taken in another one is noticed. */
  readonly id: number
  ended: boolean
}

/**
 * Serial transactions: all calls, reads too, wait for the open one, so that none sees a change that
 * may be rolled back. A transaction that waits for a call of another fiber outside of it deadlocks.
 */
export interface Transactions {
  readonly store: StoreIdentity.StoreIdentity
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly read: <A>(f: () => A) => Effect.Effect<A>
  /** Runs `f` in the open transaction, or in a new one; an exception is a defect. */
  readonly write: <A>(f: (transaction: Transaction) => A) => Effect.Effect<A>
  /** As `write`, for a write that may be refused: a refusal is rolled back. */
  readonly attempt: <A, E>(
    f: (transaction: Transaction) => Result.Result<A, E>
  ) => Effect.Effect<A, E>
  /** Only inside `run`. */
  readonly inside: <A>(what: string, f: (transaction: Transaction) => A) => Effect.Effect<A>
}

let stores = 0

export const make = (): Transactions => {
  const turn = Semaphore.makeUnsafe(1)
  // A reference for each store, so that two memory stores in one program have separate
  // transactions.
  const Current = Context.Reference<Transaction | undefined>(
    `@bursar/storage-adapters/memory/Transaction/${++stores}`,
    { defaultValue: () => undefined }
  )
  let transactions = 0
  const open = (): Transaction => ({
    undo: [],
    afterCommit: [],
    id: ++transactions,
    ended: false
  })

  const current = <A, E, R>(
    f: (transaction: Transaction | undefined) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> =>
    Effect.flatMap(Current, (transaction) =>
      transaction?.ended === true
        ? Effect.die(new Error("This transaction has ended; its fiber outlived it."))
        : f(transaction)
    )

  const run: Transactions["run"] = (effect) =>
    current((outer) =>
      outer === undefined
        ? turn.withPermit(
            Effect.suspend(() => {
              const transaction = open()
              return effect.pipe(
                Effect.provideService(Current, transaction),
                Effect.onExit((exit) =>
                  Effect.sync(() => {
                    transaction.ended = true
                    if (Exit.isSuccess(exit)) commit(transaction)
                    else takeBack(transaction, 0)
                  })
                )
              )
            })
          )
        : Effect.suspend(() => {
            const mark = outer.undo.length
            const announced = outer.afterCommit.length
            return Effect.onExit(effect, (exit) =>
              Effect.sync(() => {
                if (Exit.isSuccess(exit)) return
                takeBack(outer, mark)
                outer.afterCommit.length = announced
              })
            )
          })
    )

  const inTurn = <A>(f: (transaction: Transaction) => A): Effect.Effect<A> =>
    turn.withPermit(
      Effect.sync(() => {
        const transaction = open()
        const answer = orTakeBack(transaction, f)
        commit(transaction)
        return answer
      })
    )

  const write: Transactions["write"] = (f) =>
    current((outer) => (outer === undefined ? inTurn(f) : Effect.sync(() => orTakeBack(outer, f))))

  return {
    store: { name: "memory" },
    run,
    read: (f) =>
      current((outer) => (outer === undefined ? turn.withPermit(Effect.sync(f)) : Effect.sync(f))),
    write,
    attempt: (f) => Effect.flatMap(write(f), Effect.fromResult),
    inside: (what, f) =>
      current((outer) =>
        outer === undefined
          ? Effect.die(new Error(`${what} is only possible inside Atomically.run.`))
          : Effect.sync(() => orTakeBack(outer, f))
      )
  }
}

/**
 * Appends apart from any open transaction. What is sealed may be so by a transaction of another fiber
 * that still fails: then the append waits for its end.
 */
export const unlessSealing = (
  transactions: Transactions,
  target: () => { readonly sealed: boolean } | undefined,
  append: () => void
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const isOver = target()?.sealed === true ? transactions.read(() => {}) : Effect.void
    return Effect.andThen(isOver, Effect.sync(append))
  })

const commit = (transaction: Transaction): void => {
  transaction.ended = true
  for (const announce of transaction.afterCommit) announce()
}

const takeBack = (transaction: Transaction, mark: number): void => {
  while (transaction.undo.length > mark) transaction.undo.pop()?.()
}

const orTakeBack = <A>(transaction: Transaction, f: (transaction: Transaction) => A): A => {
  const mark = transaction.undo.length
  try {
    return f(transaction)
  } catch (defect) {
    takeBack(transaction, mark)
    throw defect
  }
}
