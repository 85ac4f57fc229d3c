/** Rate limiter of subjects (GCRA), shared by all instances, with its headers. */
import { type Caller, Refusal, type Vocabulary } from "@bursar/engine-core"
import { Duration } from "@bursar/engine-core/kernel"
import { RateWindow } from "@bursar/engine-core/ports"
import { Clock, Context, Effect, Layer, Metric } from "effect"
import * as CallBudget from "./CallBudget.ts"
import * as Counters from "./Counters.ts"
import * as SharedCounts from "./SharedCounts.ts"

/** Rules of the limits of calls. */
export interface Rules {
  /** Calls within the window, which may all come at the same time. */
  readonly limit: number
  /** Length of the window in milliseconds. */
  readonly window: number
  /** Limits by role; the largest limit of a caller's roles applies. */
  readonly perRole: Readonly<Partial<Record<Vocabulary.Role, number>>>
}

/** Rest of the caller's budget after a call. */
export interface Budget {
  /** Refusal of the call; undefined where it is admitted. */
  readonly refused: Refusal.Refused<"rate-limited"> | undefined
  /** Budget headers of the answer. */
  readonly headers: Readonly<Record<string, string>>
}

/** Service that counts the calls of each caller. */
export class RateLimit extends Context.Service<
  RateLimit,
  {
    /** Limit and window that the tenant's public record announces. */
    readonly announced: { readonly limit: number; readonly window: string }
    /** Counts one call. A refused call is not counted. */
    readonly take: (caller: Caller.Caller) => Effect.Effect<Budget>
    /** Charges the cost of an answer beyond its call, even where the budget is used up. */
    readonly charge: (caller: Caller.Caller, calls: number) => Effect.Effect<void>
  }
>()("@bursar/http-host/middleware/RateLimit") {}

/** Timeout of the shared count. */
const countedWithin = "1 second"
/** Circuit breaker: milliseconds after a failure during which the shared store is not called. */
const aloneFor = 1_000

const microsPerSecond = 1_000_000

/** Constants of a limit's arithmetic, in microseconds. */
interface Cells {
  readonly role: Vocabulary.Role | null
  readonly limit: number
  readonly interval: number
  readonly tolerance: number
}

/** Limits of calls by rules, over the storage provided to it. */
export const layer = (
  rules: Rules & { readonly tenantId: string }
): Layer.Layer<RateLimit, never, RateWindow> =>
  Layer.effect(
    RateLimit,
    Effect.gen(function* () {
      const window = yield* RateWindow
      const together = SharedCounts.make((cost) => Effect.timeout(window.take(cost), countedWithin))
      const alone = CallBudget.make()
      let aloneUntil = Number.NEGATIVE_INFINITY

      const here = (cost: CallBudget.Cost) =>
        Effect.gen(function* () {
          yield* Metric.update(Counters.rateLimitAlone, 1)
          return alone(cost, Number((yield* Clock.currentTimeNanos) / 1000n))
        })

      /** Fails open: counts in this process where the shared store does not answer. */
      const count = (cost: CallBudget.Cost): Effect.Effect<CallBudget.BudgetVerdict> =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          if (now < aloneUntil) return yield* here(cost)
          return yield* together(cost).pipe(
            Effect.catch((unavailable) => {
              aloneUntil = now + aloneFor
              return Effect.andThen(
                Effect.logWarning("calls are counted by this instance alone", unavailable._tag),
                here(cost)
              )
            })
          )
        })

      // Unambiguous: a tenant's id has no slash.
      const subjectOf = ({ sub }: Caller.Caller) => `${rules.tenantId}/${sub}`

      return {
        announced: { limit: rules.limit, window: Duration.format(Duration.millis(rules.window)) },
        take: Effect.fnUntraced(function* (caller) {
          const cells = cellsOf(rules, caller.roles)
          const taken = yield* count({ subject: subjectOf(caller), cost: 1, ...cells })
          if (!taken.admitted) {
            yield* Metric.update(
              Metric.withAttributes(Counters.rateLimited, { role: cells.role ?? "none" }),
              1
            )
          }
          return budgetOf(cells, taken)
        }),
        charge: (caller, calls) => {
          if (calls <= 0) return Effect.void
          const { interval } = cellsOf(rules, caller.roles)
          const owed = { subject: subjectOf(caller), cost: calls, interval, tolerance: owedMax }
          return Effect.asVoid(count(owed))
        }
      }
    })
  )

/** Tolerance of charges after the answer: they are accepted at any balance. */
const owedMax = Number.MAX_SAFE_INTEGER

/**
 * Cells of the largest limit among the caller's roles. The tolerance is the window in whole cells,
 * so that exactly `limit` calls may come at the same time.
 */
const cellsOf = (
  { limit, window, perRole }: Rules,
  roles: ReadonlyArray<Vocabulary.Role>
): Cells => {
  const [first, ...others] = roles.map((role) => ({ role, limit: perRole[role] ?? limit }))
  const largest = others.reduce<{ role: Vocabulary.Role | null; limit: number }>(
    (best, candidate) => (candidate.limit > best.limit ? candidate : best),
    first ?? { role: null, limit }
  )
  const interval = Math.max(1, Math.round((window * 1000) / largest.limit))
  return { ...largest, interval, tolerance: interval * largest.limit }
}

const budgetOf = (
  { limit, interval, tolerance }: Cells,
  { admitted, ahead }: CallBudget.BudgetVerdict
): Budget => {
  const reset = Math.ceil(ahead / microsPerSecond)
  const retryAfter = Math.max(1, Math.ceil((ahead + interval - tolerance) / microsPerSecond))
  return {
    refused: admitted
      ? undefined
      : Refusal.refused("rate-limited", {
          detail: `The limit is ${limit} calls; the next is admitted in ${retryAfter} s.`,
          retryAfter
        }),
    headers: {
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(Math.max(0, Math.floor((tolerance - ahead) / interval))),
      "x-ratelimit-reset": String(reset)
    }
  }
}
