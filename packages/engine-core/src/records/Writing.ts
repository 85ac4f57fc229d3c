/** Writes records into the unit of work of a transaction: a record opens, or a fact moves it. */
import { Effect, Option } from "effect"
import type { Announcement } from "../kernel/Announcement.ts"
import type { Collection } from "../kernel/Collection.ts"
import { causeText } from "../kernel/Fact.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Invariant from "../kernel/Invariant.ts"
import { refused } from "../kernel/Refusal.ts"
import type { Act } from "./Act.ts"
import type { Consequence } from "./Consequence.ts"
import * as ClockQueue from "./ClockQueue.ts"
import type { Records, Stored } from "./Records.ts"
import type { Timely } from "./Timely.ts"
import { movedAt } from "./Transactions.ts"
import * as UnitOfWork from "./UnitOfWork.ts"
import type { Versions } from "./Versions.ts"

/** One version to write: what the record is after a fact, and under which act. */
interface Move<R, F>
  extends Pick<UnitOfWork.Draft, "recordId" | "version" | "cause" | "createdAt"> {
  readonly record: R
  /** Undefined: the fact that opens the record. */
  readonly fact: F | undefined
  readonly act: Act
  readonly announcements: ReadonlyArray<Announcement>
}

/** Adds a version to the unit of work, and what it announces. */
const addMove = <R, F>(
  work: UnitOfWork.UnitOfWork,
  collection: Collection<R, F>,
  { act, announcements, ...version }: Move<R, F>
): void => {
  const offset = offsetOf(collection.keptBy, act)
  UnitOfWork.addDraft(work, { ...version, collection, offset })
  const { trace } = act
  for (const announcement of announcements) {
    work.announcements.push(trace === undefined ? announcement : { ...announcement, trace })
  }
}

/**
 * The offset from which a fact holds. A record that no offset dates is at 0; a fact of a ledger
 * update holds from the offset of that update; undefined: one past the projection's head.
 */
export const offsetOf = (keptBy: Collection["keptBy"], act: Act): number | undefined => {
  if (keptBy === "own") return 0
  if (act.offset !== undefined) return act.offset
  return act.cause.by === "update" ? act.cause.offset : undefined
}

/** Notes what a change of a record concerns, for the consequences that follow it. */
const notePending = <R, F>(
  work: UnitOfWork.UnitOfWork,
  { name }: Collection<R, F>,
  change: {
    readonly before: R | undefined
    readonly after: R
    readonly act: Act
    readonly consequences: ReadonlyArray<Consequence>
  }
): void => {
  for (const consequence of change.consequences) {
    if (consequence.collection.name !== name) continue
    const concerned = consequence.concerns(change)
    if (concerned !== null) work.pending.push({ consequence, ...concerned, act: change.act })
  }
}

/** Queues the record for its next clock move or `Timely` write, where that differs from before. */
const enqueueClock = Effect.fnUntraced(function* <R, F>(
  work: UnitOfWork.UnitOfWork,
  collection: Collection<R, F>,
  {
    before,
    after,
    version,
    timely
  }: {
    readonly before: R | undefined
    readonly after: R
    readonly version: number
    readonly timely: ReadonlyArray<Timely>
  }
) {
  const next = ClockQueue.next(collection, after, timely)
  if (next === undefined) return
  if (before !== undefined && ClockQueue.next(collection, before, timely) === next) return
  const due = { collection: collection.name, recordId: collection.id(after), version, next }
  // The clock, and not the act's own now: a fact of a ledger update is judged at its effective time.
  work.work.push(ClockQueue.itemOf(due, yield* Instant.now))
})

/**
 * Refuses a record whose id is taken. A record that the transaction has looked for in vain is not
 * looked for again: where another writer has opened it meanwhile, the flush finds version 1 taken,
 * and the transaction runs again.
 */
const checkUnused = Effect.fnUntraced(function* <R, F>(
  find: Records["Service"]["find"],
  work: UnitOfWork.UnitOfWork,
  collection: Collection<R, F>,
  id: string
) {
  const key = UnitOfWork.keyOf(collection, id)
  const isWritten = UnitOfWork.writtenAt(work, key) !== undefined
  const wasAbsent = work.absent.has(key)
  if (wasAbsent && !isWritten) return
  if (Option.isNone(yield* find(collection, id))) return
  // Found absent before, and written by this group commit or transaction meanwhile.
  if (wasAbsent) return yield* Effect.fail(movedAt(collection, id, 0))
  return yield* Effect.fail(
    refused("already-exists", { detail: `A ${collection.name} of this id exists.` })
  )
})

