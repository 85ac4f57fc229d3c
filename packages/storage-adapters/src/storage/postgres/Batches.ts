/**
 * Batch loader of a transaction or of a reading scope: calls that its fibers make in the same turn of
 * the event loop share one statement, as the members of a group commit and the look-ups of a page do.
 */
import type { StorageUnavailable } from "@bursar/engine-core/ports"
import { Effect, Exit, Request, RequestResolver } from "effect"

/** A transaction or a reading scope. */
interface Unit {
  /** Notes that a statement may still run although no fiber waits for it. */
  readonly abandon: () => void
  /** Gate that a batch waits for, with whatever else waits for it; absent: the next turn of the event loop. */
  readonly turn?: Effect.Effect<void>
}

/** A call that waits for the statement of its batch. */
class WaitingCall<A, B> extends Request.Class<
  { readonly unit: Unit; readonly call: A },
  B,
  StorageUnavailable
> {}

/**
 * Makes a function that answers a call inside a unit together with the calls beside it, and any other
 * call alone. `together` returns the answers in the order of its calls, of which there are at least
 * two.
 */
export const make = <A, B>(
  current: Effect.Effect<Unit | undefined>,
  {
    alone,
    together
  }: {
    readonly alone: (call: A) => Effect.Effect<B, StorageUnavailable>
    readonly together: (
      calls: readonly [A, ...ReadonlyArray<A>]
    ) => Effect.Effect<ReadonlyArray<B>, StorageUnavailable>
  }
): ((call: A) => Effect.Effect<B, StorageUnavailable>) => {
  const answers = (calls: readonly [A, ...ReadonlyArray<A>]) =>
    calls.length === 1 ? Effect.map(alone(calls[0]), (answer) => [answer]) : together(calls)

  const resolver = RequestResolver.makeWith<WaitingCall<A, B>>({
    batchKey: ({ request }) => request.unit,
    delay: Effect.flatMap(current, (unit) => unit?.turn ?? Effect.yieldNow),
    collectWhile: () => true,
    runAll: ([first, ...more]) =>
      Effect.map(
        answers([first.request.call, ...more.map(({ request }) => request.call)]),
        (all) => {
          for (const [index, entry] of [first, ...more].entries()) {
            entry.completeUnsafe(Exit.succeed(all[index]!))
          }
        }
      )
  })

  return (call) =>
    Effect.flatMap(current, (unit) =>
      unit === undefined
        ? alone(call)
        : Effect.onInterrupt(Effect.request(new WaitingCall<A, B>({ unit, call }), resolver), () =>
            // The statement runs on for the calls beside this one, until the transaction ends.
            Effect.sync(unit.abandon)
          )
    )
}
