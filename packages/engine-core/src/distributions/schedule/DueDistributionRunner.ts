/**
 * Scheduled task: announces months whose record date has passed, and executes them under the
 * standing approvals of their instruments (docs/domain/distributions.md#scheduler).
 */
import { Effect, Option, Stream } from "effect"
import type { Task, Turn } from "../../engine/Schedule.ts"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import type { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import * as PlainJson from "../../kernel/PlainJson.ts"
import * as Problem from "../../kernel/Problem.ts"
import type { Act } from "../../records/Act.ts"
import type { LedgerReach } from "../../records/LedgerReach.ts"
import { byItself } from "../../records/BatchedWork.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { FourEyes } from "../../writes/FourEyes.ts"
import { type OperationRecord, operations } from "../../writes/OperationRecord.ts"
import * as TimelyTries from "../../writes/TimelyTries.ts"
import { type Distribution, distributions } from "../distribution/Distribution.ts"
import { execute } from "../distribution/ExecuteOperations.ts"
import * as Calendar from "../period/Calendar.ts"
import { subjectOf } from "../period/CalendarLookups.ts"
import * as PeriodLookups from "../period/PeriodLookups.ts"
import { openPeriods } from "../period/PeriodRules.ts"
import { datesOf } from "../period/PeriodTermsRules.ts"
import { mayHavePassed } from "../period/RecordDateRules.ts"
import { openOf } from "../standing-approval/StandingApprovalLookups.ts"
import {
  openedAlike,
  type ScheduledDistribution,
  scheduledDistributions
} from "./ScheduledDistribution.ts"

type ScheduleRecord = Stored<ScheduledDistribution>

/** Milliseconds between turns. */
const every = 5_000

/** Milliseconds between searches of all instruments for months whose record date has passed. */
const searchEvery = 60_000

const addMillis = (instant: Instant.Instant, millis: number): Instant.Instant =>
  Instant.fromNanos(instant + BigInt(millis) * 1_000_000n)

/**
 * The month after the present one in UTC, before whose end lies every record date that has passed.
 */
const throughOf = (now: Instant.Instant): Month.Month =>
  Month.next(Month.fromDate(Instant.date(now)))

const actOf = (now: Instant.Instant): Act => ({ cause: { by: "clock" }, now })

/**
 * Opens the record of each month of an instrument whose record date passed by a calendar and that
 * has a point; its opening announces the month as due, once. A month that an earlier month or a hold
 * blocks is announced too.
 */
const announceMonths = Effect.fnUntraced(function* (instrumentId: InstrumentId, turn: Turn) {
  const records = yield* Records
  const now = yield* Instant.now
  const executed = yield* PeriodLookups.lastExecutedOf(instrumentId)
  const versions = yield* PeriodLookups.versionsOf(instrumentId)
  const first = Calendar.firstOpenOf({ versions, executed })
  if (first === null) return
  const passed: Array<Month.Month> = []
  for (let month = first; !Month.isAfter(month, throughOf(now)); month = Month.next(month)) {
    const dates = datesOf(versions, month)
    if (dates?.scheduledBy !== "calendar") continue
    if (mayHavePassed({ recordEndsAt: dates.recordEndsAt, now })) passed.push(month)
  }
  const idOf = (month: Month.Month) => Calendar.idOf({ instrumentId, month })
  const found = yield* records.many(scheduledDistributions, passed.map(idOf))
  const announced = new Set(found.map(({ month }) => month))
  if (passed.every((month) => announced.has(month))) return
  const facts = yield* PeriodLookups.factsOf({ instrumentId, executed })
  for (const { month, recordDate, recordEndsAt } of openPeriods(facts, throughOf(now))) {
    if (announced.has(month) || !passed.includes(month)) continue
    if (!(yield* PeriodLookups.recordDatePassed(recordEndsAt, { now }))) continue
    const scheduled: ScheduledDistribution = {
      instrumentId,
      month,
      recordDate,
      recordEndsAt,
      distributionId: null,
      opened: 0,
      openedAlike: 0,
      operationId: null,
      circumstances: null,
      againAt: null,
      refused: null,
      announced: []
    }
    yield* records
      .transact(
        Effect.andThen(turn.fence, records.open(scheduledDistributions, scheduled, actOf(now)))
      )
      .pipe(
        Effect.catchTag("Refused", ({ slug }) =>
          Effect.die(new Error(`the month ${month} of ${instrumentId} was announced: ${slug}`))
        )
      )
  }
})

const search = Effect.fnUntraced(function* (turn: Turn) {
  const records = yield* Records
  yield* records.stream(instruments, {}).pipe(
    Stream.filter(
      ({ record }) => isRecorded(record) && record.manifest.distribution.schedule === "monthly"
    ),
    Stream.runForEach(({ record: { instrumentId } }) =>
      byItself(announceMonths(instrumentId, turn), `the announcement of months of ${instrumentId}`)
    )
  )
})

/** Records the outcome of the latest operation; announces a refusal that is new. */
const noteRefusal = Effect.fnUntraced(function* (
  self: ScheduleRecord,
  operation: OperationRecord | null,
  now: Instant.Instant
) {
  if (operation?.state !== "failed" || operation.problem === null) return self
  if (self.refused?.operationId === operation.operationId) return self
  const records = yield* Records
  const problem = Problem.slugOf(operation.problem)
  const cause = `${problem}/${operation.problem.check ?? ""}`
  return yield* records.append(
    scheduledDistributions,
    self,
    {
      on: "refuse",
      refused: {
        operationId: operation.operationId,
        problem,
        at: operation.finishedAt ?? now
      },
      cause,
      isNew: !self.announced.includes(cause),
      againAt: addMillis(now, TimelyTries.pauseAfter(openedAlike(self) - 1))
    },
    actOf(now)
  )
})

/**
 * Computes the circumstances of the next execution, such as approval, points and policy; null where
 * none is to be opened: the instrument has no active approval, or the month does not read `due`. An
 * execution under an approval that has not added all lines goes on, whatever the approval's state is
 * by now.
 */
const circumstancesOf = Effect.fnUntraced(function* (
  { instrumentId, month }: ScheduleRecord,
  begun: Distribution | null,
  now: Instant.Instant
) {
  if (begun !== null) {
    return begun.executedBy.standingApprovalId === null
      ? null
      : PlainJson.canonical({ goesOn: begun.distributionId })
  }
  const approval = yield* openOf(instrumentId)
  if (approval?.state !== "active") return null
  const subject = yield* subjectOf(instrumentId)
  const row = Calendar.rowsOf(subject, { now, zone: Calendar.utc })(month)
  if (row?.periodState !== "due") return null
  const { versions, points, executed } = subject.facts
  return PlainJson.canonical({
    approval: [approval.standingApprovalId, String(approval.usedNet)],
    policyVersions: versions.map(({ policyVersion }) => String(policyVersion)),
    points: points
      .filter(({ isLive, correctedBy }) => isLive && correctedBy === null)
      .map(({ contractId }) => contractId),
    executed: executed?.month ?? null,
    hasUnrolled: subject.hasUnrolled
  })
})

/** Executes a due month under the standing approval of its instrument, or goes on with it. */
const executeDue = Effect.fnUntraced(function* (
  { instrumentId, month }: ScheduleRecord,
  turn: Turn
) {
  const records = yield* Records
  const fourEyes = yield* FourEyes
  yield* turn.fence
  const now = yield* Instant.now
  const found = yield* records.find(scheduledDistributions, Calendar.idOf({ instrumentId, month }))
  if (Option.isNone(found)) return
  const [listed] = yield* records.list(distributions, {
    where: { instrumentId: [instrumentId], month: [month] },
    limit: 1
  })
  const begun = listed?.record ?? null
  if (begun !== null && begun.sealedAt !== null) {
    const fact = { on: "execute", distributionId: begun.distributionId } as const
    yield* records.append(scheduledDistributions, found.value, fact, actOf(now))
    return
  }
  const { operationId } = found.value
  const operation =
    operationId === null ? null : Option.getOrNull(yield* records.find(operations, operationId))
  if (operation?.state === "queued" || operation?.state === "running") return
  const self = yield* noteRefusal(found.value, operation, now)
  const circumstances = yield* circumstancesOf(self, begun, now)
  if (circumstances === null) return
  const isSame = self.circumstances === circumstances
  if (isSame && self.againAt !== null && Instant.isBefore(now, self.againAt)) return
  const answer = yield* fourEyes
    .open(
      execute,
      {
        instrumentId,
        month,
        ...(begun === null ? {} : { distributionId: begun.distributionId })
      },
      `distribution.due:${Calendar.idOf(self)}#${self.opened}`
    )
    .pipe(
      Effect.catchTag("Refused", ({ slug }) =>
        Effect.die(new Error(`the execution of ${month} could not be opened: ${slug}`))
      )
    )
  const opened = answer.location.slice(answer.location.lastIndexOf("/") + 1)
  yield* records.append(
    scheduledDistributions,
    self,
    { on: "open", operationId: opened, circumstances },
    actOf(now)
  )
})

/**
 * Every five seconds judges the months that are announced and not executed, so that a grant, an
 * execution or the end of a hold takes effect soon; every minute searches all instruments for months
 * whose record date has passed. Of several hosts one has the turn, and the key of each operation
 * prevents a second one. A month or an instrument that fails stops no other.
 */
export const dueDistributions: Task<Records | FourEyes | LedgerReach> = {
  name: "due-distributions",
  doc: "Announces distributions that have become due, and executes them under standing approvals.",
  every,
  run: Effect.fnUntraced(function* (turn) {
    const records = yield* Records
    const now = Instant.toEpochMillis(yield* Instant.now)
    const searchedAt = turn.state === "" ? 0 : Number(turn.state)
    const isSearch = now - searchedAt >= searchEvery
    if (isSearch) yield* search(turn)
    const open = yield* Stream.runCollect(
      records.stream(scheduledDistributions, { where: { state: ["open"] } })
    )
    for (const { record } of open) {
      const about = `the distribution ${Calendar.idOf(record)}`
      yield* byItself(records.transact(executeDue(record, turn)), about)
    }
    yield* turn.next({ delay: every, state: String(isSearch ? now : searchedAt) })
  })
}
