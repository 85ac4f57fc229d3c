/**
 * Task of retention: deletes records past their period, daily, in batches of one transaction each.
 */
import { Effect } from "effect"
import { Settings } from "../engine/Settings.ts"
import type { Collection } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Ledger } from "../ports/Ledger.ts"
import { Documents } from "../ports/storage/Documents.ts"
import { Feed } from "../ports/storage/Feed.ts"
import { Keys } from "../ports/storage/Keys.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import { RateWindow } from "../ports/storage/RateWindow.ts"
import { stored, ledgerUnavailable } from "../records/PortFailure.ts"
import { Records, type Stored } from "../records/Records.ts"
import * as Approval from "../writes/Approval.ts"
import * as Idempotency from "../writes/Idempotency.ts"
import { operations, type OperationRecord } from "../writes/OperationRecord.ts"
import * as Audit from "../records/Audit.ts"
import * as events from "./events.ts"
import * as Retention from "../engine/Retention.ts"
import type { Task } from "./Schedule.ts"
import { deliveries } from "../records/webhook/Delivery.ts"

/** Records that retention deletes in one transaction (docs/contract/retention.md#runs). */
export const batchMax = 1_000

const day = 24 * 3_600_000

/** Input of a batch: the run's start, and the place at which its step continues. */
interface Asked {
  readonly now: Instant.Instant
  readonly after: string | null
}

type Needs = Records | Keys | Feed | ProjectionLog | Documents | Ledger

/** One batch of one step, inside a transaction of its own. */
type Step = (asked: Asked) => Effect.Effect<Retention.Batch, Unavailable, Needs>

const done: Retention.Batch = { counts: {}, after: null }

const afterOf = (rows: ReadonlyArray<{ readonly sortKey: string }>): string | null =>
  rows.length < batchMax ? null : (rows.at(-1)?.sortKey ?? null)

/** When an action was decided; null: it awaits somebody. */
const decidedAt = (action: Approval.Approval): Instant.Instant | null => {
  switch (action.state) {
    case "awaiting":
      return null
    case "rejected":
      return action.rejectedAt
    case "lapsed":
      return action.expiresAt
    case "approved":
      return action.signatures.at(-1)?.at ?? null
  }
}

/** Step: operations that have ended, each with the four-eyes action it came of. */
const operationsStep: Step = Effect.fnUntraced(function* ({ now, after }) {
  const records = yield* Records
  const keys = yield* Keys
  const { retention, legalHold } = yield* Settings
  const before = Retention.dueBefore(now, retention.operations)
  const decidedBefore = Retention.dueBefore(now, retention.approvals)
  if (before === undefined) return done
  const rows = yield* records.list(operations, {
    where: { state: ["succeeded", "failed"] },
    updatedTo: before,
    limit: batchMax,
    ...(after === null ? {} : { after })
  })
  const open = rows
    .map(({ record }) => record)
    .filter((record) => !Retention.isHeld(legalHold, record))
  const actions = new Map(
    (yield* records.many(
      Approval.approvals,
      open.flatMap(({ actionKey }) => actionKey ?? [])
    )).map((action) => [action.actionKey, action])
  )
  /** An action that is kept answers with its operation, so both are deleted together. */
  const goes = ({ actionKey }: Stored<OperationRecord>): boolean => {
    const action = actionKey === null ? undefined : actions.get(actionKey)
    if (action === undefined) return true
    const at = decidedAt(action)
    return decidedBefore !== undefined && at !== null && at < decidedBefore
  }
  const due = open.filter(goes)
  const operationIds = due.map(({ operationId }) => operationId)
  const actionKeys = due.flatMap(({ actionKey }) =>
    actionKey !== null && actions.has(actionKey) ? [actionKey] : []
  )
  yield* records.forget(operations, operationIds)
  yield* records.forget(Approval.approvals, actionKeys)
  yield* stored(
    keys.free([
      ...operationIds.map((id) => Idempotency.target("operation", id)),
      ...actionKeys.flatMap(targetsOf)
    ])
  )
  return {
    counts: { operations: operationIds.length, approvals: actionKeys.length },
    after: afterOf(rows)
  }
})

/** Targets that idempotency keys may have for an action. */
const targetsOf = (actionKey: string): ReadonlyArray<string> => [
  Idempotency.target("action", actionKey),
  Idempotency.target("moved", actionKey)
]

/** Step: actions that never ran. */
const approvalsStep: Step = Effect.fnUntraced(function* ({ now, after }) {
  const records = yield* Records
  const keys = yield* Keys
  const { retention, legalHold } = yield* Settings
  const before = Retention.dueBefore(now, retention.approvals)
  if (before === undefined) return done
  // Selected by when they were made, since the notice of an end by the clock may be much later than
  // the end.
  const rows = yield* records.list(Approval.approvals, {
    where: { state: ["rejected", "lapsed"] },
    limit: batchMax,
    ...(after === null ? {} : { after })
  })
  const due = rows
    .map(({ record }) => record)
    .filter((record) => {
      const at = decidedAt(record)
      return at !== null && at < before && !Retention.isHeld(legalHold, record)
    })
    .map(({ actionKey }) => actionKey)
  yield* records.forget(Approval.approvals, due)
  yield* stored(keys.free(due.flatMap(targetsOf)))
  // An action is decided after it is made, so none that follows is due either.
  const last = rows.at(-1)?.record
  const ends = last === undefined || last.createdAt >= before
  return { counts: { approvals: due.length }, after: ends ? null : afterOf(rows) }
})

