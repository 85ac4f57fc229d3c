/**
 * Steps that record the statements of a file in one transaction: their slots, lines, bytes and the run of
 * their instrument.
 */
import { Effect } from "effect"
import { itemOf } from "../../findings/RunQueue.ts"
import type * as Date from "../../kernel/Date.ts"
import { failed } from "../../kernel/Gates.ts"
import { refused } from "../../kernel/Refusal.ts"
import { Blobs } from "../../ports/storage/Blobs.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { WorkQueue } from "../../ports/storage/WorkQueue.ts"
import type { Act } from "../../records/Act.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import { externalSources } from "../external-source/ExternalSource.ts"
import * as DayLookups from "./DayLookups.ts"
import * as DayRules from "./DayRules.ts"
import {
  type ExternalStatement,
  externalStatements,
  fileIdOf,
  ownerOf,
  placeInDayOf,
  statementsOfDates
} from "./ExternalStatement.ts"
import type { IntakeCall } from "./Intake.ts"
import type * as IntakeSteps from "./IntakeSteps.ts"
import * as StageSteps from "./StageSteps.ts"

/** Makes the record of a statement of a file that was read. */
export const statementOf = (
  { staged, mediaType, caller }: Pick<IntakeCall, "caller" | "mediaType" | "staged">,
  { source, instrument }: IntakeSteps.FileAddress,
  {
    corrects,
    now,
    read
  }: {
    readonly read: IntakeSteps.ReadStatement
    readonly corrects: string | null
    readonly now: Act["now"]
  }
): ExternalStatement => {
  const { externalStatementId, header, lines } = read
  const isOfPositions = source.kind === "holdings" || source.kind === "custody"
  return {
    externalStatementId,
    externalSourceId: source.externalSourceId,
    kind: source.kind,
    instrumentId: instrument.instrumentId,
    externalAccountId: source.kind === "cash" ? source.account : null,
    businessDate: header.businessDate,
    asOf: header.asOf,
    period: header.period,
    reference: header.reference,
    currency: header.currency,
    totalQuantity: header.totalQuantity,
    totalAmount: header.totalAmount,
    lineCount: lines,
    statedLines: header.statedLines,
    rawFormat: mediaType,
    rawEncoding: staged.encoding,
    rawBytes: staged.size,
    adapter: source.adapter,
    contentHash: staged.contentHash,
    receivedAt: now,
    receivedBy: caller.sub,
    basis: header.basis ?? source.basis ?? (isOfPositions ? "settled" : null),
    opening: header.opening,
    closing: header.closing,
    nav: header.nav,
    corrects,
    supersededBy: null,
    ...(header.sequence === undefined ? {} : { sequence: header.sequence }),
    ...(externalStatementId === staged.stageId ? {} : { fileId: staged.stageId })
  }
}

/** A statement of a file that is recorded, or the one in force that says the same. */
export interface NewStatement {
  readonly statement: ExternalStatement
  readonly place: IntakeSteps.ReadStatement["place"]
  /** Id of the statement in force that says the same; null: the statement is recorded. */
  readonly knownAs: string | null
}

/** The statements of one file, in the order in which they are recorded. */
export type NewFile = readonly [NewStatement, ...ReadonlyArray<NewStatement>]

/**
 * Records the statements of a file inside a transaction, in their order: each takes a slot of its date,
 * replaces the statement that it corrects, and makes its lines visible; then the bytes of the file become
 * visible, and the run of the instrument is queued. Refuses `statement-of-date`, and then records none.
 */
