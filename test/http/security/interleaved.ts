/** Store and ledger in which every call waits for a turn, in an order that fast-check chooses. */
import { Atomically, Ids, type Ledger } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { Context, Effect, Layer } from "effect"
import type * as fc from "fast-check"

/** Scheduler that orders the calls; null: calls do not wait. */
export interface Turns {
  scheduler: fc.Scheduler | null
}

/** Set inside a transaction: what joins it does not wait again. */
const Inside = Context.Reference<"transaction" | "none">("@bursar/test/interleaved/Inside", {
  defaultValue: () => "none"
})

const turn = (turns: Turns, label: string) =>
  Effect.suspend(() => {
    const { scheduler } = turns
    return scheduler === null
      ? Effect.void
      : Effect.asVoid(Effect.promise(() => scheduler.schedule(Promise.resolve(), label)))
  })

/** The store in memory; each transaction waits before it begins, and before its caller hears of it. */
export const storage = (turns: Turns): Layer.Layer<Memory.Storage> =>
  Layer.effect(
    Atomically,
    Effect.map(Atomically, (port): Atomically["Service"] => ({
      ...port,
      run: (effect) =>
        Effect.flatMap(Inside, (inside) =>
          inside === "transaction"
            ? port.run(effect)
            : turn(turns, "transaction").pipe(
                Effect.andThen(port.run(Effect.provideService(effect, Inside, "transaction"))),
                Effect.tap(turn(turns, "committed"))
              )
        )
    }))
  ).pipe(Layer.provideMerge(Memory.layer))

/**
 * The ledger; a submission waits for a turn before it is sent, and again before its answer is
 * returned.
 */
export const ledger =
  (turns: Turns) =>
  (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
    ...port,
    submit: (submission) =>
      turn(turns, "sent").pipe(
        Effect.andThen(port.submit(submission)),
        Effect.tap(turn(turns, "answered"))
      )
  })

/** Ids in the order in which they are made: a walk is the same walk whenever its seed is. */
export const ids = Layer.sync(Ids, () => {
  let made = 0
  const next = (length: number) => String(++made).padStart(length, "0")
  return {
    make: (prefix) => Effect.sync(() => `${prefix}_01M0000000${next(16)}`),
    uuid: Effect.sync(() => `00000000-0000-4000-8000-${next(12)}`),
    bytes: (count) => Effect.sync(() => new TextEncoder().encode(next(count)).slice(-count))
  }
})

const breath = () => new Promise<void>((done) => setImmediate(done))

/** After each turn every fiber runs on until it waits again, so that the next choice is among all. */
export const act = async (turned: () => Promise<unknown>): Promise<unknown> => {
  const done = await turned()
  await breath()
  await breath()
  return done
}
