/**
 * Projection of the ledger: folds each update into facts and events exactly once, one transaction a
 * batch.
 */
import { type Cause, Context, Effect, Layer, Queue, Stream } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import { type Unavailable, unavailable } from "../kernel/Refusal.ts"
import * as Ledger from "../ports/Ledger.ts"
import { EngineScreening } from "../ports/ScreeningSource.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Bulk } from "../ports/storage/Bulk.ts"
import { type ProjectionHead, ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import { WriterFenced } from "../ports/storage/StorageError.ts"
import { WorkQueue } from "../ports/storage/WorkQueue.ts"
import { ledgerUnavailable, orUnavailable } from "../records/PortFailure.ts"
import { Records } from "../records/Records.ts"
import { Operations } from "../writes/Operations.ts"
import * as Bootstrap from "./Bootstrap.ts"
import * as Leadership from "./Leadership.ts"
import * as LedgerBatch from "./LedgerBatch.ts"
import * as OperationCompletion from "./OperationCompletion.ts"
import { FromLedgerIndex } from "./FromLedgerIndex.ts"
import * as Restart from "./Restart.ts"
import * as UpdateFold from "./UpdateFold.ts"
import { settleConsequences } from "../records/ConsequenceRounds.ts"

/** Service that follows the ledger and folds its updates into records. */
export class Follower extends Context.Service<
  Follower,
  {
    /** Projects everything up to the ledger's present end; returns the head. For tests and embedders. */
    readonly catchUp: Effect.Effect<ProjectionHead, Unavailable>
    /** Follows until interrupted; a broken stream is resumed from the durable head. */
    readonly run: Effect.Effect<never>
  }
>()("@bursar/engine-core/projection/Follower") {}

/** Size of the parts of a batch for which records are prefetched together. */
const prefetched = {
  max: UpdateFold.prefetchMax,
  eventsOf: ({ update }: LedgerBatch.PlannedUpdate) => update.events.length
}

/** Size of the batches that one transaction folds. */
const folded = { max: LedgerBatch.eventsMax, eventsOf: LedgerBatch.eventsOf }

/** Folds a batch in one transaction, and returns the head after its last offset. */
const foldBatch = Effect.fnUntraced(function* (
  head: ProjectionHead,
  updates: ReadonlyArray<Ledger.Update>
) {
  const records = yield* Records
  const log = yield* ProjectionLog
  const { ignored, ledgerTime, offset, planned, repeats } = LedgerBatch.plan(head, updates)
  for (const repeat of repeats) {
    const [logged] = yield* orUnavailable(log.read({ after: repeat.offset - 1, limit: 1 }))
    LedgerBatch.assertLogged(repeat, { head, logged })
  }
  for (const { what } of ignored) {
    yield* Effect.logWarning("the ledger sent an update that the engine does not fold", what)
  }
  if (offset === head.offset) return head
  const completed = yield* records.transactAlone(
    Effect.gen(function* () {
      // Another writer may have folded these updates already: checked before they are folded a
      // second time, which would look like a fault of the ledger.
      const { offset: from, writerEpoch: epoch } = yield* orUnavailable(log.head)
      if (epoch !== head.writerEpoch || from !== head.offset) {
        return yield* new WriterFenced({ epoch })
      }
      const found: Array<UpdateFold.ReadingFindings> = []
      const completed: Array<OperationCompletion.CompletedStep> = []
      for (const part of LedgerBatch.divided(planned, prefetched)) {
        yield* UpdateFold.prefetchOf(part.map(({ update }) => update))
        for (const { row, update } of part) {
          found.push(...(yield* UpdateFold.fold(update, Instant.of(row.ledgerTime))))
          completed.push(...(yield* OperationCompletion.complete(update)))
          yield* settleConsequences
        }
      }
      yield* UpdateFold.foldBatch(found)
      yield* OperationCompletion.dequeue(completed)
      const rows = planned.map(({ row, update }) => ({ ...row, raw: LedgerBatch.rawOf(update) }))
      yield* orUnavailable(log.advance({ epoch, from, to: offset, ledgerTime, updates: rows }))
      return completed
    })
  )
  yield* OperationCompletion.hasten(completed)
  return { ...head, offset, ledgerTime }
})

/** Maps the loss of the projection to another writer to `not-ready`. */
const fenced = <R>(effect: Effect.Effect<ProjectionHead, Unavailable | WriterFenced, R>) =>
  Effect.catchTag(effect, "WriterFenced", () =>
    Effect.fail(unavailable("not-ready", "Another instance projects the ledger.", 5))
  )

/** Folds updates in transactions of a bounded number of events, and returns the head after the last. */
const foldAll = Effect.fnUntraced(function* (
  from: ProjectionHead,
  updates: ReadonlyArray<Ledger.Update>
) {
  let head = from
  for (const batch of LedgerBatch.divided(updates, folded)) {
    head = yield* fenced(foldBatch(head, batch))
  }
  return head
})

const catchUp = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  const { batchMax } = yield* Settings
  let head = yield* fenced(Bootstrap.start)
  const through = yield* Effect.mapError(ledger.ledgerEnd, ledgerUnavailable)
  if (through <= head.offset) return head
  const after = Offset.of(head.offset)
  yield* ledger.updates({ after, through, filter: Bootstrap.everything }).pipe(
    Stream.mapError(ledgerUnavailable),
    Stream.grouped(batchMax),
    Stream.runForEach((batch) =>
      Effect.map(foldAll(head, batch), (next) => {
        head = next
      })
    )
  )
  return head
})

/** One connection: follows from the head, in batches of all updates that have arrived meanwhile. */
const follow = Effect.scoped(
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const { batchMax } = yield* Settings
    let head = yield* fenced(Bootstrap.start)
    const arrived = yield* Queue.bounded<Ledger.Update, Ledger.ReadError | Cause.Done>(batchMax * 2)
    yield* ledger
      .updates({ after: Offset.of(head.offset), filter: Bootstrap.everything })
      .pipe(Stream.runIntoQueue(arrived), Effect.forkScoped)
    const taken = Queue.takeBetween(arrived, 1, batchMax) as Effect.Effect<
      Array<Ledger.Update>,
      Ledger.ReadError
    >
    return yield* Effect.forever(
      Effect.gen(function* () {
        const batch = yield* Effect.mapError(taken, ledgerUnavailable)
        head = yield* foldAll(head, batch)
      })
    )
  })
)

/** Services that following asks for; two of them have defaults, and so no type demands them. */
const needs = [
  Records,
  Bulk,
  Crypto,
  Ledger.Ledger,
  ProjectionLog,
  WorkQueue,
  Operations,
  FromLedgerIndex,
  Settings,
  EngineScreening
] as const

type Needs = Context.Service.Identifier<(typeof needs)[number]>

const make = Effect.gen(function* () {
  const services = Context.pick(...needs)(yield* Effect.context<Needs>())
  const failed = "the projection stopped and will start again"
  const run = Restart.forever(Leadership.lead(follow), { failed })
  return Follower.of({
    catchUp: Effect.provideContext(catchUp, services),
    run: Effect.provideContext(run, services)
  })
})

export const layer = Layer.effect(Follower, make)
