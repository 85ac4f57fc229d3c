/**
 * Tasks of retention: the daily run that deletes records past their period, in batches of one
 * transaction each, and the sweep of expired keys and idle rate budgets.
 */
import { Cause, Effect, Schema } from "effect"
import * as Metrics from "../engine/Metrics.ts"
import * as Retention from "../engine/Retention.ts"
import { Settings } from "../engine/Settings.ts"
import type { Collection } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Keys } from "../ports/storage/Keys.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { RateWindow } from "../ports/storage/RateWindow.ts"
import * as Audit from "../records/Audit.ts"
import { eachToItsEnd } from "../records/BatchedWork.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import { Records } from "../records/Records.ts"
import { batchMax, type RetentionNeeds, type RetentionStep, stepsOf } from "./RetentionSteps.ts"
import type { Task } from "../engine/Schedule.ts"
import * as Integer from "../kernel/Integer.ts"
import { about, announcing } from "../records/EventDeclaration.ts"

const Counts = Schema.Record(Schema.String, Integer.schema)

/** Events of a retention run. */
export const retentionEvents = {
  "retention.pruned": about("any", Schema.Struct({ counts: Counts, before: Instant.schema }))
} as const

const makeEvent = announcing(retentionEvents)

const day = 24 * 3_600_000

/** Parts of the daily run that other rooms declare. */
interface Parts {
  /**
   * Collections whose closed versions only the ledger dates; those that `at` and `asOf` need for ever
   * (policies, restrictions, holds) are not among them.
   */
  readonly history: ReadonlyArray<Collection>
  /** Steps after those of this room: a run that is under way continues by the number of its step. */
  readonly more: ReadonlyArray<RetentionStep>
}

/**
 * Task: the daily run. A step whose batch fails is set aside and tried again ever more rarely, until
 * the next run begins; the others go on (docs/contract/retention.md#runs).
 */
export const retention = ({ history, more }: Parts): Task<RetentionNeeds> => {
  const steps = [...stepsOf(history), ...more]
  const count = { steps: steps.length }
  return {
    name: "retention",
    doc: "Deletes what is past its retention.",
    every: day,
    run: Effect.fnUntraced(function* (turn) {
      const records = yield* Records
      const now = yield* Instant.now
      const run = Retention.runOf(turn.state, now)
      const goOn = (after: Retention.Run, delay = 0) =>
        turn.next({ delay, state: Retention.stateOf(after) })
      const fenced = <A, E, R>(work: Effect.Effect<A, E, R>) =>
        records.transactAlone(Effect.andThen(turn.fence, work))
      const step = steps[run.step]
      if (step === undefined) {
        const next = Retention.nextRound(run, { now, ...count })
        return yield* fenced(
          next === null
            ? Effect.andThen(announce(run), turn.next({ delay: delayAfter(run, now), state: "" }))
            : goOn(next.run, next.delay)
        )
      }
      yield* fenced(
        Effect.flatMap(step.run({ now: run.began, after: run.after }), (batch) =>
          goOn(Retention.advance(run, batch, count))
        )
      ).pipe(
        Effect.catchCause((cause) =>
          isOver(cause)
            ? Effect.failCause(cause)
            : Effect.gen(function* () {
                const { kind, past } = step
                yield* Effect.logError(`retention of ${kind} failed, and is tried again`, cause)
                yield* Metrics.pruningFailed(kind)
                // Where the store is away this fails too: the whole turn is then tried again.
                const passed = { ...count, past: past?.(run.after) ?? null }
                yield* fenced(goOn(Retention.setAside(run, passed)))
              })
        )
      )
    })
  }
}

/** Milliseconds until the next run: a run that lasted a day because a kind failed is followed at once. */
const delayAfter = ({ began }: Retention.Run, now: Instant.Instant): number =>
  Instant.toEpochMillis(now) - Instant.toEpochMillis(began) >= day ? 0 : day

/** Checks whether a turn has ended otherwise than by its batch: it is interrupted or another's. */
const isOver = (cause: Cause.Cause<LeaseLost | Unavailable>): boolean =>
  Cause.hasInterruptsOnly(cause) ||
  cause.reasons.some((reason) => Cause.isFailReason(reason) && reason.error._tag === "LeaseLost")

/** Announces the end of a run: one event and one audit record. */
const announce = Effect.fnUntraced(function* ({ began, counts }: Retention.Run) {
  const records = yield* Records
  const { tenantId } = yield* Settings
  const before = Instant.format(began)
  const { type, payload } = makeEvent("retention.pruned", { counts, before: began })
  yield* records.announce([
    {
      type,
      // The event is about no record; its subject is the venue.
      resourceKind: "external-source",
      resourceId: tenantId,
      instrumentId: null,
      party: null,
      holderIds: [],
      payload
    }
  ])
  yield* records.audit([
    Audit.entry({ action: "retention.prune", stage: "succeeded", detail: { ...counts, before } })
  ])
})

/** Microseconds after which an untouched rate budget is deleted. */
const idle = 600_000_000

/** Task: deletes expired nonces, idempotency keys that no longer bind, and idle rate budgets. */
export const sweep: Task<Keys | RateWindow> = {
  name: "sweep",
  doc: "Forgets nonces past their window, keys that no longer bind, and budgets of nobody.",
  every: 600_000,
  run: Effect.fnUntraced(function* () {
    const keys = yield* Keys
    const budgets = yield* RateWindow
    const before = Instant.sortable(yield* Instant.now)
    const all = (batch: Effect.Effect<number, Unavailable>) =>
      Effect.repeat(batch, { while: (deleted) => deleted >= batchMax })
    // Each to its end, whichever fails: the turn then fails, and is tried again.
    yield* eachToItsEnd([
      all(orUnavailable(keys.forget({ before, limit: batchMax }))),
      all(orUnavailable(budgets.forget({ idle, limit: batchMax })))
    ])
  })
}
