/**
 * Runner of reconciliation runs: those that calls ask for, and those in the queues. Runs whose
 * instruments do not meet are made side by side (docs/domain/reconciliation.md#runs-side-by-side).
 */
import { Context, Duration, Effect, Layer, Option, Schema, Semaphore } from "effect"
import * as RunQueue from "../../findings/RunQueue.ts"
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
import type { LeaseLost } from "../../ports/storage/StorageError.ts"
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
import { compare, type Ground, groundOf } from "./CompareSteps.ts"
import * as Pace from "./PaceLookups.ts"
import * as Parts from "./PartsRunner.ts"
import * as RecordSteps from "./RecordSteps.ts"
import { type Run, RunId, runs, type Scope } from "./Run.ts"
import { lasts } from "./RunLastingLookups.ts"
import type { RunRequest } from "./RunRequest.ts"
import { type Call, type RunUnderWay, runsUnderWay } from "./RunUnderWay.ts"
import * as RunView from "./RunView.ts"

/** Roles that start a run. */
export const starters: ReadonlyArray<Role> = ["operator", "risk"]

const path = "/v1/reconciliation-runs"

/** A call that starts a run. */
export interface StartRunCall {
  readonly caller: Caller
  readonly identity: RequestIdentity
  /** The Idempotency-Key as sent; null: the call is keyed on its body. */
  readonly key: string | null
  readonly request: RunRequest
  /** The body as sent; absent when there was none. */
  readonly body?: Plain
}

/** Answer to a call that starts a run: the encoded record. */
export interface StartRunAnswer {
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
     * Runs the checks in the call and returns the run's record. Waits 5 s for a run under way of the
     * same instrument, or of every instrument, then refuses `overloaded`, or `idempotency-in-progress`
     * where the run is that of its own key; `retryAfter` is the time that the run is expected to
     * take. Refuses `not-found` where an instrument of the scope does not exist.
     */
    readonly start: (call: StartRunCall) => Effect.Effect<StartRunAnswer, Refusals | Unavailable>
    /** Runs the queued reconciliations that are due; returns their number. */
    readonly runOnce: Effect.Effect<number, Unavailable>
    /** Runs until interrupted; an interrupted run returns to the queue and begins again. */
    readonly run: Effect.Effect<never>
  }
>()("@bursar/engine-core/reconciliation/run/RunRunner") {}

/** Milliseconds that a call waits for a run under way, and between looks for a place. */
const waitMillis = 5_000
const lookEvery = 50

/** Number of runs that an instance makes at a time by calls, and of those in the queue of instruments. */
const callsAtOnce = 4
const queuedAtOnce = 4

/** Milliseconds until a queued run begins again that failed, or that found another run under way. */
const failedFor = 30_000
const busyFor = 1_000

const encodeView = CompiledCodec.encoder(RunView.RunView)

