/** Transactions of records: group commit, a transaction alone with its retries, locks, rehearsals. */
import { Effect, type Scope } from "effect"
import { type Unavailable, unavailable } from "../kernel/Refusal.ts"
import type { Atomically } from "../ports/storage/Atomically.ts"
import type { StorageUnavailable, VersionMoved } from "../ports/storage/StorageError.ts"
import * as GroupCommit from "./GroupCommit.ts"
import { isDeadlock, storeUnavailable } from "./PortFailure.ts"
import type { Records } from "./Records.ts"
import * as UnitOfWork from "./UnitOfWork.ts"

/** Largest number of attempts of a transaction whose records other writers keep moving. */
const attemptsMax = 16

type Flush = (work: UnitOfWork.UnitOfWork) => Effect.Effect<void, VersionMoved | StorageUnavailable>

/** Runs an effect on a new unit of work and flushes it, in one transaction of the store. */
const attempt =
  (atomically: Atomically["Service"], flush: Flush) =>
  <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | VersionMoved | StorageUnavailable, R> =>
    Effect.suspend(() => {
      const work = UnitOfWork.make()
      return Effect.tap(
        atomically.run(
          Effect.tap(Effect.provideService(effect, UnitOfWork.Current, work), flush(work))
        ),
        () => Effect.all(work.committed, { discard: true })
      )
    })

/** Runs one transaction by itself, and again after a deadlock or where another writer was first. */
const retried = <A, E, R>(
  transaction: Effect.Effect<A, E | VersionMoved | StorageUnavailable, R>,
  retriesLeft: number = attemptsMax - 1
): Effect.Effect<A, E | Unavailable, R> =>
  transaction.pipe(
    Effect.catchIf(
      (error): error is Exclude<typeof error, E> =>
        isMoved(error) || isStorageUnavailable(error) || isDeadlock(error),
      (error): Effect.Effect<A, E | Unavailable, R> => {
        if (isStorageUnavailable(error) && !isDeadlock(error)) {
          return Effect.fail(storeUnavailable(error))
        }
        return retriesLeft > 0
          ? retried(transaction, retriesLeft - 1)
          : Effect.fail(unavailable("overloaded", "Too many writers are at the same record.", 1))
      }
    )
  ) as Effect.Effect<A, E | Unavailable, R>

/**
 * Runs an effect by `run`, with the consequences of its changes, but where a transaction is open inside
 * that one.
 */
const joining =
  (
    run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>,
    settle: Effect.Effect<void, Unavailable>
  ) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> =>
    Effect.flatMap(UnitOfWork.current, (outer) =>
      outer === undefined ? run(Effect.tap(effect, settle)) : effect
    )

/** The members of `Records` that open, lock and rehearse transactions. */
export const make = (parts: {
  readonly scope: Scope.Scope
  readonly atomically: Atomically["Service"]
  readonly flush: Flush
  /** Runs the consequences of the transaction's changes. */
  readonly settle: Effect.Effect<void, Unavailable>
}): Pick<Records["Service"], "transact" | "transactAlone" | "lock" | "rehearse"> => {
  const { scope, atomically, flush, settle } = parts
  const run = attempt(atomically, flush)
  const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) => retried<A, E, R>(run(effect))
  const groupCommit = GroupCommit.make({ scope, atomically, flush, alone })
  return {
    transact: joining(groupCommit.join, settle),
    transactAlone: joining(alone, settle),
    lock: Effect.fnUntraced(function* (name: string) {
      const work = yield* UnitOfWork.within
      if (work.locks.has(name)) return
      const whole = UnitOfWork.wholeOf(work)
      if (whole.locks.has(name)) return yield* Effect.die(new GroupCommit.LockHeldInGroup(name))
      work.locks.add(name)
      whole.locks.add(name)
      yield* atomically.lock(name)
    }, Effect.mapError(storeUnavailable)),
    rehearse: (effect) =>
      Effect.flatMap(UnitOfWork.current, (outer) =>
        Effect.provideService(effect, UnitOfWork.Current, UnitOfWork.rehearsal(outer))
      )
  }
}

const hasTag = (error: unknown, tag: string): boolean =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === tag

const isMoved = (error: unknown): error is VersionMoved => hasTag(error, "VersionMoved")

const isStorageUnavailable = (error: unknown): error is StorageUnavailable =>
  hasTag(error, "StorageUnavailable")
