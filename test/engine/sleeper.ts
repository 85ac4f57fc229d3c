/**
 * Instance that falls asleep at any of its calls to its ports, as a process does whose machine is
 * paused: all of its fibers stop, their timers run on, and it continues wherever it was once it is
 * woken.
 */
import { Engine, type Operation, type FromLedger } from "@bursar/engine-core"
import { Atomically, Ledger, ProjectionLog, WorkQueue } from "@bursar/engine-core/ports"
import { Context, Deferred, Effect, Layer, Stream } from "effect"

export interface Sleeper {
  readonly wake: Effect.Effect<void>
  readonly isAsleep: () => boolean
  /** Number of calls that it has made. */
  readonly calls: () => number
  readonly engine: Layer.Layer<Engine.Services, never, Engine.Ports>
}

/**
 * `at` counts calls from 1, since `isCounting` held first; `after`: the call itself is still made, and
 * its answer is read when the instance wakes.
 */
export interface Sleep {
  readonly at: number
  readonly side: "before" | "after"
}

/** Whether a call is part of a transaction: those end with their connection, and are fenced. */
const InTransaction = Context.Reference<boolean>("test/engine/InTransaction", {
  defaultValue: () => false
})

export const make = (options: {
  readonly operations: ReadonlyArray<Operation.Operation>
  readonly fromLedger: ReadonlyArray<FromLedger.FromLedger>
  readonly sleep: Sleep
  /** Calls are counted while this holds. */
  readonly isCounting: () => boolean
}): Sleeper => {
  const woken = Deferred.makeUnsafe<void>()
  let calls = 0
  let isAsleep = false
  const awake = Effect.suspend(() => (isAsleep ? Deferred.await(woken) : Effect.void))
  const fallAsleep = Effect.sync(() => {
    isAsleep = !Deferred.isDoneUnsafe(woken)
  })
  const call = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(InTransaction, (isInside) => {
      if (isInside) return effect
      return Effect.andThen(
        awake,
        Effect.suspend(() => {
          if (options.isCounting()) calls += 1
          const isLast = options.isCounting() && calls === options.sleep.at
          const before = isLast && options.sleep.side === "before" ? fallAsleep : Effect.void
          const after = isLast && options.sleep.side === "after" ? fallAsleep : Effect.void
          return before.pipe(
            Effect.andThen(awake),
            Effect.andThen(Effect.exit(effect)),
            Effect.tap(() => Effect.andThen(after, awake)),
            Effect.flatten
          )
        })
      )
    })
  const ledger = Effect.map(Ledger.Ledger, (port): Ledger.Ledger["Service"] => ({
    ...port,
    submit: (submission) => call(port.submit(submission)),
    outcome: (query) => call(port.outcome(query)),
    ledgerEnd: call(port.ledgerEnd),
    horizon: call(port.horizon),
    updates: (query) => Stream.tap(port.updates(query), () => awake)
  }))
  const queue = Effect.map(WorkQueue, (port): WorkQueue["Service"] => ({
    ...port,
    lease: (query) => call(port.lease(query)),
    renew: (lease, millis) => call(port.renew(lease, millis)),
    release: (lease, how) => call(port.release(lease, how)),
    hasten: (items) => call(port.hasten(items))
  }))
  const log = Effect.map(ProjectionLog, (port): ProjectionLog["Service"] => ({
    ...port,
    hasCommand: (commandId) => call(port.hasCommand(commandId)),
    head: call(port.head)
  }))
  const atomically = Effect.map(Atomically, (port): Atomically["Service"] => ({
    ...port,
    run: (effect) =>
      Effect.flatMap(InTransaction, (isInside) =>
        isInside
          ? port.run(effect)
          : call(port.run(Effect.provideService(effect, InTransaction, true)))
      )
  }))
  const { isCounting: _, sleep: __, ...declared } = options
  const engine = Engine.layerOf(declared).pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.effect(Ledger.Ledger, ledger),
        Layer.effect(WorkQueue, queue),
        Layer.effect(ProjectionLog, log),
        Layer.effect(Atomically, atomically)
      )
    )
  )
  return {
    wake: Effect.andThen(
      Effect.sync(() => {
        isAsleep = false
      }),
      Effect.asVoid(Deferred.succeed(woken, undefined))
    ),
    isAsleep: () => isAsleep,
    calls: () => calls,
    engine: Layer.fresh(engine)
  }
}
