/**
 * Steps that record a statement in one transaction: its slot, lines, bytes and the run of its
 * instrument.
 */
import { Effect } from "effect"
import { itemOf } from "../../findings/RunQueue.ts"
import { failed } from "../../kernel/Gates.ts"
import { refused } from "../../kernel/Refusal.ts"
import { Blobs } from "../../ports/storage/Blobs.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { WorkQueue } from "../../ports/storage/WorkQueue.ts"
import type { Act } from "../../records/Act.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import { externalSources } from "../external-source/ExternalSource.ts"
import {
  type ExternalStatement,
  externalStatements,
  ownerOf,
  statementsOfDates
} from "./ExternalStatement.ts"
import type { Receiving } from "./Intake.ts"
import * as IntakeSteps from "./IntakeSteps.ts"
import * as StageSteps from "./StageSteps.ts"

/** Makes the record of a file that was read. */
export const statementOf = (
  of: Pick<Receiving, "caller" | "mediaType" | "named" | "staged">,
  { source, instrument }: IntakeSteps.Addressed,
  { read, now }: { readonly read: IntakeSteps.ReadFile; readonly now: Act["now"] }
): ExternalStatement => {
  const { header, lines } = read
  const { staged } = of
  const isOfPositions = source.kind === "holdings" || source.kind === "custody"
  return {
    externalStatementId: StageSteps.toId(staged.stageId),
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
    rawFormat: of.mediaType,
    rawEncoding: staged.encoding,
    rawBytes: staged.size,
    adapter: source.adapter,
    contentHash: staged.contentHash,
    receivedAt: now,
    receivedBy: of.caller.sub,
    basis: header.basis ?? source.basis ?? (isOfPositions ? "settled" : null),
    opening: header.opening,
    closing: header.closing,
    nav: header.nav,
    corrects: of.named.corrects,
    supersededBy: null
  }
}

/**
 * Records a statement inside a transaction: takes the slot of its date, replaces the statement that it
 * corrects, makes its lines and bytes visible, and queues the run of its instrument. Refuses
 * `statement-of-date`.
 */
export const record = Effect.fnUntraced(function* (
  statement: ExternalStatement,
  read: IntakeSteps.ReadFile,
  act: Act
) {
  const records = yield* Records
  const bulk = yield* Bulk
  const blobs = yield* Blobs
  const work = yield* WorkQueue
  const { externalStatementId } = statement
  const slot = yield* IntakeSteps.demandDate(statement, statement)
  yield* Effect.orDie(records.open(externalStatements, statement, act))
  const { businessDate, externalSourceId, instrumentId } = statement
  if (slot === undefined) {
    const first = { businessDate, externalSourceId, instrumentId, externalStatementId }
    yield* Effect.catchTag(records.open(statementsOfDates, first, act), "Refused", () =>
      // Another statement of the date was recorded since this one was judged.
      Effect.fail(refused("rule-refused", failed("statement-of-date")))
    )
  } else {
    yield* records.record(statementsOfDates, slot, { on: "replace", externalStatementId }, act)
    const replaced = yield* Effect.orDie(records.get(externalStatements, slot.externalStatementId))
    const fact = { on: "supersede", by: externalStatementId } as const
    yield* records.record(externalStatements, replaced, fact, act)
  }
  const source = yield* Effect.orDie(records.get(externalSources, externalSourceId))
  if (source.lastBusinessDate === null || source.lastBusinessDate < businessDate) {
    yield* records.record(externalSources, source, { on: "receive", businessDate }, act)
  }
  yield* orUnavailable(bulk.seal({ owner: ownerOf(statement), rows: read.lines }))
  const file = StageSteps.fileOf(externalStatementId)
  yield* orUnavailable(blobs.seal({ file, chunks: StageSteps.chunkCount(statement.rawBytes) }))
  const stages = { queue: StageSteps.queue, itemIds: [externalStatementId] }
  yield* orUnavailable(work.settle(stages))
  yield* records.enqueue([
    itemOf({ trigger: "statement", instrumentId, causedBy: externalStatementId })
  ])
})
