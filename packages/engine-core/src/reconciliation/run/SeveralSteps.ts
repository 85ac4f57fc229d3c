/**
 * Steps that begin and end a run of several instruments, made in a call or from the queue, and the audit
 * record of a run.
 */
import { Effect, Schema } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Ids } from "../../ports/Ids.ts"
import type { LeaseLost } from "../../ports/storage/StorageError.ts"
import * as Audit from "../../records/Audit.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Logged from "../../writes/Logged.ts"
import { type Ground, groundOf } from "./CompareSteps.ts"
import * as Parts from "./PartsRunner.ts"
import { path } from "./Reconciler.ts"
import * as RecordSteps from "./RecordSteps.ts"
import { type Run, RunId } from "./Run.ts"
import { type StartingCall, type RunUnderWay, runsUnderWay } from "./RunUnderWay.ts"

/** Makes the id of a new run. */
export const newRunId = Effect.flatMap(Ids, ({ make }) =>
  Effect.map(make("run"), Schema.decodeSync(RunId))
)

/** Audit entry of the run of a call, or of the engine's own run where there is none, with the verdict. */
export const audited = (run: Stored<Run>, call: StartingCall | null): Audit.Entry => {
  const written = {
    action: "reconciliation.start",
    resourceKind: "reconciliation-run",
    resourceId: run.runId,
    detail: { trigger: run.trigger, verdict: run.verdict }
  } as const
  if (call === null) return Audit.entry({ ...written, stage: "succeeded" })
  const { actor, fingerprint: bodyHash, keyId, requestId, role, traceId } = call
  const origin = { actor, bodyHash, keyId, requestId, role, traceId }
  return Logged.created(origin, { ...written, route: `POST ${path}` })
}

/** Opens a run of several instruments, in the transaction of its call or of its queue item. */
export const openSeveral = Effect.fnUntraced(function* (
  run: Pick<RunUnderWay, "runId" | "trigger" | "scope" | "itemId" | "call">,
  { at, startedAt }: Ground,
  covered: number
) {
  const records = yield* Records
  const now = yield* Instant.now
  const act = { cause: { by: "run", runId: run.runId } as const, now }
  const progress = { continuedAt: now, doneBefore: 0, continued: 0 }
  const begun = {
    ...run,
    ...RecordSteps.pinOf({ at }),
    startedAt,
    instruments: covered,
    ...progress
  }
  return yield* Effect.orDie(
    records.open(runsUnderWay, { ...begun, readBy: begun.readBy ?? at.pin.judgedAt }, act)
  )
})

/** Makes what is left of a run of several instruments, and ends it together with `ending`. */
export const finishSeveral = Effect.fnUntraced(function* <R>(
  underWay: RunUnderWay,
  {
    fences,
    ground,
    ending
  }: {
    readonly fences: Parts.Fences
    /** Null: the run is continued, and the venue's own facts are compared anew. */
    readonly ground: Ground | null
    readonly ending: Effect.Effect<void, LeaseLost | Unavailable, R>
  }
) {
  const records = yield* Records
  const before = { fences, underWay }
  const making =
    ground === null ? { ...before, underWay: yield* Parts.continueRun(before) } : before
  yield* Parts.makeParts(making, ground ?? (yield* groundOf(underWay.scope)))
  yield* records.transactAlone(
    Effect.gen(function* () {
      const run = yield* Parts.endRun(making)
      yield* records.audit([audited(run, underWay.call)])
      yield* ending
    })
  )
})
