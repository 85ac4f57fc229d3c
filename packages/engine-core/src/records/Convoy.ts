/**
 * Group commit: transactions that wait at the same time share one database transaction and one
 * stamp.
 */
import { Cause, type Context, Deferred, Effect, Exit, type Scope } from "effect"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Atomically } from "../ports/storage/Atomically.ts"
import type { StorageUnavailable, VersionMoved } from "../ports/storage/StorageError.ts"
import * as UnitOfWork from "./UnitOfWork.ts"

/**
 * Largest number of calls in one group commit. Every writer holds the feed's head until its commit
 * is on disk; a group shares that wait. Larger groups gain little and delay their first member.
 */
const ridersMax = 64

/**
 * Thrown at a member whose lock another member of the same group holds: it joins the next group.
 */
export class Crowded {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

interface Rider {
  readonly effect: Effect.Effect<unknown, unknown>
  readonly answer: Deferred.Deferred<unknown, unknown>
  /** Groups it was in that were rolled back. */
  turns: number
}

/** Rolled back groups after which a member runs in a transaction of its own. */
const turnsMax = 2

/** Members that run in transactions of their own at a time, each on its own connection. */
const byThemselvesMax = 8

/** A member failed, so the whole group is rolled back. */
const disembarked = Symbol("disembarked")

export interface Convoy {
  /**
   * Runs `effect` as a member of the next group commit, with the effect of running alone after the
   * members before it. A member that fails leaves nothing; one that is interrupted while its group
   * runs is carried to its end.
   */
  readonly ride: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
}

export const make = (of: {
  readonly scope: Scope.Scope
  readonly atomically: Atomically["Service"]
  readonly flush: (
    work: UnitOfWork.UnitOfWork
  ) => Effect.Effect<void, VersionMoved | StorageUnavailable>
  /** Runs one transaction by itself, again when another writer was first. */
  readonly alone: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
}): Convoy => {
  const waiting: Array<Rider> = []
  let driving = false

  const byItself = (rider: Rider) =>
    Effect.flatMap(Effect.exit(of.alone(rider.effect)), (exit) => Deferred.done(rider.answer, exit))

  /**
   * Runs one member inside the group's transaction: its writes join the group's once it succeeds.
   */
  const board = (rider: Rider, convoy: UnitOfWork.UnitOfWork) =>
    Effect.suspend(() => {
      const own = UnitOfWork.make(convoy)
      return Effect.map(
        Effect.exit(Effect.provideService(rider.effect, UnitOfWork.Current, own)),
        (exit) => {
          if (Exit.isSuccess(exit)) UnitOfWork.merge(convoy, own)
          return exit
        }
      )
    })

  const isCrowded = (exit: Exit.Exit<unknown, unknown>): boolean =>
    Exit.isFailure(exit) &&
    exit.cause.reasons.some(
      (reason) => Cause.isDieReason(reason) && reason.defect instanceof Crowded
    )

  /**
   * Runs members concurrently in one transaction, their statements pipelined on one connection.
   * There is no partial rollback: when one fails, the whole group is rolled back, the failed member
   * runs again by itself (it may have read writes that were rolled back), and the others join a new
   * group.
   */
  const together = (riders: ReadonlyArray<Rider>) =>
    Effect.gen(function* () {
      const exits = new Map<Rider, Exit.Exit<unknown, unknown>>()
      const convoy = UnitOfWork.make()
      const whole = yield* Effect.exit(
        of.atomically.run(
          Effect.gen(function* () {
            yield* Effect.forEach(
              riders,
              (rider) => Effect.map(board(rider, convoy), (exit) => void exits.set(rider, exit)),
              { concurrency: "unbounded", discard: true }
            )
            if ([...exits.values()].some(Exit.isFailure)) return yield* Effect.fail(disembarked)
            yield* of.flush(convoy)
          })
        )
      )
      if (Exit.isSuccess(whole)) {
        yield* Effect.all(convoy.committed, { discard: true })
        for (const [rider, exit] of exits) yield* Deferred.done(rider.answer, exit)
        return
      }
      const isParting = whole.cause.reasons.some(
        (reason) => Cause.isFailReason(reason) && reason.error === disembarked
      )
      const again: Array<Rider> = []
      const alone: Array<Rider> = []
      for (const rider of riders) {
        const exit = exits.get(rider)
        rider.turns += 1
        const goesOn = exit !== undefined && (Exit.isSuccess(exit) || isCrowded(exit))
        if (isParting && goesOn && rider.turns < turnsMax) again.push(rider)
        else alone.push(rider)
      }
      waiting.unshift(...again)
      yield* Effect.forEach(alone, byItself, { concurrency: byThemselvesMax, discard: true })
    })

  const drive = Effect.gen(function* () {
    while (true) {
      const riders = waiting.splice(0, ridersMax)
      if (riders.length === 0) {
        // Set in the same synchronous step as the check for waiting calls: the next caller starts a
        // group.
        driving = false
        return
      }
      const [only] = riders
      yield* (riders.length === 1 && only !== undefined ? byItself(only) : together(riders)).pipe(
        // The engine stops: members fail, because their outcome is not known.
        Effect.onInterrupt(() =>
          Effect.forEach(riders, (rider) => Deferred.interrupt(rider.answer), { discard: true })
        )
      )
    }
  }).pipe(
    Effect.onError(() =>
      Effect.sync(() => {
        driving = false
      })
    )
  )

  const ride: Convoy["ride"] = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.contextWith((context: Context.Context<R>) =>
      Effect.gen(function* () {
        const answer = yield* Deferred.make<A, E | Unavailable>()
        const rider: Rider = {
          effect: Effect.provideContext(effect, context),
          answer: answer as Deferred.Deferred<unknown, unknown>,
          turns: 0
        }
        waiting.push(rider)
        if (!driving) {
          driving = true
          yield* Effect.forkIn(drive, of.scope)
        }
        return yield* Effect.onInterrupt(Deferred.await(answer), () =>
          Effect.sync(() => {
            const at = waiting.indexOf(rider)
            if (at >= 0) waiting.splice(at, 1)
          })
        )
      })
    )

  return { ride }
}
