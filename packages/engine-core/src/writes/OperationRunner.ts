/**
 * Runner of queued operations: leases them, and runs each exactly once, one at a time for a
 * resource.
 */
import {
  Cause,
  Context,
  Duration,
  Effect,
  FiberSet,
  Layer,
  Option,
  Queue,
  Result,
  Stream,
  Tracer
} from "effect"
import * as Discreet from "../restraints/restriction/Discreet.ts"
import { failed } from "../kernel/Gates.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Problem from "../kernel/Problem.ts"
import { refused, unavailable, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import * as Trace from "../kernel/Trace.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { WebhookSender } from "../ports/WebhookSender.ts"
import * as Ledger from "../ports/Ledger.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import * as Metrics from "../engine/Metrics.ts"
import { Settings } from "../engine/Settings.ts"
import * as Leased from "../records/Leased.ts"
import { stored, unread } from "../records/Away.ts"
import type { Act, OperationAct } from "../records/Act.ts"
import { Records, type Stored } from "../records/Records.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"
import { queue as operationQueue } from "./OpenWrite.ts"
import { approvals } from "./Approval.ts"
import * as Figures from "./Figures.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import * as LedgerRefusal from "./LedgerRefusal.ts"
import * as Logged from "./Logged.ts"
import type { OnLedger, OnOutside, OnRecords, Operation } from "./Operation.ts"
import { type Fact, operations, type OperationRecord, type Step } from "./OperationRecord.ts"
import { Operations } from "./Operations.ts"
import * as OperationTransitions from "./OperationTransitions.ts"
import * as Request from "./Request.ts"

/** How often a step may be planned anew because a contract it needs was used up. */
const replansMax = 3

/** How often an operation that dies is tried before it is failed: the same bug would die for ever. */
const deathsMax = 5

/**
 * Milliseconds after an unknown answer before an absent commit counts as final
 * (docs/domain/ledger-writes.md#unknown-outcomes).
 */
const certainAfter = 120_000

/** Milliseconds a committed step waits for the projection before it is looked at again. */
const projectedWithin = 500

export class OperationRunner extends Context.Service<
  OperationRunner,
  {
    /**
     * Leases what is due and runs it to where it can get; answers how many it took. For tests and
     * for embedders that drive the engine themselves.
     */
    readonly once: Effect.Effect<number, Unavailable>
    /** Runs until interrupted: takes no new operation then, and finishes those it has. */
    readonly run: Effect.Effect<never>
  }
>()("@bursar/engine-core/writes/OperationRunner") {}

const failing =
  (cause: Refused | Unavailable) =>
  (requestId: string): OperationTransitions.Failure => {
    const instead = Discreet.insteadOf(cause)
    return {
      problem: Problem.from(cause, requestId),
      ...(instead === null ? {} : { problemInstead: Problem.from(instead, requestId) })
    }
  }

/** Milliseconds that running operations get to finish when the engine stops. */
const stopWithin = 20_000

/** What an item's payload says after a claim that left no submission unanswered. */
const answered = (attempt: number): string => `answered ${attempt}`

/** The kind of a queued operation: its payload's first word, so that nothing is read to know it. */
const kindOf = (lease: Lease): OperationKind => {
  const [kind = ""] = lease.payload.split(" ")
  if (!OperationKind.has(kind)) throw new Error(`operation ${lease.itemId} is queued as ${kind}`)
  return kind
}

/** Milliseconds of 2^attempt seconds, at most a minute. */
const backoff = (attempt: number): number => Math.min(60_000, 1_000 * 2 ** Math.min(attempt, 6))

const make = Effect.gen(function* () {
  const records = yield* Records
  const work = yield* WorkQueue
  const ledger = yield* Ledger.Ledger
  const projection = yield* ProjectionLog
  const declared = yield* Operations
  const settings = yield* Settings
  const crypto = yield* Crypto
  const ids = yield* Ids
  const sender = yield* WebhookSender
  const judging = yield* JudgeWrite.make
  const worker = `runner-${Math.floor(Number(yield* Instant.now) / 1e3)}`

  const isFinal = (record: OperationRecord) =>
    record.state === "succeeded" || record.state === "failed"

  const hold = (lease: Lease) => stored(work.hold(lease))

  /**
   * Claims whose submission was taken, or sent and not answered: it may commit, whatever became of
   * the claim, and whatever the ledger shows of it so far.
   */
  const unanswered = new WeakSet<Lease>()
  /** The trace of the call behind each claim, for what the claim asks of others. */
  const traces = new WeakMap<Lease, Trace.Trace | null>()

  /** Gives the item back; its payload says that nothing this claim sent has come about, nor will. */
  const release = (lease: Lease, delay: number) =>
    stored(
      work.release(
        lease,
        unanswered.has(lease)
          ? { delay }
          : { delay, payload: `${kindOf(lease)} ${answered(lease.attempt)}` }
      )
    )

  const actOf = (record: OperationRecord, now: Instant.Instant): OperationAct =>
    judging.actOf(record.operationId, now, {
      actor: record.actor,
      signedBy: record.signedBy ?? [],
      sealed: record.sealed ?? null,
      trace: Trace.of(record.traceId, record.traceFlags)
    })

  const { inputOf } = judging

  /** What the world outside says of a write now that it runs. */
  const ask = Effect.fnUntraced(function* (operation: Operation, lease: Lease) {
    if (operation.judge === undefined) return
    const record = yield* load(lease)
    if (isFinal(record)) return
    yield* operation
      .judge(inputOf(operation, record))
      .pipe(Effect.provideService(WebhookSender, sender), Effect.provideService(Settings, settings))
  })

  const actFor = (record: OperationRecord, now: Instant.Instant): Act => ({
    cause: { by: "operation", operationId: record.operationId },
    now,
    trace: Trace.of(record.traceId, record.traceFlags)
  })

  const note = (record: Stored<OperationRecord>, fact: Fact, now: Instant.Instant) =>
    records.record(operations, record, fact, actFor(record, now))

  /**
   * Links the worker's span to the trace of the call that opened the operation. Of that call only
   * its trace is kept; the last digits of its id stand for its span, which nobody knows any more.
   */
  const linked = ({ traceId }: OperationRecord) =>
    Effect.map(Effect.option(Effect.currentSpan), (current) => {
      if (traceId === null || Option.isNone(current)) return
      const span = current.value
      // What runs in a transaction may run again.
      if (span.links.some((link) => link.span.traceId === traceId)) return
      const call = Tracer.externalSpan({ traceId, spanId: traceId.slice(16) })
      span.addLinks([{ span: call, attributes: {} }])
    })

  /** The operation as running: its first claim sets when it started, and nothing changes that. */
  const taken = (record: Stored<OperationRecord>, lease: Lease, now: Instant.Instant) =>
    record.state === "queued"
      ? OperationTransitions.take(record, {
          at: Instant.of(lease.startedAt),
          act: actFor(record, now)
        }).pipe(
          Effect.tap(() => records.whenCommitted(Metrics.cameTo(record.kind, "running"))),
          Effect.provideService(Records, records)
        )
      : Effect.succeed(record)

  const load = (lease: Lease) =>
    records.get(operations, lease.itemId).pipe(
      Effect.catchTag("Refused", () =>
        Effect.die(new Error(`operation ${lease.itemId} is queued but not recorded`))
      ),
      Effect.tap(({ traceId, traceFlags }) =>
        Effect.sync(() => traces.set(lease, Trace.of(traceId, traceFlags)))
      )
    )

  /** Notes the refusal that ends an operation. */
  const end = Effect.fnUntraced(
    function* (
      lease: Lease,
      record: Stored<OperationRecord>,
      told: OperationTransitions.Failure,
      now: Instant.Instant
    ) {
      yield* OperationTransitions.fail(record, { failure: told, act: actFor(record, now) })
      yield* stored(work.finish(lease))
    },
    Effect.provideService(Records, records)
  )

  /** Ends an operation that was refused when it ran. */
  const fail = (lease: Lease, failure: (requestId: string) => OperationTransitions.Failure) =>
    records.transact(
      Effect.gen(function* () {
        const now = yield* Instant.now
        const record = yield* Effect.flatMap(load(lease), (it) => taken(it, lease, now))
        yield* end(lease, record, failure(record.requestId), now)
      })
    )

  const refuse = (lease: Lease, cause: Refused | Unavailable) => fail(lease, failing(cause))

  // ---- figures --------------------------------------------------------------------------------

  /**
   * Whether the figures that were signed have moved by now, judged as the write would run: then
   * nothing runs, the operation ends refused, and its action awaits again with the new figures and
   * without signatures. All of it in the transaction that would have run it.
   */
  const movedAtRun = Effect.fnUntraced(function* (
    operation: Operation,
    record: Stored<OperationRecord>,
    of: { readonly lease: Lease; readonly input: unknown; readonly act: OperationAct }
  ) {
    const { actionKey } = record
    if (operation.figures === undefined || actionKey === null) return false
    const { act, input, lease } = of
    const derived = yield* judging.precheck(operation, input, { act, outside: Result.void })
    const moved = derived === undefined ? [] : Figures.moved(record.figures ?? {}, derived)
    if (derived === undefined || moved.length === 0) return false
    yield* records.lock(`action:${settings.tenantId}:${actionKey}`)
    const told = refused("rule-refused", Figures.movedTold(moved, actionKey))
    yield* end(lease, record, failing(told)(record.requestId), act.now)
    const action = yield* records
      .get(approvals, actionKey)
      .pipe(
        Effect.catchTag("Refused", () =>
          Effect.die(new Error(`operation ${record.operationId} names no action`))
        )
      )
    const after = yield* records.record(
      approvals,
      action,
      { on: "void", ...judging.keep(derived) },
      act
    )
    yield* records.audit([Logged.voidedAtRun(after, record)])
    return true
  })

  // ---- the engine's own records ---------------------------------------------------------------

  const onRecords = (operation: OnRecords, lease: Lease) =>
    Effect.andThen(
      ask(operation, lease),
      records.transact(
        Effect.gen(function* () {
          const now = yield* Instant.now
          const found = yield* load(lease)
          yield* linked(found)
          if (isFinal(found)) return yield* stored(work.finish(lease))
          const record = yield* taken(found, lease, now)
          const input = inputOf(operation, record)
          const act = actOf(record, now)
          if (yield* movedAtRun(operation, record, { lease, input, act })) return
          const result = yield* operation.run(input, act)
          yield* OperationTransitions.succeed(record, { operation, result, act })
          // Demands the fence: a worker that has lost its lease leaves nothing.
          yield* stored(work.finish(lease))
        })
      )
    ).pipe(
      Effect.provideService(Records, records),
      Effect.catchTag("Refused", (refusal) => refuse(lease, refusal))
    )

  // ---- outside --------------------------------------------------------------------------------

  /** The operation under this lease, running; undefined: it has ended, and the lease with it. */
  const underWay = Effect.fnUntraced(function* (lease: Lease) {
    const now = yield* Instant.now
    yield* hold(lease)
    const found = yield* load(lease)
    if (isFinal(found)) {
      yield* stored(work.finish(lease))
      return undefined
    }
    const record = yield* taken(found, lease, now)
    return { record, act: actOf(record, now) }
  })

  const onOutside = (operation: OnOutside, lease: Lease) =>
    Effect.gen(function* () {
      yield* ask(operation, lease)
      const begun = yield* records.transact(
        Effect.gen(function* () {
          const one = yield* underWay(lease)
          if (one === undefined) return undefined
          const { act, record } = one
          const input = inputOf(operation, record)
          if (yield* movedAtRun(operation, record, { lease, input, act })) return undefined
          yield* operation.begin(input, act)
          return { input, act }
        })
      )
      if (begun === undefined) return
      const { input } = begun
      const reached = yield* operation.reach(input, begun.act)
      yield* records.transact(
        Effect.gen(function* () {
          const one = yield* underWay(lease)
          if (one === undefined) return
          const { record, act } = one
          const result = yield* operation.finish(input, act, reached)
          yield* OperationTransitions.succeed(record, { operation, result, act })
          yield* stored(work.finish(lease))
        })
      )
    }).pipe(
      Effect.provideService(Records, records),
      Effect.provideService(Crypto, crypto),
      Effect.provideService(Ids, ids),
      Effect.provideService(WorkQueue, work),
      Effect.provideService(WebhookSender, sender),
      Effect.provideService(Settings, settings),
      Effect.catchTag("Refused", (refusal) => refuse(lease, refusal))
    )

  // ---- the ledger -----------------------------------------------------------------------------

  const reading = <A>(effect: Effect.Effect<A, Ledger.ReadError>) => Effect.mapError(effect, unread)

  /** Whether a step's command has committed, by what the ledger itself says. */
  const committed = Effect.fnUntraced(function* (step: Step) {
    const through = yield* reading(ledger.ledgerEnd)
    return yield* reading(
      ledger.outcome({ commandId: step.commandId, from: step.dedupOffset, through })
    )
  })

  /** Judges and keeps a step before it is sent for the first time. */
  const plan = Effect.fnUntraced(function* (
    operation: OnLedger,
    lease: Lease,
    of: { readonly step: number; readonly replan: number }
  ) {
    const dedupOffset = yield* reading(ledger.ledgerEnd)
    return yield* records
      .transact(
        Effect.gen(function* () {
          yield* hold(lease)
          const now = yield* Instant.now
          const record = yield* Effect.flatMap(load(lease), (it) => taken(it, lease, now))
          const input = Request.decode(operation, record.request)
          const act = actOf(record, now)
          // Once its first step has committed, the figures are what it does, not what it would.
          const isFirst = of.step === 1
          if (isFirst && (yield* movedAtRun(operation, record, { lease, input, act }))) {
            return undefined
          }
          const made = yield* operation.plan(input, act, of.step)
          const suffix = of.replan === 0 ? "" : `.${of.replan}`
          const step: Step = {
            step: of.step,
            replan: of.replan,
            commandId: `${record.operationId}:${of.step}${suffix}`,
            dedupOffset,
            commands: made.commands,
            disclosed: made.disclosed ?? [],
            last: made.last,
            plannedAt: now,
            unknownSince: null
          }
          yield* note(record, { on: "plan", step }, now)
          return step
        })
      )
      .pipe(Effect.provideService(Records, records), Effect.provideService(Crypto, crypto))
  })

  /**
   * Judges a step anew that the ledger has not taken so far: a hold or a restriction may have come
   * since it was planned, or its figures moved. Nothing of it is kept: what is sent stays what it was,
   * under its command id. Answers whether it is sent; where its figures moved it has ended.
   */
  const stillMay = (operation: OnLedger, lease: Lease, { step }: Step) =>
    records
      .transact(
        Effect.gen(function* () {
          yield* hold(lease)
          const now = yield* Instant.now
          const record = yield* load(lease)
          const input = Request.decode(operation, record.request)
          const act = actOf(record, now)
          if (step === 1 && (yield* movedAtRun(operation, record, { lease, input, act }))) {
            return false
          }
          yield* records.rehearse(operation.plan(input, act, step))
          return true
        })
      )
      .pipe(Effect.provideService(Records, records), Effect.provideService(Crypto, crypto))

  /** A commit that was seen before the projection came to it. */
  const saw = (lease: Lease, receipt: Ledger.Receipt) =>
    records.transact(
      Effect.gen(function* () {
        yield* hold(lease)
        const record = yield* load(lease)
        if (record.updateId === receipt.updateId || record.state !== "running") return
        const now = yield* Instant.now
        yield* note(
          record,
          { on: "commit", updateId: receipt.updateId, offset: receipt.offset },
          now
        )
      })
    )

  const submission = (
    step: Step,
    dedup: Ledger.Dedup,
    traceparent: string | undefined
  ): Ledger.Submission => ({
    commandId: step.commandId,
    commands: step.commands,
    dedup,
    workflowId: step.commandId.slice(0, step.commandId.indexOf(":")),
    ...(step.disclosed.length === 0 ? {} : { disclosed: step.disclosed }),
    ...(traceparent === undefined ? {} : { traceparent })
  })

  /** What a submission tells the ledger of the call it is made for: its trace, under a new parent. */
  const tracedBy = (lease: Lease) => {
    const trace = traces.get(lease) ?? null
    return trace === null
      ? Effect.succeed(undefined)
      : Effect.map(ids.bytes(8), (span) => Trace.traceparent(trace, span))
  }

  const sinceMillis = (now: Instant.Instant, then: Instant.Instant): number =>
    Instant.toEpochMillis(now) - Instant.toEpochMillis(then)

  const jitter = (lease: Lease, millis: number): number =>
    // Spread by the item, not by chance: two instances never retry the same item at once anyway.
    millis + ((lease.fence * 97) % Math.max(1, Math.floor(millis / 4)))

  /** Whether nothing of a step can have committed, nor will: only then may it be given up. */
  const isAbsent = Effect.fnUntraced(function* (step: Step) {
    if (step.unknownSince === null) return true
    const now = yield* Instant.now
    if (sinceMillis(now, step.unknownSince) < certainAfter) return false
    return Option.isNone(yield* committed(step))
  })

  /** Not now: the same step again later, until the deployment gives up. */
  const later = Effect.fnUntraced(function* (lease: Lease, step: Step, millis: number) {
    const now = yield* Instant.now
    const given = sinceMillis(now, step.plannedAt) > settings.giveUpAfter
    if (given && (yield* isAbsent(step))) {
      return yield* refuse(
        lease,
        unavailable("ledger-unavailable", "The ledger did not take the command in time.", 60)
      )
    }
    return yield* release(lease, jitter(lease, Math.max(millis, 50)))
  })

  /** It may have committed: said on the record, so that nobody gives the step up too early. */
  const doubt = Effect.fnUntraced(function* (lease: Lease, step: Step, why: string) {
    yield* Effect.logWarning("the outcome of a ledger write is unknown", {
      commandId: step.commandId,
      why
    })
    const now = yield* Instant.now
    yield* records.transact(
      Effect.gen(function* () {
        yield* hold(lease)
        const record = yield* load(lease)
        if (record.state !== "running") return
        yield* note(record, { on: "unknown", at: now }, now)
      })
    )
    unanswered.delete(lease)
    return { ...step, unknownSince: now }
  })

  /** Asked again until the ledger knows. */
  const unknown = Effect.fnUntraced(function* (lease: Lease, step: Step, why: string) {
    yield* doubt(lease, step, why)
    return yield* release(lease, jitter(lease, Math.min(30_000, backoff(lease.attempt - 1))))
  })

  /** Plans a step and sends it, unless its figures have moved. */
  const next = Effect.fnUntraced(function* (
    operation: OnLedger,
    lease: Lease,
    of: { readonly step: number; readonly replan: number }
  ): Effect.fn.Return<void, Refused | Unavailable | LeaseLost> {
    const planned = yield* plan(operation, lease, of)
    if (planned !== undefined) yield* send(operation, lease, planned)
  })

  /** A definite no: only now may a step be given up or planned anew. */
  const no = Effect.fnUntraced(function* (
    operation: OnLedger,
    lease: Lease,
    step: Step,
    error: Ledger.Refused
  ) {
    const earlier = yield* committed(step)
    if (Option.isSome(earlier)) {
      yield* saw(lease, earlier.value)
      return yield* release(lease, projectedWithin)
    }
    if (!(yield* isAbsent(step))) return yield* release(lease, 5_000)
    if (!LedgerRefusal.isStale(error) || step.replan >= replansMax) {
      return yield* refuse(lease, LedgerRefusal.from(error))
    }
    const end = yield* reading(ledger.ledgerEnd)
    const head = yield* stored(projection.head)
    // The gates are judged again only against what the ledger refused by.
    if (head.offset < end) return yield* release(lease, 250)
    return yield* next(operation, lease, { step: step.step, replan: step.replan + 1 })
  })

  /** The credential lacks the right: it fails, unless an earlier try may still commit. */
  const notAllowed = Effect.fnUntraced(function* (lease: Lease, step: Step, detail: string) {
    yield* Effect.logError("the ledger does not let the engine act", detail)
    if (!(yield* isAbsent(step))) return yield* release(lease, 5_000)
    const cause = refused("ledger-rejected", failed("ledger-credential"))
    return yield* refuse(lease, cause)
  })

  const send = (
    operation: OnLedger,
    lease: Lease,
    step: Step,
    dedup: Ledger.Dedup = { _tag: "Since", offset: step.dedupOffset }
  ): Effect.Effect<void, Refused | Unavailable | LeaseLost> => {
    const sent = Effect.flatMap(tracedBy(lease), (traceparent) => {
      unanswered.add(lease)
      return Effect.result(ledger.submit(submission(step, dedup, traceparent)))
    })
    return Effect.flatMap(sent, (answer) => {
      if (Result.isSuccess(answer)) return release(lease, projectedWithin)
      unanswered.delete(lease)
      const error = answer.failure
      switch (error._tag) {
        case "Busy":
        case "Unreachable":
          return later(lease, step, Duration.toMillis(error.retryAfter))
        case "OutcomeUnknown":
          return unknown(lease, step, error.why)
        case "ProtocolError":
          return unknown(lease, step, error.detail)
        case "Refused":
          return no(operation, lease, step, error)
        case "DedupUnsupported":
          return widened(operation, lease, step, dedup)
        case "NotAuthorized":
          return error.http === 401
            ? later(lease, step, 1_000)
            : notAllowed(lease, step, error.detail)
      }
    })
  }

  /** The ledger no longer looks back far enough: our own projection does, or an operator decides. */
  const widened = Effect.fnUntraced(function* (
    operation: OnLedger,
    lease: Lease,
    step: Step,
    asked: Ledger.Dedup
  ): Effect.fn.Return<void, Refused | Unavailable | LeaseLost> {
    const head = yield* stored(projection.head)
    const covered = head.horizonOffset <= step.dedupOffset
    const end = yield* reading(ledger.ledgerEnd)
    if (covered && head.offset >= end && asked._tag === "Since") {
      return yield* send(operation, lease, step, { _tag: "For", duration: Duration.days(7) })
    }
    if (!covered) {
      yield* Effect.logError("nobody can tell whether a ledger write has committed", {
        commandId: step.commandId
      })
    }
    return yield* release(lease, 30_000)
  })

  /** Where an operation on the ledger stands, and its next move. */
  const onLedger = Effect.fnUntraced(function* (operation: OnLedger, lease: Lease) {
    const record = yield* load(lease)
    yield* linked(record)
    if (isFinal(record)) return yield* stored(work.finish(lease))
    const { step } = record
    if (step === null) {
      return yield* next(operation, lease, { step: 1, replan: 0 })
    }
    const projected = yield* stored(projection.byCommand(step.commandId))
    if (Option.isSome(projected)) {
      // The projection finishes a last step itself; any other one is followed by the next.
      if (step.last) return yield* release(lease, projectedWithin)
      return yield* next(operation, lease, { step: step.step + 1, replan: 0 })
    }
    const outcome = yield* committed(step)
    if (Option.isSome(outcome)) {
      yield* saw(lease, outcome.value)
      return yield* release(lease, projectedWithin)
    }
    // A worker that was killed or lost its lease while it sent: its submission may still arrive.
    const isAnswered = lease.payload === `${kindOf(lease)} ${answered(lease.attempt - 1)}`
    if (!isAnswered) {
      const doubted = yield* doubt(lease, step, "an earlier claim ended before its answer")
      return yield* send(operation, lease, doubted)
    }
    // What may have come about already is asked for until it is known, whatever has come since.
    const mayHave = !(yield* isAbsent(step))
    if (mayHave || (yield* stillMay(operation, lease, step))) yield* send(operation, lease, step)
  })

  // ---- one lease ------------------------------------------------------------------------------

  const perform = Effect.fnUntraced(function* (lease: Lease) {
    const operation: Operation = declared.of(kindOf(lease))
    switch (operation.on) {
      case "records":
        return yield* onRecords(operation, lease)
      case "outside":
        return yield* onOutside(operation, lease)
      case "ledger":
        return yield* Effect.catchTag(onLedger(operation, lease), "Refused", (refusal) =>
          refuse(lease, refusal)
        )
    }
  })

  /** Why an operation is not tried again: the same bug would die for ever, the ledger is long away. */
  const givenUp = Effect.fnUntraced(function* (
    lease: Lease,
    cause: Cause.Cause<Unavailable | LeaseLost>
  ) {
    if (cause.reasons.some(Cause.isDieReason)) {
      return lease.attempt >= deathsMax
        ? (requestId: string): OperationTransitions.Failure => ({
            problem: Problem.internal(requestId)
          })
        : undefined
    }
    const away = cause.reasons.find(Cause.isFailReason)?.error
    const age = sinceMillis(yield* Instant.now, Instant.of(lease.startedAt))
    return away?._tag === "Unavailable" &&
      away.slug === "ledger-unavailable" &&
      age > settings.giveUpAfter
      ? failing(away)
      : undefined
  })

  /** Whether no step is under way: none was planned, the last one is projected, or it is absent. */
  const isOver = Effect.fnUntraced(
    function* (step: Step | null) {
      if (step === null) return true
      const projected = yield* stored(projection.byCommand(step.commandId))
      return Option.isSome(projected) ? !step.last : yield* isAbsent(step)
    },
    Effect.orElseSucceed(() => false)
  )

  /** A port that is away, or a bug: the operation goes back to the queue, and is tried later. */
  const lost = (lease: Lease, cause: Cause.Cause<Unavailable | LeaseLost>) =>
    Effect.gen(function* () {
      yield* Effect.logError(`operation ${lease.itemId} did not finish`, cause)
      const record = yield* load(lease)
      if (isFinal(record)) return yield* stored(work.finish(lease))
      const step =
        record.step !== null && unanswered.has(lease)
          ? yield* doubt(lease, record.step, "it died before the answer")
          : record.step
      const failure = yield* givenUp(lease, cause)
      // A step that may have committed is never given up: somebody has to look.
      if (failure !== undefined && (yield* isOver(step))) return yield* fail(lease, failure)
      yield* release(lease, jitter(lease, backoff(lease.attempt)))
    }).pipe(
      Effect.catchCause((again) =>
        Effect.logError(`lease of ${lease.itemId} runs out by itself`, again)
      )
    )

  const one = (lease: Lease): Effect.Effect<void> =>
    Effect.raceFirst(
      perform(lease),
      Leased.kept({ work, lease, leaseMillis: settings.lease })
    ).pipe(
      Effect.catchTag("LeaseLost", () =>
        Effect.logDebug(`the lease of ${lease.itemId} is somebody else's`)
      ),
      Effect.catchCause((cause) => lost(lease, cause)),
      Effect.onInterrupt(() => Effect.ignore(release(lease, 0))),
      Effect.withSpan("operation", { attributes: { operationId: lease.itemId } })
    )

  const lease = (limit: number) =>
    stored(work.lease({ queue: operationQueue, worker, limit, leaseMillis: settings.lease }))

  const once = Effect.gen(function* () {
    const leases = yield* lease(settings.operationsAtOnce)
    yield* Effect.forEach(leases, one, { concurrency: "unbounded", discard: true })
    return leases.length
  })

  const run: Effect.Effect<never> = Effect.scoped(
    Effect.gen(function* () {
      const running = yield* FiberSet.make<void>()
      const bell = yield* Queue.sliding<void>(1)
      const ring = Queue.offer(bell, undefined)
      yield* work.wakes(operationQueue).pipe(
        Stream.runForEach(() => ring),
        // Without wakes the poll below still finds the work.
        Effect.catchTag("StorageUnavailable", () => Effect.sleep(Duration.millis(settings.poll))),
        Effect.forever,
        Effect.forkScoped
      )
      const pause = Effect.raceFirst(Queue.take(bell), Effect.sleep(Duration.millis(settings.poll)))
      const cycle = Effect.gen(function* () {
        const free = settings.operationsAtOnce - (yield* FiberSet.size(running))
        const leases = free > 0 ? yield* lease(free) : []
        for (const it of leases) yield* FiberSet.run(running, Effect.ensuring(one(it), ring))
        if (leases.length === 0) yield* pause
      })
      const round = Leased.round(cycle, { failed: "the queue could not be read", pause })
      return yield* Effect.forever(round).pipe(
        Effect.onInterrupt(() =>
          FiberSet.awaitEmpty(running).pipe(Effect.timeoutOption(Duration.millis(stopWithin)))
        )
      )
    })
  )

  return OperationRunner.of({ once, run })
})

export const layer = Layer.effect(OperationRunner, make)
