/**
 * Sets the timers of distributions in the transaction of the change that they follow: a run that
 * cleared them, a hold, a cause of a line, or an update of the ledger.
 */
import { Effect, Option, Stream } from "effect"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { operations } from "../../writes/OperationRecord.ts"
import { distributions } from "./Distribution.ts"
import { type DistributionContract, distributionContracts } from "./DistributionContract.ts"
import {
  type DistributionLine,
  distributionLines,
  inStates,
  isOwed,
  isUndirected,
  owed,
  waitsOnLedger
} from "./DistributionLine.ts"
import type { DistributionId } from "./DistributionTerms.ts"
import { pausedAt } from "./LineRefusalSteps.ts"
import { type DistributionTimer, distributionTimers } from "./DistributionTimer.ts"

/** Time between the delivery of the last due line and the engine's roll. */
const rollsAfter = Duration.of("PT1H")

export interface Change {
  /**
   * True where a run found nothing that stops the distributions; false where a hold opened; absent,
   * as it was.
   */
  readonly mayDeliver?: boolean
  /**
   * True where a line is to be directed otherwise than before: it began to wait, was cured, or has
   * another payee.
   */
  readonly isRedirected?: boolean
  /** The kind of operation that has just ended: lines that are left need another one, later. */
  readonly ended?: "instruct" | "roll"
}

/**
 * Sets the timers of sealed distributions by what their lines and contracts now are. Writes nothing
 * where they are as before. Only inside `Records.transact`, after the facts that it follows.
 */
export const setTimers = (
  distributionIds: Iterable<string>,
  act: Act,
  change: Change = {}
): Effect.Effect<void, Unavailable, Records> =>
  Effect.forEach(
    new Set(distributionIds),
    (distributionId) => setTimer(distributionId, act, change),
    {
      discard: true
    }
  )

const setTimer = Effect.fnUntraced(function* (distributionId: string, act: Act, change: Change) {
  const records = yield* Records
  const contract = Option.getOrNull(yield* records.find(distributionContracts, distributionId))
  if (contract === null || !contract.isSealed) return
  const before = Option.getOrNull(yield* records.find(distributionTimers, distributionId))
  const timer: DistributionTimer = before ?? {
    distributionId: contract.distributionId,
    mayDeliver: false,
    instructAt: null,
    lastInstructAt: null,
    rollAt: null
  }
  const mayDeliver = change.mayDeliver ?? timer.mayDeliver
  const after: DistributionTimer = {
    ...timer,
    mayDeliver,
    ...(yield* instructing({ ...timer, mayDeliver }, contract, {
      act,
      ...(change.ended === undefined ? {} : { ended: change.ended }),
      isChanged: mayDeliver !== timer.mayDeliver || change.isRedirected === true
    })),
    rollAt: yield* rollTime(timer, { act, ...change })
  }
  if (before === null) {
    yield* records
      .open(distributionTimers, after, act)
      .pipe(Effect.catchTag("Refused", ({ slug }) => Effect.die(new Error(slug))))
    return
  }
  const { distributionId: _, ...set } = after
  const isSame =
    before.mayDeliver === set.mayDeliver &&
    before.instructAt === set.instructAt &&
    before.rollAt === set.rollAt
  if (!isSame) yield* records.append(distributionTimers, before, { on: "set", ...set }, act)
})

interface TimerChange extends Change {
  readonly act: Act
}

interface InstructionChange extends Pick<TimerChange, "act" | "ended"> {
  /** True where the ledger is to be told something else than before. */
  readonly isChanged: boolean
}

/**
 * Computes the instant of the instruction. One that has changed has an instant of its own where an
 * operation of the one before has failed, whose pauses grow ever longer
 * (docs/domain/every-record.md#timely-writes); an operation that has not ended plans by the change.
 */
const instructing = Effect.fnUntraced(function* (
  { distributionId, instructAt, lastInstructAt, mayDeliver }: DistributionTimer,
  { isOpen }: DistributionContract,
  { act, ended, isChanged }: InstructionChange
) {
  const { now } = act
  const need = yield* needOf({ distributionId, mayDeliver, isOpen }, now)
  // An operation is found by its instant: a repeated instant would find the operation that ended.
  const isEnded = ended === "instruct" && instructAt !== null
  const isDue = instructAt !== null && Instant.atOrBefore(instructAt, now)
  const isAnother =
    isEnded || (isChanged && isDue && (yield* hasFailed({ distributionId, since: instructAt })))
  const last = isAnother ? latest(lastInstructAt, instructAt) : lastInstructAt
  if (need === null) return { instructAt: null, lastInstructAt: last }
  if (isDue && !isAnother) return { instructAt, lastInstructAt }
  const from = need === "now" ? now : need.againAt
  const next = last === null ? from : Instant.max(from, Instant.fromNanos(last + 1n))
  return { instructAt: next, lastInstructAt: need === "now" ? next : last }
})

