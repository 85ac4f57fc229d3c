/** In-memory projection log: the head under its epoch, and every update read so far. */
import {
  type AsOf,
  type ProjectionLog,
  type UpdateRow,
  WriterFenced
} from "@bursar/engine-core/ports"
import { Option, Result } from "effect"
import type { MemoryHead } from "./MemoryFeed.ts"
import { stamp } from "./Stamp.ts"
import type { Transaction, Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"

interface Answers {
  readonly offset: number
  readonly first: string
  readonly last: string
}

export const make = ({
  transactions,
  head
}: {
  readonly transactions: Transactions
  readonly head: MemoryHead
}): ProjectionLog["Service"] => {
  const updates: Array<UpdateRow> = []
  /** First and last answer's instant of each earlier offset that has any. */
  const answers: Array<Answers> = []
  const byCommand = new Map<string, UpdateRow>()
  const turn = (transaction: Transaction, members: Partial<MemoryHead["projection"]>): void =>
    Undo.patch(transaction, head, { projection: { ...head.projection, ...members } })
  /** Called when the head leaves an offset: stores the answers that were given at it. */
  const leave = (transaction: Transaction): void => {
    if (head.answered === null) return
    Undo.push(transaction, answers, { ...head.answered, offset: head.projection.offset })
    // The next answer has another offset, so it is given a later instant.
    Undo.patch(transaction, head, { answered: null, at: stamp(head.at, head.at) })
  }
  const datedBy = (instant: string): number | undefined => {
    const { ledgerTime, offset, horizonOffset, horizonTime } = head.projection
    if (horizonTime !== null && instant < horizonTime) return undefined
    if (ledgerTime !== null && ledgerTime <= instant) return offset
    const last = lastBefore(updates, (row) => row.ledgerTime <= instant)
    return (last?.offset ?? 0) <= horizonOffset &&
      head.horizonLedgerTime !== null &&
      head.horizonLedgerTime <= instant
      ? horizonOffset
      : last?.offset
  }
  const timeAt = (offset: number): string | null => {
    const { horizonOffset } = head.projection
    const last = lastBefore(updates, (row) => row.offset <= offset)
    // The snapshot covers every offset up to the horizon.
    return offset >= horizonOffset && (last?.offset ?? 0) <= horizonOffset
      ? (head.horizonLedgerTime ?? last?.ledgerTime ?? null)
      : (last?.ledgerTime ?? null)
  }

  return {
    store: transactions.store,
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
        if (to > from) leave(transaction)
        turn(transaction, { offset: to, ledgerTime: ledgerTime ?? head.projection.ledgerTime })
        return Result.void
      }),
    bootstrap: ({ epoch, ledgerEpoch, offset, ledgerTime, horizonTime }) =>
      transactions.attempt((transaction) => {
        if (head.projection.writerEpoch !== epoch) return Result.fail(new WriterFenced({ epoch }))
        // Updates after the previous snapshot are projected again.
        while (updates.length > 0 && Number(updates.at(-1)?.offset) > offset) {
          const dropped = updates.pop()
          if (dropped === undefined) break
          transaction.undo.push(() => updates.push(dropped))
          const { commandId } = dropped
          if (commandId !== null && byCommand.get(commandId) === dropped) {
            Undo.remove(transaction, byCommand, commandId)
          }
        }
        leave(transaction)
        turn(transaction, { ledgerEpoch, offset, ledgerTime, horizonOffset: offset, horizonTime })
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
        const expiredCount = answers.filter(
          ({ offset }) => offset < head.projection.horizonOffset
        ).length
        Undo.cut(transaction, answers, { from: 0, count: expiredCount })
        return count
      }),
    ledgerTimeAt: (offset) => transactions.read(() => Option.fromNullOr(timeAt(offset))),
    offsetAsOf: (instant) =>
      transactions.read(() => {
        const { ledgerTime, offset, horizonOffset } = head.projection
        const now = head.answered === null ? [] : [{ ...head.answered, offset }]
        const answersAfterHorizon = [...answers, ...now].filter(
          (answer) => answer.offset >= horizonOffset
        )
        const before = answersAfterHorizon.findLast(({ first }) => first <= instant)?.offset
        const after = answersAfterHorizon.find(({ last }) => last >= instant)?.offset
        const answered = before !== undefined && before === after
        const dated = datedBy(instant)
        if (dated === undefined && before === undefined) return Option.none<AsOf>()
        return Option.some({
          offset: Math.min(Math.max(dated ?? 0, before ?? 0), after ?? Number.MAX_SAFE_INTEGER),
          settled: after !== undefined || (ledgerTime !== null && ledgerTime > instant),
          answered
        })
      }),
    offsetBefore: ({ instant, through = Number.POSITIVE_INFINITY }) =>
      transactions.read(() => {
        const { ledgerTime, offset, horizonOffset } = head.projection
        const found = (last: number) => Option.some(Math.min(last, through))
        if (ledgerTime === null || ledgerTime < instant) return found(offset)
        const last = lastBefore(updates, (row) => row.ledgerTime < instant)
        if (last !== undefined && last.offset > horizonOffset) return found(last.offset)
        const atHorizon = head.horizonLedgerTime
        return atHorizon === null || atHorizon < instant
          ? found(horizonOffset)
          : Option.none<number>()
      }),
    hasCommand: (commandId) => transactions.read(() => byCommand.has(commandId)),
    read: ({ after, limit }) =>
      transactions.read(() => {
        const start = firstIndex(updates, (row) => row.offset > after)
        return updates.slice(start, start + Math.max(0, limit))
      })
  }
}

/** Binary search: offsets and ledger times only increase. */
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
