/** Steps of a retention run: each deletes one kind of record past its period, a batch at a time. */
import { Effect, Option, Schema } from "effect"
import * as Retention from "../engine/Retention.ts"
import { Settings } from "../engine/Settings.ts"
import type { Collection } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Crypto } from "../ports/Crypto.ts"
import { Ledger } from "../ports/Ledger.ts"
import type { Bulk } from "../ports/storage/Bulk.ts"
import { Documents } from "../ports/storage/Documents.ts"
import { Feed } from "../ports/storage/Feed.ts"
import { Keys } from "../ports/storage/Keys.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import type { LedgerReach } from "../records/LedgerReach.ts"
import { ledgerUnavailable, orUnavailable } from "../records/PortFailure.ts"
import { Records, type Stored } from "../records/Records.ts"
import { deliveries } from "../records/webhook/Delivery.ts"
import * as Approval from "../writes/Approval.ts"
import * as Idempotency from "../writes/Idempotency.ts"
import { type OperationRecord, operations } from "../writes/OperationRecord.ts"
import * as HistoryKeeper from "./HistoryKeeper.ts"

/** Records that retention deletes in one transaction (docs/contract/retention.md#runs). */
export const batchMax = 1_000

/** Input of a batch: the run's start, and the place at which its step continues. */
interface BatchInput {
  readonly now: Instant.Instant
  readonly after: string | null
}

export type RetentionNeeds =
  | Records
  | Keys
  | Feed
  | ProjectionLog
  | Documents
  | Bulk
  | Crypto
  | Ledger
  | LedgerReach

/** A step of a run: deletes one kind of record, a batch at a time. */
export interface RetentionStep {
  /** Kind of record that the step deletes, as the log and the metric name it. */
  readonly kind: Retention.StepKind
  /** One batch, inside a transaction of its own. */
  readonly run: (input: BatchInput) => Effect.Effect<Retention.Batch, Unavailable, RetentionNeeds>
  /**
   * Place at which the step goes on after one whose batch failed; null, or absent: nothing of the step
   * may be deleted before that batch.
   */
  readonly past?: (after: string | null) => string | null
}

const done: Retention.Batch = { counts: {}, after: null }

const afterOf = (rows: ReadonlyArray<{ readonly sortKey: string }>): string | null =>
  rows.length < batchMax ? null : (rows.at(-1)?.sortKey ?? null)

/** Returns when an action was decided; null: it still awaits approvers. */
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
const operationsStep: RetentionStep = {
  kind: "operations",
  run: Effect.fnUntraced(function* ({ now, after }) {
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
    const unheld = rows
      .map(({ record }) => record)
      .filter((record) => !Retention.isHeld(legalHold, record))
    const actions = new Map(
      (yield* records.many(
        Approval.approvals,
        unheld.flatMap(({ actionKey }) => actionKey ?? [])
      )).map((action) => [action.actionKey, action])
    )
    // An action that is kept shows its operation, so both are deleted together.
    const isDue = ({ actionKey }: Stored<OperationRecord>): boolean => {
      const action = actionKey === null ? undefined : actions.get(actionKey)
      if (action === undefined) return true
      const at = decidedAt(action)
      return decidedBefore !== undefined && at !== null && at < decidedBefore
    }
    const due = unheld.filter(isDue)
    const operationIds = due.map(({ operationId }) => operationId)
    const actionKeys = due.flatMap(({ actionKey }) =>
      actionKey !== null && actions.has(actionKey) ? [actionKey] : []
    )
    yield* records.forget(operations, operationIds)
    yield* records.forget(Approval.approvals, actionKeys)
    yield* orUnavailable(
      keys.free([
        ...operationIds.map((id) => Idempotency.target("operation", id)),
        ...actionKeys.map(targetOf)
      ])
    )
    return {
      counts: { operations: operationIds.length, approvals: actionKeys.length },
      after: afterOf(rows)
    }
  })
}

/** Target that idempotency keys have for an action. */
const targetOf = (actionKey: string): string => Idempotency.target("action", actionKey)

/** Step: actions that never ran. */
const approvalsStep: RetentionStep = {
  kind: "approvals",
  run: Effect.fnUntraced(function* ({ now, after }) {
    const records = yield* Records
    const keys = yield* Keys
    const { retention, legalHold } = yield* Settings
    const before = Retention.dueBefore(now, retention.approvals)
    if (before === undefined) return done
    // Listed in the order of their creation: the notice of an end by the clock may be written much
    // later than that end.
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
    yield* orUnavailable(keys.free(due.map(targetOf)))
    // An action is decided after it is made, so no action of a later page is due either.
    const newest = rows.at(-1)?.record
    const isOver = newest === undefined || newest.createdAt >= before
    return { counts: { approvals: due.length }, after: isOver ? null : afterOf(rows) }
  })
}

