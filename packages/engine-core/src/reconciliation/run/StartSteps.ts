/**
 * Steps that make the reconciliation run of a call. Runs whose instruments do not meet are made side by
 * side (docs/domain/reconciliation.md#runs-side-by-side).
 */
import { Duration, Effect, Layer, Option, Semaphore } from "effect"
import { Settings } from "../../engine/Settings.ts"
import * as RunQueue from "../../findings/RunQueue.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import * as CompiledCodec from "../../kernel/CompiledCodec.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Plain } from "../../kernel/PlainJson.ts"
import { refused, unavailable } from "../../kernel/Refusal.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { Ids } from "../../ports/Ids.ts"
import type { Ledger } from "../../ports/Ledger.ts"
import type { Bulk } from "../../ports/storage/Bulk.ts"
import type { Feed } from "../../ports/storage/Feed.ts"
import type { ProjectionLog } from "../../ports/storage/ProjectionLog.ts"
import { type Lease, WorkQueue } from "../../ports/storage/WorkQueue.ts"
import * as LeasedLock from "../../records/LeasedLock.ts"
import * as LeasedWork from "../../records/LeasedWork.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Worker from "../../records/Worker.ts"
import * as Logged from "../../writes/Logged.ts"
import * as Idempotency from "../../writes/Idempotency.ts"
import * as KeyedCall from "../../writes/KeyedCall.ts"
import { traceOf } from "../../writes/OpenWrite.ts"
import { compare, groundOf } from "./CompareSteps.ts"
import * as Pace from "./PaceLookups.ts"
import * as Parts from "./PartsRunner.ts"
import { path, Reconciler, type StartRunAnswer, type StartRunCall, starters } from "./Reconciler.ts"
import * as RecordSteps from "./RecordSteps.ts"
import { type Run, type RunId, runs, type RunScope } from "./Run.ts"
import { lasts } from "./RunLastingLookups.ts"
import { type StartingCall, type RunUnderWay, runsUnderWay } from "./RunUnderWay.ts"
import * as RunView from "./RunView.ts"
import { audited, finishSeveral, newRunId, openSeveral } from "./SeveralSteps.ts"

/** Milliseconds that a call waits for a run under way, and between looks for a place. */
const waitMillis = 5_000
const lookEvery = 50

/** Number of runs that an instance makes at a time by calls. */
const callsAtOnce = 4

const encodeView = CompiledCodec.encoder(RunView.RunView)

const startedOf = (
  run: Stored<Run>,
  { replayed }: Pick<StartRunAnswer, "replayed">
): StartRunAnswer => ({
  value: encodeView(RunView.of(run)) as unknown as Plain,
  location: `${path}/${run.runId}`,
  replayed
})

/** The call as the audit record of its run names it. */
const callOf = ({ caller, identity }: StartRunCall, fingerprint: string): StartingCall => {
  const { bodyHash: _, ...origin } = Logged.originOf({ caller, identity, fingerprint }, starters)
  return { ...origin, traceFlags: identity.traceFlags ?? null, fingerprint }
}

/** The run that a key names; undefined: it is under way, or there is none. */
const runOf = (target: string) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(records.find(runs, Idempotency.parseTarget(target).id), Option.getOrUndefined)
  )

/** The run of a key, ended or under way; a key that names no run at all is a defect. */
const keyedRunOf = Effect.fnUntraced(function* (target: string) {
  const records = yield* Records
  const found = yield* records.find(runsUnderWay, Idempotency.parseTarget(target).id)
  if (Option.isSome(found)) return found.value
  const ended = yield* runOf(target)
  if (ended !== undefined) return ended
  return yield* Effect.die(new Error(`a key names ${target}, which is not there`))
})

/** Checks whether the run of a body's key has been overtaken by its input. */
const isOver = (target: string) =>
  Effect.flatMap(runOf(target), (run) =>
    run === undefined ? Effect.succeed(false) : Effect.map(lasts(run), (is) => !is)
  )

/** The run that the call's key names already; undefined: none, or one that binds no longer. */
const earlier = Effect.fnUntraced(function* (keyed: KeyedCall.CallKey) {
  const target = yield* KeyedCall.earlier(keyed)
  if (target === undefined) return undefined
  const run = yield* keyedRunOf(target)
  const binds = keyed.isSent || !isEnded(run) || (yield* lasts(run))
  return binds ? run : undefined
})

