/**
 * Runner of reconciliation runs, one at a time in the venue: those that calls ask for, and those in
 * the queue.
 */
import { Context, Duration, Effect, Layer, Option, Schema } from "effect"
import { queue, requestOf } from "../../findings/RunQueue.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import { Settings } from "../../engine/Settings.ts"
import * as CompiledCodec from "../../kernel/CompiledCodec.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Plain } from "../../kernel/PlainJson.ts"
import { refused, type Refused, type Unavailable, unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Ids } from "../../ports/Ids.ts"
import { Ledger } from "../../ports/Ledger.ts"
import type { Bulk } from "../../ports/storage/Bulk.ts"
import type { Feed } from "../../ports/storage/Feed.ts"
import { Keys } from "../../ports/storage/Keys.ts"
import type { ProjectionLog } from "../../ports/storage/ProjectionLog.ts"
import { type Lease, WorkQueue } from "../../ports/storage/WorkQueue.ts"
import * as Audit from "../../records/Audit.ts"
import * as LeasedLock from "../../records/LeasedLock.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { ledgerUnavailable, orUnavailable } from "../../records/PortFailure.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Caller, type RequestIdentity, roleOf } from "../../writes/Caller.ts"
import * as CallKeys from "../../writes/CallKeys.ts"
import * as Idempotency from "../../writes/Idempotency.ts"
import * as KeyedCall from "../../writes/KeyedCall.ts"
import { traceOf } from "../../writes/OpenWrite.ts"
import type { Role } from "../../vocabulary/Role.ts"
import { compare } from "./CompareSteps.ts"
import * as RecordSteps from "./RecordSteps.ts"
import { type Run, RunId, runs, type Scope } from "./Run.ts"
import type { RunRequest } from "./RunRequest.ts"
import * as RunView from "./RunView.ts"

/** Roles that start a run. */
export const starters: ReadonlyArray<Role> = ["operator", "risk"]

const path = "/v1/reconciliation-runs"

/** A call that starts a run. */
export interface Starting {
  readonly caller: Caller
  readonly identity: RequestIdentity
  /** The Idempotency-Key as sent; null: the call is keyed on its body. */
  readonly key: string | null
  readonly request: RunRequest
  /** The body as sent; absent when there was none. */
  readonly body?: Plain
}

/** Answer to a call that starts a run: the encoded record. */
export interface Started {
  readonly value: Plain
  readonly location: string
  /** True where an earlier call under the same key made the run. */
  readonly replayed: boolean
}

type Refusals = Refused<
  "not-found" | "unauthenticated" | "idempotency-key-reused" | "idempotency-in-progress"
>

export class RunRunner extends Context.Service<
  RunRunner,
  {
    /**
     * Runs the checks in the call and returns the run's record. Waits 5 s for a run under way, then
     * refuses `overloaded`. Refuses `not-found` where an instrument of the scope does not exist.
     */
    readonly start: (of: Starting) => Effect.Effect<Started, Refusals | Unavailable>
    /** Runs the queued reconciliations that are due; returns their number. */
    readonly runOnce: Effect.Effect<number, Unavailable>
    /** Runs until interrupted; an interrupted run returns to the queue and begins again. */
    readonly run: Effect.Effect<never>
  }
>()("@bursar/engine-core/reconciliation/run/RunRunner") {}

/** Name of the lock of all runs of the venue. */
const lockName = "reconciliation-lock"

/** Milliseconds that a call waits for a run under way. */
const waitMillis = 5_000

/** Milliseconds until a queued run begins again that failed, or that found another run under way. */
const failedFor = 30_000
const busyFor = 1_000

const encodeView = CompiledCodec.encoder(RunView.RunView)

const startedOf = (run: Stored<Run>, { replayed }: Pick<Started, "replayed">): Started => ({
  value: encodeView(RunView.of(run)) as unknown as Plain,
  location: `${path}/${run.runId}`,
  replayed
})

