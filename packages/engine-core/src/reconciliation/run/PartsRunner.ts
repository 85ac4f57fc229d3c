/**
 * Makes a reconciliation run of several instruments: one instrument after another, each compared under
 * its lock and recorded in a transaction of its own, so that a run which a crash ended is continued
 * (docs/domain/reconciliation.md#runs-in-parts).
 */
import { Effect, Option, Stream } from "effect"
import { type Instrument, instruments } from "../../instruments/instrument/Instrument.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { LeaseLost } from "../../ports/storage/StorageError.ts"
import type { Lease } from "../../ports/storage/WorkQueue.ts"
import { unavailable } from "../../kernel/Refusal.ts"
import * as LeasedLock from "../../records/LeasedLock.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { instrumentVerdicts } from "../verdict/InstrumentVerdict.ts"
import {
  allFailed,
  compare,
  compareOne,
  type ComparedRun,
  type Ground,
  namesOf
} from "./CompareSteps.ts"
import * as RecordSteps from "./RecordSteps.ts"
import type { BatchPoint } from "../checks/Check.ts"
import { pointOf } from "../checks/ReserveBatchLookups.ts"
import type { RunScope } from "./Run.ts"
import { partIdOf, type RunPart, runParts } from "./RunPart.ts"
import * as Rules from "./RunRules.ts"
import { type RunUnderWay, runsUnderWay } from "./RunUnderWay.ts"

/** Name of the lock of runs of every instrument: one at a time in the venue. */
export const venueLockName = "reconciliation-lock"

/** Name of the lock of an instrument, which is compared by one run at a time. */
export const instrumentLockName = (instrumentId: string): string =>
  `${venueLockName}/instrument/${instrumentId}`

/**
 * Name of the lock of a run of several instruments: that of the venue where it covers every one, else
 * its own. A worker takes the lock of a run before that of an instrument, and one instrument at a
 * time, so that runs never wait for each other in a circle.
 */
export const runLockName = ({ runId, scope }: Pick<RunUnderWay, "runId" | "scope">): string =>
  scope.instrumentIds === null ? venueLockName : `${venueLockName}/run/${runId}`

/**
 * Milliseconds that a run which a call makes waits for another run of one of its instruments. A run from
 * the queue passes over such an instrument, and returns to the queue for it once the others are done.
 */
const partWaitMillis = 120_000

/** Number of instruments whose reserves are looked up together, and of parts that are deleted together. */
const batchMax = 500

/** Leases that fence every transaction of a run: its lock, and the item of the queue if one made it. */
export interface Fences {
  readonly lock: Lease
  readonly item: Lease | null
}

/** A run under way, under its leases. */
interface LeasedRun {
  readonly fences: Fences
  readonly underWay: RunUnderWay
}

/** Fences the transaction by the leases of a run; fails where another worker has taken one over. */
export const fence = ({ item, lock }: Fences, own?: Lease) =>
  Effect.forEach(
    [...(item === null ? [] : [item]), lock, ...(own === undefined ? [] : [own])],
    LeasedWork.fence,
    { discard: true }
  )

const actOf = ({ runId }: Pick<RunUnderWay, "runId">) =>
  Effect.map(Instant.now, (now) => ({ cause: { by: "run", runId } as const, now }))

/** Number of instruments of a scope at a pin. */
export const countOf = Effect.fnUntraced(function* (
  { instrumentIds }: RunScope,
  pin: Pin.ResolvedPin
) {
  if (instrumentIds !== null) return instrumentIds.length
  const records = yield* Records
  return yield* records.ids(instruments, { pin }).pipe(Stream.runCount)
})

/** Streams the instruments of a scope at a pin, in the order of their ids. */
const instrumentsOf = ({ instrumentIds }: RunScope, pin: Pin.ResolvedPin) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      instrumentIds === null
        ? records.stream(instruments, { pin }).pipe(Stream.map(({ record }) => record))
        : Stream.fromIterableEffect(records.many(instruments, instrumentIds.toSorted(), pin))
    )
  )

/**
 * Compares and records each part of a run that is not recorded yet. Fails with `LeaseLost` once
 * another worker has the run, or an instrument of a run from the queue; `Unavailable` leaves it to be
 * continued.
 */
export const makeParts = Effect.fnUntraced(function* (making: LeasedRun, ground: Ground) {
  const records = yield* Records
  const { runId, scope } = making.underWay
  const done = new Set(
    yield* records.ids(runParts, { where: { runId: [runId] } }).pipe(Stream.runCollect)
  )
  const partId = (instrumentId: string | null) =>
    partIdOf({ runId, instrumentId, continued: making.underWay.continued })
  if (ground.ground.length > 0 && !done.has(partId(null))) {
    yield* recordVenue(making, ground)
  }
  const busy: Array<string> = []
  yield* instrumentsOf(scope, ground.at.pin).pipe(
    Stream.filter(({ instrumentId }) => !done.has(partId(instrumentId))),
    Stream.grouped(batchMax),
    Stream.runForEach((batch) =>
      Effect.flatMap(pointOf(batch, ground.at), (at) =>
        Effect.forEach(
          batch,
          (instrument) =>
            Effect.map(makePart(making, { instrument, at, ground }), (isMade) => {
              if (!isMade) busy.push(instrumentLockName(instrument.instrumentId))
            }),
          { discard: true }
        )
      )
    )
  )
  const [name] = busy
  if (name !== undefined) yield* Effect.fail(new LeaseLost({ queue: name, itemId: name }))
})

