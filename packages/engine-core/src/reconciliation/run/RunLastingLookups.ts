/**
 * Look-up of whether the input of a reconciliation run has moved since: then a call without a key that is
 * repeated makes a new run (docs/contract/idempotency.md#without-a-key).
 */
import { Effect } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import { ProjectionLog } from "../../ports/storage/ProjectionLog.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import { externalStatements } from "../../statements/external-statement/ExternalStatement.ts"
import { operations } from "../../writes/OperationRecord.ts"
import type { Run } from "./Run.ts"

/**
 * Nanoseconds for which the time alone moves nothing: checks of grace times and due times judge by it.
 * The same time for which a comparison of the venue's facts serves other runs.
 */
const sameTime = 15n * 60n * 1_000_000_000n

/**
 * Checks that nothing which a run compares has moved since it read: the ledger's offset, the engine's own
 * writes, the statements, and the time by more than a quarter of an hour.
 */
export const lasts = Effect.fnUntraced(function* (run: Run) {
  const now = yield* Instant.now
  if (now - run.finishedAt > sameTime) return false
  const { offset } = yield* orUnavailable((yield* ProjectionLog).head)
  if (offset > run.asOf) return false
  if (run.readBy === null) return true
  const records = yield* Records
  const updatedFrom = Instant.fromNanos(run.readBy + 1n)
  const moved = { updatedFrom, limit: 1 }
  if ((yield* records.list(operations, moved)).length > 0) return false
  return (yield* records.list(externalStatements, moved)).length === 0
})