const demandInstruments = Effect.fnUntraced(function* (scope: RunScope) {
  const records = yield* Records
  const named = scope.instrumentIds ?? []
  const found = new Set<string>(
    (yield* records.many(instruments, named)).map(({ instrumentId }) => instrumentId)
  )
  const missing = named.find((instrumentId) => !found.has(instrumentId))
  if (missing === undefined) return
  const detail = `There is no instrument ${missing}.`
  return yield* Effect.fail(refused("not-found", { detail }))
})

/** Runs `effect` under the call's key, which names the run from then on. */
const underKey = <A, E, R>(
  keyed: KeyedCall.CallKey,
  runId: string,
  effect: (bound: KeyedCall.KeyOutcome) => Effect.Effect<A, E, R>
) => KeyedCall.alone(keyed, { target: Idempotency.target("run", runId), isOver }, effect)

/** Compares one instrument at a pin and records the run that a call asks for, under its key. */
const calledOne = Effect.fnUntraced(function* (
  call: StartRunCall,
  scope: RunScope,
  { keyed, lock }: { readonly keyed: KeyedCall.CallKey; readonly lock: Lease }
) {
  const records = yield* Records
  const runId = yield* newRunId
  const compared = yield* compare(scope)
  const recorded = yield* underKey(keyed, runId, (bound) =>
    Effect.gen(function* () {
      if (!bound.first) return { target: bound.target, replayed: true }
      yield* LeasedWork.fence(lock)
      const now = yield* Instant.now
      const act = { cause: { by: "run", runId } as const, now, trace: traceOf(call.identity) }
      const run = yield* RecordSteps.record({ runId, trigger: "manual", scope, compared }, act)
      yield* records.audit([audited(run, callOf(call, keyed.fingerprint))])
      return { target: Idempotency.target("run", runId), replayed: false }
    })
  )
  // Loaded after the commit, which sets the times that later reads show.
  return yield* startedBy(recorded.target, recorded)
})

/** Makes a run of one instrument in the call. */
const startOne = Effect.fnUntraced(function* (
  call: StartRunCall,
  scope: RunScope,
  { keyed, instrumentId }: { readonly keyed: KeyedCall.CallKey; readonly instrumentId: string }
) {
  const name = Parts.instrumentLockName(instrumentId)
  const busy = Effect.flatMap(Pace.secondsOfInstrument(instrumentId), (seconds) =>
    Effect.fail(unavailable("overloaded", "Another run compares the instrument.", seconds))
  )
  const started = yield* LeasedLock.within({ name, waitMillis }, (lock) =>
    Effect.flatMap(earlier(keyed), (meanwhile) =>
      meanwhile !== undefined && isEnded(meanwhile)
        ? Effect.succeed(startedOf(meanwhile, { replayed: true }))
        : calledOne(call, scope, { keyed, lock })
    )
  ).pipe(Effect.catchTag("LeaseLost", () => busy))
  return yield* Option.match(started, { onNone: () => busy, onSome: Effect.succeed })
})

/** Ends the queue item that would continue the run of a call, whoever has leased it. */
const settled = ({ itemId }: Pick<RunUnderWay, "itemId">) =>
  Effect.flatMap(WorkQueue, (work) =>
    orUnavailable(work.settle({ queue: RunQueue.longQueue, itemIds: [itemId] }))
  )

