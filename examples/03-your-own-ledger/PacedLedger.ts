/** A ledger adapter of your own: a node that takes only so many submissions at a time, and says so. */
import { Ledger } from "@bursar/engine-core/ports"
import { type Duration, Effect, Layer } from "effect"

export interface Pace {
  /** Submissions at the node at one time. */
  readonly atOnce: number
  /** When to come back, for those that find no place. */
  readonly retryAfter: Duration.Duration
}

type Port = Ledger.Ledger["Service"]

/**
 * The same ledger at a pace. "Busy" is one of the three honest answers of a port: a definite not now.
 * It may only be said when nothing was sent; the engine then sends the same command again.
 */
export const make = (inner: Port, { atOnce, retryAfter }: Pace): Port => {
  let under = 0
  const busy = new Ledger.Busy({
    code: "TOO_MANY_SUBMISSIONS",
    cause: `the node takes ${atOnce} submissions at a time`,
    category: 2,
    context: {},
    resources: [],
    retryAfter
  })
  return {
    ...inner,
    submit: (submission) =>
      Effect.acquireUseRelease(
        Effect.suspend(() => {
          if (under >= atOnce) return Effect.fail(busy)
          under += 1
          return Effect.void
        }),
        () => inner.submit(submission),
        () =>
          Effect.sync(() => {
            under -= 1
          })
      )
  }
}

/** In front of whichever ledger is provided. */
export const layer = (pace: Pace): Layer.Layer<Ledger.Ledger, never, Ledger.Ledger> =>
  Layer.effect(
    Ledger.Ledger,
    Effect.map(Ledger.Ledger, (inner) => make(inner, pace))
  )
