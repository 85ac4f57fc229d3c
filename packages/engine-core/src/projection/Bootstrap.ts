/**
 * Start of a follower: fences every other writer of the projection. Where the ledger was pruned, an empty
 * projection begins with a snapshot of the active contracts, and a kept one continues from it in a new
 * ledger epoch if an operator asks for that (docs/domain/ledger-epochs.md).
 */
import { Effect, Option, Stream } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import * as Ledger from "../ports/Ledger.ts"
import { type ProjectionHead, ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import { ledgerUnavailable, orUnavailable } from "../records/PortFailure.ts"
import { JudgedAt } from "../records/JudgedAt.ts"
import { Records } from "../records/Records.ts"
import type { Position, Start } from "./FromLedger.ts"
import { FromLedgerIndex } from "./FromLedgerIndex.ts"
import * as LedgerRecord from "./LedgerRecord.ts"
import * as Rebootstrap from "./Rebootstrap.ts"
import * as Snapshot from "./Snapshot.ts"
import { snapshotsTaken } from "./SnapshotTaken.ts"
import * as UpdateFold from "./UpdateFold.ts"

/** Filter of the projection: the readings decide, since contracts of any template are recorded. */
export const everything: Ledger.Filter = { templates: [], interfaces: [] }

/** Becomes the writer and returns the head that it follows from. */
export const start = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  const log = yield* ProjectionLog
  const { participant } = yield* Effect.mapError(ledger.describe, ledgerUnavailable)
  // Checked before the take-over, which stores the participant.
  assertParticipant(yield* orUnavailable(log.head), participant)
  const head = yield* orUnavailable(log.takeOver({ participant }))
  const horizon = yield* Effect.mapError(ledger.horizon, ledgerUnavailable)
  const { rebootstrap } = yield* Settings
  const begun = needsSnapshot(head, { horizon, rebootstrap }) ? yield* bootstrap(head) : head
  yield* startReadings(begun)
  return begun
})

/** Lets each reading compute what an earlier version of the engine did not keep. */
const startReadings = Effect.fnUntraced(function* (head: ProjectionHead) {
  const log = yield* ProjectionLog
  const start: Start = {
    offset: Offset.of(head.offset),
    horizonOffset: Offset.of(head.horizonOffset),
    ledgerTime: head.ledgerTime === null ? null : Instant.of(head.ledgerTime),
    ledgerTimeAt: (offset) =>
      orUnavailable(Effect.map(log.ledgerTimeAt(offset), Option.map(Instant.of)))
  }
  const { all } = yield* FromLedgerIndex
  for (const reading of all) yield* reading.start?.(start) ?? Effect.void
})

/** Throws where the projection belongs to another node of the ledger. */
export const assertParticipant = (
  head: Pick<ProjectionHead, "participant">,
  participant: string
): void => {
  if (head.participant === null || head.participant === participant) return
  throw new Error(
    `the ledger's participant is ${participant}, the projection belongs to ` +
      `${head.participant}: offsets mean nothing across nodes, bootstrap a new one`
  )
}

/**
 * Checks whether the projection begins with a snapshot: the ledger has pruned updates that it has not
 * read, and it is empty or `rebootstrap` names the ledger epoch that would begin. Throws where the
 * projection has begun and nobody asked for that epoch.
 */
export const needsSnapshot = (
  { ledgerEpoch, offset }: Pick<ProjectionHead, "ledgerEpoch" | "offset">,
  { horizon, rebootstrap }: { readonly horizon: number; readonly rebootstrap: number | null }
): boolean => {
  if (horizon <= offset) return false
  if (offset === 0 || rebootstrap === ledgerEpoch + 1) return true
  throw new Error(
    `the ledger forgot everything up to ${horizon}, the projection is at ${offset}: what happened ` +
      `in between cannot be read any more. To continue from a snapshot of the ledger, set ` +
      `rebootstrap (ledger.rebootstrap of the host) to ${ledgerEpoch + 1}`
  )
}

/**
 * Folds what is active at the ledger's end: in an empty projection as if it had just been created, else
 * as what the projection continues with in a new ledger epoch. One transaction, all or nothing.
 */
