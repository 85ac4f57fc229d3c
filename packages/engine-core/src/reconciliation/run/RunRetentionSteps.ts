/** Steps of retention that delete reconciliation runs, and cleared findings, past their periods. */
import { Effect } from "effect"
import * as Retention from "../../engine/Retention.ts"
import { Settings } from "../../engine/Settings.ts"
import { batchMax, type RetentionStep } from "../../feeds/RetentionSteps.ts"
import { findings } from "../../findings/Finding.ts"
import type { LegalHold } from "../../ports/storage/Feed.ts"
import { Keys } from "../../ports/storage/Keys.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import * as Idempotency from "../../writes/Idempotency.ts"
import { type Run, runs } from "./Run.ts"
import { idOf, runInstruments } from "./RunInstrument.ts"

const done: Retention.Batch = { counts: {}, after: null }

const afterOf = (rows: ReadonlyArray<{ readonly sortKey: string }>): string | null =>
  rows.length < batchMax ? null : (rows.at(-1)?.sortKey ?? null)

const instrumentIdsOf = ({ scope }: Run): ReadonlyArray<string> => scope.instrumentIds ?? []

/** Checks whether a legal hold keeps a run; one of every instrument is kept by each legal hold. */
const isHeld = (run: Run, legalHold: LegalHold): boolean =>
  run.scope.instrumentIds === null
    ? legalHold.instrumentIds.length > 0
    : instrumentIdsOf(run).some((instrumentId) =>
        Retention.isHeld(legalHold, { holderId: null, instrumentId })
      )

/** Step that deletes runs, with their index by instrument and the keys of their calls. */
const runsStep: RetentionStep = {
  kind: "reconciliationRuns",
  run: Effect.fnUntraced(function* ({ now, after }) {
    const records = yield* Records
    const keys = yield* Keys
    const { retention, legalHold } = yield* Settings
    const before = Retention.dueBefore(now, retention.reconciliationRuns)
    if (before === undefined) return done
    const rows = yield* records.list(runs, {
      updatedTo: before,
      limit: batchMax,
      ...(after === null ? {} : { after })
    })
    const due = rows.map(({ record }) => record).filter((run) => !isHeld(run, legalHold))
    const runIds = due.map(({ runId }) => runId)
    const indexed = due.filter((run) => instrumentIdsOf(run).length > 1)
    yield* records.forget(
      runInstruments,
      indexed.flatMap((run) =>
        instrumentIdsOf(run).map((instrumentId) => idOf({ runId: run.runId, instrumentId }))
      )
    )
    yield* records.forget(runs, runIds)
    yield* orUnavailable(keys.free(runIds.map((id) => Idempotency.target("run", id))))
    return { counts: { reconciliationRuns: runIds.length }, after: afterOf(rows) }
  })
}

/** Step that deletes findings that are cleared and that no hold, open or released, has named. */
const findingsStep: RetentionStep = {
  kind: "clearedFindings",
  run: Effect.fnUntraced(function* ({ now, after }) {
    const records = yield* Records
    const { retention, legalHold } = yield* Settings
    const before = Retention.dueBefore(now, retention.clearedFindings)
    if (before === undefined) return done
    const rows = yield* records.list(findings, {
      where: { state: ["cleared"] },
      updatedTo: before,
      limit: batchMax,
      ...(after === null ? {} : { after })
    })
    const due = rows
      .map(({ record }) => record)
      .filter(({ holdId }) => holdId === null)
      .filter((finding) => !Retention.isHeld(legalHold, finding))
      .map(({ findingId }) => findingId)
    yield* records.forget(findings, due)
    return { counts: { clearedFindings: due.length }, after: afterOf(rows) }
  })
}

export const steps: ReadonlyArray<RetentionStep> = [runsStep, findingsStep]
