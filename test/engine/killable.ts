/**
 * Instance that can be killed at any of its calls to the queue or the ledger, with all of its
 * fibers.
 */
import { Engine, type Operation, type FromLedger, type Timely } from "@bursar/engine-core"
import type { Collection } from "@bursar/engine-core/kernel"
import { Ledger, WorkQueue } from "@bursar/engine-core/ports"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"

export interface Life {
  /** Ends it at once; its calls never answer. */
  readonly kill: Effect.Effect<void>
  /** Number of calls that it has made. */
  readonly calls: () => number
  readonly engine: Layer.Layer<Engine.Services, never, Engine.Ports>
}

/** `at` counts calls from 1; the call itself is still made where `after` says so. */
export interface Death {
  readonly at: number
  readonly side: "before" | "after"
}

export const make = (options: {
  readonly operations: ReadonlyArray<Operation.Operation>
  readonly fromLedger: ReadonlyArray<FromLedger.FromLedger>
  readonly clocked?: ReadonlyArray<Collection.Collection>
  readonly timely?: ReadonlyArray<Timely.Timely>
  readonly death?: Death
}): Life => {
  const dead = Deferred.makeUnsafe<void>()
  let calls = 0
  const kill = Effect.asVoid(Deferred.succeed(dead, undefined))
  const killed = Effect.andThen(Deferred.await(dead), Effect.interrupt)
  const dying = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      calls += 1
      const last = calls === options.death?.at
      if (Deferred.isDoneUnsafe(dead)) return killed
      if (last && options.death?.side === "before") return Effect.andThen(kill, killed)
      // A call that was made reaches the other side, also where its caller dies.
      return Effect.flatMap(Effect.forkDetach(effect), (fiber) =>
        Effect.raceFirst(Fiber.join(fiber), killed)
      ).pipe(Effect.tap(() => (last ? Effect.andThen(kill, killed) : Effect.void)))
    })
  /** A call within a transaction, which is rolled back when its caller dies. */
  const inside = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      calls += 1
      const last = calls === options.death?.at
      if (last && options.death?.side === "before") return Effect.andThen(kill, killed)
      return Effect.tap(Deferred.isDoneUnsafe(dead) ? killed : effect, () =>
        last ? Effect.andThen(kill, killed) : Effect.void
      )
    })
  const ledger = Effect.map(Ledger.Ledger, (port): Ledger.Ledger["Service"] => ({
    ...port,
    submit: (submission) => dying(port.submit(submission)),
    outcome: (query) => dying(port.outcome(query)),
    ledgerEnd: dying(port.ledgerEnd),
    horizon: dying(port.horizon),
    describe: dying(port.describe),
    updates: (query) => Stream.interruptWhen(port.updates(query), killed)
  }))
  const queue = Effect.map(WorkQueue, (port): WorkQueue["Service"] => ({
    ...port,
    lease: (query) => dying(port.lease(query)),
    renew: (lease, millis) => dying(port.renew(lease, millis)),
    release: (lease, how) => dying(port.release(lease, how)),
    fence: (lease) => inside(port.fence(lease)),
    finish: (lease) => inside(port.finish(lease)),
    settle: (items) => inside(port.settle(items))
  }))
  const { death: _, ...declared } = options
  const engine = Engine.layerOf(declared).pipe(
    Layer.provide(
      Layer.mergeAll(Layer.effect(Ledger.Ledger, ledger), Layer.effect(WorkQueue, queue))
    )
  )
  return { kill, calls: () => calls, engine: Layer.fresh(engine) }
}