const bootstrap = Effect.fnUntraced(function* (head: ProjectionHead) {
  const ledger = yield* Ledger.Ledger
  const log = yield* ProjectionLog
  const records = yield* Records
  const at = yield* Effect.mapError(ledger.ledgerEnd, ledgerUnavailable)
  const active = yield* Stream.runCollect(ledger.acs({ at, filter: everything })).pipe(
    Effect.mapError(ledgerUnavailable)
  )
  const now = yield* Instant.now
  const { effectiveAt, horizonTime, ledgerTime } = Snapshot.timesOf(active, {
    now,
    // The contract of the last update that was read may be gone: ledger time never decreases.
    atLeast: head.ledgerTime
  })
  const snapshot = { now, offset: Offset.of(at), effectiveAt }
  const { venue } = ledger
  const isKept = head.offset > 0
  const ledgerEpoch = isKept ? head.ledgerEpoch + 1 : head.ledgerEpoch
  const foldFrom = (contracts: ReadonlyArray<Ledger.Active>) =>
    Effect.andThen(openTaken(contracts, snapshot), foldSnapshot(contracts, snapshot))
  yield* records.transactAlone(
    Effect.gen(function* () {
      yield* isKept
        ? Rebootstrap.carryOn(active, {
            ledgerEpoch,
            effectiveAt,
            positionAt: positionIn({ ...snapshot, venue }),
            foldFrom
          })
        : foldFrom(active)
      yield* orUnavailable(
        log.bootstrap({
          epoch: head.writerEpoch,
          ledgerEpoch,
          offset: at,
          ledgerTime,
          horizonTime
        })
      )
    })
  )
  return { ...head, ledgerEpoch, offset: at, ledgerTime, horizonOffset: at, horizonTime }
})

/** Positions of contracts of a snapshot, by the time at which each counts. */
const positionIn =
  (snapshot: {
    readonly now: Instant.Instant
    readonly offset: Offset.Offset
    readonly effectiveAt: Instant.Instant
    readonly venue: Position["venue"]
  }) =>
  (effectiveAt: Instant.Instant): Position => ({
    act: {
      cause: { by: "update", updateId: Snapshot.updateId, offset: snapshot.offset, effectiveAt },
      now: snapshot.now,
      offset: snapshot.offset
    },
    venue: snapshot.venue,
    offset: snapshot.offset,
    updateId: Snapshot.updateId,
    operationId: null,
    effectiveAt,
    ledgerTime: snapshot.effectiveAt
  })

/** Records that the projection begins here: readings wait for what a snapshot does not show. */
const openTaken = Effect.fnUntraced(function* (
  active: ReadonlyArray<Ledger.Active>,
  {
    effectiveAt,
    now: takenAt,
    offset
  }: Pick<Position, "offset" | "effectiveAt"> & { readonly now: Instant.Instant }
) {
  const { venue } = yield* Ledger.Ledger
  const { updateId } = Snapshot
  const cause = { by: "update", updateId, offset, effectiveAt } as const
  yield* LedgerRecord.open(
    snapshotsTaken,
    { snapshotId: updateId, venue, offset, takenAt, contracts: active.length },
    { act: { cause, now: takenAt, offset } }
  )
})

/** Folds each active contract at its own creation, then the snapshot as one update. */
const foldSnapshot = Effect.fnUntraced(function* (
  active: ReadonlyArray<Ledger.Active>,
  snapshot: Pick<Position, "offset" | "effectiveAt"> & { readonly now: Instant.Instant }
) {
  const { venue } = yield* Ledger.Ledger
  const positionAt = positionIn({ ...snapshot, venue })
  const ordered = Snapshot.inOrder(active, yield* FromLedgerIndex)
  for (const [index, event] of ordered.entries()) {
    if (index % UpdateFold.prefetchMax === 0) {
      yield* UpdateFold.prefetch(ordered.slice(index, index + UpdateFold.prefetchMax))
    }
    const { contractId, createdAt } = event
    // All share one offset, where the node id of the transaction that created each would repeat:
    // numbered in their order, no two have the place of one record in a list.
    const node = { updateId: `${Snapshot.updateId}:${contractId}`, nodeId: index, contractId }
    yield* UpdateFold.foldCreated(event, { ...positionAt(createdAt), ...node })
  }
  const { effectiveAt } = snapshot
  yield* UpdateFold.foldWhole({
    ...positionAt(effectiveAt),
    events: active,
    from: "snapshot"
  }).pipe(Effect.flatMap(UpdateFold.foldBatch), Effect.provideService(JudgedAt, effectiveAt))
})
