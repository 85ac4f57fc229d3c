/**
 * Projection of the ledger: turns each update into facts and events exactly once, one transaction a
 * batch.
 */
import { Cause, Context, Duration, Effect, Exit, Layer, Option, Queue, Stream } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Trace from "../kernel/Trace.ts"
import * as Offset from "../kernel/Offset.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { unavailable } from "../kernel/Refusal.ts"
import * as Ledger from "../ports/Ledger.ts"
import { ScreeningSource } from "../ports/ScreeningSource.ts"
import {
  type ProjectionHead,
  ProjectionLog,
  type UpdateRow
} from "../ports/storage/ProjectionLog.ts"
import { WriterFenced } from "../ports/storage/StorageError.ts"
import { WorkQueue } from "../ports/storage/WorkQueue.ts"
import type { Act } from "../records/Act.ts"
import { stored, ledgerUnavailable } from "../records/PortFailure.ts"
import { JudgedAt } from "../records/JudgedAt.ts"
import { Records } from "../records/Records.ts"
import { queue as operationQueue } from "../writes/QueuedOperation.ts"
import { operations } from "../writes/OperationRecord.ts"
import { Operations } from "../writes/Operations.ts"
import * as OperationTransitions from "../writes/OperationTransitions.ts"
import * as Request from "../writes/Request.ts"
import { contracts } from "./Contract.ts"
import type { Node, Reading, Whole } from "./Reading.ts"
import * as Snapshot from "./Snapshot.ts"

/** Deferred effect of a node, run after its whole update was read. */
type Conclusion = Effect.Effect<void, Unavailable, Records>

/** The readings, by template. */
export class Readings extends Context.Service<Readings, { readonly all: ReadonlyArray<Reading> }>()(
  "@bursar/engine-core/projection/Readings"
) {}

export class Follower extends Context.Service<
  Follower,
  {
    /** Projects everything up to the ledger's present end; answers the head. For tests and embedders. */
    readonly catchUp: Effect.Effect<ProjectionHead, Unavailable>
    /** Follows until interrupted; a broken stream is taken up again from the durable head. */
    readonly run: Effect.Effect<never>
  }
>()("@bursar/engine-core/projection/Follower") {}

/** Events of one update that are read ahead for together, and from how many on that is worth it. */
const stretch = 1_000
const worthwhile = 8

/** Milliseconds between tries when the ledger or the store is away: doubling, at most half a minute. */
const backoff = (failures: number): number => Math.min(30_000, 250 * 2 ** Math.min(failures, 7))

/** The queue whose one item is leased by the one instance that follows. */
const leadership = "projection"

/** The most milliseconds after which a follower that was killed is replaced. */
const leadershipMax = 10_000

export const nameOf = (ref: Ledger.TypeRef): string =>
  `${ref.packageName}:${ref.module}:${ref.entity}`