/** Checks whether an instruction of the distribution has failed since an instant. */
const hasFailed = Effect.fnUntraced(function* ({
  distributionId,
  since
}: {
  readonly distributionId: DistributionId
  readonly since: Instant.Instant
}) {
  const records = yield* Records
  const failed = records.stream(operations, {
    where: { kind: ["distribution.instruct"], state: ["failed"] },
    updatedFrom: since
  })
  const own = Stream.filter(failed, ({ record }) => record.resource.id === distributionId)
  return Option.isSome(yield* Stream.runHead(own))
})

const latest = (last: Instant.Instant | null, instant: Instant.Instant): Instant.Instant =>
  last === null ? instant : Instant.max(last, instant)

interface DeliveryState {
  readonly distributionId: DistributionId
  readonly mayDeliver: boolean
  readonly isOpen: boolean
}

/**
 * Judges whether the ledger differs from the records of a distribution with an owed line: null where it
 * does not, and a later instant where it differs on lines alone that the ledger refuses, which are
 * tried again then.
 */
const needOf = Effect.fnUntraced(function* (
  { distributionId, mayDeliver, isOpen }: DeliveryState,
  now: Instant.Instant
) {
  const records = yield* Records
  const owes = hasLine(distributionId, { by: "owed", is: isOwed })
  if (mayDeliver !== isOpen && !(yield* owes)) return null
  if (!mayDeliver) return isOpen ? "now" : null
  const paused = yield* pausedAt({ distributionId, write: "instruct" }, now)
  const refusedLines = (yield* records.many(distributionLines, [...paused.keys()])).filter(
    isUndirected
  )
  const isOther = (line: DistributionLine) => isUndirected(line) && !paused.has(line.lineId)
  // Opened without the refused lines, or closed because of them.
  if (isOpen !== refusedLines.every(waitsOnLedger)) return "now"
  const without = new Set(paused.keys())
  if (yield* hasLine(distributionId, { by: "undirected", is: isOther, without })) return "now"
  const instants = refusedLines.flatMap(({ lineId }) => paused.get(lineId) ?? [])
  const [first, ...others] = instants
  return first === undefined ? null : { againAt: others.reduce(Instant.min, first) }
})

/**
 * Computes the instant of the roll: delivered lines of a payable or paid distribution are rolled
 * once none is due.
 */
const rollTime = Effect.fnUntraced(function* (
  { distributionId, rollAt }: DistributionTimer,
  { act, ended }: TimerChange
) {
  const records = yield* Records
  const distribution = Option.getOrNull(yield* records.find(distributions, distributionId))
  if (distribution?.state !== "payable" && distribution?.state !== "paid") return null
  if (yield* hasLine(distributionId, inState("due"))) return null
  if (!(yield* hasLine(distributionId, inState("delivered")))) return null
  return rollAt === null || ended === "roll" ? Instant.add(act.now, rollsAfter) : rollAt
})

interface LineCriterion {
  readonly by: "owed" | "undirected" | DistributionLine["state"]
  readonly is: (line: DistributionLine) => boolean
  /** Ids of lines that do not count. */
  readonly without?: ReadonlySet<string>
}

const inState = (state: DistributionLine["state"]): LineCriterion => ({
  by: state,
  // A lost line is due to nobody, so that it keeps no delivered one from its roll.
  is: (line) => !line.lost && line.state === state
})

/** Checks whether a distribution has such a line, with the changes of this transaction. */
const hasLine = Effect.fnUntraced(function* (
  distributionId: string,
  { by, is, without }: LineCriterion
) {
  const records = yield* Records
  const ids = yield* records.uncommitted(distributionLines, {
    column: "distributionId",
    anyOf: [distributionId]
  })
  const written = new Set(ids)
  if ((yield* records.many(distributionLines, ids)).some(is)) return true
  const where =
    by === "undirected"
      ? { undirected: [distributionId] }
      : inStates(distributionId, by === "owed" ? owed : [by])
  const found = yield* records.ids(distributionLines, { where }).pipe(
    Stream.filter((id) => !written.has(id) && without?.has(id) !== true),
    Stream.mapEffect((id) => records.find(distributionLines, id)),
    Stream.filter((line) => Option.isSome(line) && is(line.value)),
    Stream.runHead
  )
  return Option.isSome(found)
})
