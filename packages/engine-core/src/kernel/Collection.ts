/**
 * Declaration of one kind of record: schema, facts and their fold, list filters, clock moves,
 * invariants, expectations.
 */
import type { Schema } from "effect"
import type { Announcement } from "./Announcement.ts"
import type * as Instant from "./Instant.ts"
import * as Invariant from "./Invariant.ts"
import type * as Offset from "./Offset.ts"
import type { WaitingAction } from "../vocabulary/WaitingAction.ts"

/** Columns that the store adds to a record; they are not part of its body. */
export interface StoreColumns {
  readonly version: number
  readonly createdAt: Instant.Instant
  readonly updatedAt: Instant.Instant
}

/**
 * Next act that a record waits for until it has ended: the party or role, the action, the deadline.
 */
export interface WaitingOn {
  readonly party?: string
  readonly role?: string
  readonly action: WaitingAction
  readonly by: Instant.Instant | null
}

/**
 * An act that a record waits for as the index of waiting records keeps it: over a span of the clock, in a
 * state of its own, or only while a condition about other records holds.
 */
export interface IndexedWait extends WaitingOn {
  /** First instant at which it waits so; absent: from ever. */
  readonly from?: Instant.Instant
  /** Instant from which it no longer waits so; absent: for ever. */
  readonly until?: Instant.Instant
  /** State that the list of waiting records shows and filters by; absent: the record's `state`. */
  readonly state?: string
  /** Condition about other records that must hold, or must not, for the record to wait so. */
  readonly condition?: WaitCondition
}

/** Condition about other records, by a key that the overview of waiting records judges at the pin. */
export interface WaitCondition {
  readonly key: string
  /** False: the record waits so while the condition does not hold. */
  readonly holds: boolean
}

/** The next clock move of a record: its time and its fact. */
export interface DueMove<F> {
  readonly at: Instant.Instant
  readonly fact: F
}

/**
 * Functions of a record, written as methods: their parameters are bivariant, so that collections of
 * different records can share one list.
 */
export type Column<R> = { of(record: R): string | null }["of"]

/** Judgement of a change against the record before it: false where the change comes too late. */
export type Expectation<R, F> = { of(before: R, fact: F): boolean }["of"]

/**
 * Declaration of a kind of record: its name, its schema, its identifier and what may be asked of
 * it.
 */
export interface Collection<R = unknown, F = unknown> {
  readonly name: string
  readonly doc: string
  id(record: R): string
  readonly record: Schema.Codec<R, unknown>
  readonly fact: Schema.Codec<F, unknown>
  /** Fold: the record after a fact. It decides nothing. */
  evolve(self: R, fact: F): R
  /**
   * `ledger`: asOf selects by the offset it resolves to. `engine`: by recorded instant. `own`: a
   * record that no offset dates (an operation, an approval): always the latest.
   */
  readonly keptBy: "ledger" | "engine" | "own"
  /** `made`: the engine makes the ids, so an id is new and needs no look-up; `given`: callers do. */
  readonly ids: "made" | "given"
  /** Sort key of lists, which no fact changes; the id when absent. */
  sortKey(record: R, createdAt: Instant.Instant): string
  /** The columns lists filter by. */
  readonly filters: Readonly<Record<string, Column<R>>>
  /**
   * The filter columns that clock moves change: lists ask for them as they are at the pin, not as
   * they were when they were written. A clock move that changes another column is a bug.
   */
  readonly ripens: ReadonlyArray<string>
  /** The values that clock moves give to columns of `ripens`; a column that is not listed takes any. */
  readonly ripensTo: Readonly<Record<string, ReadonlyArray<string>>>
  /** The clock move that comes next, if any: reads ripen a record with the moves due at their pin. */
  due(record: R): DueMove<F> | undefined
  waitingOn(record: R): ReadonlyArray<WaitingOn>
  /**
   * Waits as `waitingOn` and the views of the record answer them together, where they depend on the clock
   * without a clock move, or on other records; absent: `waitingOn`.
   */
  indexedWaits?(record: R): ReadonlyArray<IndexedWait>
  readonly invariants: Invariant.Invariants<R>
  /** Events of the record's opening (`fact` undefined) or of a fact that moves it. */
  announce(after: R, fact: F | undefined): ReadonlyArray<Announcement>
  /** Expectations of facts that outside parties cause; a breach is a finding, never a refusal. */
  readonly expectations: Readonly<Record<string, Expectation<R, F>>>
  /**
   * Members that no contract on the ledger states: a record that continues in a new ledger epoch keeps
   * them where it has a value.
   */
  readonly untold: ReadonlyArray<string>
  /**
   * Corrects a record that continues in a new ledger epoch. `before` and `after` are the record as the
   * contracts alone open it, those of the last epoch and those of the snapshot; `next` is the stored
   * record `self` with the members that differ between both, but for those of `untold`.
   */
  continued?(
    next: R,
    change: { readonly self: R; readonly before: R | undefined; readonly after: R }
  ): R
  /**
   * The record after a snapshot that does not have its contracts any more, which is effective at an
   * instant. Absent: the record stays as it was.
   */
  lost?(
    self: R,
    snapshot: {
      readonly updateId: string
      readonly offset: Offset.Offset
      readonly at: Instant.Instant
    }
  ): R
}