/** Begins a run of several instruments that a call asks for, and makes it. */
const beginSeveral = Effect.fnUntraced(function* (
  call: StartRunCall,
  scope: RunScope,
  {
    keyed,
    lock,
    runId
  }: { readonly keyed: KeyedCall.CallKey; readonly lock: Lease; readonly runId: RunId }
) {
  const records = yield* Records
  const { lease: leaseMillis } = yield* Settings
  const ground = yield* groundOf(scope)
  const covered = yield* Parts.countOf(scope, ground.at.pin)
  const item = RunQueue.continuationOf(runId, { delay: 2 * leaseMillis })
  const opened = yield* underKey(keyed, runId, (bound) =>
    Effect.gen(function* () {
      if (!bound.first) return undefined
      yield* LeasedWork.fence(lock)
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
const startedBy = (target: string, started: Pick<StartRunAnswer, "replayed">) =>
  Effect.flatMap(runOf(target), (run) =>
    run === undefined
      ? Effect.die(new Error("a run was recorded and is not there"))
      : Effect.succeed(startedOf(run, started))
  )

const venueBusy = Effect.flatMap(Pace.secondsOfVenue, (seconds) =>
  Effect.fail(unavailable("overloaded", "A run of every instrument is under way.", seconds))
)

/** Makes a run of several instruments, or of every one, in the call. */
const startSeveral = Effect.fnUntraced(function* (
  call: StartRunCall,
  scope: RunScope,
  keyed: KeyedCall.CallKey
) {
  const runId = yield* newRunId
  const name = Parts.runLockName({ runId, scope })
  const made = yield* LeasedLock.within({ name, waitMillis }, (lock) =>
    Effect.gen(function* () {
      const meanwhile = yield* earlier(keyed)
      if (meanwhile !== undefined) return meanwhile
      return yield* beginSeveral(call, scope, { keyed, lock, runId })
    })
  ).pipe(Effect.catchTag("LeaseLost", () => venueBusy))
  if (Option.isNone(made)) return yield* venueBusy
  if (typeof made.value === "string") {
    return yield* startedBy(Idempotency.target("run", made.value), { replayed: false })
  }
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
  const records = yield* Records
  const { runId } = other
  const busy = Effect.flatMap(Pace.secondsLeft(other), (retryAfter) =>
    Effect.fail(
      refused("idempotency-in-progress", {
        detail: "The run of this call is under way; repeat the call later for its answer.",
        retryAfter
      })
    )
  )
  const name = Parts.runLockName(other)
  const made = yield* LeasedLock.within({ name, waitMillis }, (lock) =>
    Effect.gen(function* () {
      const self = Option.getOrUndefined(yield* records.find(runsUnderWay, runId))
      if (self === undefined) return
      const fences = { lock, item: null }
      yield* finishSeveral(self, { fences, ground: null, ending: settled(self) })
    })
  ).pipe(Effect.catchTag("LeaseLost", () => busy))
  if (Option.isNone(made)) return yield* busy
  return yield* startedBy(Idempotency.target("run", runId), { replayed: true })
})

/** Makes a call's run at one of the instance's places; none free within 5 s: `overloaded`. */
const atPlace = <A, E, R>(places: Semaphore.Semaphore, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    for (let waited = 0; ; waited += lookEvery) {
      const done = yield* places.withPermitsIfAvailable(1)(effect)
      if (Option.isSome(done)) return done.value
      if (waited >= waitMillis) break
      yield* Effect.sleep(Duration.millis(lookEvery))
    }
    const seconds = yield* Pace.secondsOfVenue
    return yield* Effect.fail(
      unavailable("overloaded", "The instance makes as many runs as it may.", seconds)
    )
  })

const start = Effect.fnUntraced(function* (places: Semaphore.Semaphore, call: StartRunCall) {
  const requestedScope = call.request.scope
  const scope: RunScope = {
    instrumentIds: requestedScope?.instrumentIds ?? null,
    checks: requestedScope?.checks ?? null
  }
  const fingerprint = yield* KeyedCall.fingerprintOf({
    method: "POST",
    path,
    query: "",
    body: call.body
  })
  const keyed = yield* KeyedCall.keyOf(call.caller, { fingerprint, sentKey: call.key })
  const before = yield* earlier(keyed)
  if (before !== undefined)
    return yield* isEnded(before) ? ofEarlier(before) : atPlace(places, ofEarlier(before))
  yield* demandInstruments(scope)
  const [instrumentId, ...others] = scope.instrumentIds ?? []
  const isOne = instrumentId !== undefined && others.length === 0
  return yield* isOne
    ? atPlace(places, startOne(call, scope, { keyed, instrumentId }))
    : atPlace(places, startSeveral(call, scope, keyed))
})

const isEnded = (run: Stored<Run> | Stored<RunUnderWay>): run is Stored<Run> => "finishedAt" in run

type Needs = KeyedCall.Needs | WorkQueue | Ids | Crypto | Ledger | Bulk | Feed | ProjectionLog

export const layer: Layer.Layer<Reconciler, never, Needs> = Layer.effect(
  Reconciler,
  Effect.gen(function* () {
    const services = yield* Worker.servicesOf<Needs>()
    const places = yield* Semaphore.make(callsAtOnce)
    return Reconciler.of({
      start: (call) => Effect.provideContext(start(places, call), services)
    })
  })
)
