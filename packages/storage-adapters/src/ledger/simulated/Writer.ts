/**
 * Single writer of the simulated ledger: judges submissions in order, stores them in batches, then
 * publishes them.
 */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Deferred, Effect, Exit, Queue, Result } from "effect"
import type { Scope } from "effect"
import * as Core from "./Core.ts"
import type * as Entry from "./Entry.ts"
import * as Faults from "./Faults.ts"
import * as LedgerError from "./LedgerError.ts"
import type { Registry } from "./Registry.ts"
import type { SimStore, StoreLost } from "./SimStore.ts"

export interface Writer {
  /** Waits for the completion: the transaction, or the rejection. */
  readonly submit: (
    request: Core.Request
  ) => Effect.Effect<Entry.Transaction, LedgerError.LedgerError>
  /** Queues a submission; a synchronous refusal fails, every other outcome is in the completion. */
  readonly hand: (request: Core.Request) => Effect.Effect<void, LedgerError.LedgerError>
  readonly state: () => Core.State
  /** Last offset that is stored and may be read. */
  readonly readable: () => Offset.Offset
  /** Succeeds when `readable` has increased. */
  readonly moved: () => Effect.Effect<void>
  /**
   * Recent transactions after the offset, from memory; null where they must be read from the store.
   */
  readonly recent: (after: Offset.Offset) => ReadonlyArray<Entry.Transaction> | null
  readonly prune: (upTo: Offset.Offset) => Effect.Effect<void, LedgerError.LedgerError>
}

export interface Options {
  readonly store: SimStore
  readonly registry: Registry
  readonly settings: Core.Settings
  readonly faults: Faults.Faults
}

const batchMax = 64
const waitingMax = 4_096
const recentMax = 2_000
/** A transaction of many contracts has many nodes, and so few such transactions are kept in memory. */
const recentNodesMax = 20_000

interface QueuedRequest {
  readonly request: Core.Request
  readonly takenSignal: Deferred.Deferred<void, LedgerError.LedgerError>
  readonly transactionSignal: Deferred.Deferred<Entry.Transaction, LedgerError.LedgerError>
}

/** Outcome of one submission once its batch is stored. */
interface SubmissionOutcome {
  readonly queuedRequest: QueuedRequest
  readonly entry: Entry.Entry | null
  readonly answer: Exit.Exit<Entry.Transaction, LedgerError.LedgerError>
  readonly refused: boolean
}