/** Audit entry of the call, or of the engine's own run, with the verdict. */
const audited = (run: Stored<Run>, call: Partial<Audit.Entry>): Audit.Entry =>
  Audit.entry({
    action: "reconciliation.start",
    stage: "succeeded",
    resourceKind: "reconciliation-run",
    resourceId: run.runId,
    detail: { trigger: run.trigger, verdict: run.verdict },
    ...call
  })

const make = Effect.gen(function* () {
  const records = yield* Records
  const work = yield* WorkQueue
  const keys = yield* Keys
  const ids = yield* Ids
  const crypto = yield* Crypto
  const settings = yield* Settings
  const ledger = yield* Ledger
  const context = yield* Effect.context<
    Records | Ids | Crypto | Ledger | Bulk | Feed | ProjectionLog
  >()
  const provided = Effect.provideContext(Context.add(context, Settings, settings))
  const worker = `reconciliation-${Math.floor(Number(yield* Instant.now) / 1e3)}`
  const leaseMillis = settings.lease
  const locking = { work, records, name: lockName, worker, leaseMillis }
  const newId = Effect.map(ids.make("run"), Schema.decodeSync(RunId))

  /** The run that the call's key names already; undefined: none yet. */
  const earlier = Effect.fnUntraced(function* ({ scope, key, fingerprint }: CallKeys.CallKey) {
    const now = Instant.sortable(yield* Instant.now)
    const bound = yield* orUnavailable(keys.find({ scope, key, now }))
    if (Option.isNone(bound)) return undefined
    if (bound.value.fingerprint !== fingerprint) return yield* CallKeys.reused()
    return startedOf(yield* runOf(bound.value.target), { replayed: true })
  })

  /** Loads the run that a key names; a missing one is a defect. */
  const runOf = (target: string) =>
    Effect.catchTag(records.get(runs, Idempotency.parseTarget(target).id), "Refused", () =>
      Effect.die(new Error(`a key names ${target}, which is not there`))
    )

  const demandInstruments = Effect.fnUntraced(function* (scope: Scope) {
    const named = scope.instrumentIds ?? []
    const found = new Set<string>(
      (yield* records.many(instruments, named)).map(({ instrumentId }) => instrumentId)
    )
    const missing = named.find((instrumentId) => !found.has(instrumentId))
    if (missing === undefined) return
    const detail = `There is no instrument ${missing}.`
    return yield* Effect.fail(refused("not-found", { detail }))
  })

  /** Compares at a pin and records the run that a call asks for, under its key. */
  const called = Effect.fnUntraced(function* (
    { caller, identity }: Starting,
    scope: Scope,
    of: { readonly keyed: CallKeys.CallKey; readonly lock: Lease }
  ) {
    const runId = yield* newId
    const compared = yield* compare(scope)
    const { fingerprint, isSent, key, scope: keyScope } = of.keyed
    const now = yield* Instant.now
    const row = {
      scope: keyScope,
      key,
      fingerprint,
      target: Idempotency.target("run", runId),
      bindsUntil: isSent ? null : CallKeys.boundUntil(now, settings.bodyKeyWindow)
    }
    const recorded = yield* KeyedCall.run({ records, keys }, row, (claimed) =>
      Effect.gen(function* () {
        if (!claimed.first) return { target: claimed.target, replayed: true }
        yield* orUnavailable(work.hold(of.lock))
        const act = { cause: { by: "run", runId } as const, now, trace: traceOf(identity) }
        const run = yield* RecordSteps.record({ runId, trigger: "manual", scope, compared }, act)
        yield* records.audit([
          audited(run, {
            actor: caller.sub,
            role: roleOf(caller, starters) ?? null,
            requestId: identity.requestId,
            traceId: identity.traceId,
            keyId: identity.keyId,
            method: "POST",
            route: path,
            status: 201,
            bodyHash: fingerprint
          })
        ])
        return { target: row.target, replayed: false }
      })
    )
    // Loaded after the commit, which sets the times that later reads show.
    return startedOf(yield* runOf(recorded.target), recorded)
  })

  const start = Effect.fnUntraced(function* (of: Starting) {
    const requestedScope = of.request.scope
    const scope: Scope = {
      instrumentIds: requestedScope?.instrumentIds ?? null,
      checks: requestedScope?.checks ?? null
    }
    const fingerprint = crypto.sha256(
      Idempotency.fingerprintText({ method: "POST", path, query: "", body: of.body })
    )
    const keyed = yield* CallKeys.of(of.caller, { fingerprint, sent: of.key })
    const before = yield* earlier(keyed)
    if (before !== undefined) return before
    yield* demandInstruments(scope)
    const started = yield* LeasedLock.within({ ...locking, waitMillis }, (lock) =>
      Effect.flatMap(earlier(keyed), (meanwhile) =>
        meanwhile === undefined ? called(of, scope, { keyed, lock }) : Effect.succeed(meanwhile)
      )
    ).pipe(Effect.catchTag("LeaseLost", () => Effect.fail(busy)))
    return yield* Option.match(started, {
      onNone: () => Effect.fail(busy),
      onSome: (answer) => Effect.succeed(answer)
    })
  })

  /** Makes one queued run; the run and the end of its queue item are one transaction. */
  const process = (item: Lease) =>
    Effect.gen(function* () {
      const { instrumentId, trigger } = requestOf(item)
      const runId = yield* newId
      const instrumentIds = instrumentId === null ? null : [decodeInstrumentId(instrumentId)]
      const scope: Scope = { instrumentIds, checks: null }
      // A run without the ledger clears nothing, so a queued run waits for the ledger.
      yield* Effect.mapError(ledger.ledgerEnd, ledgerUnavailable)
      const made = yield* LeasedLock.within({ ...locking, waitMillis: 0 }, (lock) =>
        Effect.flatMap(compare(scope, { isBrief: instrumentId !== null }), (compared) =>
          records.transactAlone(
            Effect.gen(function* () {
              yield* orUnavailable(work.hold(item))
              yield* orUnavailable(work.hold(lock))
              const act = { cause: { by: "run", runId } as const, now: yield* Instant.now }
              const run = yield* RecordSteps.record({ runId, trigger, scope, compared }, act)
              yield* records.audit([audited(run, {})])
              yield* orUnavailable(work.finish(item))
            })
          )
        )
      ).pipe(
        // Another host has taken the lock over; the item is tried again as soon as where another
        // run has it.
        Effect.catchTag("LeaseLost", () => Effect.succeedNone)
      )
      if (Option.isNone(made)) yield* orUnavailable(work.release(item, { delay: busyFor }))
    })

  const runOnce = Effect.gen(function* () {
    const leases = yield* orUnavailable(work.lease({ queue, worker, limit: 1, leaseMillis }))
    yield* Effect.forEach(
      leases,
      (lease) => {
        const failed = `the reconciliation run ${lease.itemId} failed`
        return LeasedWork.under({ work, lease, leaseMillis, failed, failedFor }, process(lease))
      },
      { discard: true }
    )
    return leases.length
  })

  const pause = Effect.sleep(Duration.millis(settings.poll))
  const round = LeasedWork.round(
    Effect.flatMap(runOnce, (count) => (count === 0 ? pause : Effect.void)),
    { failed: "the queued reconciliation runs could not be read", pause }
  )

  return RunRunner.of({
    start: (of) => provided(start(of)),
    runOnce: provided(runOnce),
    run: provided(Effect.forever(round))
  })
})

const decodeInstrumentId = Schema.decodeSync(InstrumentId)

const busy = unavailable("overloaded", "Another reconciliation run is under way.", 5)

export const layer: Layer.Layer<
  RunRunner,
  never,
  Records | WorkQueue | Keys | Ids | Crypto | Ledger | Bulk | Feed | ProjectionLog
> = Layer.effect(RunRunner, make)