const deliveriesStep =
  (of: {
    readonly record: "deliveries" | "exhaustedDeliveries"
    readonly states: ReadonlyArray<string>
  }): Step =>
  ({ now }) =>
    Effect.gen(function* () {
      const records = yield* Records
      const { retention } = yield* Settings
      const before = Retention.dueBefore(now, retention[of.record])
      if (before === undefined) return done
      const rows = yield* records.list(deliveries, {
        where: { state: of.states },
        ranges: { endedAt: { to: Instant.sortable(before) } },
        limit: batchMax
      })
      yield* records.forget(
        deliveries,
        rows.map(({ record }) => record.deliveryId)
      )
      // Every selected row is deleted, so the next batch starts at the same place.
      return { counts: { [of.record]: rows.length }, after: rows.length < batchMax ? null : "more" }
    })

const eventsStep: Step = Effect.fnUntraced(function* ({ now }) {
  const feed = yield* Feed
  const { retention, legalHold } = yield* Settings
  const before = Retention.dueBefore(now, retention.events)
  if (before === undefined) return done
  const { deleted, passed } = yield* stored(
    feed.prune({ before: Instant.sortable(before), hold: legalHold, limit: batchMax })
  )
  return { counts: { events: deleted }, after: passed === 0 ? null : "more" }
})

/** Steps that delete history once the ledger has pruned it, and raise the projection's horizon. */
const historySteps = (collections: ReadonlyArray<Collection>): ReadonlyArray<Step> => {
  const pruned = Effect.gen(function* () {
    const ledger = yield* Ledger
    return yield* Effect.mapError(ledger.horizon, ledgerUnavailable)
  }).pipe(
    Effect.catch((away) =>
      Effect.as(Effect.logWarning("the ledger is away: history stays for now", away.detail), 0)
    )
  )
  const through =
    (name: string, prune: (offset: number) => Effect.Effect<number, Unavailable, Needs>): Step =>
    () =>
      Effect.gen(function* () {
        const offset = yield* pruned
        if (offset === 0) return done
        const gone = yield* prune(offset)
        return { counts: { [name]: gone }, after: gone < batchMax ? null : "more" }
      })
  return [
    through("updates", (offset) =>
      Effect.flatMap(ProjectionLog, (log) => stored(log.prune({ offset, limit: batchMax })))
    ),
    through("journalEvents", (offset) =>
      Effect.flatMap(Feed, (feed) =>
        stored(feed.pruneJournal({ through: offset, limit: batchMax }))
      )
    ),
    ...collections.map(({ name }) =>
      through("versions", (offset) =>
        Effect.flatMap(Documents, (documents) =>
          stored(documents.prune({ collection: name, through: offset, limit: batchMax }))
        )
      )
    )
  ]
}

/** Announces the end of a run: one event and one audit record. */
const tell = Effect.fnUntraced(function* ({ began, counts }: Retention.Run) {
  const records = yield* Records
  const { tenantId } = yield* Settings
  const before = Instant.format(began)
  const { type, payload } = events.make("retention.pruned", { counts, before: began })
  yield* records.announce([
    {
      type,
      // The event is about no record; its subject is the venue.
      resourceKind: "external-source",
      resourceId: tenantId,
      instrumentId: null,
      party: null,
      holderIds: [],
      payload
    }
  ])
  yield* records.audit([
    Audit.entry({ action: "retention.prune", stage: "succeeded", detail: { ...counts, before } })
  ])
})

/**
 * Task: the daily run. `history` are the collections whose closed versions only the ledger dates;
 * those that `at` and `asOf` need for ever (policies, restrictions, holds) are not among them.
 */
export const retention = (history: ReadonlyArray<Collection>): Task<Needs> => {
  const steps: ReadonlyArray<Step> = [
    operationsStep,
    approvalsStep,
    eventsStep,
    deliveriesStep({ record: "deliveries", states: ["taken", "cancelled"] }),
    deliveriesStep({ record: "exhaustedDeliveries", states: ["exhausted"] }),
    ...historySteps(history)
  ]
  return {
    name: "retention",
    doc: "Deletes what is past its retention.",
    every: day,
    run: Effect.fnUntraced(function* (turn) {
      const records = yield* Records
      const run = Retention.runOf(turn.state, yield* Instant.now)
      yield* records.transactAlone(
        Effect.gen(function* () {
          yield* turn.hold
          const step = steps[run.step]
          if (step === undefined) {
            yield* tell(run)
            return yield* turn.next({ delay: day, state: "" })
          }
          const batch = yield* step({ now: run.began, after: run.after })
          yield* turn.next({ delay: 0, state: Retention.stateOf(Retention.advance(run, batch)) })
        })
      )
    })
  }
}

/** Microseconds after which an untouched rate budget is deleted. */
const idle = 600_000_000

/** Task: deletes expired nonces, idempotency keys that no longer bind, and idle rate budgets. */
export const sweep: Task<Keys | RateWindow> = {
  name: "sweep",
  doc: "Forgets nonces past their window, keys that no longer bind, and budgets of nobody.",
  every: 600_000,
  run: Effect.fnUntraced(function* () {
    const keys = yield* Keys
    const budgets = yield* RateWindow
    const before = Instant.sortable(yield* Instant.now)
    const all = (batch: Effect.Effect<number, Unavailable>) =>
      Effect.repeat(batch, { while: (gone) => gone >= batchMax })
    yield* all(stored(keys.forget({ before, limit: batchMax })))
    yield* all(stored(budgets.forget({ idle, limit: batchMax })))
  })
}