export const make = (options: Options): Effect.Effect<Writer, StoreLost, Scope.Scope> =>
  Effect.gen(function* () {
    const { store, registry, settings, faults } = options
    const load = Effect.gen(function* () {
      const now = yield* Instant.now
      const since = Instant.fromNanos(now - Core.nanos(settings.dedupMax))
      return Core.load(yield* store.load(since))
    })
    let state = yield* load
    let readable = state.offset
    let lost: StoreLost | null = null
    let recentFrom = state.offset
    const recent: Array<Entry.Transaction> = []
    let recentNodes = 0
    let moved = Deferred.makeUnsafe<void>()
    const queue = yield* Queue.bounded<QueuedRequest>(waitingMax)

    const publish = (offset: Offset.Offset) =>
      Effect.sync(() => {
        // Delayed publications may be out of order: the readable end never decreases.
        readable = Offset.max(readable, offset)
        const before = moved
        moved = Deferred.makeUnsafe()
        Deferred.doneUnsafe(before, Exit.void)
      })

    const judge = (queuedRequest: QueuedRequest, clock: Instant.Instant): SubmissionOutcome => {
      const plan = faults.plan()
      const number = faults.count()
      const fate = Faults.fate(plan, number)
      const ends = (
        answer: SubmissionOutcome["answer"],
        entry: Entry.Entry | null
      ): SubmissionOutcome => ({
        queuedRequest,
        entry,
        answer,
        refused: entry === null
      })
      if (fate.dropBefore) return ends(Exit.fail(Faults.dropped()), null)
      try {
        const judged = Core.judge(
          { registry, state, settings: { ...settings, gap: plan.gap ?? settings.gap } },
          queuedRequest.request,
          { clock, skew: Faults.skew(plan, number), verdict: fate.verdict }
        )
        if (Result.isFailure(judged)) return ends(Exit.fail(judged.failure), null)
        const entry = judged.success
        Core.apply(state, entry, settings)
        if (fate.dropAfter) return ends(Exit.fail(Faults.dropped()), entry)
        return ends(answerOf(entry), entry)
      } catch (defect) {
        // An exception of a choice's body is a bug of the simulator: its caller gets it, and the
        // ledger continues.
        return ends(Exit.die(defect), null)
      }
    }

    const remember = (entries: ReadonlyArray<Entry.Entry>): void => {
      for (const { transaction } of entries) {
        if (transaction === null) continue
        recent.push(transaction)
        recentNodes += transaction.nodes.length
      }
      if (recent.length <= 2 * recentMax && recentNodes <= 2 * recentNodesMax) return
      let dropped = 0
      for (const { nodes, offset } of recent) {
        if (recent.length - dropped <= recentMax && recentNodes <= recentNodesMax) break
        dropped++
        recentNodes -= nodes.length
        recentFrom = offset
      }
      recent.splice(0, dropped)
    }

    const reload = Effect.gen(function* () {
      state = yield* load
      recent.length = 0
      recentNodes = 0
      recentFrom = state.offset
      lost = null
      yield* publish(state.offset)
    })

    const keep = (entries: ReadonlyArray<Entry.Entry>) =>
      store.commit(entries).pipe(
        Effect.tapError((error) =>
          Effect.sync(() => {
            lost = error
          })
        ),
        Effect.exit
      )

    const settle = (judged: ReadonlyArray<SubmissionOutcome>, isKept: boolean): void => {
      for (const { queuedRequest, answer, refused, entry } of judged) {
        const end = isKept || entry === null ? answer : Exit.fail(unavailable(lost))
        Deferred.doneUnsafe(
          queuedRequest.takenSignal,
          refused && Exit.isFailure(end) ? Exit.asVoid(end) : Exit.void
        )
        Deferred.doneUnsafe(queuedRequest.transactionSignal, end)
      }
    }

    // Waiting for work is interruptible, so that the node can stop; a batch in progress is not.
    const waiting = Queue.takeBetween(queue, 1, batchMax)
    const round = Effect.fnUntraced(function* (queuedRequests: ReadonlyArray<QueuedRequest>) {
      if (lost !== null && !lost.fenced) yield* Effect.ignore(reload)
      if (lost !== null) {
        const end = Exit.fail(unavailable(lost))
        return settle(
          queuedRequests.map((submission) => ({
            queuedRequest: submission,
            entry: null,
            answer: end,
            refused: true
          })),
          false
        )
      }
      const clock = yield* Instant.now
      const judged = queuedRequests.map((submission) => judge(submission, clock))
      const entries = judged.flatMap(({ entry }) => entry ?? [])
      if (entries.length === 0) return settle(judged, true)
      const exit = yield* keep(entries)
      if (Exit.isFailure(exit)) return settle(judged, false)
      remember(entries)
      const offset = state.offset
      const delay = faults.plan().visibilityDelay
      if (delay === undefined) {
        yield* publish(offset)
        return settle(judged, true)
      }
      settle(judged, true)
      yield* Effect.forkDetach(Effect.delay(publish(offset), delay))
    })

    yield* Effect.forkScoped(
      Effect.forever(
        Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(waiting), round))
      )
    )

    const ask = (request: Core.Request) =>
      Effect.suspend(() => {
        const queuedRequest: QueuedRequest = {
          request,
          takenSignal: Deferred.makeUnsafe(),
          transactionSignal: Deferred.makeUnsafe()
        }
        return Queue.offerUnsafe(queue, queuedRequest)
          ? Effect.succeed(queuedRequest)
          : Effect.fail(LedgerError.make("PARTICIPANT_BACKPRESSURE", "Too many submissions wait"))
      })

    return {
      submit: (request) =>
        Effect.flatMap(ask(request), ({ transactionSignal }) => Deferred.await(transactionSignal)),
      hand: (request) =>
        Effect.flatMap(ask(request), ({ takenSignal }) => Deferred.await(takenSignal)),
      state: () => state,
      readable: () => readable,
      moved: () => Deferred.await(moved),
      recent: (after) => (after >= recentFrom ? since(recent, after) : null),
      prune: (upTo) =>
        store.prune(upTo).pipe(
          Effect.mapError(unavailable),
          Effect.andThen(
            Effect.sync(() => {
              state.prunedOffset = upTo
            })
          )
        )
    }
  })

/** Searched from the end, because readers usually need the last few. */
const since = (
  recent: ReadonlyArray<Entry.Transaction>,
  after: Offset.Offset
): ReadonlyArray<Entry.Transaction> => {
  let from = recent.length
  while (from > 0 && (recent[from - 1]?.offset ?? 0) > after) from--
  return recent.slice(from)
}

const answerOf = (entry: Entry.Entry): Exit.Exit<Entry.Transaction, LedgerError.LedgerError> => {
  const { outcome } = entry.completion
  if (outcome._tag === "Rejected") return Exit.fail(outcome.error)
  if (entry.transaction === null) throw new Error("a commit without a transaction")
  return Exit.succeed(entry.transaction)
}

export const unavailable = (lost: StoreLost | null): LedgerError.LedgerError =>
  LedgerError.make("SERVICE_NOT_RUNNING", lost?.detail ?? "The ledger's store is not there")