/** `due` of a record without clock moves. */
export const never = (): undefined => undefined

/** Declares a collection; members that are left out take their defaults. */
export const define = <R, F>(
  name: string,
  declaration: Pick<Collection<R, F>, "doc" | "id" | "record" | "fact" | "evolve" | "keptBy"> &
    Partial<
      Pick<
        Collection<R, F>,
        | "ids"
        | "sortKey"
        | "filters"
        | "ripens"
        | "ripensTo"
        | "due"
        | "waitingOn"
        | "indexedWaits"
        | "invariants"
        | "announce"
        | "expectations"
        | "untold"
        | "continued"
        | "lost"
      >
    >
): Collection<R, F> => ({
  name,
  ids: "given",
  sortKey: declaration.id,
  filters: {},
  ripens: [],
  ripensTo: {},
  due: never,
  waitingOn: () => [],
  invariants: {},
  announce: () => [],
  expectations: {},
  untold: [],
  ...declaration
})

/** One version of a record: the record after a fact, and the events that the fact announces. */
export interface Step<R, F> {
  readonly record: R
  /** Undefined: the fact that opens the record. */
  readonly fact: F | undefined
  /** `clock`: a clock move that was due; `act`: the act that is recorded. */
  readonly by: "clock" | "act"
  readonly announcements: ReadonlyArray<Announcement>
}

/** The steps of a change of a record, oldest first. */
export type Steps<R, F> = readonly [...ReadonlyArray<Step<R, F>>, Step<R, F>]

/** The step that opens a record. Throws where the record breaks an invariant. */
export const opened = <R, F>(collection: Collection<R, F>, record: R): Steps<R, F> => [
  stepOf(collection, { record, fact: undefined, by: "act" })
]

/**
 * Folds a fact into a record, after the clock moves that are due by `ripenedUntil`; undefined: after none.
 * Throws where a record breaks an invariant.
 */
export const moved = <R, F>(
  collection: Collection<R, F>,
  before: R,
  { fact, ripenedUntil }: { readonly fact: F; readonly ripenedUntil: Instant.Instant | undefined }
): Steps<R, F> => {
  const moves: Array<Step<R, F>> = []
  let self = before
  while (ripenedUntil !== undefined) {
    const next = collection.due(self)
    if (next === undefined || next.at > ripenedUntil) break
    self = collection.evolve(self, next.fact)
    moves.push(stepOf(collection, { record: self, fact: next.fact, by: "clock" }))
  }
  const record = collection.evolve(self, fact)
  return [...moves, stepOf(collection, { record, fact, by: "act" })]
}

const stepOf = <R, F>(
  collection: Collection<R, F>,
  step: Omit<Step<R, F>, "announcements">
): Step<R, F> => {
  const { fact, record } = step
  Invariant.assert(collection.invariants, record, collection.name)
  return { ...step, announcements: collection.announce(record, fact) }
}

/** Largest number of clock moves of a record that are computed; more are a loop in `due`, a bug. */
const ripenLimit = 16

/** Ripens a record: applies every clock move that is due at `now`. The result is never stored. */
export const ripen = <R, F>(collection: Collection<R, F>, record: R, now: Instant.Instant): R => {
  let self = record
  for (const next of ahead(collection, record)) {
    if (next.at > now) return self
    self = next.record
  }
  return self
}

/** Yields the future clock moves of a record, as they follow if no other fact comes. */
export function* ahead<R, F>(
  collection: Collection<R, F>,
  record: R
): Generator<{ readonly at: Instant.Instant; readonly record: R }> {
  let self = record
  for (let moves = 0; moves < ripenLimit; moves++) {
    const next = collection.due(self)
    if (next === undefined) return
    self = collection.evolve(self, next.fact)
    yield { at: next.at, record: self }
  }
  throw new Error(`${collection.name} ${collection.id(record)}: clock moves do not end`)
}