const startedOf = (
  run: Stored<Run>,
  { replayed }: Pick<StartRunAnswer, "replayed">
): StartRunAnswer => ({
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

/** The call as the audit record of its run names it. */
const callOf = ({ caller, identity }: StartRunCall, fingerprint: string): Call => ({
  actor: caller.sub,
  role: roleOf(caller, starters) ?? null,
  requestId: identity.requestId,
  traceId: identity.traceId,
  traceFlags: identity.traceFlags ?? null,
  keyId: identity.keyId,
  fingerprint
})

const auditOf = (call: Call): Partial<Audit.Entry> => ({
  actor: call.actor,
  role: call.role,
  requestId: call.requestId,
  traceId: call.traceId,
  keyId: call.keyId,
  method: "POST",
  route: path,
  status: 201,
  bodyHash: call.fingerprint
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
  const locking = { work, records, worker, leaseMillis }
  const places = yield* Semaphore.make(callsAtOnce)
  const newId = Effect.map(ids.make("run"), Schema.decodeSync(RunId))

  /** The run that a key names; undefined: it is under way, or there is none. */
  const runOf = (target: string) =>
    Effect.map(records.find(runs, Idempotency.parseTarget(target).id), Option.getOrUndefined)

  /** The run of a key that is under way; a key that names no run at all is a defect. */
  const underWayOf = Effect.fnUntraced(function* (target: string) {
    const { id } = Idempotency.parseTarget(target)
    const found = yield* records.find(runsUnderWay, id)
    if (Option.isSome(found)) return found.value
    const ended = yield* runOf(target)
    if (ended !== undefined) return ended
    return yield* Effect.die(new Error(`a key names ${target}, which is not there`))
  })

  /** Checks whether the run of a body's key has been overtaken by its input. */
  const isOver = (target: string): Effect.Effect<boolean, Unavailable> =>
    provided(
      Effect.flatMap(runOf(target), (run) =>
        run === undefined ? Effect.succeed(false) : Effect.map(lasts(run), (is) => !is)
      )
    )

  /** The run that the call's key names already; undefined: none, or one that binds no longer. */
  const earlier = Effect.fnUntraced(function* ({
    scope,
    key,
    fingerprint,
    isSent
  }: CallKeys.CallKey) {
    const now = Instant.sortable(yield* Instant.now)
    const bound = yield* orUnavailable(keys.find({ scope, key, now }))
    if (Option.isNone(bound)) return undefined
    if (bound.value.fingerprint !== fingerprint) return yield* CallKeys.reused()
    const { target } = bound.value
    if (!isSent && (yield* isOver(target))) return undefined
    return yield* underWayOf(target)
  })

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

  const keyRowOf = Effect.fnUntraced(function* (
    { fingerprint, isSent, key, scope }: CallKeys.CallKey,
    runId: string
  ) {
    const now = yield* Instant.now
    return {
      scope,
      key,
      fingerprint,
      target: Idempotency.target("run", runId),
      bindsUntil: isSent ? null : CallKeys.boundUntil(now, settings.bodyKeyWindow)
    }
  })

  const keying = ({ isSent }: CallKeys.CallKey) => ({
    records,
    keys,
    ...(isSent ? {} : { isOver })
  })

  /** Compares one instrument at a pin and records the run that a call asks for, under its key. */
  const calledOne = Effect.fnUntraced(function* (
    call: StartRunCall,
    scope: Scope,
    { keyed, lock }: { readonly keyed: CallKeys.CallKey; readonly lock: Lease }
  ) {
    const runId = yield* newId
    const compared = yield* compare(scope)
    const row = yield* keyRowOf(keyed, runId)
    const recorded = yield* KeyedCall.run(keying(keyed), row, (claimed) =>
      Effect.gen(function* () {
        if (!claimed.first) return { target: claimed.target, replayed: true }
        yield* orUnavailable(work.hold(lock))
        const now = yield* Instant.now
        const act = { cause: { by: "run", runId } as const, now, trace: traceOf(call.identity) }
        const run = yield* RecordSteps.record({ runId, trigger: "manual", scope, compared }, act)
        yield* records.audit([audited(run, auditOf(callOf(call, keyed.fingerprint)))])
        return { target: row.target, replayed: false }
      })
    )
    // Loaded after the commit, which sets the times that later reads show.
    const run = yield* runOf(recorded.target)
    if (run === undefined)
      return yield* Effect.die(new Error("a run was recorded and is not there"))
    return startedOf(run, recorded)
  })

  /** Makes a run of one instrument in the call. */
  const startOne = Effect.fnUntraced(function* (
    call: StartRunCall,
    scope: Scope,
    { keyed, instrumentId }: { readonly keyed: CallKeys.CallKey; readonly instrumentId: string }
  ) {
    const name = Parts.instrumentLockName(instrumentId)
    const busy = Effect.flatMap(provided(Pace.secondsOfInstrument(instrumentId)), (seconds) =>
      Effect.fail(unavailable("overloaded", "Another run compares the instrument.", seconds))
    )
    const started = yield* LeasedLock.within({ ...locking, name, waitMillis }, (lock) =>
      Effect.flatMap(earlier(keyed), (meanwhile) =>
        meanwhile !== undefined && isEnded(meanwhile)
          ? Effect.succeed(startedOf(meanwhile, { replayed: true }))
          : calledOne(call, scope, { keyed, lock })
      )
    ).pipe(Effect.catchTag("LeaseLost", () => busy))
    return yield* Option.match(started, { onNone: () => busy, onSome: Effect.succeed })
  })

  /** Opens a run of several instruments, in the transaction of its call or of its queue item. */
  const openSeveral = Effect.fnUntraced(function* (
    run: Pick<RunUnderWay, "runId" | "trigger" | "scope" | "itemId" | "call">,
    { at, startedAt }: Ground,
    covered: number
  ) {
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
  const finishSeveral = Effect.fnUntraced(function* (
    underWay: RunUnderWay,
    {
      fences,
      ground,
      ending
    }: {
      readonly fences: Parts.Fences
      /** Null: the run is continued, and the venue's own facts are compared anew. */
      readonly ground: Ground | null
      readonly ending: Effect.Effect<void, LeaseLost | Unavailable>
    }
  ) {
    const before = { locking, fences, underWay }
    const making =
      ground === null ? { ...before, underWay: yield* Parts.continueRun(before) } : before
    yield* Parts.makeParts(making, ground ?? (yield* groundOf(underWay.scope)))
    yield* records.transactAlone(
      Effect.gen(function* () {
        const run = yield* Parts.endRun(making)
        yield* records.audit([audited(run, underWay.call === null ? {} : auditOf(underWay.call))])
        yield* ending
      })
    )
  })

  /** Ends the queue item that would continue the run of a call, whoever has leased it. */
  const settled = ({ itemId }: Pick<RunUnderWay, "itemId">) =>
    orUnavailable(work.settle({ queue: RunQueue.longQueue, itemIds: [itemId] }))

  /** Begins a run of several instruments that a call asks for, and makes it. */
  const beginSeveral = Effect.fnUntraced(function* (
    call: StartRunCall,
    scope: Scope,
    {
      keyed,
      lock,
      runId
    }: { readonly keyed: CallKeys.CallKey; readonly lock: Lease; readonly runId: RunId }
  ) {
    const ground = yield* groundOf(scope)
    const covered = yield* Parts.countOf(scope, ground.at.pin)
    const row = yield* keyRowOf(keyed, runId)
    const item = RunQueue.continuationOf(runId, { delay: 2 * leaseMillis })
    const opened = yield* KeyedCall.run(keying(keyed), row, (claimed) =>
      Effect.gen(function* () {
        if (!claimed.first) return undefined
        yield* orUnavailable(work.hold(lock))
        yield* records.enqueue([item])
        const stored = callOf(call, keyed.fingerprint)
        const run = { runId, trigger: "manual", scope, itemId: item.itemId, call: stored } as const
        return yield* openSeveral(run, ground, covered)
      })
    )
    if (opened === undefined) return undefined
    const fences = { lock, item: null }
    yield* finishSeveral(opened, { fences, ground, ending: settled(opened) })
    return runId
  })

  /** Loads the record of a run that was ended in this call. */
  const startedBy = (runId: string, started: Pick<StartRunAnswer, "replayed">) =>
    Effect.flatMap(runOf(Idempotency.target("run", runId)), (run) =>
      run === undefined
        ? Effect.die(new Error("a run was recorded and is not there"))
        : Effect.succeed(startedOf(run, started))
    )

  const venueBusy = Effect.flatMap(provided(Pace.secondsOfVenue), (seconds) =>
    Effect.fail(unavailable("overloaded", "A run of every instrument is under way.", seconds))
  )

  /** Makes a run of several instruments, or of every one, in the call. */
  const startSeveral = Effect.fnUntraced(function* (
    call: StartRunCall,
    scope: Scope,
    keyed: CallKeys.CallKey
  ) {
    const runId = yield* newId
    const name = Parts.runLockName({ runId, scope })
    const made = yield* LeasedLock.within({ ...locking, name, waitMillis }, (lock) =>
      Effect.gen(function* () {
        const meanwhile = yield* earlier(keyed)
        if (meanwhile !== undefined) return meanwhile
        return yield* beginSeveral(call, scope, { keyed, lock, runId })
      })
    ).pipe(Effect.catchTag("LeaseLost", () => venueBusy))
    if (Option.isNone(made)) return yield* venueBusy
    if (typeof made.value === "string") return yield* startedBy(made.value, { replayed: false })
    const other = made.value ?? (yield* earlier(keyed))
    // The call that was first at the key has made no run after all: this one is repeated later.
    if (other === undefined) return yield* venueBusy
    return yield* ofEarlier(other)
  })

  /**
   * Answers with the run of an earlier call. One under way is waited for, and continued here where its
   * host has ended.
   */
  const ofEarlier = Effect.fnUntraced(function* (other: Stored<Run> | Stored<RunUnderWay>) {
    if (isEnded(other)) return startedOf(other, { replayed: true })
    const { runId } = other
    const busy = Effect.flatMap(provided(Pace.secondsLeft(other)), (retryAfter) =>
      Effect.fail(
        refused("idempotency-in-progress", {
          detail: "The run of this call is under way; repeat the call later for its answer.",
          retryAfter
        })
      )
    )
    const name = Parts.runLockName(other)
    const made = yield* LeasedLock.within({ ...locking, name, waitMillis }, (lock) =>
      Effect.gen(function* () {
        const self = Option.getOrUndefined(yield* records.find(runsUnderWay, runId))
        if (self === undefined) return
        const fences = { lock, item: null }
        yield* finishSeveral(self, { fences, ground: null, ending: settled(self) })
      })
    ).pipe(Effect.catchTag("LeaseLost", () => busy))
    if (Option.isNone(made)) return yield* busy
    return yield* startedBy(runId, { replayed: true })
  })

  /** Makes a call's run at one of the instance's places; none free within 5 s: `overloaded`. */
  const atPlace = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      for (let waited = 0; ; waited += lookEvery) {
        const done = yield* places.withPermitsIfAvailable(1)(effect)
        if (Option.isSome(done)) return done.value
        if (waited >= waitMillis) break
        yield* Effect.sleep(Duration.millis(lookEvery))
      }
      const seconds = yield* provided(Pace.secondsOfVenue)
      return yield* Effect.fail(
        unavailable("overloaded", "The instance makes as many runs as it may.", seconds)
      )
    })

  const start = Effect.fnUntraced(function* (call: StartRunCall) {
    const requestedScope = call.request.scope
    const scope: Scope = {
      instrumentIds: requestedScope?.instrumentIds ?? null,
      checks: requestedScope?.checks ?? null
    }
    const fingerprint = crypto.sha256(
      Idempotency.fingerprintText({ method: "POST", path, query: "", body: call.body })
    )
    const keyed = yield* CallKeys.of(call.caller, { fingerprint, sent: call.key })
    const before = yield* earlier(keyed)
    if (before !== undefined)
      return yield* isEnded(before) ? ofEarlier(before) : atPlace(ofEarlier(before))
    yield* demandInstruments(scope)
    const [instrumentId, ...others] = scope.instrumentIds ?? []
    return yield* atPlace(
      instrumentId === undefined || others.length > 0
        ? startSeveral(call, scope, keyed)
        : startOne(call, scope, { keyed, instrumentId })
    )
  })

  /** Makes the queued run of one instrument; the run and the end of its queue item are one transaction. */
  const processOne = Effect.fnUntraced(function* (
    item: Lease,
    {
      trigger,
      instrumentId
    }: { readonly trigger: RunQueue.OwnTrigger; readonly instrumentId: string }
  ) {
    const runId = yield* newId
    const scope: Scope = { instrumentIds: [decodeInstrumentId(instrumentId)], checks: null }
    const name = Parts.instrumentLockName(instrumentId)
    return yield* LeasedLock.within({ ...locking, name, waitMillis: 0 }, (lock) =>
      Effect.flatMap(compare(scope, { isBrief: true }), (compared) =>
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
    )
  })

  /** Makes the queued run of every instrument, or continues it where an earlier worker has ended. */
  const processVenue = Effect.fnUntraced(function* (item: Lease, trigger: RunQueue.OwnTrigger) {
    const runId = yield* newId
    const { itemId } = item
    const scope: Scope = { instrumentIds: null, checks: null }
    const name = Parts.venueLockName
    const ending = orUnavailable(work.finish(item))
    return yield* LeasedLock.within({ ...locking, name, waitMillis: 0 }, (lock) =>
      Effect.gen(function* () {
        const fences = { lock, item }
        const [begun] = yield* records.list(runsUnderWay, { where: { itemId: [itemId] }, limit: 1 })
        if (begun !== undefined) {
          return yield* finishSeveral(begun.record, { fences, ground: null, ending })
        }
        const ground = yield* groundOf(scope)
        const covered = yield* Parts.countOf(scope, ground.at.pin)
        const opened = yield* records.transactAlone(
          Effect.gen(function* () {
            yield* orUnavailable(work.hold(item))
            yield* orUnavailable(work.hold(lock))
            return yield* openSeveral(
              { runId, trigger, scope, itemId, call: null },
              ground,
              covered
            )
          })
        )
        yield* finishSeveral(opened, { fences, ground, ending })
      })
    )
  })

  /** Continues the run of a call whose host has ended; finishes the item where the run has ended. */
  const processCalled = Effect.fnUntraced(function* (item: Lease, runId: string) {
    const ending = orUnavailable(work.finish(item))
    const found = Option.getOrUndefined(yield* records.find(runsUnderWay, runId))
    if (found === undefined) return Option.some(yield* ending)
    const name = Parts.runLockName(found)
    return yield* LeasedLock.within({ ...locking, name, waitMillis: 0 }, (lock) =>
      Effect.gen(function* () {
        const self = Option.getOrUndefined(yield* records.find(runsUnderWay, runId))
        if (self === undefined) return yield* ending
        yield* finishSeveral(self, { fences: { lock, item }, ground: null, ending })
      })
    )
  })

  /** Makes one queued run. */
  const process = (item: Lease) =>
    Effect.gen(function* () {
      const request = RunQueue.requestOf(item)
      // A run without the ledger clears nothing, so a queued run waits for the ledger.
      yield* Effect.mapError(ledger.ledgerEnd, ledgerUnavailable)
      const making =
        "runId" in request
          ? processCalled(item, request.runId)
          : request.instrumentId === null
            ? processVenue(item, request.trigger)
            : processOne(item, { trigger: request.trigger, instrumentId: request.instrumentId })
      const made = yield* making.pipe(
        // Another host has taken the lock over; the item is tried again as soon as where another
        // run has it.
        Effect.catchTag("LeaseLost", () => Effect.succeedNone)
      )
      if (Option.isNone(made)) yield* orUnavailable(work.release(item, { delay: busyFor }))
    })

  const processed = (queue: string, limit: number) =>
    Effect.gen(function* () {
      const leases = yield* orUnavailable(work.lease({ queue, worker, limit, leaseMillis }))
      yield* Effect.forEach(
        leases,
        (lease) => {
          const failed = `the reconciliation run ${lease.itemId} failed`
          return LeasedWork.under({ work, lease, leaseMillis, failed, failedFor }, process(lease))
        },
        { discard: true, concurrency: limit }
      )
      return leases.length
    })

  const ofInstruments = processed(RunQueue.queue, queuedAtOnce)
  const ofVenue = processed(RunQueue.longQueue, 1)
  const runOnce = Effect.map(
    Effect.all([ofInstruments, ofVenue], { concurrency: "unbounded" }),
    ([some, more]) => some + more
  )

  const pause = Effect.sleep(Duration.millis(settings.poll))
  const round = (made: typeof ofVenue) =>
    LeasedWork.round(
      Effect.flatMap(made, (count) => (count === 0 ? pause : Effect.void)),
      { failed: "the queued reconciliation runs could not be read", pause }
    )
  // A long run keeps no run of one instrument waiting.
  const forever = Effect.all(
    [Effect.forever(round(ofInstruments)), Effect.forever(round(ofVenue))],
    {
      concurrency: "unbounded"
    }
  )

  return RunRunner.of({
    start: (call) => provided(start(call)),
    runOnce: provided(runOnce),
    run: provided(Effect.map(forever, ([ended]) => ended))
  })
})

const isEnded = (run: Stored<Run> | Stored<RunUnderWay>): run is Stored<Run> => "finishedAt" in run

const decodeInstrumentId = Schema.decodeSync(InstrumentId)

export const layer: Layer.Layer<
  RunRunner,
  never,
  Records | WorkQueue | Keys | Ids | Crypto | Ledger | Bulk | Feed | ProjectionLog
> = Layer.effect(RunRunner, make)
