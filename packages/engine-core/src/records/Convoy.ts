/** Transactions that wait at the same time travel together: one commit, one stamp, for all of them. */
import { Cause, type Context, Deferred, Effect, Exit, type Scope } from "effect"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Atomically } from "../ports/storage/Atomically.ts"
import type { StorageUnavailable, VersionMoved } from "../ports/storage/StorageError.ts"
import * as UnitOfWork from "./UnitOfWork.ts"

/**
 * The most transactions in one. Every writer holds the feed's head until its commit is on disk, so
 * alone they follow one another at the disk's pace; together they share that wait. More than this
 * gains little and makes the first one wait for the last.
 */
const ridersMax = 64

/** Thrown at a rider whose lock another rider of the same convoy holds: it takes the next one. */
export class Crowded {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

interface Rider {
  readonly effect: Effect.Effect<unknown, unknown>
  readonly answer: Deferred.Deferred<unknown, unknown>
}

export interface Convoy {
  /**
   * Runs `effect` as a part of the next transaction: what it sees and what it leaves is as if it
   * had been alone, after the riders before it. A rider that fails leaves nothing; one that is
   * interrupted once under way is carried to its end.
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

  /** One rider's part of the convoy's transaction; its failure takes back the part alone. */
  const board = (rider: Rider, convoy: UnitOfWork.UnitOfWork) =>
    Effect.gen(function* () {
      const own = UnitOfWork.make(convoy)
      const exit = yield* Effect.exit(
        of.atomically.run(Effect.provideService(rider.effect, UnitOfWork.Current, own))
      )
      if (Exit.isSuccess(exit)) UnitOfWork.merge(convoy, own)
      else for (const name of own.locks) convoy.locks.delete(name)
      return exit
    })

  const isCrowded = (exit: Exit.Exit<unknown, unknown>): boolean =>
    Exit.isFailure(exit) &&
    exit.cause.reasons.some(
      (reason) => Cause.isDieReason(reason) && reason.defect instanceof Crowded
    )

  const together = (riders: ReadonlyArray<Rider>) =>
    Effect.gen(function* () {
      const exits: Array<Exit.Exit<unknown, unknown>> = []
      const whole = yield* Effect.exit(
        of.atomically.run(
          Effect.gen(function* () {
            const convoy = UnitOfWork.make()
            for (const rider of riders) exits.push(yield* board(rider, convoy))
            yield* of.flush(convoy)
          })
        )
      )
      const next: Array<Rider> = []
      for (const [index, rider] of riders.entries()) {
        const exit = exits[index]
        // Nothing of a convoy that failed is there: each goes by itself, and fails by itself.
        if (Exit.isFailure(whole) || exit === undefined) yield* byItself(rider)
        else if (isCrowded(exit)) next.push(rider)
        // A record that moved under one rider concerns that rider alone.
        else if (Exit.isFailure(exit) && UnitOfWork.isMoved(exit.cause)) yield* byItself(rider)
        else yield* Deferred.done(rider.answer, exit)
      }
      waiting.unshift(...next)
    })

  const drive = Effect.gen(function* () {
    while (true) {
      const riders = waiting.splice(0, ridersMax)
      if (riders.length === 0) {
        // In one breath with seeing that nobody waits: whoever comes next drives.
        driving = false
        return
      }
      const [only] = riders
      yield* (riders.length === 1 && only !== undefined ? byItself(only) : together(riders)).pipe(
        // The engine stops: whoever is aboard learns that it is not known how it ended.
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
          answer: answer as Deferred.Deferred<unknown, unknown>
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
