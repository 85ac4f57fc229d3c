/** The projection's book in memory: the head under its epoch, and every update read so far. */
import { type ProjectionLog, type UpdateRow, WriterFenced } from "@bursar/engine-core/ports"
import { Effect, Option, Result } from "effect"
import type { Head } from "./MemoryFeed.ts"
import type { Transaction, Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"

export const make = (of: {
  readonly transactions: Transactions
  readonly head: Head
}): ProjectionLog["Service"] => {
  const { transactions, head } = of
  const updates: Array<UpdateRow> = []
  const byCommand = new Map<string, UpdateRow>()
  const turn = (transaction: Transaction, members: Partial<Head["projection"]>): void =>
    Undo.patch(transaction, head, { projection: { ...head.projection, ...members } })
  const timeAt = (offset: number): string | null => {
    const { horizonOffset } = head.projection
    const last = lastBefore(updates, (row) => row.offset <= offset)
    // The snapshot stands for everything up to the horizon.
    return offset >= horizonOffset && (last?.offset ?? 0) <= horizonOffset
      ? (head.horizonLedgerTime ?? last?.ledgerTime ?? null)
      : (last?.ledgerTime ?? null)
  }

  return {
    head: transactions.read(() => head.projection),
    takeOver: ({ participant }) =>
      transactions.write((transaction) => {
        turn(transaction, { participant, writerEpoch: head.projection.writerEpoch + 1 })
        return head.projection
      }),
    advance: ({ epoch, from, to, ledgerTime, updates: rows }) =>
      transactions.attempt((transaction) => {
        const { offset, writerEpoch } = head.projection
        if (writerEpoch !== epoch || offset !== from) {
          return Result.fail(new WriterFenced({ epoch }))
        }
        if (to < from) throw new Error(`ProjectionLog.advance: ${to} is before ${from}`)
        let last = from
        for (const row of rows) {
          if (row.offset <= last || row.offset > to) {
            throw new Error(`ProjectionLog.advance: update ${row.offset} is out of place`)
          }
          last = row.offset
          Undo.push(transaction, updates, row)
          if (row.commandId !== null && !byCommand.has(row.commandId)) {
            Undo.set(transaction, byCommand, row.commandId, row)
          }
        }
        turn(transaction, { offset: to, ledgerTime: ledgerTime ?? head.projection.ledgerTime })
        return Result.void
      }),
    bootstrap: ({ epoch, offset, ledgerTime, horizonTime }) =>
      transactions.attempt((transaction) => {
        if (head.projection.writerEpoch !== epoch) return Result.fail(new WriterFenced({ epoch }))
        // What was read beyond the snapshot before is read again from there.
        while (updates.length > 0 && Number(updates.at(-1)?.offset) > offset) {
          const dropped = updates.pop()
          if (dropped === undefined) break
          transaction.undo.push(() => updates.push(dropped))
          const { commandId } = dropped
          if (commandId !== null && byCommand.get(commandId) === dropped) {
            Undo.remove(transaction, byCommand, commandId)
          }
        }
        turn(transaction, { offset, ledgerTime, horizonOffset: offset, horizonTime })
        Undo.patch(transaction, head, { horizonLedgerTime: ledgerTime })
        return Result.void
      }),
    prune: ({ offset, limit }) =>
      transactions.write((transaction) => {
        const { horizonOffset, horizonTime, offset: read } = head.projection
        const to = Math.min(offset, read)
        if (to > horizonOffset) {
          const time = timeAt(to)
          turn(transaction, { horizonOffset: to, horizonTime: time ?? horizonTime })
          Undo.patch(transaction, head, { horizonLedgerTime: time })
        }
        const past = firstIndex(updates, (row) => row.offset > head.projection.horizonOffset)
        const count = Math.max(0, Math.min(past, limit))
        for (const { commandId } of updates.slice(0, count)) {
          if (commandId !== null) Undo.remove(transaction, byCommand, commandId)
        }
        Undo.cut(transaction, updates, { from: 0, count })
        return count
      }),
    ledgerTimeAt: (offset) => transactions.read(() => Option.fromNullOr(timeAt(offset))),
    offsetAsOf: (instant) =>
      transactions.read(() => {
        const { ledgerTime, offset, horizonOffset } = head.projection
        if (ledgerTime !== null && ledgerTime <= instant) return Option.some(offset)
        const last = lastBefore(updates, (row) => row.ledgerTime <= instant)
        return (last?.offset ?? 0) <= horizonOffset &&
          head.horizonLedgerTime !== null &&
          head.horizonLedgerTime <= instant
          ? Option.some(horizonOffset)
          : Option.fromUndefinedOr(last?.offset)
      }),
    byCommand: (commandId) =>
      Effect.map(
        transactions.read(() => byCommand.get(commandId)),
        Option.fromUndefinedOr
      ),
    read: ({ after, limit }) =>
      transactions.read(() => {
        const start = firstIndex(updates, (row) => row.offset > after)
        return updates.slice(start, start + Math.max(0, limit))
      })
  }
}

/** Offsets and ledger times only grow, so the rows that hold come first or last. */
const firstIndex = (rows: ReadonlyArray<UpdateRow>, holds: (row: UpdateRow) => boolean): number => {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    const row = rows[middle]
    if (row !== undefined && holds(row)) high = middle
    else low = middle + 1
  }
  return low
}

const lastBefore = (
  rows: ReadonlyArray<UpdateRow>,
  holds: (row: UpdateRow) => boolean
): UpdateRow | undefined => rows[firstIndex(rows, (row) => !holds(row)) - 1]