const make = Effect.gen(function* () {
  const records = yield* Records
  const ledger = yield* Ledger.Ledger
  const log = yield* ProjectionLog
  const work = yield* WorkQueue
  const declared = yield* Operations
  const settings = yield* Settings
  const screening = yield* ScreeningSource
  const { all } = yield* Readings
  /** Several records may learn from one template; their readings hear of a node in the order listed. */
  const readings = Map.groupBy(all, (one) => nameOf(one.template))
  const readingsOf = (template: Ledger.TypeRef) => readings.get(nameOf(template)) ?? []

  const reading = <A>(effect: Effect.Effect<A, Ledger.ReadError>) =>
    Effect.mapError(effect, ledgerUnavailable)

  /** The filter of a tail: what the readings know, or everything when they know nothing. */
  const filter: Ledger.Filter = { templates: [], interfaces: [] }

  /** What readings and the ends of operations may ask besides the update itself. */
  const provided = <A, E>(effect: Effect.Effect<A, E, Records>) =>
    effect.pipe(
      Effect.provideService(Records, records),
      Effect.provideService(Settings, settings),
      Effect.provideService(ScreeningSource, screening)
    )

  // ---- one update -----------------------------------------------------------------------------

  const created = Effect.fnUntraced(function* (event: Ledger.Created, node: Node) {
    if (!event.inAcs) return
    yield* records
      .open(
        contracts,
        {
          contractId: event.contractId,
          template: nameOf(event.template),
          packageId: event.packageId,
          payload: event.payload as Plain,
          signatories: event.signatories,
          observers: event.observers,
          contractCreatedAt: event.createdAt,
          createdOffset: node.offset,
          archivedOffset: null
        },
        node.act
      )
      .pipe(
        Effect.catchTag("Refused", () =>
          Effect.die(new Error(`contract ${event.contractId} was created twice`))
        )
      )
    for (const one of readingsOf(event.template)) {
      yield* one.created?.(event.payload, node, event) ?? Effect.void
    }
  })

  const exercised = Effect.fnUntraced(function* (
    event: Ledger.Exercised,
    node: Node,
    payloads: ReadonlyMap<string, Ledger.LfRecord>
  ) {
    const contract = Option.getOrUndefined(yield* records.find(contracts, event.contractId))
    const payload = payloads.get(event.contractId) ?? (contract?.payload as Ledger.LfRecord)
    // Seen as a witness only: it was never ours to fold.
    if (payload === undefined) return []
    const concluding: Array<Conclusion> = []
    for (const one of readingsOf(event.template)) {
      yield* one.exercised?.(event.choice, payload, node, event) ?? Effect.void
      if (one.concluded !== undefined) {
        concluding.push(one.concluded(event.choice, payload, node, event))
      }
    }
    if (event.consuming && event.inAcs && contract !== undefined) {
      yield* records.record(contracts, contract, { on: "archive", offset: node.offset }, node.act)
    }
    return concluding
  })

  /** The operation that a submission of the venue's own was a step of, by its command id. */
  const operationOf = ({ commandId }: Ledger.Transaction): string | null => {
    const id = Option.getOrElse(commandId, () => "")
    const colon = id.indexOf(":")
    return colon < 0 ? null : id.slice(0, colon)
  }

  /** The operation whose step this update is: finished with it when the step was its last. */
  const finish = Effect.fnUntraced(function* (update: Ledger.Transaction) {
    const commandId = Option.getOrUndefined(update.commandId)
    if (commandId === undefined) return
    const operationId = operationOf(update)
    if (operationId === null) return
    const found = yield* records.find(operations, operationId)
    if (Option.isNone(found)) return
    const record = found.value
    if (record.step?.commandId !== commandId || record.state !== "running") {
      yield* Effect.logError("a ledger write committed that no running operation waits for", {
        commandId,
        updateId: update.updateId,
        state: record.state
      })
      return
    }
    const now = yield* Instant.now
    const act: Act = {
      cause: { by: "operation", operationId: record.operationId },
      now,
      offset: update.offset,
      trace: Trace.of(record.traceId, record.traceFlags)
    }
    const marked =
      record.updateId === update.updateId
        ? record
        : yield* records.record(
            operations,
            record,
            { on: "commit", updateId: update.updateId, offset: update.offset },
            act
          )
    if (!record.step.last) return
    const operation = declared.of(record.kind)
    if (operation.on !== "ledger") {
      return yield* Effect.die(new Error(`${record.kind} has no step on the ledger`))
    }
    const result = yield* operation.finish(
      Request.decode(operation, record.request),
      {
        ...act,
        operationId: record.operationId,
        venue: ledger.venue,
        actor: record.actor,
        signedBy: record.signedBy ?? [],
        sealed: null
      },
      {
        updateId: update.updateId,
        offset: update.offset,
        effectiveAt: update.effectiveAt,
        recordTime: update.recordTime,
        duplicate: false,
        transaction: Option.some(update)
      }
    )
    yield* OperationTransitions.succeed(marked, { operation, result, act })
    yield* stored(work.settle({ queue: operationQueue, itemIds: [record.operationId] }))
  })

  const whole = Effect.fnUntraced(function* (update: Whole) {
    for (const one of all) {
      const read = one.whole?.(update) ?? Effect.void
      yield* Effect.provideService(read, JudgedAt, update.effectiveAt)
    }
  })

  /** Reads what a stretch of an update will ask for, before it is asked for one by one. */
  const lookAhead = Effect.fnUntraced(function* (
    events: Ledger.Transaction["events"],
    payloads: ReadonlyMap<string, Ledger.LfRecord>
  ) {
    if (events.length < worthwhile) return yield* records.prefetch([])
    const ids = [...new Set(events.map(({ contractId }) => contractId))]
    const known = new Map(
      (yield* records.many(contracts, ids)).map(({ contractId, payload }) => [
        contractId,
        payload as Ledger.LfRecord
      ])
    )
    const looks = events.flatMap((event) => {
      const payload =
        event._tag === "Created"
          ? event.payload
          : (payloads.get(event.contractId) ?? known.get(event.contractId))
      if (payload === undefined) return []
      return readingsOf(event.template).flatMap(
        (one) => one.looks?.(payload, event.contractId) ?? []
      )
    })
    yield* records.prefetch([...ids.map((id) => ({ collection: contracts, id })), ...looks])
  })

  const apply = Effect.fnUntraced(function* (
    update: Ledger.Transaction,
    ledgerTime: Instant.Instant
  ) {
    const act: Act = {
      cause: {
        by: "update",
        updateId: update.updateId,
        offset: update.offset,
        effectiveAt: update.effectiveAt
      },
      now: update.effectiveAt,
      offset: update.offset
    }
    const payloads = new Map<string, Ledger.LfRecord>()
    const concluding: Array<Conclusion> = []
    for (const [index, event] of update.events.entries()) {
      if (index % stretch === 0) {
        yield* lookAhead(update.events.slice(index, index + stretch), payloads)
      }
      const node: Node = {
        act,
        offset: update.offset,
        updateId: update.updateId,
        operationId: operationOf(update),
        nodeId: event.nodeId,
        effectiveAt: update.effectiveAt,
        contractId: event.contractId,
        venue: ledger.venue
      }
      if (event._tag === "Created") {
        payloads.set(event.contractId, event.payload)
        yield* Effect.provideService(created(event, node), JudgedAt, update.effectiveAt)
      } else {
        const read = exercised(event, node, payloads)
        concluding.push(...(yield* Effect.provideService(read, JudgedAt, update.effectiveAt)))
      }
    }
    for (const conclusion of concluding) {
      yield* Effect.provideService(conclusion, JudgedAt, update.effectiveAt)
    }
    const { offset, updateId, effectiveAt, events } = update
    const { venue } = ledger
    yield* whole({
      act,
      venue,
      offset,
      updateId,
      operationId: operationOf(update),
      effectiveAt,
      ledgerTime,
      events,
      from: "update"
    })
    yield* finish(update)
  })

  const rawOf = (update: Ledger.Transaction): string =>
    JSON.stringify(update, (_, value: unknown) =>
      typeof value === "bigint"
        ? Instant.format(value as Instant.Instant)
        : Option.isOption(value)
          ? Option.getOrNull(value)
          : value
    )

  // ---- batches --------------------------------------------------------------------------------

  /** A transaction that comes late and was never applied would be lost without a word. */
  const appliedBefore = Effect.fnUntraced(function* (
    head: ProjectionHead,
    update: Ledger.Transaction
  ) {
    if (update.offset <= head.horizonOffset) return
    const [row] = yield* stored(log.read({ after: update.offset - 1, limit: 1 }))
    if (row?.updateId !== update.updateId) {
      return yield* Effect.die(
        new Error(`the ledger sent offset ${update.offset} after ${head.offset}: out of order`)
      )
    }
  })

  /** Folds a batch in one transaction, from `head` to the batch's last offset. */
  const fold = Effect.fnUntraced(function* (
    head: ProjectionHead,
    updates: ReadonlyArray<Ledger.Update>
  ) {
    let at = head.offset
    let ledgerTime = head.ledgerTime
    const rows: Array<UpdateRow> = []
    const transactions: Array<{
      readonly update: Ledger.Transaction
      readonly ledgerTime: Instant.Instant
    }> = []
    for (const update of updates) {
      // What was applied before is dropped: a resumed stream may repeat, never reorder.
      if (update.offset <= at) {
        if (update._tag === "Transaction" && !rows.some((row) => row.offset === update.offset)) {
          yield* appliedBefore(head, update)
        }
        continue
      }
      if (update._tag === "Foreign") {
        if (update.what === "Reassignment") {
          return yield* Effect.die(
            new Error(`offset ${update.offset} moves contracts to another synchronizer`)
          )
        }
        yield* Effect.logWarning("the ledger sent an update that means nothing here", update.what)
      }
      if (update._tag === "Transaction") {
        const effective = Instant.sortable(update.effectiveAt)
        ledgerTime = ledgerTime === null || effective > ledgerTime ? effective : ledgerTime
        rows.push({
          offset: update.offset,
          prevOffset: at,
          updateId: update.updateId,
          commandId: Option.getOrNull(update.commandId),
          workflowId: Option.getOrNull(update.workflowId),
          effectiveAt: effective,
          recordTime: Instant.sortable(update.recordTime),
          ledgerTime,
          raw: rawOf(update)
        })
        transactions.push({ update, ledgerTime: Instant.of(ledgerTime) })
      }
      at = update.offset
    }
    if (at === head.offset) return head
    yield* records
      .transactAlone(
        Effect.gen(function* () {
          // Whoever took over may have projected these already: found out before they are applied
          // a second time, which would look like a fault of the ledger.
          const now = yield* stored(log.head)
          if (now.writerEpoch !== head.writerEpoch || now.offset !== head.offset) {
            return yield* new WriterFenced({ epoch: now.writerEpoch })
          }
          for (const { update, ledgerTime: at } of transactions) yield* apply(update, at)
          yield* stored(
            log.advance({
              epoch: head.writerEpoch,
              from: head.offset,
              to: at,
              ledgerTime,
              updates: rows
            })
          )
        })
      )
      .pipe(provided)
    return { ...head, offset: at, ledgerTime }
  })

  /** Becomes the writer; on a ledger that has forgotten its beginning, starts from what is active. */
  const start = Effect.gen(function* () {
    const { participant } = yield* reading(ledger.describe)
    // Asked before anything is taken over: taking over writes the participant down.
    const before = yield* stored(log.head)
    if (before.participant !== null && before.participant !== participant) {
      return yield* Effect.die(
        new Error(
          `the ledger's participant is ${participant}, the projection belongs to ` +
            `${before.participant}: offsets mean nothing across nodes, bootstrap a new one`
        )
      )
    }
    const head = yield* stored(log.takeOver({ participant }))
    const horizon = yield* reading(ledger.horizon)
    if (horizon > head.offset) {
      if (head.offset > 0) {
        return yield* Effect.die(
          new Error(
            `the ledger forgot everything up to ${horizon}, the projection is at ${head.offset}`
          )
        )
      }
      return yield* bootstrap(head)
    }
    return head
  })

  const isFirst = ({ template }: Ledger.Created): boolean =>
    readingsOf(template).some(({ inSnapshot }) => inSnapshot === "first")

  /** What is active, so that nothing is read before what it stands on. */
  const inOrder = (active: ReadonlyArray<Ledger.Active>): ReadonlyArray<Ledger.Active> =>
    active.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))

  /** Takes what is active at the ledger's end as if it had just been created. */
  const bootstrap = Effect.fnUntraced(function* (head: ProjectionHead) {
    const end = yield* reading(ledger.ledgerEnd)
    const active = yield* reading(Stream.runCollect(ledger.acs({ at: end, filter })))
    const now = yield* Instant.now
    const latest = active.reduce<Instant.Instant | null>(
      (max, one) => (max === null || one.createdAt > max ? one.createdAt : max),
      null
    )
    const ledgerTime = latest === null ? null : Instant.sortable(latest)
    // Nothing at or before the snapshot can be effective later than the ledger's own tolerance.
    const horizonTime = Instant.sortable(
      Instant.fromEpochMillis(Instant.toEpochMillis(now) + 60_000)
    )
    yield* records
      .transactAlone(
        Effect.gen(function* () {
          const snapshot = (effectiveAt: Instant.Instant): Act => ({
            cause: { by: "update", updateId: Snapshot.updateId, offset: end, effectiveAt },
            now,
            offset: end
          })
          for (const event of inOrder(active)) {
            yield* created(event, {
              act: snapshot(event.createdAt),
              offset: end,
              // Node ids repeat from one transaction to the next; contracts do not.
              updateId: `snapshot:${event.contractId}`,
              operationId: null,
              nodeId: event.nodeId,
              effectiveAt: event.createdAt,
              contractId: event.contractId,
              venue: ledger.venue
            })
          }
          const { venue } = ledger
          const effectiveAt = latest ?? now
          yield* whole({
            act: snapshot(effectiveAt),
            venue,
            offset: end,
            updateId: Snapshot.updateId,
            operationId: null,
            effectiveAt,
            ledgerTime: effectiveAt,
            events: active,
            from: "snapshot"
          })
          yield* stored(
            log.bootstrap({ epoch: head.writerEpoch, offset: end, ledgerTime, horizonTime })
          )
        })
      )
      .pipe(provided)
    return { ...head, offset: end, ledgerTime, horizonOffset: end, horizonTime }
  })

  const fenced = <A, E>(effect: Effect.Effect<A, E | WriterFenced>) =>
    Effect.catchIf(
      effect,
      (error): error is Extract<E | WriterFenced, WriterFenced> =>
        typeof error === "object" &&
        error !== null &&
        "_tag" in error &&
        error._tag === "WriterFenced",
      () => Effect.fail(unavailable("not-ready", "Another instance projects the ledger.", 5))
    ) as Effect.Effect<A, Exclude<E, WriterFenced> | Unavailable>

  const catchUp = Effect.gen(function* () {
    let head = yield* fenced(start)
    const through = yield* reading(ledger.ledgerEnd)
    if (through <= head.offset) return head
    yield* ledger.updates({ after: Offset.of(head.offset), through, filter }).pipe(
      Stream.mapError(ledgerUnavailable),
      Stream.grouped(settings.batchMax),
      Stream.runForEach((batch) =>
        Effect.map(fenced(fold(head, batch)), (next) => {
          head = next
        })
      )
    )
    return head
  })

  /** One connection: a tail from the head, folded in as large batches as have come meanwhile. */
  const tail = Effect.scoped(
    Effect.gen(function* () {
      let head = yield* fenced(start)
      const arrived = yield* Queue.bounded<Ledger.Update, Ledger.ReadError | Cause.Done>(
        settings.batchMax * 2
      )
      yield* ledger
        .updates({ after: Offset.of(head.offset), filter })
        .pipe(Stream.runIntoQueue(arrived), Effect.forkScoped)
      return yield* Effect.forever(
        Effect.gen(function* () {
          const batch = yield* reading(
            Queue.takeBetween(arrived, 1, settings.batchMax) as Effect.Effect<
              Array<Ledger.Update>,
              Ledger.ReadError
            >
          )
          head = yield* fenced(fold(head, batch))
        })
      )
    })
  )

  const leadershipMillis = Math.min(leadershipMax, settings.lease)

  /** Holds the lease while it follows; when it is lost another instance follows, and this one waits. */
  const led = Effect.gen(function* () {
    yield* stored(
      work.enqueue([
        { queue: leadership, itemId: "follower", resource: "ledger", payload: "", delay: 0 }
      ])
    )
    const [lease] = yield* stored(
      work.lease({ queue: leadership, worker: "follower", limit: 1, leaseMillis: leadershipMillis })
    )
    if (lease === undefined) return yield* Effect.sleep(Duration.millis(settings.poll))
    const renewed = stored(work.renew(lease, leadershipMillis)).pipe(
      Effect.delay(Duration.millis(leadershipMillis / 3)),
      Effect.forever
    )
    yield* Effect.raceFirst(tail, renewed).pipe(
      Effect.catchTag("LeaseLost", () => Effect.logInfo("another instance follows the ledger")),
      Effect.ensuring(Effect.ignore(work.release(lease, { delay: 0 })))
    )
  })

  const run: Effect.Effect<never> = Effect.gen(function* () {
    let failures = 0
    return yield* Effect.forever(
      Effect.gen(function* () {
        const began = yield* Instant.now
        const exit = yield* Effect.exit(led)
        if (Exit.isSuccess(exit)) {
          failures = 0
          return
        }
        if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.failCause(exit.cause)
        yield* Effect.logError("the projection stopped and will start again", exit.cause)
        const lasted = (yield* Instant.now) - began
        failures = lasted > 60_000_000_000n ? 1 : failures + 1
        yield* Effect.sleep(Duration.millis(backoff(failures)))
      })
    )
  }).pipe(Effect.orDie)

  return Follower.of({ catchUp, run })
})

export const layer = Layer.effect(Follower, make)
