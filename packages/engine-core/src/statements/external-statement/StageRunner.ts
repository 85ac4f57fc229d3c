/**
 * Worker that deletes the stages of broken calls, and the rows and bytes of statements that retention has
 * released.
 */
import { Effect, Option } from "effect"
import type { Lease } from "../../ports/storage/WorkQueue.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { Records } from "../../records/Records.ts"
import * as Worker from "../../records/Worker.ts"
import { externalStatements } from "./ExternalStatement.ts"
import * as StageSteps from "./StageSteps.ts"

/** Deletes a stage, unless a statement was recorded of it. */
const workOn = Effect.fnUntraced(function* (item: Lease) {
  const records = yield* Records
  const statement = yield* records.find(externalStatements, item.itemId)
  if (Option.isNone(statement)) yield* StageSteps.discard(item.itemId)
  else if (item.payload === StageSteps.prunedPayload) {
    yield* StageSteps.discardPruned(statement.value)
  }
  yield* LeasedWork.finish(item)
})

/** Worker of the stages that are due for deletion. */
export const stageWorker = Worker.define({
  name: "stages",
  doc: "Deletes the stages of statements that were not recorded, and what retention has released.",
  queue: StageSteps.queue,
  item: "stage",
  atOnce: 4,
  again: "30 seconds",
  work: workOn
})
