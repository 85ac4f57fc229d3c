/**
 * Workers of the reconciliation runs in the queues: those of single instruments side by side
 * (docs/domain/reconciliation.md#runs-side-by-side), and beside them the venue's own run.
 */
import { Effect, Option, Schema } from "effect"
import * as RunQueue from "../../findings/RunQueue.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Ledger } from "../../ports/Ledger.ts"
import type { Lease } from "../../ports/storage/WorkQueue.ts"
import * as LeasedLock from "../../records/LeasedLock.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { ledgerUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import * as Worker from "../../records/Worker.ts"
import { compare, groundOf } from "./CompareSteps.ts"
import * as Parts from "./PartsRunner.ts"
import * as RecordSteps from "./RecordSteps.ts"
import type { RunScope } from "./Run.ts"
import { runsUnderWay } from "./RunUnderWay.ts"
import { audited, finishSeveral, newRunId, openSeveral } from "./SeveralSteps.ts"

/** Milliseconds until a queued run that found another run under way begins again. */
const busyFor = 1_000

const decodeInstrumentId = Schema.decodeSync(InstrumentId)

/** Makes the queued run of one instrument; the run and the end of its queue item are one transaction. */
const runOne = Effect.fnUntraced(function* (
  item: Lease,
  {
    trigger,
    instrumentId
  }: { readonly trigger: RunQueue.OwnTrigger; readonly instrumentId: string }
) {
  const records = yield* Records
  const runId = yield* newRunId
  const scope: RunScope = { instrumentIds: [decodeInstrumentId(instrumentId)], checks: null }
  const name = Parts.instrumentLockName(instrumentId)
  return yield* LeasedLock.within({ name, waitMillis: 0 }, (lock) =>
    Effect.flatMap(compare(scope, { isBrief: true }), (compared) =>
      records.transactAlone(
        Effect.gen(function* () {
          yield* Parts.fence({ lock, item })
          const act = { cause: { by: "run", runId } as const, now: yield* Instant.now }
          const run = yield* RecordSteps.record({ runId, trigger, scope, compared }, act)
          yield* records.audit([audited(run, null)])
          yield* LeasedWork.finish(item)
        })
      )
    )
  )
})

/** Makes the queued run of every instrument, or continues it where an earlier worker has ended. */
const runVenue = Effect.fnUntraced(function* (item: Lease, trigger: RunQueue.OwnTrigger) {
  const records = yield* Records
  const runId = yield* newRunId
  const { itemId } = item
  const scope: RunScope = { instrumentIds: null, checks: null }
  const ending = LeasedWork.finish(item)
  return yield* LeasedLock.within({ name: Parts.venueLockName, waitMillis: 0 }, (lock) =>
    Effect.gen(function* () {
      const fences = { lock, item }
      const [begun] = yield* records.list(runsUnderWay, { where: { itemId: [itemId] }, limit: 1 })
      if (begun !== undefined) {
        return yield* finishSeveral(begun.record, { fences, ground: null, ending })
      }
      const ground = yield* groundOf(scope)
      const covered = yield* Parts.countOf(scope, ground.at.pin)
      const opened = yield* records.transactAlone(
        Effect.gen(function* () {
          yield* Parts.fence(fences)
          return yield* openSeveral({ runId, trigger, scope, itemId, call: null }, ground, covered)
        })
      )
      yield* finishSeveral(opened, { fences, ground, ending })
    })
  )
})

/** Continues the run of a call whose host has ended; finishes the item where the run has ended. */
const continueCalled = Effect.fnUntraced(function* (item: Lease, runId: string) {
  const records = yield* Records
  const ending = LeasedWork.finish(item)
  const found = Option.getOrUndefined(yield* records.find(runsUnderWay, runId))
  if (found === undefined) return Option.some(yield* ending)
  const name = Parts.runLockName(found)
  return yield* LeasedLock.within({ name, waitMillis: 0 }, (lock) =>
    Effect.gen(function* () {
      const self = Option.getOrUndefined(yield* records.find(runsUnderWay, runId))
      if (self === undefined) return yield* ending
      yield* finishSeveral(self, { fences: { lock, item }, ground: null, ending })
    })
  )
})

/** Makes one queued run; it waits a second where another run has a lock that it needs. */
const workOn = Effect.fnUntraced(function* (item: Lease) {
  const ledger = yield* Ledger
  const request = RunQueue.requestOf(item)
  // A run without the ledger clears nothing, so a queued run waits for the ledger.
  yield* Effect.mapError(ledger.ledgerEnd, ledgerUnavailable)
  const making =
    "runId" in request
      ? continueCalled(item, request.runId)
      : request.instrumentId === null
        ? runVenue(item, request.trigger)
        : runOne(item, { trigger: request.trigger, instrumentId: request.instrumentId })
  // Another instance has taken the lock over: tried again as soon as where another run has it.
  const made = yield* Effect.catchTag(making, "LeaseLost", () => Effect.succeedNone)
  if (Option.isNone(made)) yield* LeasedWork.release(item, { delay: busyFor })
})

/** Worker of the queued runs of single instruments. */
export const reconciliationWorker = Worker.define({
  name: "reconciliation",
  doc: "Reconciles instruments for which a statement, a release or a distribution asks.",
  queue: RunQueue.queue,
  item: "reconciliation",
  atOnce: 4,
  again: "30 seconds",
  work: workOn
})

/** Worker of the venue's own run, and of the runs of calls whose host has ended. */
export const venueReconciliationWorker = Worker.define({
  name: "venue-reconciliation",
  doc: "Makes the daily run of every instrument, and ends the runs of calls whose instance has ended.",
  queue: RunQueue.longQueue,
  item: "venue-reconciliation",
  atOnce: 1,
  again: "30 seconds",
  work: workOn
})
