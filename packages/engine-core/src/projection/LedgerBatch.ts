/**
 * Plan of a batch of ledger updates, pure: from the projection's head, the transactions to fold,
 * their rows in the log, and the position that the head moves to.
 */
import { Option } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type * as Ledger from "../ports/Ledger.ts"
import type { ProjectionHead, UpdateRow } from "../ports/storage/ProjectionLog.ts"

/** The part of the head that a batch moves. */
type Position = Pick<ProjectionHead, "offset" | "ledgerTime">

/** A transaction to fold, and the row that the log keeps of it; its text is encoded when it is written. */
export interface PlannedUpdate {
  readonly update: Ledger.Transaction
  readonly row: Omit<UpdateRow, "raw">
}

export interface LedgerBatch extends Position {
  /** The transactions to fold, in the ledger's order. */
  readonly planned: ReadonlyArray<PlannedUpdate>
  /** Transactions at offsets that the projection has passed, each to be compared with the log. */
  readonly repeats: ReadonlyArray<Ledger.Transaction>
  /** Updates of a kind that the engine does not fold. */
  readonly ignored: ReadonlyArray<Ledger.Foreign>
}

/**
 * Largest number of events of ledger updates that one transaction folds; a single update of more is
 * folded whole. A transaction keeps each version that it writes in memory until it commits.
 */
export const eventsMax = 20_000

/** Number of an update's events. */
export const eventsOf = (update: Ledger.Update): number =>
  update._tag === "Transaction" ? update.events.length : 0

/** Divides updates, in their order, into parts of at most `max` events, or of one update. */
export const divided = <U>(
  updates: ReadonlyArray<U>,
  { eventsOf, max }: { readonly max: number; readonly eventsOf: (update: U) => number }
): ReadonlyArray<ReadonlyArray<U>> => {
  const parts: Array<Array<U>> = []
  let room = 0
  for (const update of updates) {
    const events = eventsOf(update)
    const last = parts.at(-1)
    if (last === undefined || events > room) {
      parts.push([update])
      room = max - events
    } else {
      last.push(update)
      room -= events
    }
  }
  return parts
}

/**
 * Plans a batch. Updates that the projection has passed are left out, since a resumed stream may
 * repeat them. Throws where a contract moves to another synchronizer, since its further life is not
 * on this ledger.
 */
export const plan = (
  head: Position & Pick<ProjectionHead, "horizonOffset">,
  updates: ReadonlyArray<Ledger.Update>
): LedgerBatch => {
  let { ledgerTime, offset } = head
  const planned: Array<PlannedUpdate> = []
  const repeats: Array<Ledger.Transaction> = []
  const ignored: Array<Ledger.Foreign> = []
  for (const update of updates) {
    if (update.offset <= offset) {
      // The log keeps nothing at or before the horizon to compare a repeat with.
      if (
        update._tag === "Transaction" &&
        update.offset > head.horizonOffset &&
        !planned.some(({ row }) => row.offset === update.offset)
      ) {
        repeats.push(update)
      }
      continue
    }
    if (update._tag === "Transaction") {
      const row = rowOf(update, { offset, ledgerTime })
      planned.push({ update, row })
      ledgerTime = row.ledgerTime
    } else if (update._tag === "Foreign") {
      if (update.what === "Reassignment") {
        throw new Error(`offset ${update.offset} moves contracts to another synchronizer`)
      }
      ignored.push(update)
    }
    offset = update.offset
  }
  return { planned, repeats, ignored, offset, ledgerTime }
}

/**
 * Throws unless `logged`, the log's first row from the repeat's offset on, is that transaction: one
 * that comes late and was never folded would be lost.
 */
export const assertLogged = (
  { updateId, offset }: Pick<Ledger.Transaction, "updateId" | "offset">,
  {
    logged,
    head
  }: { readonly head: Position; readonly logged: Pick<UpdateRow, "updateId"> | undefined }
): void => {
  if (logged?.updateId === updateId) return
  throw new Error(`the ledger sent offset ${offset} after ${head.offset}: out of order`)
}

/** The log's row of a transaction that follows `before`. */
const rowOf = (update: Ledger.Transaction, before: Position): PlannedUpdate["row"] => {
  const effectiveAt = Instant.sortable(update.effectiveAt)
  const isLatest = before.ledgerTime === null || effectiveAt > before.ledgerTime
  return {
    offset: update.offset,
    prevOffset: before.offset,
    updateId: update.updateId,
    commandId: Option.getOrNull(update.commandId),
    workflowId: Option.getOrNull(update.workflowId),
    effectiveAt,
    recordTime: Instant.sortable(update.recordTime),
    ledgerTime: isLatest ? effectiveAt : before.ledgerTime
  }
}

/**
 * The transaction as JSON text: instants as RFC 3339, an option as Effect's own encoding
 * (`{"_id":"Option","_tag":"Some","value":…}`). The members that are instants are named, since a
 * replacer would be called for every value of every payload.
 */
export const rawOf = (update: Ledger.Transaction): string =>
  JSON.stringify({
    ...update,
    effectiveAt: Instant.format(update.effectiveAt),
    recordTime: Instant.format(update.recordTime),
    events: update.events.map((event) =>
      event._tag === "Created" ? { ...event, createdAt: Instant.format(event.createdAt) } : event
    )
  })