export const record = Effect.fnUntraced(function* (file: NewFile, act: Act) {
  const records = yield* Records
  const bulk = yield* Bulk
  const blobs = yield* Blobs
  const work = yield* WorkQueue
  const fresh = file.flatMap(({ knownAs, statement }) => (knownAs === null ? [statement] : []))
  const newest = fresh.at(-1)
  if (newest === undefined) throw new Error("a file that is recorded has a new statement")
  const fileStatements = file.map(
    ({ knownAs, statement }) => knownAs ?? statement.externalStatementId
  )
  const days = yield* DayLookups.daysOf(
    newest,
    file.map(({ statement }) => statement.businessDate)
  )
  const statementsOfDays = new Map<Date.Date, ReadonlyArray<DayRules.PlacedStatement>>(
    [...days].map(([date, day]) => [date, day.map(({ statement }) => statement)])
  )
  for (const { knownAs, place, statement } of file) {
    const { businessDate, externalStatementId } = statement
    const day = statementsOfDays.get(businessDate) ?? []
    if (knownAs !== null) {
      const isThere = day.some((other) => other.externalStatementId === knownAs)
      if (!isThere) return yield* Effect.fail(notInForce(businessDate, place))
      continue
    }
    const { placeInDay, replaces } = yield* Effect.fromResult(
      DayRules.placeOf(statement, { day, corrects: statement.corrects, place })
    )
    const recorded: ExternalStatement = {
      ...statement,
      ...(placeInDay === 1 ? {} : { placeInDay }),
      ...(statement === newest && file.length > 1 ? { fileStatements } : {})
    }
    yield* Effect.orDie(records.open(externalStatements, recorded, act))
    const replaced = days
      .get(businessDate)
      ?.find((other) => other.statement.externalStatementId === replaces)
    if (replaced === undefined) yield* takeSlot({ ...recorded, place }, act)
    else {
      const fact = { on: "replace", externalStatementId } as const
      yield* records.append(statementsOfDates, replaced.slot, fact, act)
      const supersede = { on: "supersede", by: externalStatementId } as const
      yield* records.append(externalStatements, replaced.statement, supersede, act)
    }
    statementsOfDays.set(
      businessDate,
      replaces === null
        ? [...day, recorded]
        : day.map((other) => (other.externalStatementId === replaces ? recorded : other))
    )
    yield* orUnavailable(bulk.seal({ owner: ownerOf(recorded), rows: recorded.lineCount }))
  }
  const { businessDate, externalSourceId, externalStatementId, instrumentId } = newest
  const source = yield* Effect.orDie(records.get(externalSources, externalSourceId))
  if (source.lastBusinessDate === null || source.lastBusinessDate < businessDate) {
    yield* records.append(externalSources, source, { on: "receive", businessDate }, act)
  }
  const chunks = StageSteps.chunkCount(newest.rawBytes)
  yield* orUnavailable(blobs.seal({ file: StageSteps.fileOf(fileIdOf(newest)), chunks }))
  const itemIds = fresh.map((statement) => statement.externalStatementId)
  yield* orUnavailable(work.settle({ queue: StageSteps.queue, itemIds }))
  yield* records.enqueue([
    itemOf({ trigger: "statement", instrumentId, causedBy: externalStatementId })
  ])
})

/** Opens the slot of a statement; refuses it where another statement has taken it meanwhile. */
const takeSlot = Effect.fnUntraced(function* (
  statement: ExternalStatement & Pick<NewStatement, "place">,
  act: Act
) {
  const records = yield* Records
  const { businessDate, externalSourceId, externalStatementId, instrumentId } = statement
  const placeInDay = placeInDayOf(statement)
  const slot = {
    ...{ businessDate, externalSourceId, instrumentId, externalStatementId },
    ...(placeInDay === 1 ? {} : { placeInDay })
  }
  yield* Effect.catchTag(records.open(statementsOfDates, slot, act), "Refused", () =>
    Effect.fail(notInForce(businessDate, statement.place))
  )
})

/** Refusal of a statement whose date has changed since it was judged. */
const notInForce = (businessDate: Date.Date, place: NewStatement["place"]) => {
  const detail = `Another statement of ${businessDate} was recorded since this one was judged.`
  return refused("rule-refused", failed("statement-of-date", DayRules.at(place, detail)))
}
