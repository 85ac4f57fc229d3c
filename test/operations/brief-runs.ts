/** Kit of runs that start by themselves on an instrument: such a run, and orders that are claimed and forged. */
import { Records, Workers } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Feed, ProjectionLog } from "@bursar/engine-core/ports"
import { Effect, Stream } from "effect"
import { idTextOf } from "#core/findings/FindingRules.ts"
import { itemOf } from "#core/findings/RunQueue.ts"
import { type Subscription, subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as Point from "#core/reads/Point.ts"
import { isNote } from "#core/reconciliation/checks/Check.ts"
import { policyReplay } from "#core/reconciliation/checks/PolicyChecks.ts"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { pointOf } from "#core/reconciliation/checks/ReserveBatchLookups.ts"
import { replayed } from "#core/reconciliation/checks/PolicyReplayLookups.ts"
import { runs } from "#core/reconciliation/run/Run.ts"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "./cycles.ts"
import * as Reconciling from "./reconciling.ts"

const instrumentId = "fund-a"

let count = 0

/** Makes the run that a statement of the instrument starts; returns its record. */
export const brief = Effect.gen(function* () {
  const records = yield* Records
  const item = { trigger: "statement" as const, instrumentId, causedBy: `st-${++count}` }
  yield* records.transact(records.enqueue([itemOf(item)]))
  yield* Workers.runOnce("reconciliation")
  const [row] = yield* records.list(runs, { direction: "desc", limit: 1 })
  return row!.record
})

export const whole = Reconciling.run("{}")

/** Facts of the orders of the fund, as a brief run or any other reads them now. */
export const read = (isBrief: boolean) =>
  Effect.gen(function* () {
    const now = yield* Instant.now
    const pin = yield* Point.newest({ feed: yield* Feed, log: yield* ProjectionLog }, now)
    const instrument = yield* (yield* Records).get(instruments, instrumentId)
    const at = yield* pointOf([instrument], { pin, horizonOffset: 0, isBrief })
    const facts = yield* Stream.runCollect(replayed(instrument, at))
    const judged = facts.flatMap((fact) => (isNote(fact) ? [] : [fact]))
    return {
      count: judged.length,
      found: judged
        .flatMap((fact) => policyReplay.differences(fact, Decimal.zero))
        .map((difference) => idTextOf(difference, (text) => text))
        .toSorted()
    }
  })

/** The life of orders as tests need it: many claims, of which some are forged to another version. */
export const scene = Effect.gen(function* () {
  const { stage, holders } = yield* Cycles.opened(["h1"])
  yield* Cycles.subscribes(stage, holders[0]!, { id: "s1", amount: "100" })
  const records = yield* Records
  const first = yield* records.get(subscriptions, "s1")
  const quiet = { ...subscriptions, announce: () => [] }
  const act = Effect.gen(function* () {
    const { offset } = yield* Calls.catchUp
    const now = yield* Instant.now
    const cause = { by: "run", runId: "fault" } as const
    return { cause, now, offset: offset as never }
  })
  return {
    claims: (ids: ReadonlyArray<string>, policyVersion = first.policyVersion) =>
      Effect.gen(function* () {
        const by = yield* act
        yield* records.transact(
          Effect.forEach(
            ids,
            (id) =>
              records.open(quiet, { ...first, subscriptionId: id as never, policyVersion }, by),
            { discard: true }
          )
        )
      }),
    forges: (subscriptionId: string, policyVersion: number) =>
      Effect.gen(function* () {
        const evolve = (before: Subscription) => ({ ...before, policyVersion })
        const by = yield* act
        const before = yield* records.get(subscriptions, subscriptionId)
        const fact = { on: "match", lines: [] } as never
        yield* records.transact(records.append({ ...quiet, evolve }, before, fact, by))
      })
  }
})
