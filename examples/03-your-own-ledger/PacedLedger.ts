/**
 * A ledger adapter of your own: limits the submissions in flight, and answers "busy" beyond the
 * limit.
 */
import { Ledger } from "@bursar/engine-core/ports"
import { type Duration, Effect, Layer } from "effect"

export interface Pace {
  /** Largest number of submissions in flight. */
  readonly atOnce: number
  /** Time after which a refused caller should retry. */
  readonly retryAfter: Duration.Duration
}

// #region an adapter
type Port = Ledger.Ledger["Service"]

/**
 * Wraps a ledger with the limit. "Busy" says for certain that nothing was submitted, and may be
 * answered only then; the engine submits the same command again.
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

/** Layer that wraps the ledger provided to it. */
export const layer = (pace: Pace): Layer.Layer<Ledger.Ledger, never, Ledger.Ledger> =>
  Layer.effect(
    Ledger.Ledger,
    Effect.map(Ledger.Ledger, (inner) => make(inner, pace))
  )
// #endregion