/** Records the outcomes of the venue's own facts. */
const recordVenue = Effect.fnUntraced(function* (making: LeasedRun, ground: Ground) {
  const { scope } = making.underWay
  // A run of every instrument clears what it no longer finds of the venue's facts.
  const instrumentIds = scope.instrumentIds === null ? [] : scope.instrumentIds
  yield* recordPart(making, {
    instrumentId: null,
    scope: { ...scope, instrumentIds },
    compared: { ...ground, covered: [], venue: ground.ground }
  })
})

interface Turn {
  readonly instrument: Stored<Instrument>
  readonly at: BatchPoint
  readonly ground: Ground
}

/**
 * Compares one instrument under its lock, and records it; false: another run compares it, and the run is
 * one from the queue. A run that a call makes is refused then, `overloaded`.
 */
const makePart = Effect.fnUntraced(function* (making: LeasedRun, turn: Turn) {
  const { underWay } = making
  const { instrument } = turn
  const { instrumentId } = instrument
  const scope: RunScope = { ...underWay.scope, instrumentIds: [instrumentId] }
  const name = instrumentLockName(instrumentId)
  const isQueued = making.fences.item !== null
  const waitMillis = isQueued ? 0 : partWaitMillis
  const made = yield* LeasedLock.within({ name, waitMillis }, (own) =>
    Effect.flatMap(allFailed(scope, instrument), (failedInstrument) => {
      const covered = [failedInstrument]
      const failed: ComparedRun = { ...turn.ground, covered, venue: [] }
      const recorded = (compared: ComparedRun) =>
        recordPart(making, { instrumentId, scope, compared }, own)
      // A defect of one instrument never stops the others.
      return Effect.catchDefect(Effect.flatMap(comparedBy(scope, turn), recorded), (defect) =>
        Effect.andThen(
          Effect.logError(`the reconciliation of instrument ${instrumentId} failed`, defect),
          recorded(failed)
        )
      )
    })
  )
  if (Option.isNone(made) && !isQueued) {
    return yield* Effect.fail(
      unavailable("overloaded", `Another run compares instrument ${instrumentId}.`, 5)
    )
  }
  return Option.isSome(made)
})

/**
 * Outcomes of an instrument: at the pin of the run, whose ground counts. Where a run side by side has
 * judged the instrument at a later pin, at the head, so that no older figures replace newer ones.
 */
const comparedBy = Effect.fnUntraced(function* (scope: RunScope, { instrument, at, ground }: Turn) {
  const records = yield* Records
  const verdict = yield* records.find(instrumentVerdicts, instrument.instrumentId)
  const isOvertaken = Option.exists(
    verdict,
    ({ pin }) => pin.offset > at.pin.offset || Instant.isAfter(pin.judgedAt, at.pin.judgedAt)
  )
  if (isOvertaken) return yield* compare(scope, { isServed: true })
  const { isReached } = ground
  const covered = [yield* compareOne(scope, { instrument, at, isReached })]
  return { ...ground, covered, venue: [] } satisfies ComparedRun
})

const recordPart = Effect.fnUntraced(function* (
  making: LeasedRun,
  part: Pick<RecordSteps.PartRecording, "scope" | "compared"> & Pick<RunPart, "instrumentId">,
  own?: Lease
) {
  const records = yield* Records
  const { runId, continued } = making.underWay
  const { instrumentId, scope, compared } = part
  yield* records.transactAlone(
    Effect.gen(function* () {
      yield* fence(making.fences, own)
      const act = yield* actOf(making.underWay)
      const outcome = yield* RecordSteps.recordPart({ runId, scope, compared }, act)
      const partId = partIdOf({ runId, instrumentId, continued })
      yield* Effect.orDie(records.open(runParts, { partId, runId, instrumentId, ...outcome }, act))
    })
  )
})

/**
 * Opens the record of a run all of whose parts are recorded, and deletes these. Must run inside
 * `transactAlone`, together with what ends the run for its queue or call.
 */
export const endRun = Effect.fnUntraced(function* (making: LeasedRun) {
  const records = yield* Records
  yield* fence(making.fences)
  const { runId, trigger, scope, startedAt, asOf, readBy } = making.underWay
  const act = yield* actOf(making.underWay)
  const where = { runId: [runId] }
  const checks = yield* namesOf(scope)
  const sum = yield* records.stream(runParts, { where }).pipe(
    Stream.runFold(
      () => Rules.noParts(checks),
      (before, { record }) => Rules.withPart(before, record)
    )
  )
  const run = yield* RecordSteps.recordRun(
    { ...sum, runId, trigger, scope, startedAt, asOf, readBy },
    act
  )
  const partIds = yield* records.ids(runParts, { where }).pipe(Stream.runCollect)
  for (let from = 0; from < partIds.length; from += batchMax) {
    yield* records.forget(runParts, partIds.slice(from, from + batchMax))
  }
  yield* records.forget(runsUnderWay, [runId])
  return run
})

/** Notes that another worker goes on with a run. */
export const continueRun = Effect.fnUntraced(function* (making: LeasedRun) {
  const records = yield* Records
  const { runId } = making.underWay
  const done = yield* records.countBy(runParts, "instrumentId", { where: { runId: [runId] } })
  return yield* records.transactAlone(
    Effect.gen(function* () {
      yield* fence(making.fences)
      const act = yield* actOf(making.underWay)
      const self = yield* Effect.orDie(records.get(runsUnderWay, runId))
      const fact = { on: "continue", continuedAt: act.now, doneBefore: done.size } as const
      return yield* records.append(runsUnderWay, self, fact, act)
    })
  )
})