const deliveriesStep = (selection: {
  readonly record: "deliveries" | "exhaustedDeliveries"
  readonly states: ReadonlyArray<string>
}): RetentionStep => ({
  kind: selection.record,
  run: Effect.fnUntraced(function* ({ now }) {
    const records = yield* Records
    const { retention } = yield* Settings
    const before = Retention.dueBefore(now, retention[selection.record])
    if (before === undefined) return done
    const rows = yield* records.list(deliveries, {
      where: { state: selection.states },
      ranges: { endedAt: { to: Instant.sortable(before) } },
      limit: batchMax
    })
    yield* records.forget(
      deliveries,
      rows.map(({ record }) => record.deliveryId)
    )
    // Every selected row is deleted, so the next batch starts at the same place.
    return {
      counts: { [selection.record]: rows.length },
      after: rows.length < batchMax ? null : "more"
    }
  })
})

const eventsStep: RetentionStep = {
  kind: "events",
  run: Effect.fnUntraced(function* ({ now }) {
    const feed = yield* Feed
    const { retention, legalHold } = yield* Settings
    const before = Retention.dueBefore(now, retention.events)
    if (before === undefined) return done
    const { deleted, passed } = yield* orUnavailable(
      feed.prune({ before: Instant.sortable(before), hold: legalHold, limit: batchMax })
    )
    return { counts: { events: deleted }, after: passed === 0 ? null : "more" }
  })
}

/**
 * Offset up to which a run deletes history: the one up to which the ledger is pruned, but none that a
 * room still reads (docs/contract/retention.md#kept-history).
 */
const historyEnd = Effect.gen(function* () {
  const ledger = yield* Ledger
  const horizon = yield* Effect.mapError(ledger.horizon, ledgerUnavailable).pipe(
    Effect.catch(({ detail }) =>
      Effect.as(Effect.logWarning("the ledger is away: history stays for now", detail), Offset.zero)
    )
  )
  let end = horizon
  if (horizon === Offset.zero) return end
  for (const { name, lowest } of yield* HistoryKeeper.Declared) {
    const needed = Option.getOrElse(yield* lowest, () => horizon)
    if (needed >= horizon) continue
    yield* Effect.logInfo("history that the ledger has pruned is kept", { for: name, from: needed })
    end = Offset.min(end, needed)
  }
  return end
})

/** Deletes at most `batchMax` rows of history up to an offset; returns how many were deleted. */
interface HistoryPart {
  readonly name: string
  readonly prune: (through: Offset.Offset) => Effect.Effect<number, Unavailable, RetentionNeeds>
}

/** Place in the step: the offset that its first batch found, and the index of the part at work. */
const HistoryPlace = Schema.fromJsonString(Schema.Struct({ through: Schema.Int, part: Schema.Int }))
type HistoryPlace = typeof HistoryPlace.Type
const decodePlace = Schema.decodeOption(HistoryPlace)
const encodePlace = Schema.encodeSync(HistoryPlace)

/** Step: history that the ledger has pruned and no room reads; raises the projection's horizon first. */
const historyStep = (collections: ReadonlyArray<Collection>): RetentionStep => {
  const parts: ReadonlyArray<HistoryPart> = [
    {
      name: "updates",
      prune: (offset) =>
        Effect.flatMap(ProjectionLog, (log) =>
          orUnavailable(log.prune({ offset, limit: batchMax }))
        )
    },
    {
      name: "journalEvents",
      prune: (through) =>
        Effect.flatMap(Feed, (feed) =>
          orUnavailable(feed.pruneJournal({ through, limit: batchMax }))
        )
    },
    ...collections.map((collection) => ({
      name: "versions",
      prune: (through: Offset.Offset) =>
        Effect.flatMap(Documents, (documents) =>
          orUnavailable(documents.prune({ collection: collection.name, through, limit: batchMax }))
        )
    }))
  ]
  // A place of an earlier version does not decode: the step begins again, which deletes no more.
  const stored = (after: string | null) => Option.flatMap(Option.fromNullOr(after), decodePlace)
  const placeAt = (place: HistoryPlace): string | null =>
    place.part < parts.length ? encodePlace(place) : null
  return {
    kind: "history",
    run: Effect.fnUntraced(function* ({ after }) {
      const place = Option.getOrUndefined(stored(after)) ?? { through: yield* historyEnd, part: 0 }
      const part = parts[place.part]
      if (part === undefined || place.through === 0) return done
      const deleted = yield* part.prune(Offset.of(place.through))
      const next = deleted < batchMax ? place.part + 1 : place.part
      return { counts: { [part.name]: deleted }, after: placeAt({ ...place, part: next }) }
    }),
    // The first batch raises the projection's horizon: before it has committed, no part may go on.
    past: (after) =>
      Option.match(stored(after), {
        onNone: () => null,
        onSome: (place) => placeAt({ ...place, part: place.part + 1 })
      })
  }
}

/**
 * The steps of a run, in order. `history` are the collections whose closed versions only the ledger
 * dates.
 */
export const stepsOf = (history: ReadonlyArray<Collection>): ReadonlyArray<RetentionStep> => [
  operationsStep,
  approvalsStep,
  eventsStep,
  deliveriesStep({ record: "deliveries", states: ["taken", "cancelled"] }),
  deliveriesStep({ record: "exhaustedDeliveries", states: ["exhausted"] }),
  historyStep(history)
]
