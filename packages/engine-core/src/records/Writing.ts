/** Writes records into the unit of work of a transaction: a record opens, or a fact moves it. */
import { Effect, Option } from "effect"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Invariant from "../kernel/Invariant.ts"
import { refused } from "../kernel/Refusal.ts"
import type { Act } from "./Act.ts"
import type { Consequence } from "./Consequence.ts"
import * as ClockQueue from "./ClockQueue.ts"
import type { Records, Stored } from "./Records.ts"
import type { SearchedKinds } from "./SearchTerms.ts"
import type { Timely } from "./Timely.ts"
import * as UnitOfWork from "./UnitOfWork.ts"
import type { Versions } from "./Versions.ts"
import * as Waits from "./Waits.ts"

/**
 * The offset from which a fact holds. A record that no offset dates is at 0; a fact of a ledger
 * update holds from the offset of that update; undefined: one past the projection's head.
 */
export const offsetOf = (keptBy: Collection.Collection["keptBy"], act: Act): number | undefined => {
  if (keptBy === "own") return 0
  if (act.offset !== undefined) return act.offset
  return act.cause.by === "update" ? act.cause.offset : undefined
}

/**
 * Refuses a record whose id is taken. A record that the transaction has looked for in vain is not
 * looked for again: where another writer has opened it meanwhile, the flush finds version 1 taken,
 * and the transaction runs again.
 */
const checkUnused = Effect.fnUntraced(function* <R, F>(
  find: Records["Service"]["find"],
  collection: Collection.Collection<R, F>,
  record: R
) {
  const id = collection.id(record)
  const work = yield* UnitOfWork.within
  const key = UnitOfWork.keyOf(collection, id)
  const isWritten = UnitOfWork.writtenAt(work, key) !== undefined
  const wasAbsent = work.absent.has(key)
  if (wasAbsent && !isWritten) return
  if (Option.isNone(yield* find(collection, id))) return
  // Found absent before, and written by this group commit or transaction meanwhile.
  if (wasAbsent) return yield* Effect.fail(UnitOfWork.movedAt(collection, id, 0))
  return yield* Effect.fail(
    refused("already-exists", { detail: `A ${collection.name} of this id exists.` })
  )
})

const opening = ({ find, timely, consequences, kinds }: Omit<Parts, "versions" | "waiting">) =>
  Effect.fnUntraced(function* <R, F>(collection: Collection.Collection<R, F>, record: R, act: Act) {
    const offset = offsetOf(collection.keptBy, act)
    if (collection.ids === "given") yield* checkUnused(find, collection, record)
    const steps = Collection.opened(collection, record)
    const recordId = collection.id(record)
    const change = { recordId, version: 0, before: undefined, steps } as const
    const items = yield* ClockQueue.itemsOf(collection, change, timely)
    // A call's answer shows what it opened before the stamp exists, and must not change by it.
    const createdAt = collection.keptBy === "own" ? act.now : undefined
    return yield* UnitOfWork.write(collection, {
      ...change,
      ...{ offset, createdAt, act, items, consequences, waited: undefined },
      isSearched: kinds.has(collection.name)
    })
  })

const appending = ({ versions, timely, consequences, kinds, waiting }: Omit<Parts, "find">) =>
  Effect.fnUntraced(function* <R, F>(
    collection: Collection.Collection<R, F>,
    loaded: Stored<R>,
    fact: F,
    act: Act
  ) {
    const offset = offsetOf(collection.keptBy, act)
    const unripened = versions.unripened(loaded)
    const before = (unripened?.stored ?? loaded) as R
    // The act was decided on the ripened record, so its clock moves are appended, also where the
    // act's own now is earlier than they are.
    const ripenedUntil = unripened === undefined ? undefined : Instant.max(act.now, unripened.at)
    const steps = Collection.moved(collection, before, { fact, ripenedUntil })
    const { createdAt, version } = loaded
    const change = { recordId: collection.id(loaded), version, before, steps }
    const items = yield* ClockQueue.itemsOf(collection, change, timely)
    const waited = Waits.before(waiting.get(collection.name), before)
    return yield* UnitOfWork.write(collection, {
      ...change,
      ...{ offset, createdAt, act, items, consequences, waited },
      isSearched: kinds.has(collection.name)
    })
  })

const restating = ({ timely, consequences, kinds, waiting }: Omit<Parts, "find" | "versions">) =>
  Effect.fnUntraced(function* <R, F>(
    collection: Collection.Collection<R, F>,
    before: Stored<R> | undefined,
    record: R,
    act: Act
  ) {
    const offset = offsetOf(collection.keptBy, act)
    Invariant.assert(collection.invariants, record, collection.name)
    // The log keeps the record whole, as for one that opens.
    const steps = [{ record, fact: undefined, by: "act", announcements: [] }] as const
    const version = before?.version ?? 0
    const change = { recordId: collection.id(record), version, before, steps }
    const items = yield* ClockQueue.itemsOf(collection, change, timely)
    const opened = collection.keptBy === "own" ? act.now : undefined
    const createdAt = before?.createdAt ?? opened
    // The version before is closed whatever it was read as.
    const waited =
      before !== undefined && waiting.has(collection.name) ? ("unread" as const) : undefined
    yield* UnitOfWork.write(collection, {
      ...change,
      ...{ offset, createdAt, act, items, consequences, waited },
      isSearched: kinds.has(collection.name)
    })
  })

interface Parts {
  readonly find: Records["Service"]["find"]
  readonly versions: Versions
  readonly timely: ReadonlyArray<Timely>
  readonly consequences: ReadonlyArray<Consequence>
  /** The kinds of record that are searched. */
  readonly kinds: SearchedKinds
  readonly waiting: ReadonlyMap<string, Waits.WaitingKind>
}

/** The members of `Records` that write one record. */
export const make = (parts: Parts): Pick<Records["Service"], "open" | "append" | "restate"> => ({
  open: opening(parts),
  append: appending(parts),
  restate: restating(parts)
})