const opening = ({ find, timely, consequences }: Omit<Parts, "versions">) =>
  Effect.fnUntraced(function* <R, F>(collection: Collection<R, F>, record: R, act: Act) {
    const work = yield* UnitOfWork.within
    const recordId = collection.id(record)
    if (collection.ids === "given") yield* checkUnused(find, work, collection, recordId)
    Invariant.assert(collection.invariants, record, collection.name)
    addMove(work, collection, {
      recordId,
      record,
      version: 1,
      fact: undefined,
      cause: causeText(act.cause),
      act,
      // A call's answer shows what it opened before the stamp exists, and must not change by it.
      createdAt: collection.keptBy === "own" ? act.now : undefined,
      announcements: collection.announce(record, undefined)
    })
    notePending(work, collection, { before: undefined, after: record, act, consequences })
    yield* enqueueClock(work, collection, { before: undefined, after: record, version: 1, timely })
    const updatedAt = UnitOfWork.placeholder(work, act.now)
    const createdAt = collection.keptBy === "own" ? act.now : updatedAt
    return { ...record, version: 1, createdAt, updatedAt } as Stored<R>
  })

const appending = ({ versions, timely, consequences }: Omit<Parts, "find">) =>
  Effect.fnUntraced(function* <R, F>(
    collection: Collection<R, F>,
    before: Stored<R>,
    fact: F,
    act: Act
  ) {
    const recordId = collection.id(before)
    const work = yield* UnitOfWork.within
    const written = UnitOfWork.writtenAt(work, UnitOfWork.keyOf(collection, recordId))
    if (written !== undefined && written.version !== before.version) {
      // Loaded before this transaction began, and moved by it meanwhile: loaded and decided again.
      return yield* Effect.fail(movedAt(collection, recordId, before.version))
    }
    // A record opened in this transaction has no stamp yet: the flush gives it one.
    const createdAt = written === undefined ? before.createdAt : written.createdAt
    const unripened = versions.unripened(before)
    const kept = (unripened?.stored ?? before) as R
    let self = kept
    let version = before.version
    const append = (fact: F, cause: string) => {
      self = collection.evolve(self, fact)
      version += 1
      Invariant.assert(collection.invariants, self, collection.name)
      const announcements = collection.announce(self, fact)
      const move = { recordId, record: self, version, fact, cause, act, createdAt, announcements }
      addMove(work, collection, move)
    }
    if (unripened !== undefined) {
      // The act was decided on the ripened record, so its clock moves are appended, also where the
      // act's own now is earlier than they are.
      const until = Instant.max(act.now, unripened.at)
      for (let due = collection.due(self); due !== undefined && due.at <= until; ) {
        append(due.fact, "clock")
        due = collection.due(self)
      }
    }
    append(fact, causeText(act.cause))
    notePending(work, collection, { before: kept, after: self, act, consequences })
    yield* enqueueClock(work, collection, { before: kept, after: self, version, timely })
    const updatedAt = UnitOfWork.placeholder(work, act.now)
    return { ...self, version, createdAt: createdAt ?? updatedAt, updatedAt } as Stored<R>
  })

const restating = ({ timely, consequences }: Pick<Parts, "timely" | "consequences">) =>
  Effect.fnUntraced(function* <R, F>(
    collection: Collection<R, F>,
    before: Stored<R> | undefined,
    record: R,
    act: Act
  ) {
    const work = yield* UnitOfWork.within
    const version = (before?.version ?? 0) + 1
    const opened = collection.keptBy === "own" ? act.now : undefined
    Invariant.assert(collection.invariants, record, collection.name)
    addMove(work, collection, {
      recordId: collection.id(record),
      record,
      version,
      // The log keeps the record whole, as for one that opens.
      fact: undefined,
      cause: causeText(act.cause),
      act,
      createdAt: before?.createdAt ?? opened,
      announcements: []
    })
    notePending(work, collection, { before, after: record, act, consequences })
    yield* enqueueClock(work, collection, { before, after: record, version, timely })
  })

interface Parts {
  readonly find: Records["Service"]["find"]
  readonly versions: Versions
  readonly timely: ReadonlyArray<Timely>
  readonly consequences: ReadonlyArray<Consequence>
}

/** The members of `Records` that write one record. */
export const make = (parts: Parts): Pick<Records["Service"], "open" | "append" | "restate"> => ({
  open: opening(parts),
  append: appending(parts),
  restate: restating(parts)
})
